"""The report for people at a terminal."""

import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..evals.decision.gate import Decision
from ..evals.summing_up.summary import Summary
from .contents import CandidateVerdict, build_contents
from .diff import Diff
from .layout import column_widths, row_lines, turned
from .steps import Step, step_lines
from .table import Table
from .visible import visible_line

STYLES = {
    Decision.PASS: "bold green",
    Decision.REGRESSION: "bold red",
    Decision.INCONCLUSIVE: "bold yellow",
    Decision.VOID: "bold magenta",
}


def render_terminal(summary: Summary, *, width: int = 100, color: bool = False) -> str:
    """The report as text of that width (characters), with terminal colours or without any."""
    contents = build_contents(summary)
    console = open_console(width, color=color)
    console.print(Text(contents.title, style="bold"))
    console.print(Text(contents.asked))
    for table in contents.tables:
        console.print()
        console.print(Text(table.title, style="bold"))
        print_table(console, table)
    for note in contents.notes:
        console.print(Text(f"• {note}"))
    console.print()
    _print_verdicts(console, contents.verdicts)
    console.print()
    console.print(
        Text.assemble(
            ("decision: ", "bold"),
            (contents.decision.value, STYLES[contents.decision]),
            f" (gate would exit {contents.decision.exit_code})",
        )
    )
    _print_steps(console, contents.steps)
    return text_of(console)


def render_diff(diff: Diff, *, width: int = 100, color: bool = False) -> str:
    """A comparison of arms as text of that width."""
    console = open_console(width, color=color)
    console.print(Text(visible_line(diff.title), style="bold"))
    console.print(Text(diff.asked))
    console.print()
    for table in diff.tables:
        console.print(Text(visible_line(table.title), style="bold"))
        print_table(console, table)
        console.print()
    for sentence in diff.sentences:
        console.print(Text(sentence))
    _print_verdicts(console, diff.verdicts)
    if diff.choice is not None:
        console.print()
        # Only an arm that passes is ever chosen.
        name, style = (diff.choice.arm, STYLES[Decision.PASS]) if diff.choice.arm else ("none", "bold")
        console.print(Text.assemble(("choice: ", "bold"), (name, style), f" ({diff.choice.reason})"))
    _print_steps(console, diff.steps)
    return text_of(console)


def render_table(table: Table, *, width: int = 100, color: bool = False) -> str:
    """One table with its title, as text of that width."""
    console = open_console(width, color=color)
    console.print(Text(table.title, style="bold"))
    print_table(console, table)
    return text_of(console)


def open_console(width: int, *, color: bool) -> Console:
    """A console that writes into memory, as wide and as colourful as asked."""
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        emoji=False,
    )


def text_of(console: Console) -> str:
    """What was printed to such a console, without spaces at the ends of lines."""
    file = console.file
    printed = file.getvalue() if isinstance(file, io.StringIO) else ""
    return "".join(f"{line.rstrip(' ')}\n" for line in printed.split("\n")[:-1])


def print_table(console: Console, table: Table) -> None:
    """Draw one table, without its title, as it fits: as it is, turned on its side, or row by row."""
    if not table.rows:
        console.print(Text("  none"))
        return
    fitting = next((one for one in (table, turned(table)) if column_widths(one, console.width)), None)
    if fitting is None:
        for line in row_lines(table, console.width):
            console.print(line)
    else:
        _print_grid(console, fitting, column_widths(fitting, console.width) or [])
    if table.note:
        console.print(Text(f"  {table.note}", style="dim"))


def _print_verdicts(console: Console, verdicts: Sequence[CandidateVerdict]) -> None:
    for verdict in verdicts:
        console.print(
            Text.assemble(
                (f"{verdict.candidate}: ", "bold"), (verdict.decision.value, STYLES[verdict.decision])
            )
        )
        for reason in verdict.reasons:
            console.print(Text(f"  {visible_line(reason)}"))


def _print_steps(console: Console, steps: tuple[Step, ...]) -> None:
    console.print()
    console.print(Text("next:", style="bold"))
    for line in step_lines(steps):
        # Never wrapped: a command is there to be copied.
        console.print(Text(f"  {line}"), soft_wrap=True)


def _print_grid(console: Console, table: Table, widths: Sequence[int]) -> None:
    rich = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for column, (title, width) in enumerate(zip(table.header, widths, strict=True)):
        justify = "right" if column in table.numeric else "left"
        rich.add_column(Text(visible_line(title)), justify=justify, width=width, overflow="fold")
    for row in table.rows:
        rich.add_row(*(Text(visible_line(cell)) for cell in row))
    console.print(rich)
