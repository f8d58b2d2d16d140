"""Schemas so plain that a right value is accepted at once; of every other value the validator tells.

A validator walks a schema anew for each value, and takes ten times as long as decoding the value did. Most
schemas of tools are of a few keywords, and most arguments right. What is accepted here jsonschema accepts:
the rules are its own (JSON Schema 2020-12), and a keyword that is not known here makes a schema not plain.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from .result import Json

# True: surely valid. False: the validator says.
Accepts: TypeAlias = Callable[[Json], bool]

_SAYS_NOTHING = frozenset(
    (
        "title",
        "description",
        "default",
        "examples",
        "format",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
    )
)
_OF_OBJECTS = frozenset(("properties", "required", "additionalProperties"))


def _is_integer(value: Json) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


_TYPES: dict[Json, Accepts] = {
    "string": lambda value: type(value) is str,
    "integer": _is_integer,
    "number": lambda value: type(value) is int or type(value) is float,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
}


def _anything(_value: Json) -> bool:
    return True


def plain_schema(schema: Json) -> Accepts | None:
    """Return what accepts the values of a schema, or None if the schema is not plain."""
    if schema is True:
        return _anything
    if not isinstance(schema, Mapping):
        return None
    checks: list[Accepts | None] = [
        _check(keyword, wanted)
        for keyword, wanted in schema.items()
        if keyword not in _SAYS_NOTHING and keyword not in _OF_OBJECTS
    ]
    if _OF_OBJECTS & schema.keys():
        checks.append(_members(schema))
    known = [check for check in checks if check is not None]
    if len(known) < len(checks):
        return None
    match known:
        case []:
            return _anything
        case [check]:
            return check
        case _:
            return lambda value: all(check(value) for check in known)


def _check(keyword: str, wanted: Json) -> Accepts | None:
    """Return what one keyword accepts, or None if it is not known here."""
    match keyword, wanted:
        case "type", str():
            return _TYPES.get(wanted)
        case "type", [*names] if all(isinstance(name, str) and name in _TYPES for name in names):
            kinds = [_TYPES[name] for name in names]
            return lambda value: any(kind(value) for kind in kinds)
        case "enum", [*choices]:
            # Equality of other values has its own rules: 1 is 1.0 and not true.
            words = frozenset(choice for choice in choices if isinstance(choice, str))
            return lambda value: type(value) is str and value in words
        case "items", _ if (item := plain_schema(wanted)) is not None:
            return lambda value: type(value) is not list or all(map(item, value))
        case _:
            return None


def _members(schema: Mapping[str, Json]) -> Accepts | None:
    """Return what the keywords about an object's members accept."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    more = schema.get("additionalProperties", True)
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return None
    kinds = {name: plain_schema(member) for name, member in properties.items()}
    others = None if more is False else plain_schema(more)
    if None in kinds.values() or (others is None and more is not False):
        return None

    def accepts(value: Json) -> bool:
        if not isinstance(value, dict):
            return not isinstance(value, Mapping)  # these keywords are about objects alone
        for name in required:
            if name not in value:
                return False
        for name, member in value.items():
            kind = kinds.get(name, others)
            if kind is None or not kind(member):
                return False
        return True

    return accepts
