"""The tools a call may name, with their compiled schemas (JSON Schema 2020-12, never the network)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .json_path import json_path, shorten
from .parameters import Parameters
from .plain_schema import Accepts, plain_schema
from .result import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from referencing import Registry, Resource
    from referencing._core import Resolver
    from referencing.jsonschema import Schema

# Whatever a tool is called, no dialect could carry a name with these characters in it.
_DECLARABLE_NAME = re.compile(r"[^\s\x00-\x1f\x7f<>\"'`(){}\[\]=,]{1,128}")
_SHOWN_MESSAGE = 200
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
# What a tool takes whose own schema cannot be used.
_ANYTHING: JsonObject = {"type": "object"}
# Keywords whose members are named by the author and hold schemas, and keywords that hold plain data.
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_PLAIN_DATA = frozenset({"enum", "const", "default", "examples", "required"})


class ToolSchemaError(ValueError):
    """A tool definition that no call could ever be checked against; the suite's fault."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The declared functions of one sample.

    `declared` keeps the OpenAI tool objects exactly as given (they are what is sent); `functions` maps each
    name to its parameter schema; `validators` the same names to the compiled validator. Those with a plain
    schema have what accepts right arguments at once: `plain` where there is no defect, `exact` where there is
    no note either. `parameters` finds single parameters, and is a cache: the one part that changes in use.
    `unchecked` says what is wrong with tools that nothing is checked against (see `compile_tools`), one
    sentence each.
    """

    declared: tuple[JsonObject, ...]
    functions: dict[str, JsonObject]
    validators: "dict[str, Validator]"
    plain: dict[str, Accepts]
    exact: dict[str, Accepts]
    parameters: Parameters = field(compare=False, repr=False)
    unchecked: tuple[str, ...]


def compile_tools(
    declared: Sequence[Json], *, may_be_unchecked: bool = False, is_checked: bool = False
) -> Tools:
    """Check OpenAI tool objects and compile their parameter schemas.

    A tool without `parameters` (or with null) takes an object, as OpenAI reads it. References may point
    inside the schema only: nothing is ever fetched.

    Args:
        declared: A list of `{"type": "function", "function": {"name", "description", "parameters"}}`.
        may_be_unchecked: Captured traffic declares what a server took, however sloppy. Then a tool that is
            wrong is kept, in `declared` as it is; its name may be called (if it has one) with any arguments.
        is_checked: The schemas were held against the metaschema before, which takes milliseconds a tool.

    Returns:
        The compiled tools; names keep the order of declaration.

    Raises:
        ToolSchemaError: Names the tool and the JSON path of what is wrong with it.
    """
    kept: list[JsonObject] = []
    functions: dict[str, JsonObject] = {}
    validators: dict[str, Validator] = {}
    unchecked: list[str] = []
    for index, tool in enumerate(declared):
        try:
            name, parameters, validator = _compile_tool(tool, index, functions, is_checked=is_checked)
        except ToolSchemaError as error:
            if not may_be_unchecked or not isinstance(tool, Mapping):
                raise
            unchecked.append(str(error))
            name, parameters, validator = _declared_name(tool), _ANYTHING, _compile(_ANYTHING, "")
        if name is not None:
            _ = functions.setdefault(name, parameters)
            _ = validators.setdefault(name, validator)
        if isinstance(tool, Mapping):
            kept.append(tool)
    plain, exact = (
        {
            name: accepts
            for name, schema in functions.items()
            if (accepts := plain_schema(schema, is_exact=is_exact)) is not None
        }
        for is_exact in (False, True)
    )
    return Tools(
        declared=tuple(kept),
        functions=functions,
        validators=validators,
        plain=plain,
        exact=exact,
        parameters=Parameters(functions, validators),
        unchecked=tuple(unchecked),
    )


def _compile_tool(
    tool: Json, index: int, known: Mapping[str, JsonObject], *, is_checked: bool
) -> "tuple[str, JsonObject, Validator]":
    """Return the name, the parameter schema and the validator of one tool object."""
    name, parameters = _read_tool(tool, f"tool {index}")
    where = f'tool {index} ("{name}")'
    if name in known:
        msg = f"{where}: $.function.name: a tool of this name is already declared"
        raise ToolSchemaError(msg)
    return name, parameters, _compile(parameters, where, is_checked=is_checked)


def _declared_name(tool: JsonObject) -> str | None:
    """Return the name of a tool object with which something is wrong; None if that is the name."""
    match tool:
        case {"function": {"name": str(name)}} if _DECLARABLE_NAME.fullmatch(name):
            return name
        case _:
            return None


def _read_tool(tool: Json, where: str) -> tuple[str, JsonObject]:
    """Return the name and the parameter schema of one tool object."""
    if not isinstance(tool, Mapping):
        msg = f"{where}: $: a tool is a JSON object, not {shorten(tool)}"
        raise ToolSchemaError(msg)
    if tool.get("type") != "function":
        found = shorten(tool["type"]) if "type" in tool else "missing"
        msg = f'{where}: $.type: must be "function"; it is {found}'
        raise ToolSchemaError(msg)
    function = tool.get("function")
    if not isinstance(function, Mapping):
        msg = f"{where}: $.function: must be a JSON object with a name and parameters"
        raise ToolSchemaError(msg)
    name = function.get("name")
    if not isinstance(name, str):
        msg = f"{where}: $.function.name: must be a string"
        raise ToolSchemaError(msg)
    if not _DECLARABLE_NAME.fullmatch(name):
        msg = (
            f"{where}: $.function.name: {shorten(name)} cannot be a name: 1 to 128 characters, "
            "no spaces, quotes, brackets, commas or equals signs"
        )
        raise ToolSchemaError(msg)
    parameters = function.get("parameters")
    if parameters is None:
        return name, _NO_PARAMETERS
    if not isinstance(parameters, Mapping):
        msg = f'{where} ("{name}"): $.function.parameters: must be a JSON Schema object'
        raise ToolSchemaError(msg)
    return name, parameters


def _compile(schema: JsonObject, where: str, *, is_checked: bool = False) -> "Validator":
    """Check a schema against its metaschema, resolve its references, and return its validator."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    # An explicit registry without a retriever: the default one would fetch remote references.
    registry: Registry[Schema] = Registry()
    root = "function", "parameters"
    try:
        if not is_checked:
            Draft202012Validator.check_schema(schema)
        _resolve_references(schema, registry, DRAFT202012.create_resource(schema), where)
        validator = Draft202012Validator(schema, registry=registry)
        # A reference that leads only to itself shows when something is validated.
        _try_out(validator)
    except SchemaError as error:
        msg = f"{where}: {json_path((*root, *error.absolute_path))}: {error.message[:_SHOWN_MESSAGE]}"
        raise ToolSchemaError(msg) from error
    except (RecursionError, Unresolvable, ArithmeticError, TypeError) as error:
        msg = f"{where}: {json_path(root)}: cannot be compiled: {type(error).__name__}"
        raise ToolSchemaError(msg) from error
    return validator


def _try_out(validator: "Validator") -> None:
    """Validate something once, so that what only shows in use shows now."""
    _ = validator.is_valid({})


def _resolve_references(
    schema: JsonObject, registry: "Registry[Schema]", resource: "Resource[Schema]", where: str
) -> None:
    """Look up every `$ref` and `$dynamicRef` of a schema.

    Raises:
        ToolSchemaError: At the first reference that points outside the schema or at nothing.
    """
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    todo: list[tuple[JsonObject, tuple[str | int, ...], Resolver[Schema]]] = [
        (schema, ("function", "parameters"), registry.resolver_with_root(resource))
    ]
    while todo:
        current, path, resolver = todo.pop()
        if path != ("function", "parameters"):
            resolver = resolver.in_subresource(DRAFT202012.create_resource(current))
        for keyword in ("$ref", "$dynamicRef"):
            reference = current.get(keyword)
            if not isinstance(reference, str):
                continue
            try:
                _ = resolver.lookup(reference)
            except Unresolvable as error:
                msg = (
                    f"{where}: {json_path((*path, keyword))}: {shorten(reference)} does not resolve inside "
                    "this schema; write the schema out, for nothing is fetched"
                )
                raise ToolSchemaError(msg) from error
        todo.extend((child, (*path, *step), resolver) for child, step in _subschemas(current))


def _subschemas(schema: JsonObject) -> Iterator[tuple[JsonObject, tuple[str | int, ...]]]:
    """Yield the objects in schema position directly under a schema, with the steps that lead there."""
    for keyword, value in schema.items():
        if keyword in _PLAIN_DATA:
            continue
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield item, (keyword, index)
        elif isinstance(value, Mapping) and keyword in _SCHEMA_MAPS:
            for name, item in value.items():
                if isinstance(item, Mapping):
                    yield item, (keyword, name)
        elif isinstance(value, Mapping):
            yield value, (keyword,)
