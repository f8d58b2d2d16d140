"""How a table fits a width of characters: as it is, turned on its side, or row by row."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from .table import Table
from .visible import visible_line

BETWEEN = 3  # characters between two columns
_WHOLE_FIGURE = 18  # a figure up to this length is never broken, not even at a space
_LONGEST_WORD = 28  # a longer word of a text column (an id) may be folded


def column_widths(table: Table, width: int) -> list[int] | None:
    """Widths that fit, with no word of a header and no figure torn; None if there are none."""
    columns = list(zip(table.header, *table.rows, strict=True))
    least = [_least(cells, is_numeric=n in table.numeric) for n, cells in enumerate(columns)]
    widths = [max(cell_len(visible_line(cell)) for cell in cells) for cells in columns]
    room = width - BETWEEN * (len(columns) - 1)
    while sum(widths) > room:
        # The widest column that can give way gives way.
        shrinkable = [n for n in range(len(widths)) if widths[n] > least[n]]
        if not shrinkable:
            return None
        widths[max(shrinkable, key=lambda n: widths[n])] -= 1
    return widths


def turned(table: Table) -> Table:
    """The same table with a column for each row: for few rows of many figures."""
    first, *rest = table.header
    header = (first, *(row[0] for row in table.rows))
    rows = tuple((name, *(row[n] for row in table.rows)) for n, name in enumerate(rest, start=1))
    return Table(table.title, header, rows, frozenset(range(1, len(header))), table.note)


def row_lines(table: Table, width: int) -> list[Text]:
    """Each row as a heading (its first cells of text, two at most) and its cells by name."""
    lines: list[Text] = []
    heads = 1 if 1 in table.numeric else 2
    for row in table.rows:
        lines.append(Text("  ".join(visible_line(cell) for cell in row[:heads]), style="bold"))
        named = zip(table.header[heads:], row[heads:], strict=True)
        parts = [f"{name} {visible_line(cell)}" for name, cell in named]
        lines += [Text(f"  {line}") for line in joined(parts, width - 2)]
    return lines


def joined(parts: Sequence[str], width: int) -> list[str]:
    """Parts with dots between them, on lines that break only between parts; later lines are set in."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(f"  {part}" if lines else part)
    return lines


def _least(cells: Sequence[str], *, is_numeric: bool) -> int:
    header, *figures = (visible_line(cell) for cell in cells)
    needed = _longest_word(header)
    for cell in figures:
        if is_numeric and cell_len(cell) <= _WHOLE_FIGURE:
            needed = max(needed, cell_len(cell))
        else:
            needed = max(needed, min(_longest_word(cell), _LONGEST_WORD))
    return needed


def _longest_word(text: str) -> int:
    return max((cell_len(word) for word in text.split()), default=0)
