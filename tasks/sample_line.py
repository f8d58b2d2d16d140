"""A sample's line as a run writes it, read at once where it is of the usual kind.

The strict reader of suites (`raw_sample.py`) takes four times as long. What is not read here, it reads, or it
says what is wrong with it.
"""

from functools import cache
from typing import Annotated, Any, Literal

import msgspec

from ..parsers.json_scanner import MAX_DEPTH
from .json_lines import LONGEST_LINE_BYTES
from .raw_sample import LONGEST_NAME, compile_declared
from .sample import Expected, ExpectedCall, Sample

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]


class _Call(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    name: str
    arguments: dict[str, list[Any]]
    optional: list[str] = []


class _Expected(msgspec.Struct, forbid_unknown_fields=True):
    calls: list[_Call]


class _Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What `sample_to_json` writes of a sample without a match rule or request fields of its own."""

    id: _Name
    category: _Name
    messages: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]
    tools: msgspec.Raw
    tool_choice: Literal["auto", "required", "none"]
    expected: _Expected | None
    metadata: dict[str, Any] = {}


def read_as_written(line: bytes) -> Sample | None:
    """The sample of a line that, written again, gives the same bytes; None of any other line.

    Nothing of such a line is lost in reading: no key stands twice in it, and no number is rounded. Its tools
    are read strictly, once for all samples that declare the same.
    """
    if len(line) > LONGEST_LINE_BYTES:
        return None
    try:
        read = _reader().decode(line)
        if msgspec.json.encode(read) != line.rstrip(b"\n"):
            return None
        if _brackets(line) - _brackets(bytes(read.tools)) > MAX_DEPTH:
            return None  # they might all stand in one another
        tools = compile_declared(bytes(read.tools), may_be_unchecked=False, is_checked=True)
    except (ValueError, RecursionError):
        return None
    if not tools.declared:
        return None
    expected = None
    if read.expected is not None:
        calls = [
            ExpectedCall(one.name, one.arguments, frozenset(one.optional)) for one in read.expected.calls
        ]
        if not all(one.name in tools.functions and one.optional <= one.arguments.keys() for one in calls):
            return None
        expected = Expected(tuple(calls))
    if not (read.id.isprintable() and read.category.isprintable()):
        return None
    return Sample(
        id=read.id,
        category=read.category,
        messages=tuple(read.messages),
        tools=tools,
        expected=expected,
        tool_choice=read.tool_choice,
        metadata=read.metadata,
    )


def _brackets(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")


@cache
def _reader() -> msgspec.json.Decoder[_Line]:
    return msgspec.json.Decoder(_Line)
