"""What reading a text gives: calls, defects, notes, and the text that was left. Nothing is repaired."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import msgspec

from .codes import DefectCode, NoteCode

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"
JsonObject: TypeAlias = Mapping[str, Json]


class Span(NamedTuple):
    """Half-open range of characters in the text that was read."""

    start: int
    end: int


class Call(msgspec.Struct, frozen=True):
    """One call, whole by its grammar; `span` covers the block with its markup."""

    name: str
    arguments: JsonObject
    span: Span


class Defect(msgspec.Struct, frozen=True):
    """Something that keeps a client from dispatching; `message` says what, in a sentence."""

    code: DefectCode
    message: str
    span: Span


class Note(msgspec.Struct, frozen=True):
    """Something tolerated, or worth a look; never a defect."""

    code: NoteCode
    message: str
    span: Span


class Parsed(msgspec.Struct, frozen=True):
    """A text as read by one dialect.

    `calls` and `defects` are ordered by position. `content` is the text outside blocks and reasoning,
    `reasoning` the text inside thinking. `open` says that the text ended inside a block or inside thinking
    (the defect `unclosed_block` or `unclosed_reasoning` stands beside it; grading drops it when the attempt
    was cut).
    """

    calls: tuple[Call, ...] = ()
    defects: tuple[Defect, ...] = ()
    notes: tuple[Note, ...] = ()
    content: str = ""
    reasoning: str = ""
    open: bool = False
