"""Blocks whose values are raw text between tags: the driving that the XML grammars share.

    value := any text up to the first closing tag of a value      # nothing is escaped

A value that holds its own closing tag, or another tag of the grammar, cannot be told from one that lost or
doubled a tag; no call is made of it. A tag between two equal quotation marks or backticks is talk, and a
closing tag of a value is never talk.
"""

import re
from abc import abstractmethod
from bisect import bisect_left
from dataclasses import dataclass, field

from .blocks import QUOTATION_MARKS, BlockReader
from .codes import DefectCode, NoteCode
from .families import foreign_markup
from .json_path import shorten
from .names import is_callable_name, name_defect
from .result import Json, Span
from .transcript import Transcript
from .typed_value import ValueReader

_SOME_TAG = re.compile(r"</?[A-Za-z_|][^<>\n]{0,60}>?")
_LINE_START = re.compile(r"\n[ \t]*+\Z")
_INDENT_LENGTH = 80


@dataclass(frozen=True, slots=True)
class RawGrammar:
    """The tags of a grammar with raw values.

    Attributes:
        family: The name in `families`.
        opening: Opens a block.
        closing: Closes a block.
        value_closing: Closes a value.
        markup: Matches every tag of the grammar, those two included, and a `value_closing` without its `>`.
        bare_call: Matches the beginning of a call that stands outside of any block.
        inner_tags: The beginnings of the tags inside a block, so that a text may end in one.
        lost_closing: Matches, from a tag inside a value on, what shows that the value lost its closing tag.
    """

    family: str
    opening: str
    closing: str
    value_closing: str
    markup: re.Pattern[str]
    bare_call: re.Pattern[str]
    inner_tags: tuple[str, ...]
    lost_closing: re.Pattern[str] | None = None


@dataclass(slots=True)
class Draft:
    """A call while it is read; `is_broken` says that it can no longer become one."""

    name: str
    name_span: Span
    is_broken: bool = False
    arguments: dict[str, Json] = field(default_factory=dict[str, Json])
    places: dict[str, Span] = field(default_factory=dict[str, Span])


class BlockBrokenError(Exception):
    """The way out of a block at its first break, or at the end of the text.

    `resume` is where reading looks for the next tag; None says that the text ends inside the block.
    """

    def __init__(self, resume: int | None) -> None:
        super().__init__(resume)
        self.resume = resume


class RawBlockReader(BlockReader):
    """Reads blocks with raw values; a dialect says in `_call` in which order its tags stand."""

    def __init__(self, transcript: Transcript, grammar: RawGrammar) -> None:
        super().__init__(
            transcript, grammar.opening, grammar.closing, grammar.family, inner_tags=grammar.inner_tags
        )
        self._grammar = grammar
        self._values = ValueReader(transcript.tools)
        self._markup = [Span(*found.span()) for found in grammar.markup.finditer(self._text)]
        self._markup_starts = [place.start for place in self._markup]
        self._draft: Draft | None = None

    def _body(self, start: int, body: int, position: int) -> int:
        self._draft = None
        try:
            return self._call(start, body, position)
        except BlockBrokenError as broken:
            resume = broken.resume
        if resume is None:
            if self._draft is not None:  # a name that is whole before the end is judged
                self._judge_declaration(self._draft)
            return self._end_open(start, body)
        if self._text.startswith(self._opening, resume):
            return self._nested_open(resume)
        return self._resume(start, body, resume)

    @abstractmethod
    def _call(self, start: int, body: int, position: int) -> int:
        """Read the call of a block, and return where the block ends.

        Raises:
            BlockBrokenError: The block breaks, which has been said, or the text ends inside it.
        """

    def _judge_content(self, start: int, end: int, *, before_close: bool) -> None:
        super()._judge_content(start, end, before_close=before_close)
        if before_close:
            return  # what only lacks its opening tag is said by the stray closing tag
        if foreign_markup(self._text, self._family, start, end) is not None:
            return  # which has been said
        for found in self._grammar.bare_call.finditer(self._text, start, end):
            if self._text[max(0, found.start() - 1) : found.start()] not in QUOTATION_MARKS:
                message = f"{self._shown(Span(*found.span()))} begins a call outside of {self._opening}"
                self._say(DefectCode.MALFORMED_MARKUP, message, Span(*found.span()))
                return

    # What a call is made of.

    def _begin(self, name_span: Span, tag: Span) -> Draft:
        """Begin a call with its name, and judge that by its shape; `tag` is where a missing one would be."""
        name = self._text[slice(*name_span)]
        draft = self._draft = Draft(name, name_span)
        if not name:
            draft.is_broken = True
            self._say(DefectCode.MISSING_NAME, "the call has no name", tag)
        elif not is_callable_name(name, self._out.tools):
            draft.is_broken = True
            found = name_defect(name, self._out.tools, name_span)
            self._out.add_defects([found] if found is not None else [])
        return draft

    def _put(self, draft: Draft, key: str, tag: Span, place: Span) -> None:
        """Put a value into a call, read by its schema."""
        if key in draft.arguments:
            draft.is_broken = True
            self._say(DefectCode.DUPLICATE_PARAMETER, f"the parameter {shorten(key)} stands twice", tag)
        read = self._values.read(draft.name, key, self._text[slice(*place)], place.start)
        self._out.add_defects(read.defects)
        for note in read.notes:
            self._out.add_note(note.code, note.message, *note.span)
        draft.is_broken = draft.is_broken or bool(read.defects)
        draft.arguments[key] = read.value
        draft.places[key] = place

    def _finish(self, draft: Draft, block: Span, call: Span) -> None:
        """Keep a call whose block is whole, unless something in it broke."""
        if draft.is_broken:
            self._judge_declaration(draft)
            return
        self._out.add_call(draft.name, draft.arguments, block)
        self._out.judge_contract(
            draft.name,
            draft.arguments,
            lambda member: draft.name_span if member == "name" else call,
            draft.places,
        )

    def _judge_declaration(self, draft: Draft) -> None:
        """Say of a call that is none whether at least its function is declared."""
        if is_callable_name(draft.name, self._out.tools):
            found = name_defect(draft.name, self._out.tools, draft.name_span)
            self._out.add_defects([found] if found is not None else [])

    # Where a value ends.

    def _value_closing(self, opened: Span) -> Span:
        """Return the tag that closes the value which follows `opened`.

        Raises:
            BlockBrokenError: No tag certainly does.
        """
        text, closing = self._text, self._grammar.value_closing
        for index in range(bisect_left(self._markup_starts, opened.end), len(self._markup)):
            place = self._markup[index]
            if text.startswith(closing, place.start):
                return place
            if self._is_undecided(place):
                break
            if self._is_talk(*place):
                continue
            self._judge_unclosed(opened, index)
            raise BlockBrokenError(place.start)
        raise BlockBrokenError(None)

    def _judge_unclosed(self, opened: Span, index: int) -> None:
        """Say what a tag inside a value means: the value's closing tag is lost, or nobody can tell."""
        text, place = self._text, self._markup[index]
        shown = self._shown(place)
        if text.startswith(self._grammar.value_closing[:-1], place.start):
            self._say(DefectCode.MALFORMED_MARKUP, f"{shown} is no closing tag of a value", place)
        elif self._is_lost(opened, index):
            if not text.startswith(self._opening, place.start):  # which is a nested_open of its own
                message = f"{self._shown(opened)} is not closed before {shown}"
                self._say(DefectCode.MALFORMED_MARKUP, message, opened)
                self._note_repeat(place)
        else:
            message = f"the value of {self._shown(opened)} holds {shown}, as text or for want of a tag"
            self._say(DefectCode.AMBIGUOUS_VALUE, message, place)

    def _is_lost(self, opened: Span, index: int) -> bool:
        """Return True if a tag inside a value shows that the value's closing tag is missing.

        It does right after the tag that opens the value, at the beginning of a line, where the grammar goes
        on in its full form, and where nothing closes the value any more before the block ends.
        """
        text, place = self._text, self._markup[index]
        if place.start == opened.end:
            return True
        if _LINE_START.search(text, max(opened.end, place.start - _INDENT_LENGTH), place.start):
            return True
        pattern = self._grammar.lost_closing
        if pattern is not None and pattern.match(text, place.start):
            return True
        for following in range(index, len(self._markup)):
            later = self._markup[following]
            if text.startswith(self._grammar.value_closing, later.start):
                return False
            if text.startswith((self._opening, self._closing), later.start) and not self._is_talk(*later):
                return True
        return True

    # What stands where a tag should.

    def _broken_at(self, position: int, wanted: str, value_closing: Span | None = None) -> BlockBrokenError:
        """Say what stands in the place of a tag, and return what to raise.

        Args:
            position: The place.
            wanted: What should stand there, in words.
            value_closing: The tag before it if that closed a value: it may have been part of the value.
        """
        text = self._text
        if position == self._tail:
            return BlockBrokenError(None)
        if text.startswith(self._opening, position):
            return BlockBrokenError(position)
        following = self._next_markup(position)
        place = Span(position, self._piece_end(position, following.start if following is not None else None))
        foreign = foreign_markup(text, self._family, *place)
        if (
            value_closing is not None
            and following is not None
            and text.startswith(self._grammar.value_closing, following.start)
        ):
            message = f"{self._shown(value_closing)} may end the value or belong to it: the same tag follows"
            self._say(DefectCode.AMBIGUOUS_VALUE, message, value_closing)
            self._note_repeat(following)
        elif foreign is not None:
            message = f"{self._shown(foreign)} belongs to another dialect"
            self._say(DefectCode.WRONG_DIALECT, message, foreign)
        elif text.startswith("```", position):
            message = "a Markdown fence stands inside the block"
            self._say(DefectCode.WRONG_DIALECT, message, Span(position, position + 3))
        elif text.startswith(("{", "[{"), position):
            message = f"JSON stands where {wanted} should"
            self._say(DefectCode.WRONG_DIALECT, message, Span(position, position + 1))
        elif (tag := _SOME_TAG.match(text, position)) is not None:
            self._judge_tag(Span(*tag.span()), wanted)
        else:
            message = f"the text {self._shown(place)} stands where {wanted} should"
            self._say(DefectCode.TEXT_BETWEEN_MARKUP, message, place)
        return BlockBrokenError(position)

    def _judge_tag(self, place: Span, wanted: str) -> None:
        """Say that a tag stands in the wrong place."""
        message = f"{self._shown(place)} stands where {wanted} should"
        self._say(DefectCode.MALFORMED_MARKUP, message, place)
        self._note_repeat(place)

    def _note_repeat(self, place: Span) -> None:
        """Note a tag that stands twice in a row."""
        tag = self._text[slice(*place)]
        if self._text.endswith(tag, 0, place.start):
            self._out.add_note(NoteCode.TOKEN_DUPLICATION, f"{shorten(tag)} stands twice in a row", *place)

    # Small words.

    def _next_markup(self, position: int, *, is_talk_counted: bool = False) -> Span | None:
        """Return the first tag at or after `position` that is no talk, or the first of all."""
        for index in range(bisect_left(self._markup_starts, position), len(self._markup)):
            place = self._markup[index]
            if is_talk_counted or not self._is_talk(*place):
                return place
        return None

    def _is_undecided(self, place: Span) -> bool:
        """Return True if the text ends where it would show whether a tag is talk."""
        return place.end == len(self._text) and self._text[place.start - 1] in QUOTATION_MARKS
