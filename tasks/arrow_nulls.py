"""Nulls that Arrow made: in a column of structs, a member that a row lacks reads as null.

A tool schema with such nulls is none, or another one. Where a null can be nothing else (no keyword of JSON
Schema but `default` and `const` takes null, and the chat interface reads null as absent), it is taken out and
counted. Where it could be meant, the row cannot be told from another, and is left out. Columns of JSON text
have none of this, and are the better way to keep schemas.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ..parsers.json_path import json_path
from ..parsers.result import Json, JsonObject
from .problems import SampleError

Steps: TypeAlias = tuple[str | int, ...]
Read: TypeAlias = "Callable[[JsonObject, Steps], JsonObject]"

_NULLABLE = frozenset(("default", "const"))
_DATA_KEYWORDS = _NULLABLE | {"enum", "examples"}
_MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_AMBIGUOUS = (
    "is null in a column of structs, where a null and a member that is missing cannot be told apart; "
    "keep this column as JSON text"
)


class NullsTakenOut:
    """Takes nulls out of one row's members, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def row(self, members: JsonObject) -> JsonObject:
        """Return a row without the nulls that Arrow made.

        Raises:
            SampleError: A null stands where it could be meant.
        """
        kept: dict[str, Json] = {}
        for name, value in members.items():
            if value is None:
                continue
            match name:
                case "tools":
                    kept[name] = self._each(value, (name,), self._tool)
                case "messages" | "conversations":
                    kept[name] = self._each(value, (name,), self._turn)
                case _:
                    refuse_nulls(value, (name,))
                    kept[name] = value
        return kept

    def _each(self, value: Json, path: Steps, read: Read) -> Json:
        if not isinstance(value, list):
            return value
        return [
            read(item, (*path, number)) if isinstance(item, Mapping) else item
            for number, item in enumerate(value)
        ]

    def _tool(self, tool: JsonObject, path: Steps) -> JsonObject:
        """A tool object, or the function object alone."""
        kept: dict[str, Json] = {}
        for name, value in self._without_nulls(tool):
            inner = (*path, name)
            match value:
                case Mapping() if name == "function":
                    kept[name] = self._tool(value, inner)
                case Mapping() if name == "parameters":
                    kept[name] = self._schema(value, inner)
                case _:
                    refuse_nulls(value, inner)
                    kept[name] = value
        return kept

    def _schema(self, schema: JsonObject, path: Steps) -> JsonObject:
        kept: dict[str, Json] = {}
        for keyword, value in schema.items():
            inner = (*path, keyword)
            if value is None and keyword not in _NULLABLE:
                self.count += 1
            elif keyword in _DATA_KEYWORDS:
                refuse_nulls(value, inner)
                kept[keyword] = value
            elif isinstance(value, Mapping) and keyword in _MAPS:
                kept[keyword] = self._map(value, inner)
            elif isinstance(value, Mapping):
                kept[keyword] = self._schema(value, inner)
            else:
                kept[keyword] = self._each(value, inner, self._schema)
        return kept

    def _map(self, schemas: JsonObject, path: Steps) -> JsonObject:
        kept: dict[str, Json] = {}
        for name, value in self._without_nulls(schemas):
            if isinstance(value, Mapping) and value and all(one is None for one in value.values()):
                # A schema that says nothing, or one that is not there.
                raise SampleError(_place((*path, name)), f"holds nothing that is not null: it {_AMBIGUOUS}")
            kept[name] = self._schema(value, (*path, name)) if isinstance(value, Mapping) else value
        return kept

    def _turn(self, turn: JsonObject, path: Steps) -> JsonObject:
        kept: dict[str, Json] = {}
        for name, value in turn.items():
            inner = (*path, name)
            if name == "content" and value is None:
                kept[name] = None
            elif value is None:
                self.count += 1
            elif name == "tool_calls":
                kept[name] = self._each(value, inner, self._call)
            else:
                kept[name] = self._each(value, inner, self._part)
        return kept

    def _call(self, call: JsonObject, path: Steps) -> JsonObject:
        kept: dict[str, Json] = {}
        for name, value in self._without_nulls(call):
            inner = (*path, name)
            if name == "arguments":
                refuse_nulls(value, inner)
            kept[name] = (
                self._call(value, inner) if name == "function" and isinstance(value, Mapping) else value
            )
        return kept

    def _part(self, part: JsonObject, _path: Steps) -> JsonObject:
        return dict(self._without_nulls(part))

    def _without_nulls(self, members: JsonObject) -> list[tuple[str, Json]]:
        self.count += sum(value is None for value in members.values())
        return [(name, value) for name, value in members.items() if value is not None]


def refuse_nulls(value: Json, path: Steps) -> None:
    """Raise a SampleError at the first null member of a value; null items of lists are nobody's doing."""
    if value is None:
        raise SampleError(_place(path), _AMBIGUOUS)
    pending: list[tuple[Json, Steps]] = [(value, path)]
    while pending:
        current, place = pending.pop()
        if isinstance(current, Mapping):
            for name, member in current.items():
                if member is None:
                    raise SampleError(_place((*place, name)), _AMBIGUOUS)
                pending.append((member, (*place, name)))
        elif isinstance(current, list):
            pending += [(item, (*place, number)) for number, item in enumerate(current)]


def _place(path: Steps) -> str:
    return json_path(path).removeprefix("$.")
