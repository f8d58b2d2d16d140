"""The contract of a call: its arguments against the schema of the function that it names."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, cast

from .codes import DefectCode, NoteCode
from .json_path import json_path, shorten
from .result import Defect, Json, JsonObject, Note, Span
from .tools import Tools

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from referencing.jsonschema import Schema

_CODES: dict[str, DefectCode] = {
    "required": DefectCode.SCHEMA_MISSING_REQUIRED,
    "dependentRequired": DefectCode.SCHEMA_MISSING_REQUIRED,
    "additionalProperties": DefectCode.SCHEMA_UNEXPECTED,
    "unevaluatedProperties": DefectCode.SCHEMA_UNEXPECTED,
    "type": DefectCode.SCHEMA_TYPE,
    "enum": DefectCode.SCHEMA_ENUM,
    "const": DefectCode.SCHEMA_ENUM,
}
_UNIONS = frozenset({"anyOf", "oneOf"})


@dataclass(frozen=True, slots=True)
class _Complaint:
    """One violation: where in the arguments, which code, and a clause that continues the path.

    `parameter` is the first step of the path; empty if the arguments as a whole are at fault.
    """

    path: str
    code: DefectCode
    clause: str
    parameter: str = ""


def keeps_contract(tools: Tools, name: str, arguments: JsonObject) -> bool:
    """Return True if surely neither a defect nor a note tells of a call that is whole by its grammar."""
    accepts = tools.exact.get(name)
    return accepts is not None and accepts(arguments)


def schema_defects(
    tools: Tools, name: str, arguments: JsonObject, span: Span, places: Mapping[str, Span] | None = None
) -> tuple[Defect, ...]:
    """Check arguments against the declared schema of `name`.

    The rules are those of JSON Schema 2020-12: `5.0` is an integer, `true` is no number, and a parameter
    that is not declared is refused only where the schema says `additionalProperties: false`.

    Args:
        tools: The declared tools.
        name: The function called; one that is not declared has no schema to break.
        arguments: The decoded arguments.
        span: Where the arguments stand; every defect carries it.
        places: Where single parameters stand, if that is known; their defects carry that instead.

    Returns:
        One defect for each violation, ordered by JSON path, then by code.
    """
    validator, accepts = tools.validators.get(name), tools.plain.get(name)
    if validator is None or (accepts is not None and accepts(arguments)):
        return ()
    try:
        complaints = {complaint for error in validator.iter_errors(arguments) for complaint in _read(error)}
    except (RecursionError, ArithmeticError, ValueError, TypeError) as error:
        # Values such as 10 ** 4000 break the arithmetic of a validator, deep ones its stack.
        clause = f"could not be checked ({type(error).__name__}): too large a number, or nested too deeply"
        complaints = {_Complaint("$", DefectCode.SCHEMA_OTHER, clause)}
    ordered = sorted(complaints, key=lambda complaint: (complaint.path, complaint.code, complaint.clause))
    known: Mapping[str, Span] = {} if places is None else places
    return tuple(
        Defect(found.code, f"{name}: {found.path} {found.clause}", known.get(found.parameter, span))
        for found in ordered
    )


def schema_notes(
    tools: Tools, name: str, arguments: JsonObject, span: Span, places: Mapping[str, Span] | None = None
) -> tuple[Note, ...]:
    """Note each float with no fraction (`5.0`) that stands where the schema asks for an integer."""
    validator = tools.validators.get(name)
    if validator is None or not _has_whole_float(arguments):
        return ()
    try:
        paths = {
            (json_path(leaf.absolute_path), _first_step(leaf.absolute_path))
            for error in _strict_integers(validator).iter_errors(arguments)
            for leaf in _leaves(error)
            if leaf.validator == "type" and isinstance(leaf.instance, float) and leaf.instance.is_integer()
        }
    except (RecursionError, ArithmeticError, ValueError, TypeError):
        return ()
    known: Mapping[str, Span] = {} if places is None else places
    return tuple(
        Note(
            NoteCode.INTEGER_AS_FLOAT,
            f"{name}: {path} is an integer written as a float",
            known.get(parameter, span),
        )
        for path, parameter in sorted(paths)
    )


def _first_step(steps: Sequence[str | int]) -> str:
    return str(steps[0]) if steps else ""


def _read(error: "ValidationError") -> Iterator[_Complaint]:
    """Turn one error of the validator into complaints, each with the parameter that it is about."""
    parameter = _first_step(error.absolute_path)
    for found in _complaints(error):
        yield found if not parameter else replace(found, parameter=parameter)


def _complaints(error: "ValidationError") -> Iterator[_Complaint]:
    """Turn one error into complaints, each with the path of its own value."""
    steps = tuple(error.absolute_path)
    path = json_path(steps)
    keyword = str(error.validator)
    instance = cast("Json", error.instance)
    schema = cast("Json", error.schema)
    expected = cast("Json", error.validator_value)
    match keyword:
        case "required" if isinstance(instance, Mapping) and isinstance(expected, list):
            for missing in expected:
                if isinstance(missing, str) and missing not in instance:
                    yield _Complaint(json_path((*steps, missing)), _CODES[keyword], "is required and missing")
        case "additionalProperties" if isinstance(instance, Mapping) and isinstance(schema, Mapping):
            for extra in _extras(instance, schema):
                yield _Complaint(json_path((*steps, extra)), _CODES[keyword], "is not declared", extra)
        case "type":
            wanted = (
                " or ".join(str(kind) for kind in expected) if isinstance(expected, list) else str(expected)
            )
            yield _Complaint(path, _CODES[keyword], f"is {shorten(instance)}, not of type {wanted}")
        case "enum":
            yield _Complaint(
                path, _CODES[keyword], f"is {shorten(instance)}, not one of {shorten(expected, 120)}"
            )
        case "const":
            yield _Complaint(path, _CODES[keyword], f"is {shorten(instance)}, not {shorten(expected)}")
        case _ if keyword in _UNIONS:
            yield _Complaint(path, _union_code(error), f"is {shorten(instance)}, which fits no alternative")
        case _:
            code = _CODES.get(keyword, DefectCode.SCHEMA_OTHER)
            clause = f"is {shorten(instance)}, against {keyword}: {shorten(expected)}"
            yield _Complaint(path, code, clause)


def _extras(instance: JsonObject, schema: JsonObject) -> list[str]:
    """Return the members that neither `properties` nor `patternProperties` declares."""
    declared = schema.get("properties")
    patterns = schema.get("patternProperties")
    known = set(declared) if isinstance(declared, Mapping) else set[str]()
    allowed = list(patterns) if isinstance(patterns, Mapping) else []
    return [
        key
        for key in instance
        if key not in known and not any(re.search(pattern, key) for pattern in allowed)
    ]


def _union_code(error: "ValidationError") -> DefectCode:
    """Say what every alternative of a union complained about, if it was one thing about the value itself."""
    codes = {
        _CODES.get(str(leaf.validator), DefectCode.SCHEMA_OTHER)
        if len(leaf.absolute_path) == len(error.absolute_path)
        else DefectCode.SCHEMA_OTHER
        for leaf in _leaves(error)
        if leaf is not error
    }
    if codes == {DefectCode.SCHEMA_TYPE}:
        return DefectCode.SCHEMA_TYPE
    if DefectCode.SCHEMA_ENUM in codes and codes <= {DefectCode.SCHEMA_TYPE, DefectCode.SCHEMA_ENUM}:
        return DefectCode.SCHEMA_ENUM
    return DefectCode.SCHEMA_OTHER


def _leaves(error: "ValidationError") -> "Iterator[ValidationError]":
    """Yield the innermost errors under one error; the error itself if it holds none."""
    todo = [error]
    while todo:
        current = todo.pop()
        inner = list(current.context or ())
        if inner:
            todo.extend(inner)
        else:
            yield current


def _has_whole_float(value: Json) -> bool:
    """Return True if any number inside is a float without a fraction."""
    todo: list[Json] = [value]
    while todo:
        current = todo.pop()
        if isinstance(current, str):
            continue
        if isinstance(current, float):
            if current.is_integer():
                return True
        elif isinstance(current, list):
            todo.extend(current)
        elif isinstance(current, Mapping):
            todo.extend(current.values())
    return False


def _strict_integers(validator: "Validator") -> "Validator":
    """Return a validator of the same schema for which `5.0` is no integer."""
    from referencing import Registry

    registry: Registry[Schema] = Registry()
    return _strict_kind()(validator.schema, registry=registry)


@cache
def _strict_kind() -> "type[Draft202012Validator]":
    from jsonschema import Draft202012Validator, validators

    def is_integer(_checker: object, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    extend = cast("Callable[..., type[Draft202012Validator]]", validators.extend)
    return extend(Draft202012Validator, type_checker=checker)
