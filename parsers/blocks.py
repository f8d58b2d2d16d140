"""Blocks between an opening and a closing tag: the driving that the dialects with blocks share.

A tag between two equal quotation marks or backticks is talk about the tag. After a broken block reading goes
on at the next tag.
"""

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from .codes import DefectCode, NoteCode
from .families import bare_calls, foreign_markup
from .json_path import shorten
from .result import Parsed, Span
from .transcript import Transcript

_WHITESPACE = re.compile(r"[ \t\n\r]*+")
QUOTATION_MARKS = frozenset("`\"'")
# An opening tag that never became one: not closed, with attributes, or closed in itself.
_BROKEN_TAG = re.compile(r"<tool_call(?:\s*+\{|\s++[A-Za-z_]\w*+=|\s*+/>|\s++>)")
# Without one of these there is no markup and no JSON object: most prose is read no further.
_SUSPECT = re.compile(r"[<\[{]")
_FENCE = re.compile(r"```[\w-]*+\s*+\[?\s*+\Z")
_FENCE_LENGTH = 32


@cache
def _tag_pattern(opening: str, closing: str) -> re.Pattern[str]:
    return re.compile(f"{re.escape(opening)}|{re.escape(closing)}")


class BlockReader(ABC):
    """Reads blocks between one opening and one closing tag, one after another; a dialect reads the body.

    `_tags` are all the tags that are no talk; `_tail` is where an unfinished tag begins that ends the text;
    `_owed` counts blocks that another block opened inside of, whose closing tags may still come. Tags that
    stand only inside a block are named as `inner_tags`, so that a cut one counts as unfinished.
    """

    def __init__(
        self,
        transcript: Transcript,
        opening: str,
        closing: str,
        family: str,
        inner_tags: Sequence[str] = (),
    ) -> None:
        self._out = transcript
        self._opening = opening
        self._closing = closing
        self._family = family
        self._text = transcript.text
        text = self._text
        spans = [found.span() for found in _tag_pattern(opening, closing).finditer(text)]
        self._tags = [
            (start, end)
            for start, end in spans
            if text[start - 1 : start] not in QUOTATION_MARKS or not self._is_talk(start, end)
        ]
        self._starts = [start for start, _ in self._tags]
        self._tail = _unfinished_tag(self._text, (opening, closing, *inner_tags))
        self._owed = 0

    def read(self, position: int) -> Parsed:
        """Read from `position` to the end."""
        block_end = -1
        while (tag := self._next_tag(position)) is not None:
            start, end = tag
            if self._text.startswith(self._opening, start):
                self._content(position, start)
                position = block_end = self._block(start, end)
                continue
            if end == len(self._text) and self._text[max(0, start - 1) : start] in QUOTATION_MARKS:
                break  # it may be talk whose second quotation mark is still to come
            self._content(position, start, before_close=True)
            if self._owed > 0 and position == block_end and self._skip(position) == start:
                self._owed -= 1
                block_end = end
            else:
                self._stray_close(start, end)
            position = end
        self._content(position, len(self._text))
        return self._out.finish()

    @abstractmethod
    def _body(self, start: int, body: int, position: int) -> int:
        """Read the block whose opening tag spans `start` to `body`, and return where reading goes on.

        Something stands at `position`, the first character after whitespace: no tag, and not the end.
        """

    def _block(self, start: int, body: int) -> int:
        position = self._skip(body)
        text = self._text
        if position == self._tail:
            return self._end_open(start, body)
        if text.startswith(self._closing, position):
            end = position + len(self._closing)
            self._out.add_defect(DefectCode.EMPTY_BLOCK, "the block is empty", start, end)
            return end
        if text.startswith(self._opening, position):
            return self._nested_open(position)
        return self._body(start, body, position)

    def _nested_open(self, position: int) -> int:
        """Say that a block opens before the one around it closed; the inner one is read."""
        message = "a block opens before the one around it is closed"
        end = position + len(self._opening)
        self._say(DefectCode.NESTED_OPEN, message, Span(position, end))
        if self._text.endswith(self._opening, 0, position):
            self._out.add_note(
                NoteCode.TOKEN_DUPLICATION, f'"{self._opening}" stands twice in a row', position, end
            )
        self._owed += 1
        return position

    def _end_open(self, start: int, body: int) -> int:
        self._out.end_open(start, body)
        return len(self._text)

    def _resume(self, start: int, body: int, position: int) -> int:
        """Go on after the next closing tag, or at the next opening one."""
        tag = self._next_tag(position)
        if tag is None:
            return self._end_open(start, body)
        return tag[0] if self._text.startswith(self._opening, tag[0]) else tag[1]

    def _stray_close(self, start: int, end: int) -> None:
        self._say(DefectCode.STRAY_CLOSE, "a closing tag stands without an open block", Span(start, end))
        if self._text.endswith(self._closing, 0, start):
            self._out.add_note(
                NoteCode.TOKEN_DUPLICATION, f'"{self._closing}" stands twice in a row', start, end
            )

    def _content(self, start: int, end: int, *, before_close: bool = False) -> None:
        """Keep text outside blocks, and look in it for calls that no block holds."""
        if start == end:
            return
        self._out.add_content(start, end)
        if _SUSPECT.search(self._text, start, end) is not None:
            self._judge_content(start, end, before_close=before_close)

    def _judge_content(self, start: int, end: int, *, before_close: bool) -> None:
        text, out = self._text, self._out
        foreign = foreign_markup(text, self._family, start, end)
        if foreign is not None:
            message = f"{self._shown(foreign)} belongs to another dialect"
            self._say(DefectCode.WRONG_DIALECT, message, foreign)
            return
        for found in _BROKEN_TAG.finditer(text, start, end):
            message = f"{shorten(found.group())} is no opening tag"
            self._say(DefectCode.MALFORMED_MARKUP, message, Span(*found.span()))
            return
        for place in bare_calls(text, start, end, out.tools):
            if before_close and self._skip(place.end) == end:
                continue  # only its opening tag is missing, which the stray closing tag says
            is_fenced = _FENCE.search(text, max(start, place.start - _FENCE_LENGTH), place.start) is not None
            where = "in a Markdown fence" if is_fenced else "bare"
            message = f"a call stands {where}, outside of {self._opening} and {self._closing}"
            self._say(DefectCode.WRONG_DIALECT, message, place)

    # Small words.

    def _say(self, code: DefectCode, message: str, place: Span) -> None:
        self._out.add_defect(code, message, *place)

    def _shown(self, place: Span) -> str:
        return shorten(self._text[place.start : min(place.end, place.start + 100)], 40)

    def _skip(self, position: int) -> int:
        found = _WHITESPACE.match(self._text, position)
        return position if found is None else found.end()

    def _next_tag(self, position: int) -> tuple[int, int] | None:
        index = bisect_left(self._starts, position)
        return self._tags[index] if index < len(self._tags) else None

    def _next_start(self, position: int) -> int:
        tag = self._next_tag(position)
        return len(self._text) if tag is None else tag[0]

    def _piece_end(self, start: int, end: int | None = None) -> int:
        """Return where the text from `start` to the next tag ends, whitespace left out."""
        stop = min(self._next_start(start), self._tail) if end is None else end
        return start + len(self._text[start:stop].rstrip(" \t\n\r"))

    def _is_talk(self, start: int, end: int) -> bool:
        before = self._text[max(0, start - 1) : start]
        return before in QUOTATION_MARKS and self._text.startswith(before, end)


def _unfinished_tag(text: str, tags: Sequence[str]) -> int:
    """Return where a tag begins that the end of the text cuts off, or the length of the text."""
    start = text.rfind("<", max(0, len(text) - max(map(len, tags)) + 1))
    is_tag = start >= 0 and any(tag.startswith(text[start:]) and tag != text[start:] for tag in tags)
    return start if is_tag else len(text)
