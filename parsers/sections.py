r"""Sections of calls that have a header: what Kimi K2 and DeepSeek V3.1 share.

    output    := thinking? (content | section)*
    section   := BEGIN ws (call ws)+ END
    call      := CALL_BEGIN ws header ws SEPARATOR ws arguments ws CALL_END
    arguments := OBJECT
    ws        := [ \t\n\r]*           # the templates write none; more is noted

A tag inside a JSON string is data, so the end of the arguments is found with a JSON decoder. Each call is a
block: one that is whole stands, even if its section never ends, and a broken one costs no other. After a
broken call reading goes on at the next tag.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from .arguments import arguments_defect
from .blocks import BlockReader
from .call_object import duplicate_defects
from .codes import DefectCode, NoteCode
from .families import foreign_markup
from .json_path import shorten
from .json_scanner import Decoded, JsonError, JsonFault, decode_located
from .repetition import repeated_at
from .result import Span
from .strict_json import decode
from .transcript import Transcript

_JUDGED_REPEATS = 16  # a text with more broken calls than that is no riddle any more
_JSON_FIRST = frozenset('{}[],:"-0123456789')
_QUOTATION_MARKS = frozenset("`\"'")


@dataclass(frozen=True, slots=True)
class SectionTags:
    """The five tags of a dialect, and a pattern of what was meant to be one of them and is none."""

    begin: str
    end: str
    call_begin: str
    separator: str
    call_end: str
    lookalike: str


@cache
def _mark_pattern(tags: SectionTags) -> re.Pattern[str]:
    exact = (tags.begin, tags.end, tags.call_begin, tags.separator, tags.call_end)
    return re.compile("|".join([*map(re.escape, exact), tags.lookalike]))


class SectionReader(BlockReader):
    """Reads sections. Each method reads on and returns where reading goes on; a dialect reads the header.

    A mark is one of the five tags or a look-alike. `_has_broken_begin` says that the tag that should have
    begun a section was broken, so that the one that ends it is not stray.
    """

    def __init__(self, transcript: Transcript, tags: SectionTags, family: str) -> None:
        inner = (tags.call_begin, tags.separator, tags.call_end)
        super().__init__(transcript, tags.begin, tags.end, family, inner)
        self._marks = _mark_pattern(tags)
        self._section = tags
        self._has_broken_begin = False
        self._has_noted_whitespace = False
        self._errors = 0

    @abstractmethod
    def _name(self, opening: Span, header: Span) -> tuple[str, Span] | None:
        """Return the name that a header gives and its place, or say why it gives none."""

    def _is_other_form(self, position: int) -> bool:
        """Say if what stands at `position`, after the separator, belongs to another form of call."""
        if not self._text.startswith("```", position):
            return False
        message = "a Markdown fence stands inside the call"
        self._say(DefectCode.WRONG_DIALECT, message, Span(position, position + 3))
        return True

    def _body(self, start: int, body: int, position: int) -> int:
        """Read a section from its first call on: `(call ws)+ END`."""
        text, tags = self._text, self._section
        self._has_broken_begin = False
        self._note_whitespace(body, position)
        while not self._out.is_open:
            if text.startswith(tags.call_begin, position):
                position = self._call(position)
            elif text.startswith(tags.end, position):
                return position + len(tags.end)
            elif text.startswith(tags.begin, position):
                return self._nested_open(position)
            elif position in (self._tail, len(text)):
                return self._end_open(start, body)
            elif (mark := self._marks.match(text, position)) is not None:
                self._stray_mark(mark)
                position = mark.end()
                if _ends_section(mark.group()):
                    return position
            else:
                position = self._no_call(position)
            after = self._skip(position)
            self._note_whitespace(position, after)
            position = after
        return len(text)

    def _no_call(self, position: int) -> int:
        """Judge what stands in a section where a call should begin."""
        stop = min(self._next_mark(position), self._tail)
        piece = Span(position, self._piece_end(position, stop))
        foreign = foreign_markup(self._text, self._family, *piece)
        if foreign is not None:
            message = f"{self._shown(foreign)} belongs to another dialect"
            self._say(DefectCode.WRONG_DIALECT, message, foreign)
        elif self._text.startswith(("{", "["), position):
            read = decode_located(self._text, position)
            end = read.end if isinstance(read, Decoded) else position + 1
            message = f"JSON stands bare in the section, outside of {shorten(self._section.call_begin)}"
            self._say(DefectCode.WRONG_DIALECT, message, Span(position, end))
            return max(end, stop) if end == position + 1 else end
        else:
            message = f"the text {self._shown(piece)} stands where a call should begin"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, piece)
        return stop

    def _call(self, start: int) -> int:
        """Read `CALL_BEGIN ws header ws SEPARATOR ws arguments ws CALL_END`."""
        text = self._text
        opening = Span(start, start + len(self._section.call_begin))
        mark = self._marks.search(text, opening.end)
        if mark is None:
            return self._end_open(*opening)
        position = self._skip(opening.end)
        header = Span(position, self._piece_end(position, mark.start()))
        if mark.group() != self._section.separator:
            return self._no_separator(opening, header, mark)
        after = self._skip(mark.end())
        if self._is_other_form(after):
            return self._resume_call(opening, after)
        for gap in ((opening.end, position), (header.end, mark.start()), (mark.end(), after)):
            self._note_whitespace(*gap)
        return self._arguments(opening, self._name(opening, header), after)

    def _no_separator(self, opening: Span, header: Span, mark: re.Match[str]) -> int:
        """Judge a call whose header is followed by another tag than the separator."""
        text, tags = self._text, self._section
        brace = text.find("{", *header)
        if mark.group() == tags.call_end and header.start == header.end:
            self._say(DefectCode.EMPTY_BLOCK, "the call is empty", Span(opening.start, mark.end()))
        elif brace == header.start:
            message = "a JSON object stands where the header of a call should"
            self._say(DefectCode.WRONG_DIALECT, message, Span(brace, brace + 1))
        elif brace > 0:
            place = Span(header.start, self._piece_end(header.start, brace))
            message = f"{shorten(tags.separator)} is missing after {self._shown(place)}"
            self._say(DefectCode.MALFORMED_MARKUP, message, place)
        elif mark.group() == tags.call_end:
            _ = self._name(opening, header)
            self._no_arguments(opening, mark)
        else:
            return self._other_mark(opening, mark, instead_of=tags.separator)
        return self._resume_call(opening, mark.start())

    def _arguments(self, opening: Span, name: tuple[str, Span] | None, position: int) -> int:
        """Read the object that the arguments are, and the tag after it."""
        text, out, tags = self._text, self._out, self._section
        if position in (self._tail, len(text)):
            return self._end_open(*opening)
        mark = self._marks.match(text, position)
        if mark is not None:
            if mark.group() == tags.call_end:
                self._no_arguments(opening, mark)
                return mark.end()
            return self._other_mark(opening, mark, instead_of="the arguments")
        foreign = foreign_markup(text, self._family, position, self._next_mark(position))
        if foreign is not None and foreign.start == position:
            message = f"{self._shown(foreign)} belongs to another dialect"
            self._say(DefectCode.WRONG_DIALECT, message, foreign)
            return self._resume_call(opening, foreign.end)
        read = decode(text, position, self._next_mark(position))
        if isinstance(read, JsonError):
            return self._broken_json(opening, read)
        place = Span(position, read.end)
        shape = arguments_defect(read.value, place)
        duplicates = duplicate_defects(text, read.duplicates)
        out.add_defects([*([shape] if shape is not None else []), *duplicates])
        after = self._skip(read.end)
        if isinstance(read.value, Mapping) and not duplicates and name is not None:
            out.judge_contract(name[0], read.value, lambda key: name[1] if key == "name" else place)
            if text.startswith(tags.call_end, after):
                out.add_call(name[0], read.value, Span(opening.start, after + len(tags.call_end)))
                self._note_whitespace(read.end, after)
        return self._after_arguments(opening, after)

    def _after_arguments(self, opening: Span, position: int) -> int:
        """Read the tag that closes a call, or judge what stands there instead."""
        text = self._text
        if text.startswith(self._section.call_end, position):
            return position + len(self._section.call_end)
        if position in (self._tail, len(text)):
            return self._end_open(*opening)
        mark = self._marks.match(text, position)
        if mark is not None:
            return self._other_mark(opening, mark, instead_of=self._section.call_end)
        place = Span(position, self._piece_end(position, min(self._next_mark(position), self._tail)))
        shown = self._shown(place)
        if text.startswith("</", position):
            self._say(DefectCode.MALFORMED_MARKUP, f"{shown} is no closing tag of a call", place)
        elif text[position] in _JSON_FIRST:
            self._say(DefectCode.TRAILING_DATA, f"{shown} follows the arguments of the call", place)
        else:
            message = f"the text {shown} stands between the arguments and the closing tag"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, place)
        return self._resume_call(opening, position)

    def _broken_json(self, opening: Span, error: JsonError) -> int:
        """Say where the arguments break, and find the tag at which to go on."""
        text, position = self._text, error.position
        self._out.add_defects(duplicate_defects(text, error.duplicates))
        if error.fault is JsonFault.TRUNCATED or (not error.in_string and position == self._tail):
            return self._end_open(*opening)
        mark = None if error.in_string else self._marks.match(text, position)
        if mark is not None and mark.group() == self._section.call_end:
            message = "the arguments end before they are whole, and the call is closed"
            self._say(DefectCode.TRUNCATED_JSON, message, Span(position, position))
            return mark.end()
        if mark is not None:
            return self._other_mark(opening, mark, instead_of="the rest of the arguments")
        self._say(DefectCode.INVALID_JSON, error.message, Span(position, position + 1))
        self._errors += 1
        unit = repeated_at(text, position) if self._errors <= _JUDGED_REPEATS else None
        if unit is not None:
            message = f"{shorten(unit)} stands twice in a row"
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, message, position, position + 1)
        return self._resume_call(opening, error.string_start)

    def _other_mark(self, opening: Span, mark: re.Match[str], instead_of: str) -> int:
        """Judge a tag that stands inside a call where it should not."""
        tags, place = self._section, Span(*mark.span())
        if mark.group() == tags.begin:
            return mark.start()  # which the section says
        if mark.group() == tags.call_begin:
            self._say(DefectCode.NESTED_OPEN, "a call begins before the one around it is closed", place)
            self._note_twice(mark)
            return mark.start()
        if mark.group() == tags.end:
            self._say(DefectCode.MALFORMED_MARKUP, "the section is closed before its call is", place)
            return mark.start()
        message = f"{shorten(mark.group())} stands where {instead_of} should"
        self._say(DefectCode.MALFORMED_MARKUP, message, place)
        self._note_twice(mark)
        return self._resume_call(opening, mark.end())

    def _resume_call(self, opening: Span, position: int) -> int:
        """Go on after the next tag that closes a call, or at the next one that begins or ends something."""
        tags = self._section
        for mark in self._marks.finditer(self._text, position):
            if mark.group() == tags.call_end:
                return mark.end()
            if mark.group() in {tags.begin, tags.end, tags.call_begin}:
                return mark.start()
        return self._end_open(*opening)

    def _no_arguments(self, opening: Span, mark: re.Match[str]) -> None:
        place = Span(opening.start, mark.end())
        self._say(DefectCode.MISSING_ARGUMENTS, "the call has no arguments", place)

    def _stray_mark(self, mark: re.Match[str]) -> None:
        """Judge a tag between two calls."""
        if mark.group() == self._section.call_end:
            message = "a closing tag stands without an open call"
            self._say(DefectCode.STRAY_CLOSE, message, Span(*mark.span()))
        elif mark.group() == self._section.separator:
            message = f"{shorten(mark.group())} stands where a call should begin"
            self._say(DefectCode.MALFORMED_MARKUP, message, Span(*mark.span()))
        else:
            message = f"{shorten(mark.group())} is no tag of a section"
            self._say(DefectCode.MALFORMED_MARKUP, message, Span(*mark.span()))
        self._note_twice(mark)

    def _judge_content(self, start: int, end: int, *, before_close: bool) -> None:
        """Look in the text outside sections for tags that belong inside one, or were meant to begin one."""
        for mark in self._marks.finditer(self._text, start, end):
            if self._text[max(0, mark.start() - 1) : mark.start()] in _QUOTATION_MARKS:
                continue  # talk about the tag
            if foreign_markup(self._text, self._family, start, mark.start()) is not None:
                break
            tags = self._section
            if mark.group() in {tags.call_begin, tags.separator, tags.call_end}:
                if before_close:
                    return  # only the beginning of the section is missing, which its stray end says
                message = f"{shorten(mark.group())} stands outside of a section"
            else:
                self._has_broken_begin = True
                message = f"{shorten(mark.group())} is no tag of a section"
            self._say(DefectCode.MALFORMED_MARKUP, message, Span(*mark.span()))
            return
        super()._judge_content(start, end, before_close=before_close)

    def _stray_close(self, start: int, end: int) -> None:
        if not self._has_broken_begin:
            super()._stray_close(start, end)
        self._has_broken_begin = False

    # Small words.

    def _next_mark(self, position: int) -> int:
        mark = self._marks.search(self._text, position)
        return len(self._text) if mark is None else mark.start()

    def _note_twice(self, mark: re.Match[str]) -> None:
        if self._text.endswith(mark.group(), 0, mark.start()):
            message = f'"{mark.group()}" stands twice in a row'
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, message, *mark.span())

    def _note_whitespace(self, start: int, end: int) -> None:
        """Note once that whitespace stands where the template writes none."""
        if start < end and not self._has_noted_whitespace:
            self._has_noted_whitespace = True
            message = "the template writes no whitespace inside a section"
            self._out.add_note(NoteCode.EXTRA_WHITESPACE, message, start, end)


def _ends_section(tag: str) -> bool:
    """Return True if a look-alike was meant to end a section."""
    letters = "".join(filter(str.isalpha, tag.lower()))
    return letters.endswith("end") and ("calls" in letters or "section" in letters)
