"""Schemas so plain that a right value is accepted at once; of every other value the validator tells.

A validator walks a schema anew for each value, and takes ten times as long as decoding the value did. Most
schemas of tools are of a few keywords, and most arguments right. What is accepted here jsonschema accepts:
the rules are its own (JSON Schema 2020-12), and a keyword that is not known here makes a schema not plain.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

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


_NONE = type(None)
_EVERY_TYPE = frozenset((str, int, float, bool, _NONE, list, dict))
_TYPES: dict[Json, frozenset[type]] = {
    "string": frozenset((str,)),
    "integer": frozenset((int, float)),  # 5.0 is one; 5.5 is refused by a check
    "number": frozenset((int, float)),
    "boolean": frozenset((bool,)),
    "null": frozenset((_NONE,)),
    "array": frozenset((list,)),
    "object": frozenset((dict,)),
}
_NUMBERS = frozenset((int, float))
# Which values a keyword limits, and how; it says nothing of others.
_BOUNDS: dict[str, tuple[frozenset[type], Callable[[Any, Any], bool]]] = {
    "minimum": (_NUMBERS, operator.ge),
    "maximum": (_NUMBERS, operator.le),
    "exclusiveMinimum": (_NUMBERS, operator.gt),
    "exclusiveMaximum": (_NUMBERS, operator.lt),
    "minItems": (_TYPES["array"], lambda value, least: len(value) >= least),
    "maxItems": (_TYPES["array"], lambda value, most: len(value) <= most),
    "minLength": (_TYPES["string"], lambda value, least: len(value) >= least),
    "maxLength": (_TYPES["string"], lambda value, most: len(value) <= most),
}


@dataclass(frozen=True, slots=True)
class _Plain:
    """What a plain schema accepts: values of these types (`bool` is no `int` here) that pass the checks."""

    types: frozenset[type] = _EVERY_TYPE
    checks: tuple[Accepts, ...] = ()

    @property
    def check(self) -> Accepts | None:
        """All the checks as one, or None."""
        match self.checks:
            case ():
                return None
            case (check,):
                return check
            case checks:
                return lambda value: all(check(value) for check in checks)


def plain_schema(schema: Json, *, is_exact: bool = False) -> Accepts | None:
    """Return what accepts the values of a schema, or None if the schema is not plain.

    Args:
        schema: A JSON schema.
        is_exact: Accept only what not even a note tells of: no float where an integer is asked for.
    """
    plain = _read(schema, is_exact=is_exact)
    if plain is None:
        return None
    types, check = plain.types, plain.check
    if check is None:
        return lambda value: type(value) in types
    return lambda value: type(value) in types and check(value)


def _read(schema: Json, *, is_exact: bool) -> _Plain | None:
    if schema is True:
        return _Plain()
    if not isinstance(schema, Mapping):
        return None
    types, checks = _EVERY_TYPE, list[Accepts]()
    for keyword, wanted in schema.items():
        if keyword in _SAYS_NOTHING or keyword in _OF_OBJECTS:
            continue
        found = _read_keyword(keyword, wanted, is_exact=is_exact)
        if found is None:
            return None
        types &= found.types
        checks += found.checks
    if _OF_OBJECTS & schema.keys():
        members = _members(schema, is_exact=is_exact)
        if members is None:
            return None
        checks.append(members)
    return _Plain(types, tuple(checks))


def _read_keyword(keyword: str, wanted: Json, *, is_exact: bool) -> _Plain | None:
    """Return what one keyword accepts, or None if it is not known here."""
    match keyword, wanted:
        case "type", str() if wanted in _TYPES:
            return _of_types({wanted}, is_exact=is_exact)
        case "type", [*names] if all(isinstance(name, str) and name in _TYPES for name in names):
            return _of_types({str(name) for name in names}, is_exact=is_exact)
        case "enum", [*choices]:
            return _one_of(choices)
        case "items", _ if (item := _read(wanted, is_exact=is_exact)) is not None:
            return _Plain(checks=(_items(item),))
        case _, int() | float() if keyword in _BOUNDS:
            return _Plain(checks=(_bound(keyword, wanted),))
        case _:
            return None


def _of_types(names: set[str], *, is_exact: bool) -> _Plain:
    types = frozenset[type]().union(*(_TYPES[name] for name in names))
    if "integer" not in names or "number" in names:
        return _Plain(types)
    if is_exact:
        return _Plain(types - {float})
    return _Plain(types, (lambda value: type(value) is not float or value.is_integer(),))


def _one_of(choices: list[Json]) -> _Plain:
    """Accept a scalar that stands among the choices as it is; of others the validator knows: 1 is 1.0."""
    scalars = [choice for choice in choices if not isinstance(choice, list | Mapping)]
    types = frozenset(map(type, scalars))
    if types == _TYPES["string"]:
        return _Plain(types, (frozenset(scalars).__contains__,))
    known = frozenset((type(choice), choice) for choice in scalars)
    return _Plain(types, (lambda value: (type(value), value) in known,))


def _bound(keyword: str, wanted: float) -> Accepts:
    types, is_within = _BOUNDS[keyword]
    return lambda value: type(value) not in types or is_within(value, wanted)


def _items(item: _Plain) -> Accepts:
    types, check = item.types, item.check

    def accepts(value: Json) -> bool:
        if not isinstance(value, list):
            return True  # this keyword is about lists alone
        return types.issuperset(map(type, value)) and (check is None or all(map(check, value)))

    return accepts


def _members(schema: Mapping[str, Json], *, is_exact: bool) -> Accepts | None:
    """Return what the keywords about an object's members accept."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    more = schema.get("additionalProperties", True)
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return None
    members = {name: _read(member, is_exact=is_exact) for name, member in properties.items()}
    others = _Plain(frozenset()) if more is False else _read(more, is_exact=is_exact)
    if others is None or None in members.values():
        return None
    kinds = {name: (plain.types, plain.check) for name, plain in members.items() if plain is not None}
    otherwise = others.types, others.check

    def accepts(value: Json) -> bool:
        if not isinstance(value, dict):
            return True  # these keywords are about objects alone
        for name in required:
            if name not in value:
                return False
        for name, member in value.items():
            types, check = kinds.get(name, otherwise)
            if type(member) not in types or (check is not None and not check(member)):
                return False
        return True

    return accepts
