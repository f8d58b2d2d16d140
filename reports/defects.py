"""What a parser found, for people: each defect under carets in its line of the text, then calls and notes."""

import json
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from ..parsers.result import Defect, Note, Parsed, Span
from ..parsers.rules import DEFECT_RULES, NOTE_RULES
from .visible import visible, visible_line

_BEFORE = 40  # characters of a long line kept before the place
_AFTER = 60  # and from the place on
_SHOWN_DEFECTS = 50
_ELLIPSIS = "…"


def render_parsed(text: str, parsed: Parsed) -> str:
    r"""Draw what reading a text gave.

    Args:
        text: The text that was read; spans count its characters.
        parsed: What a dialect made of it.

    Returns:
        Plain text that ends in a newline. Nothing in it can move a terminal's cursor: control characters
        of the text, escapes and marks of direction stand as `\x1b` and the like.
    """
    lines = _Lines(text)
    blocks = [_summary(parsed)]
    blocks.extend(_defect(lines, defect) for defect in parsed.defects[:_SHOWN_DEFECTS])
    if len(parsed.defects) > _SHOWN_DEFECTS:
        blocks.append(f"and {len(parsed.defects) - _SHOWN_DEFECTS} more defects")
    if parsed.calls:
        blocks.append("\n".join(_calls(parsed)))
    if parsed.notes:
        blocks.append("\n".join(_note(lines, note) for note in parsed.notes[:_SHOWN_DEFECTS]))
    return "\n\n".join(blocks) + "\n"


def draw_defect(text: str | None, defect: Defect, *, width: int) -> str:
    """Draw one defect under carets, with its rule; without the text its message stands alone.

    The line of the text and its carets keep within `width` characters; sentences may be longer.
    """
    if text is not None and defect.span.start <= len(text):
        return _defect(_Lines(text), defect, width)
    return f"{defect.code.value}: {visible_line(defect.message)}\n = {DEFECT_RULES[defect.code]}"


def _summary(parsed: Parsed) -> str:
    parts = [_count(len(parsed.calls), "call"), _count(len(parsed.defects), "defect")]
    if parsed.notes:
        parts.append(_count(len(parsed.notes), "note"))
    if parsed.open:
        parts.append("the text ends inside a block or inside thinking")
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _defect(lines: "_Lines", defect: Defect, width: int | None = None) -> str:
    number, column = lines.place(defect.span.start)
    gutter = " " * len(str(number))
    room = None if width is None else max(20, width - len(gutter) - len(" " + " | " + 2 * _ELLIPSIS))
    shown, offset, marked = lines.window(defect.span, room)
    carets, message = f" {gutter} | {' ' * offset}{'^' * marked}", visible_line(defect.message)
    # The message stands after the carets where it fits, else below them.
    is_long = width is not None and len(carets) + len(message) >= width
    return "\n".join(
        (
            f"{defect.code.value} at line {number}, column {column} (character {defect.span.start})",
            f" {number} | {shown}",
            f"{carets}\n {gutter} = {message}" if is_long else f"{carets} {message}",
            f" {gutter} = {DEFECT_RULES[defect.code]}",
        )
    )


def _calls(parsed: Parsed) -> Sequence[str]:
    return [
        f"call {index}: {visible_line(call.name)} {_arguments(call.arguments)}"
        for index, call in enumerate(parsed.calls, 1)
    ]


def _arguments(arguments: object) -> str:
    """Arguments on one line; those that JSON cannot be written for are summed up."""
    try:
        return visible(json.dumps(arguments, ensure_ascii=False))
    except (ValueError, TypeError, RecursionError):
        return "{…}"


def _note(lines: "_Lines", note: Note) -> str:
    number, column = lines.place(note.span.start)
    where = f"line {number}, column {column}"
    return f"note {note.code.value} at {where}: {visible_line(note.message)}. {NOTE_RULES[note.code]}"


class _Lines:
    """The lines of a text, found once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        position = text.find("\n")
        while position >= 0:
            self._starts.append(position + 1)
            position = text.find("\n", position + 1)

    def place(self, position: int) -> tuple[int, int]:
        """Return line and column of a character, both from 1."""
        line = bisect_right(self._starts, position)
        return line, position - self._starts[line - 1] + 1

    def window(self, span: Span, room: int | None = None) -> tuple[str, int, int]:
        """Return the line of a span as it is shown, the cells before the span, and the cells under it.

        Args:
            span: The place to show.
            room: Characters of the text to show at most, ellipses apart; None for the usual.
        """
        most_before = _BEFORE if room is None else min(_BEFORE, room * 2 // 5)
        most_after = _AFTER if room is None else min(_AFTER, room - most_before)
        line = bisect_right(self._starts, span.start)
        first = self._starts[line - 1]
        last = self._starts[line] - 1 if line < len(self._starts) else len(self._text)
        start = min(span.start, last)
        left, right = max(first, start - most_before), min(last, start + most_after)
        before = (_ELLIPSIS if left > first else "") + visible_line(self._text[left:start])
        marked = visible_line(self._text[start : max(start, min(span.end, right))])
        after = visible_line(self._text[max(start, min(span.end, right)) : right])
        shown = before + marked + after + (_ELLIPSIS if right < last else "")
        return shown, _cells(before), max(1, _cells(marked))


def _cells(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
