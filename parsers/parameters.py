"""What the declared schemas say about one parameter: its own schema, and which kinds of JSON that takes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from .result import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from referencing.jsonschema import Schema

Kinds = frozenset[str]

NO_KINDS: Kinds = frozenset()
EVERY_KIND: Kinds = frozenset({"string", "number", "boolean", "null", "array", "object"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter: its schema, and the kinds of JSON that can fit it (an integer is a number)."""

    schema: Json
    kinds: Kinds


class Parameters:
    """Finds the parameters of functions by name. It keeps what is declared, once found; else nothing changes.

    Args:
        functions: The parameter schema of each function.
        validators: The validator of each of these schemas.
    """

    def __init__(self, functions: Mapping[str, JsonObject], validators: "Mapping[str, Validator]") -> None:
        self._functions = functions
        self._validators = validators
        self._found: dict[tuple[str, str], Parameter] = {}

    def find(self, function: str, key: str) -> Parameter | None:
        """Return a parameter, or None if it is not declared."""
        found = self._found.get((function, key))
        if found is None and function in self._functions:
            found = _Schemas(self._functions[function]).parameter(key)
            if found is not None:  # what a model makes up is looked up anew each time, and never kept
                self._found[function, key] = found
        return found

    def is_valid(self, function: str, parameter: Parameter, value: Json) -> bool:
        """Return True if a value fits the schema of a parameter; one too large to be checked does not."""
        whole = self._validators[function]
        evolve = cast("Callable[..., Validator]", whole.evolve)  # it keeps what references are looked up in
        try:
            return evolve(schema=parameter.schema).is_valid(value)
        except (RecursionError, ArithmeticError, ValueError, TypeError):
            return False


class _Schemas:
    """Reads the schemas of one function. References lead inside it: `compile_tools` saw to that."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root

    def parameter(self, key: str) -> Parameter | None:
        """Return the parameter of this name, or None."""
        schema = self._schema_of(key, self._root, frozenset())
        return None if schema is None else Parameter(schema, self._kinds(schema, frozenset()))

    def _schema_of(self, key: str, schema: Json, seen: frozenset[str]) -> Json:
        """Return the schema that an object's schema gives to one member, or None if it says nothing."""
        if not isinstance(schema, Mapping):
            return None
        found = _named(key, schema)
        parts: list[Json] = []
        reference = _reference(schema)
        if reference is not None and reference not in seen:
            parts.append(self._schema_of(key, self._resolve(reference), seen | {reference}))
        parts.extend(self._schema_of(key, part, seen) for part in _list(schema, "allOf"))
        for keyword in ("anyOf", "oneOf"):
            choices = [self._schema_of(key, part, seen) for part in _list(schema, keyword)]
            declared: list[Json] = [choice for choice in choices if choice is not None]
            if declared:
                parts.append({"anyOf": declared})
        found.extend(part for part in parts if part is not None)
        if not found:
            return None
        return found[0] if len(found) == 1 else {"allOf": found}

    def _kinds(self, schema: Json, seen: frozenset[str]) -> Kinds:
        """Return the kinds of JSON that a schema may take, by its types, values, references and unions."""
        if not isinstance(schema, Mapping):
            return NO_KINDS if schema is False else EVERY_KIND
        limits: list[Kinds] = []
        if "type" in schema:
            limits.append(frozenset(_kind_named(name) for name in _list(schema, "type")))
        if "enum" in schema:
            limits.append(frozenset(kind_of_json(value) for value in _list(schema, "enum")))
        if "const" in schema:
            limits.append(frozenset({kind_of_json(schema["const"])}))
        reference = _reference(schema)
        if reference is not None and reference not in seen:
            limits.append(self._kinds(self._resolve(reference), seen | {reference}))
        limits.extend(self._kinds(part, seen) for part in _list(schema, "allOf"))
        limits.extend(
            NO_KINDS.union(*(self._kinds(part, seen) for part in _list(schema, keyword)))
            for keyword in ("anyOf", "oneOf")
            if keyword in schema
        )
        return EVERY_KIND.intersection(*limits)

    def _resolve(self, reference: str) -> Json:
        from referencing import Registry
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012

        registry: Registry[Schema] = Registry()
        resolver = registry.resolver_with_root(DRAFT202012.create_resource(self._root))
        try:
            contents: Json = resolver.lookup(reference).contents
        except Unresolvable:  # relative to an inner $id; the validator knows better
            return True
        return contents


def kind_of_json(value: Json) -> str:
    """Return the kind of a value in the words of JSON Schema, with integers among the numbers."""
    match value:
        case str():
            return "string"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case None:
            return "null"
        case list():
            return "array"
        case _:
            return "object"


def _named(key: str, schema: JsonObject) -> list[Json]:
    """Return what `properties` and `patternProperties` say about a member, else `additionalProperties`."""
    found: list[Json] = []
    properties, patterns = schema.get("properties"), schema.get("patternProperties")
    if isinstance(properties, Mapping) and key in properties:
        found.append(properties[key])
    if isinstance(patterns, Mapping):
        found.extend(part for pattern, part in patterns.items() if re.search(pattern, key))
    others = schema.get("additionalProperties")
    return [others] if not found and isinstance(others, Mapping) else found


def _reference(schema: JsonObject) -> str | None:
    reference = schema.get("$ref", schema.get("$dynamicRef"))
    return reference if isinstance(reference, str) else None


def _list(schema: JsonObject, keyword: str) -> list[Json]:
    """Return the list that stands under a keyword; one value alone is a list of one."""
    value = schema.get(keyword, [])
    return value if isinstance(value, list) else [value]


def _kind_named(name: Json) -> str:
    return "number" if name == "integer" else str(name)
