"""Calls that the server parsed: `message.tool_calls`, read as strictly as the text it was made from.

    tool_calls := [{"id": STRING, "type": "function", "function": {"name": STRING, "arguments": STRING}}, …]

The contract is the one of the OpenAI API: `arguments` is a string that holds one JSON object. Spans count
characters of the string in which the defect stands (name, arguments, content or reasoning), and the message
says which. What a cut leaves looks broken and is not: arguments of the last call that are valid so far, and
content that the dialect reads as good up to an open end, are `unclosed_block` with `open`, as in a text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .arguments import arguments_defect, kind_of
from .call_object import duplicate_defects
from .codes import DefectCode, NoteCode
from .contract import keeps_contract, schema_defects, schema_notes
from .dialect import Dialect
from .families import call_markup, leaked_markup
from .json_path import shorten
from .json_scanner import JsonError, JsonFault
from .names import name_defect
from .reasoning import split_reasoning
from .result import Call, Defect, Json, JsonObject, Note, Parsed, Span
from .strict_json import decode
from .tools import Tools

# Lost output: this many tokens or more, and less than one visible character for two of them. Prose has three
# to five characters a token, and the densest scripts about one.
LOST_OUTPUT_TOKENS = 32
LOST_OUTPUT_CHARACTERS_PER_TOKEN = 0.5

# A `finish_reason` by which the server says that it cut the answer.
CUT_REASONS = frozenset({"length", "max_tokens"})


@dataclass(slots=True)
class _Findings:
    """What is collected on the way; defects stay in the order in which they are found."""

    tools: Tools | None
    dialect: Dialect
    is_cut: bool
    calls: list[Call] = field(default_factory=list[Call])
    defects: list[Defect] = field(default_factory=list[Defect])
    notes: list[Note] = field(default_factory=list[Note])
    is_open: bool = False

    def say(self, code: DefectCode, message: str, span: Span) -> None:
        self.defects.append(Defect(code, message, span))

    def note(self, code: NoteCode, message: str, span: Span) -> None:
        self.notes.append(Note(code, message, span))


def read_native(
    content: str | None,
    reasoning: str | None,
    tool_calls: Json,
    tools: Tools | None,
    *,
    finish_reason: str | None,
    completion_tokens: int | None,
    dialect: Dialect,
    is_at_limit: bool = False,
) -> Parsed:
    """Read an answer whose calls the server parsed.

    Args:
        content: `message.content`, as received.
        reasoning: `message.reasoning_content` or `message.reasoning`, as received.
        tool_calls: `message.tool_calls`, as received: any JSON at all.
        tools: The declared tools; with None neither names nor schemas are checked.
        finish_reason: As received.
        completion_tokens: Tokens written, those of hidden thinking left out; None if nobody counted.
        dialect: What the model is known to write; its tags must not stand in arguments.
        is_at_limit: True when the answer has all the tokens that it could have: then it may have been cut,
            whatever the reason says.

    Returns:
        The calls, with defects in the order content, reasoning, calls. A call's span covers its arguments.
    """
    found = _Findings(tools, dialect, is_cut=is_at_limit or finish_reason in CUT_REASONS)
    _judge_content(content or "", found)
    _judge_reasoning(reasoning or "", found)
    count = _read_calls(tool_calls, found)
    visible = len((content or "").strip()) + len((reasoning or "").strip())
    if (
        count == 0
        and not found.is_cut
        and completion_tokens is not None
        and completion_tokens >= LOST_OUTPUT_TOKENS
        and visible < completion_tokens * LOST_OUTPUT_CHARACTERS_PER_TOKEN
    ):
        message = f"{completion_tokens} tokens were written and {visible} characters and no call came back"
        found.say(DefectCode.LOST_OUTPUT, message, Span(0, 0))
    if finish_reason == "tool_calls" and count == 0:
        message = 'finish_reason is "tool_calls" and there is no call'
        found.note(NoteCode.FINISH_MISMATCH, message, Span(0, 0))
    elif finish_reason == "stop" and count > 0:
        message = 'finish_reason is "stop" and there is a call (right only where the choice was forced)'
        found.note(NoteCode.FINISH_MISMATCH, message, Span(0, 0))
    return Parsed(
        calls=tuple(found.calls),
        defects=tuple(found.defects),
        notes=tuple(found.notes),
        content=content or "",
        reasoning=reasoning or "",
        open=found.is_open,
    )


def _judge_content(content: str, found: _Findings) -> None:
    """Look for markup that the server left in the content."""
    answer = split_reasoning(content, "auto")
    leak = leaked_markup(content, answer.answer)
    if leak is None:
        return
    read = found.dialect.parse(content, None, "auto")
    codes = {defect.code for defect in read.defects}
    if read.open and codes == {DefectCode.UNCLOSED_BLOCK}:
        found.is_open = True
        message = "the content ends inside a block that the server gave back as text"
        found.say(DefectCode.UNCLOSED_BLOCK, message, leak)
        return
    message = f"the content holds markup of calls: {shorten(content[leak.start : leak.end])}"
    found.say(DefectCode.MARKUP_IN_CONTENT, message, leak)


def _judge_reasoning(reasoning: str, found: _Findings) -> None:
    """Look for a call in the reasoning; talk about tags is no call."""
    leak = call_markup(reasoning)
    if leak is not None:
        message = f"the reasoning holds a call: {shorten(reasoning[leak.start : leak.end])}"
        found.say(DefectCode.MARKUP_IN_CONTENT, message, leak)


def _read_calls(tool_calls: Json, found: _Findings) -> int:
    """Read the list of calls, whatever it is, and return how many entries it has."""
    if tool_calls is None:
        return 0
    if not isinstance(tool_calls, list):
        found.say(DefectCode.NOT_AN_OBJECT, f"tool_calls is {kind_of(tool_calls)}, not a list", Span(0, 0))
        return 1
    for index, entry in enumerate(tool_calls):
        _read_entry(entry, f"call {index + 1}", found, is_last=index + 1 == len(tool_calls))
    _judge_ids(tool_calls, found)
    return len(tool_calls)


def _judge_ids(tool_calls: Sequence[Json], found: _Findings) -> None:
    seen = set[str]()
    for index, entry in enumerate(tool_calls):
        identifier = entry.get("id") if isinstance(entry, Mapping) else None
        if not isinstance(identifier, str) or not identifier:
            found.note(NoteCode.MISSING_ID, f"call {index + 1} has no id", Span(0, 0))
        elif identifier in seen:
            message = f"call {index + 1} has the id of an earlier one: {shorten(identifier)}"
            found.note(NoteCode.DUPLICATE_ID, message, Span(0, len(identifier)))
        else:
            seen.add(identifier)


def _read_entry(entry: Json, where: str, found: _Findings, *, is_last: bool) -> None:
    nowhere = Span(0, 0)
    function = entry.get("function") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(function, Mapping):
        what = kind_of(entry) if not isinstance(entry, Mapping) else "an object without a function"
        found.say(DefectCode.NOT_AN_OBJECT, f"{where} is {what}", nowhere)
        return
    if entry.get("type") not in ("function", None):  # no set: a type may be any JSON, also what has no hash
        message = f"{where} is of type {shorten(entry['type'])}, not a function"
        found.say(DefectCode.UNKNOWN_MEMBER, message, nowhere)
        return
    name = _read_name(function, where, found)
    arguments = _read_arguments(function, where, found, is_last=is_last)
    if name is None or arguments is None:
        return
    value, span = arguments
    found.calls.append(Call(name, value, span))
    if found.tools is not None and not keeps_contract(found.tools, name, value):
        for defect in schema_defects(found.tools, name, value, span):
            found.say(defect.code, f"{where}: {defect.message}", span)
        found.notes.extend(schema_notes(found.tools, name, value, span))


def _read_name(function: JsonObject, where: str, found: _Findings) -> str | None:
    """Return the name of a call that can be listed, even if it is not declared."""
    name = function.get("name")
    if name is None:
        found.say(DefectCode.MISSING_NAME, f"{where} has no name", Span(0, 0))
        return None
    if not isinstance(name, str):
        found.say(
            DefectCode.NAME_NOT_STRING, f"{where}: the name is {kind_of(name)}, not a string", Span(0, 0)
        )
        return None
    defect = name_defect(name, found.tools, Span(0, len(name)))
    if defect is None:
        return name
    found.say(defect.code, f"{where}: {defect.message}", defect.span)
    return name if defect.code.is_contract else None


def _read_arguments(
    function: JsonObject, where: str, found: _Findings, *, is_last: bool
) -> tuple[JsonObject, Span] | None:
    """Return the decoded arguments and their span, or None with what is wrong with them."""
    if "arguments" not in function:
        found.say(DefectCode.MISSING_ARGUMENTS, f"{where} has no arguments", Span(0, 0))
        return None
    raw = function["arguments"]
    if isinstance(raw, Mapping):
        # The contract says a string; some servers send the object itself, in every answer, and lose nothing.
        message = f"{where}: the arguments are an object, not a string that holds one"
        found.note(NoteCode.ARGUMENTS_AS_OBJECT, message, Span(0, 0))
        _judge_leaks(raw, "", where, found)
        return raw, Span(0, 0)
    if not isinstance(raw, str):
        message = f"{where}: the arguments are {kind_of(raw)}, not a string that holds an object"
        found.say(DefectCode.ARGUMENTS_NOT_OBJECT, message, Span(0, 0))
        return None
    whole = Span(0, len(raw))
    if not raw.strip():
        if found.is_cut and is_last:
            _end_open(where, found, whole)
        else:
            message = f"{where}: the arguments are an empty string, not an object"
            found.say(DefectCode.ARGUMENTS_EMPTY_STRING, message, whole)
        return None
    return _decode_arguments(raw, where, found, is_last=is_last)


def _decode_arguments(
    raw: str, where: str, found: _Findings, *, is_last: bool
) -> tuple[JsonObject, Span] | None:
    start = len(raw) - len(raw.lstrip(" \t\n\r"))
    read = decode(raw, start)
    if isinstance(read, JsonError):
        _say_duplicates(raw, read.duplicates, where, found)
        if read.fault is JsonFault.INVALID:
            place = Span(read.position, min(read.position + 1, len(raw)))
            found.say(DefectCode.INVALID_JSON, f"{where}, in the arguments: {read.message}", place)
        elif is_last:
            _end_open(where, found, Span(0, len(raw)))
        else:
            message = f"{where}: the arguments end before they are whole"
            found.say(DefectCode.TRUNCATED_JSON, message, Span(read.position, read.position))
        return None
    span = Span(start, read.end)
    rest = raw[read.end :]
    known = len(found.defects)
    _say_duplicates(raw, read.duplicates, where, found)
    shape = arguments_defect(read.value, span)
    if shape is not None:
        found.say(shape.code, f"{where}: {shape.message}", span)
    elif rest.strip(" \t\n\r"):
        place = Span(len(raw) - len(rest.lstrip(" \t\n\r")), len(raw.rstrip(" \t\n\r")))
        message = f"{where}: {shorten(raw[place.start : place.end])} follows the arguments"
        found.say(DefectCode.TRAILING_DATA, message, place)
    if len(found.defects) > known or not isinstance(read.value, Mapping):
        return None
    _judge_leaks(read.value, raw, where, found)
    return read.value, span


def _say_duplicates(raw: str, duplicates: Sequence[Span], where: str, found: _Findings) -> None:
    for defect in duplicate_defects(raw, duplicates):
        found.say(defect.code, f"{where}, in the arguments: {defect.message}", defect.span)


def _end_open(where: str, found: _Findings, span: Span) -> None:
    found.is_open = True
    message = f"{where}: the arguments end before they are whole, and nothing follows"
    found.say(DefectCode.UNCLOSED_BLOCK, message, span)


def _judge_leaks(arguments: JsonObject, raw: str, where: str, found: _Findings) -> None:
    """Say if a tag of the dialect stands in a key or a string of the arguments; the call stays one."""
    if raw and "\\" not in raw and not any(tag in raw for tag in found.dialect.tags):
        return  # without escapes the strings are as they stand
    todo: list[Json] = [arguments]
    while todo:
        value = todo.pop()
        if isinstance(value, Mapping):
            todo.extend(value.values())
            todo.extend(value)
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str):
            tag = next((tag for tag in found.dialect.tags if tag in value), None)
            if tag is not None:
                start = raw.find(tag)
                place = Span(start, start + len(tag)) if start >= 0 else Span(0, len(raw))
                message = f"{where}: {shorten(tag)} stands in the arguments"
                found.say(DefectCode.MARKUP_IN_ARGUMENTS, message, place)
                return
