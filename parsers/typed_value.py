"""Raw values of the XML grammars, which carry no types, read by the schema of the declared tool.

A string parameter takes the text as it is; others are JSON, with `True`, `False` and `None` as noted
spellings. A union is JSON if that fits one of its types other than string, else text; an undeclared
parameter, and any value without tools, stays text.

What does not read as JSON stays text too, which the contract then refuses as `schema_type`, unless it begins
as what the schema asks for and breaks: an object, a list, a number. Then the JSON is at fault.
"""

import re
from dataclasses import dataclass

import msgspec

from .codes import DefectCode, NoteCode
from .json_path import json_path, shorten
from .json_scanner import Decoded, JsonError, JsonFault
from .parameters import NO_KINDS, Kinds, Parameter, Parameters
from .result import Defect, Json, Note, Span
from .strict_json import decode
from .tools import Tools

_WHITESPACE = " \t\n\r"
_NO_PARAMETERS = Parameters({}, {})
_PYTHON_SPELLINGS: dict[str, tuple[bool | None, str]] = {
    "True": (True, "true"),
    "False": (False, "false"),
    "None": (None, "null"),
}
_JSON_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_SHORT_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_STRING_ONLY: Kinds = frozenset({"string"})
_CONTAINERS = {"{": "object", "[": "array"}
# Numbers as people and Python write them: what JSON refuses among these is a broken number, not a text.
_NUMBER_LIKE = re.compile(
    r"[+-]?(?:(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]*+)?|NaN|Infinity)[ \t\n\r]*+"
)


class TypedValue(msgspec.Struct, frozen=True):
    """A raw value as read. With `defects` the JSON is broken, and the call with it: `value` is the text."""

    value: Json
    defects: tuple[Defect, ...] = ()
    notes: tuple[Note, ...] = ()


class ValueReader:
    """Reads raw values, one after another, by the schemas of the same tools."""

    def __init__(self, tools: Tools | None) -> None:
        self._parameters = _NO_PARAMETERS if tools is None else tools.parameters

    def is_declared(self, function: str, key: str) -> bool:
        """Return True if the schema of a function says something about a parameter of this name."""
        return self._parameters.find(function, key) is not None

    def read(self, function: str, key: str, raw: str, start: int) -> TypedValue:
        """Read one value.

        Args:
            function: The name of the function that is called.
            key: The name of the parameter.
            raw: The text of the value, without what the grammar puts around it.
            start: Where the value begins in the text that the spans count in.
        """
        parameter = self._parameters.find(function, key)
        if parameter is None or parameter.kinds in {NO_KINDS, _STRING_ONLY}:
            return TypedValue(raw)
        place = _Place(f"{function}: {json_path((key,))}", start)
        stripped = raw.strip(_WHITESPACE)
        if stripped in _PYTHON_SPELLINGS:
            value, json_spelling = _PYTHON_SPELLINGS[stripped]
            if "string" in parameter.kinds and not self._is_other(function, parameter, value):
                return TypedValue(raw)
            message = f"{place.path} is written {stripped}, as in Python; JSON writes {json_spelling}"
            note = Note(NoteCode.PYTHON_SPELLING, message, Span(start, start + len(raw)))
            return TypedValue(value, notes=(note,))
        read = _decode(raw)
        if isinstance(read, Decoded) and not read.duplicates and not raw[read.end :].strip(_WHITESPACE):
            if "string" in parameter.kinds and not self._is_other(function, parameter, read.value):
                return TypedValue(raw)
            return TypedValue(read.value)
        if "string" in parameter.kinds or not _is_attempted(raw, parameter.kinds):
            return TypedValue(raw)
        return TypedValue(raw, tuple(_defects(raw, read, place)))

    def _is_other(self, function: str, parameter: Parameter, value: Json) -> bool:
        """Return True if a value fits a union as something other than a string."""
        return not isinstance(value, str) and self._parameters.is_valid(function, parameter, value)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: its path, with the name of the function, and its place in the text."""

    path: str
    start: int

    def defect(self, code: DefectCode, clause: str, start: int, end: int) -> Defect:
        return Defect(code, f"{self.path}: {clause}", Span(self.start + start, self.start + end))


def _decode(raw: str) -> Decoded | JsonError:
    """Decode a value; most are so short that the scanner would take longer to set up than to read them."""
    if raw in _JSON_WORDS:
        return Decoded(_JSON_WORDS[raw], len(raw))
    return Decoded(int(raw), len(raw)) if _SHORT_INTEGER.fullmatch(raw) else decode(raw)


def _is_attempted(raw: str, kinds: Kinds) -> bool:
    """Return True if a value begins as JSON of a kind that is asked for."""
    first = raw.lstrip(_WHITESPACE)[:1]
    if first in _CONTAINERS:
        return _CONTAINERS[first] in kinds
    return "number" in kinds and _NUMBER_LIKE.fullmatch(raw.lstrip(_WHITESPACE)) is not None


def _defects(raw: str, read: Decoded | JsonError, place: _Place) -> list[Defect]:
    """Say how the JSON of a value breaks: repeated keys first, then the place where it goes wrong."""
    defects = [
        place.defect(
            DefectCode.DUPLICATE_KEY, f"the key {shorten(raw[start + 1 : end - 1])} stands twice", start, end
        )
        for start, end in read.duplicates
    ]
    if isinstance(read, Decoded):
        rest = len(raw) - len(raw[read.end :].lstrip(_WHITESPACE))
        if rest < len(raw):
            end = len(raw.rstrip(_WHITESPACE))
            clause = f"{shorten(raw[rest : rest + 100], 40)} follows the value"
            defects.append(place.defect(DefectCode.TRAILING_DATA, clause, rest, end))
    elif read.fault is JsonFault.TRUNCATED:
        clause = "the JSON ends before it is whole, and the value is closed"
        defects.append(place.defect(DefectCode.TRUNCATED_JSON, clause, len(raw), len(raw)))
    else:
        defects.append(place.defect(DefectCode.INVALID_JSON, read.message, read.position, read.position + 1))
    return defects
