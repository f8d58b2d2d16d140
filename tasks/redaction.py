"""Samples without their contents: keyed hashes where prompts, values and descriptions stood.

What is equal as JSON has equal hashes, so calls are compared as before; what a hash was made of nobody can
tell without the samples themselves, from which the key is derived and which are not in the run directory.
Names of functions and parameters, ids, types and the shape of everything stay in clear.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..errors import UserError
from ..parsers.result import Json, JsonObject
from .sample import Expected, ExpectedCall, MatchRule, Sample
from .suite import canonical_lines
from .values import identity

# Another domain than the suite's digest, which stands in run.json and must not be the key.
_DOMAIN = b"draftproof redaction 1\n"
_DIGITS = 32
# Keywords whose members are named by the author and hold schemas, and keywords that are shape, not content.
_SCHEMA_MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_SHAPE = frozenset(("type", "required", "$ref", "$dynamicRef", "$anchor", "$dynamicAnchor", "$id", "$schema"))
_CALL_MEMBERS = frozenset(("id", "index", "type", "function", "name", "arguments"))
_PLAIN_DATA = frozenset(("enum", "const", "default", "examples"))


def refuse_unredactable(samples: Iterable[Sample]) -> None:
    """Check that every sample can be judged from hashes.

    Raises:
        UserError: A sample is matched by rules that look into its values.
    """
    for sample in samples:
        if sample.expected is not None and sample.expected.match is MatchRule.BFCL:
            raise UserError(
                f'run.redact: sample {sample.id} has "match": "bfcl", which normalises the text of values; '
                'expected "exact" (hashes are equal or they are not)',
                tip="run it without redact, or leave it out of tasks",
            )


@dataclass(frozen=True, slots=True)
class Hashes:
    """Hashes under the key of one suite; the key is never written anywhere."""

    key: bytes

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "Hashes":
        """The hashes of a suite: the same for the same samples, whatever their order."""
        digest = hashlib.sha256(_DOMAIN)
        for line in canonical_lines(samples):
            digest.update(line)
        return cls(digest.digest())

    def value(self, value: Json) -> str:
        """`hmac:…`, the same for two values exactly when they are equal as JSON."""
        text = identity(value).encode("ascii", "backslashreplace")
        return f"hmac:{hmac.new(self.key, text, hashlib.sha256).hexdigest()[:_DIGITS]}"

    def text(self, text: str) -> str:
        """The hash of a text with its length in characters; nothing where nothing was."""
        return f"{self.value(text)} ({len(text)} characters)" if text else ""

    def content(self, value: Json) -> Json:
        """A member of a message or a request, whatever it is; null stays null."""
        match value:
            case None:
                return None
            case str():
                return self.text(value)
            case _:
                return self.value(value)


def kept_names(sample: Sample) -> frozenset[str]:
    """Names that stay in clear: functions and parameters, as the tools and the labels name them."""
    names = set(sample.tools.functions)
    for schema in sample.tools.functions.values():
        properties = schema.get("properties")
        names.update(properties if isinstance(properties, Mapping) else ())
    for call in () if sample.expected is None else sample.expected.calls:
        names.update(call.arguments)
    return frozenset(names)


def redact_sample(sample: Sample, hashes: Hashes) -> Sample:
    """The sample as it is written: not to be asked, and as good to judge by."""
    names = kept_names(sample)
    return replace(
        sample,
        messages=tuple(redact_message(message, names, hashes) for message in sample.messages),
        tools=replace(
            sample.tools, declared=tuple(redact_tool(tool, names, hashes) for tool in sample.tools.declared)
        ),
        expected=None if sample.expected is None else _expected(sample.expected, hashes),
        metadata={name: hashes.content(value) for name, value in sample.metadata.items()},
        extra_body={name: hashes.content(value) for name, value in sample.extra_body.items()},
    )


def redact_message(message: JsonObject, names: frozenset[str], hashes: Hashes) -> dict[str, Json]:
    """A chat message: role, ids and `names` of functions stay, and so does the shape of parts and calls."""
    redacted: dict[str, Json] = {}
    for member, value in message.items():
        match member, value:
            case "role" | "tool_call_id", str():
                redacted[member] = value
            case "name", str() if value in names and message.get("role") == "tool":
                redacted[member] = value
            case "content", list():
                redacted[member] = [_part(part, hashes) for part in value]
            case "tool_calls", _:
                redacted[member] = redact_calls(value, names, hashes)
            case _:
                redacted[member] = hashes.content(value)
    return redacted


def redact_calls(calls: Json, names: frozenset[str], hashes: Hashes) -> Json:
    """`tool_calls` of a message: ids stay, and a function's name if it is one of `names`."""
    if not isinstance(calls, list):
        return hashes.content(calls)
    return [_call(call, names, hashes) for call in calls]


def redact_tool(tool: JsonObject, names: frozenset[str], hashes: Hashes) -> dict[str, Json]:
    """A declared tool: names, types and shape of its schema stay; descriptions and listed values do not."""
    redacted: dict[str, Json] = {}
    for member, value in tool.items():
        match member, value:
            case "type", "function":
                redacted[member] = value
            case "function", Mapping():
                redacted[member] = _function(value, names, hashes)
            case _:
                redacted[member] = hashes.content(value)
    return redacted


def _function(function: JsonObject, names: frozenset[str], hashes: Hashes) -> dict[str, Json]:
    redacted: dict[str, Json] = {}
    for member, value in function.items():
        match member, value:
            case "name", str() if value in names:
                redacted[member] = value
            case "parameters", _:
                redacted[member] = _schema(value, hashes)
            case _:
                redacted[member] = hashes.content(value)
    return redacted


def _schema(schema: Json, hashes: Hashes) -> Json:
    match schema:
        case Mapping():
            return {keyword: _keyword(keyword, value, hashes) for keyword, value in schema.items()}
        case list():
            return [_schema(item, hashes) for item in schema]
        case str():
            return hashes.text(schema)
        case _:
            return schema


def _keyword(keyword: str, value: Json, hashes: Hashes) -> Json:
    match value:
        case list() if keyword in ("enum", "examples"):
            return [hashes.value(item) for item in value]
        case _ if keyword in _PLAIN_DATA:
            return hashes.value(value)
        case Mapping() if keyword in _SCHEMA_MAPS:
            return {name: _schema(item, hashes) for name, item in value.items()}
        case str() | list() if keyword in _SHAPE:
            is_plain = isinstance(value, str) or all(isinstance(item, str) for item in value)
            return value if is_plain else _schema(value, hashes)
        case _:
            return _schema(value, hashes)


def _part(part: Json, hashes: Hashes) -> Json:
    """One part of a message's content: its type stays."""
    if not isinstance(part, Mapping):
        return hashes.content(part)
    return {
        member: value if member == "type" and isinstance(value, str) else hashes.content(value)
        for member, value in part.items()
    }


def _call(call: Json, names: frozenset[str], hashes: Hashes) -> Json:
    """One entry of `tool_calls`; a server may send any JSON, and then its keys are no names of ours."""
    if not isinstance(call, Mapping):
        return hashes.content(call)
    redacted: dict[str, Json] = {}
    for member, value in call.items():
        match member, value:
            case ("id", str()) | ("index", int()) | ("type", "function"):
                redacted[member] = value
            case "function", Mapping():
                redacted[member] = _function_of_call(value, names, hashes)
            case _:
                redacted[member if member in _CALL_MEMBERS else hashes.value(member)] = hashes.content(value)
    return redacted


def _function_of_call(function: JsonObject, names: frozenset[str], hashes: Hashes) -> dict[str, Json]:
    redacted: dict[str, Json] = {}
    for member, value in function.items():
        match member, value:
            case "name", str() if value in names:
                redacted[member] = value
            case _:
                redacted[member if member in _CALL_MEMBERS else hashes.value(member)] = hashes.content(value)
    return redacted


def _expected(expected: Expected, hashes: Hashes) -> Expected:
    return replace(expected, calls=tuple(_expected_call(call, hashes) for call in expected.calls))


def _expected_call(call: ExpectedCall, hashes: Hashes) -> ExpectedCall:
    values: dict[str, list[Json]] = {
        name: [hashes.value(value) for value in right] for name, right in call.arguments.items()
    }
    return replace(call, arguments=values)
