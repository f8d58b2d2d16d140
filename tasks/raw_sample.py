"""The edge of samples: one raw JSON object becomes a `Sample`, or says what is wrong with which member."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, ValidationError
from pydantic_core import ErrorDetails

from ..parsers.contract import schema_defects
from ..parsers.result import Json, JsonObject, Span
from ..parsers.tools import Tools, ToolSchemaError, compile_tools
from .bfcl_terms import BfclTerms
from .json_lines import json_value
from .problems import SampleError
from .raw_bfcl import RawTerms, TermsError, terms_from_raw, terms_to_json
from .request_fields import PLANNED_FIELDS
from .sample import Expected, ExpectedCall, MatchRule, Sample
from .values import member_path, shown

DEFAULT_CATEGORY = "uncategorised"
LONGEST_NAME = 200
_TOOL_CHOICE_EXPECTED = (
    'expected "auto", "required", "none" or {"type": "function", "function": {"name": "…"}}'
)


def _printable_name(value: str) -> str:
    is_plain = value.isprintable() or not any(_breaks_a_line(character) for character in value)
    if not 1 <= len(value) <= LONGEST_NAME or not is_plain:
        raise ValueError(
            f"is {shown(value)}, expected 1 to {LONGEST_NAME} characters, no control character among them"
        )
    return value


def _breaks_a_line(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Zl", "Zp"}


def _message_content(value: object) -> object:
    if not isinstance(value, str | list | None):
        raise ValueError(f"is {shown(cast('Json', value))}, expected a string, a list of parts or null")  # noqa: TRY004
    return cast("object", value)


def _match_rule(value: object) -> MatchRule:
    match value:
        case "exact" | "bfcl":
            return MatchRule(value)
        case _:
            raise ValueError(f'is {shown(cast("Json", value))}, expected "exact" or "bfcl"')


def _tool_choice(value: object) -> object:
    match value:
        case "auto" | "required" | "none":
            return value
        case {"function": {"name": str(name)}} if value == {"type": "function", "function": {"name": name}}:
            return value
        case _:
            raise ValueError(f"is {shown(cast('Json', value))}, {_TOOL_CHOICE_EXPECTED}")


def _extra_body(value: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(PLANNED_FIELDS & value.keys()):
        raise ValueError(f"has {', '.join(taken)}, expected fields that the plan does not set")
    return value


_Name: TypeAlias = Annotated[str, AfterValidator(_printable_name)]


class _Raw(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _RawMessage(_Raw):
    """What is checked of a chat message; its other members are the server's business."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Annotated[Any, PlainValidator(_message_content)] = None


class _RawCall(_Raw):
    name: str
    arguments: dict[str, list[Any]]
    optional: list[str] = Field(default_factory=list[str])


class _RawExpected(_Raw):
    calls: list[_RawCall]
    match: Annotated[MatchRule, PlainValidator(_match_rule)] = MatchRule.EXACT
    bfcl: RawTerms | None = None


class _RawSample(_Raw):
    id: _Name
    category: _Name = DEFAULT_CATEGORY
    messages: Annotated[list[_RawMessage], Field(min_length=1)]
    tools: list[dict[str, Any]] | None = None
    tools_unchecked: bool = False
    tool_choice: Annotated[Any, PlainValidator(_tool_choice)] = "auto"
    expected: _RawExpected | None = None
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    extra_body: Annotated[dict[str, Any], AfterValidator(_extra_body)] = Field(default_factory=dict[str, Any])


class _CheckedSample(_RawSample):
    """A sample of a run: its messages were checked when the run was made."""

    messages: Annotated[list[Any], Field(min_length=1)]


def sample_from_json(raw: object, *, is_redacted: bool = False, is_checked: bool = False) -> Sample:
    """Read one raw sample.

    Args:
        raw: What a line of a suite file holds, as the JSON reader gives it.
        is_redacted: Its values are hashes, which no schema takes; it was checked before they were.
        is_checked: Its messages, tools and labels were checked when its run was made, which takes longer than
            reading.

    Returns:
        The sample, its tools compiled. Messages, tools, values and metadata are the given objects, unchanged.

    Raises:
        SampleError: The first thing that is wrong: a member missing, unknown or of a wrong type; a tool
            schema that is none (unless the sample says `tools_unchecked`); an expected call that names no
        declared tool or that its schema refuses.
    """
    try:
        read = (_CheckedSample if is_checked else _RawSample).model_validate(raw)
    except ValidationError as error:
        raise _sample_error(error.errors(include_url=False)[0]) from None
    members = cast("Mapping[str, Json]", raw)
    try:
        tools = _tools(read, is_redacted=is_redacted, is_checked=is_checked)
    except ToolSchemaError as error:
        raise SampleError("tools", str(error)) from None
    _check_tool_choice(read.tool_choice, tools)
    return Sample(
        id=read.id,
        category=read.category,
        # Not read.messages: what is sent is what was written, in its order of members.
        messages=tuple(cast("list[JsonObject]", members["messages"])),
        tools=tools,
        expected=None
        if read.expected is None
        else _expected(read.expected, tools, is_checked=is_redacted or is_checked),
        tool_choice=cast("Json", read.tool_choice),
        metadata=cast("JsonObject", read.metadata),
        extra_body=cast("JsonObject", read.extra_body),
    )


def _tools(read: _RawSample, *, is_redacted: bool, is_checked: bool) -> Tools:
    """Compile the tools of a sample; most samples of a suite share theirs with others."""
    if not read.tools and read.expected is not None:
        raise SampleError("tools", "is missing" if read.tools is None else "is empty, expected at least one")
    declared = _text_of(read.tools or [])
    may_be_unchecked = is_redacted or (read.tools_unchecked and read.expected is None)
    # What may be wrong and kept has to be looked at each time: the check says which tools are.
    return compile_declared(
        declared, may_be_unchecked=may_be_unchecked, is_checked=is_checked and not may_be_unchecked
    )


def _text_of(declared: list[dict[str, Any]]) -> bytes | str:
    try:
        return msgspec.json.encode(declared)
    except (ValueError, RecursionError):
        return json.dumps(declared)  # which can write lone surrogates


@lru_cache(maxsize=256)
def compile_declared(declared: bytes | str, *, may_be_unchecked: bool, is_checked: bool) -> Tools:
    """Compile the tools that a JSON text declares, once for all samples that declare the same.

    Raises:
        ToolSchemaError: See `compile_tools`.
        SampleError: The text is no JSON, or no list.
    """
    text = declared if isinstance(declared, str) else declared.decode("utf-8")
    # A level down, as they stand in a sample: how deep a line may be nested is a matter of the whole line.
    (read,) = cast("list[Json]", json_value(f"[{text}]"))
    if not isinstance(read, list):
        raise SampleError("tools", f"is {shown(read)}, expected a list")
    return compile_tools(read, may_be_unchecked=may_be_unchecked, is_checked=is_checked)


def sample_to_json(sample: Sample) -> dict[str, Json]:
    """Return the raw sample that reads as this one; defaults that say nothing are left out."""
    raw: dict[str, Json] = {
        "id": sample.id,
        "category": sample.category,
        "messages": list(sample.messages),
        "tools": list(sample.tools.declared),
        "tool_choice": sample.tool_choice,
        "expected": None if sample.expected is None else _expected_to_json(sample.expected),
    }
    if sample.tools.unchecked:
        raw["tools_unchecked"] = True
    if sample.metadata:
        raw["metadata"] = sample.metadata
    if sample.extra_body:
        raw["extra_body"] = sample.extra_body
    return raw


def _expected_to_json(expected: Expected) -> dict[str, Json]:
    raw: dict[str, Json] = {"calls": [_call_to_json(call) for call in expected.calls]}
    if expected.match is not MatchRule.EXACT:
        raw["match"] = expected.match.value
    if expected.bfcl is not None:
        raw["bfcl"] = terms_to_json(expected.bfcl)
    return raw


def _call_to_json(call: ExpectedCall) -> dict[str, Json]:
    raw: dict[str, Json] = {"name": call.name, "arguments": dict(call.arguments)}
    if call.optional:
        raw["optional"] = [name for name in call.arguments if name in call.optional]
    return raw


def _check_tool_choice(choice: object, tools: Tools) -> None:
    match choice:
        case {"function": {"name": str(name)}} if name not in tools.functions:
            raise SampleError("tool_choice.function.name", _undeclared(name, tools))
        case _:
            pass


def _expected(read: _RawExpected, tools: Tools, *, is_checked: bool) -> Expected:
    calls: list[ExpectedCall] = []
    for position, raw in enumerate(read.calls):
        field = f"expected.calls[{position}]"
        for name in raw.optional:
            if name not in raw.arguments:
                raise SampleError(
                    f"{field}.optional", f"names {shown(name)}, expected a parameter of `arguments`"
                )
        call = ExpectedCall(raw.name, cast("dict[str, list[Json]]", raw.arguments), frozenset(raw.optional))
        if call.name not in tools.functions:
            raise SampleError(f"{field}.name", _undeclared(call.name, tools))
        # That benchmark lists values that its own schemas refuse, and its checker does not ask them.
        if read.match is MatchRule.EXACT and not is_checked:
            _check_values(call, tools, field)
        calls.append(call)
    return Expected(tuple(calls), read.match, _terms(read, calls, tools))


def _terms(read: _RawExpected, calls: list[ExpectedCall], tools: Tools) -> BfclTerms | None:
    if read.match is not MatchRule.BFCL:
        if read.bfcl is not None:
            raise SampleError("expected.bfcl", 'goes with "match": "bfcl" only')
        return None
    try:
        return terms_from_raw(read.bfcl, calls, tools)
    except TermsError as error:
        raise SampleError(f"expected.{error.field}", str(error)) from None


def _check_values(call: ExpectedCall, tools: Tools, field: str) -> None:
    for name, values in call.arguments.items():
        if not values:
            place = member_path(f"{field}.arguments", name)
            raise SampleError(place, "is empty, expected at least one")
    _check_against_schema(call, tools, field)


def _check_against_schema(call: ExpectedCall, tools: Tools, field: str) -> None:
    """Refuse an expected call that no client could dispatch: grading would call a right answer malformed."""
    for place, choices in _variants(call, f"{field}.arguments"):
        problems = [schema_defects(tools, call.name, choice, Span(0, 0)) for choice in choices]
        if all(problems):
            raise SampleError(place, f"is refused by the tool's own schema: {problems[0][0].message}")


def _variants(call: ExpectedCall, field: str) -> Iterator[tuple[str, list[dict[str, Json]]]]:
    """Yield each place with the argument objects of which one must fit.

    First the call without its optional parameters, then each value of each parameter: with the optional ones
    left out or with all of them, since a schema may demand one beside another, or forbid it.
    """
    shortest = {name: values[0] for name, values in call.arguments.items() if name not in call.optional}
    longest = {name: values[0] for name, values in call.arguments.items()}
    yield field, [shortest]
    for name, values in call.arguments.items():
        for position, value in enumerate(values):
            place = f"{member_path(field, name)}[{position}]"
            yield place, [{**shortest, name: value}, {**longest, name: value}]


def _undeclared(name: str, tools: Tools) -> str:
    return f"is {shown(name)}, expected a declared tool ({', '.join(tools.functions)})"


def _sample_error(error: ErrorDetails) -> SampleError:
    """Say what pydantic found in the words of this tool: what is there, and what was expected."""
    place = ""
    for step in error["loc"]:
        place = f"{place}[{step}]" if isinstance(step, int) else member_path(place, step)
    place = place.removeprefix(".")
    came = shown(cast("Json", error["input"]))
    match error["type"]:
        case "missing":
            return SampleError(place, "is missing")
        case "extra_forbidden":
            return SampleError(place, "is no known member")
        case "too_short":
            return SampleError(place, "is empty, expected at least one")
        case "model_type":
            return SampleError(place, f"is {came}, expected a JSON object")
        case "value_error":
            return SampleError(place, error["msg"].removeprefix("Value error, "))
        case _:
            return SampleError(place, f"is {came}, expected {error['msg'].removeprefix('Input should be ')}")
