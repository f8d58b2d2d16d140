"""A right answer by BFCL's rules, made of the values that an entry lists, where those do not contradict."""

from collections.abc import Mapping

from ..parsers.result import Call, Json, Span
from .bfcl_match import refuse, right_values, terms_of
from .bfcl_source import source_literal, source_value
from .bfcl_terms import BfclTerms, Declared, FunctionTerms, Language
from .bfcl_values import OMITTED, CheckerCrashError, value_error
from .sample import Expected, ExpectedCall

_NO_TERMS = FunctionTerms({})


def reference_calls(expected: Expected) -> tuple[Call, ...]:
    """Return the calls that come nearest to a right answer, in the order in which they are due.

    Each parameter gets the first of its right values (null only if there is no other) that the benchmark's
    checker takes, else it is left out where it may be, else it gets an empty value, or one that is wrong.
    Parameters do not depend on each other, so the calls are right if any are: `tasks.bfcl_match.refuse` says
    whether.
    """
    terms = terms_of(expected)
    return tuple(_call(due, terms) for due in expected.calls)


def unpassable(expected: Expected) -> str | None:
    """Say why no answer can pass the benchmark's checker; None if one can."""
    if not expected.calls:
        return None
    refusal = refuse(expected, reference_calls(expected))
    return None if refusal is None else refusal.difference.message


def _call(due: ExpectedCall, terms: BfclTerms) -> Call:
    function = terms.functions.get(due.name, _NO_TERMS)
    arguments: dict[str, Json] = {}
    for name in due.arguments:
        right, declared = right_values(due, name), function.parameters.get(name)
        listed, stand_ins = _choices(right, declared, terms.language)
        passing = [one for one in listed if _passes(declared, one, right, terms.language)]
        if passing:
            arguments[name] = passing[0]
        elif OMITTED not in right or name in function.required:
            stand_in = (one for one in stand_ins if _passes(declared, one, right, terms.language))
            arguments[name] = next(stand_in, listed[0] if listed else OMITTED)
    return Call(due.name, arguments, Span(0, 0))


def _passes(declared: Declared | None, value: Json, right: list[Json], language: Language) -> bool:
    if declared is None:
        return False
    if language is not Language.PYTHON:
        if not isinstance(value, str):
            return False
        value = source_value(value, declared, language)
    try:
        return value_error(declared, value, right, language) is None
    except CheckerCrashError:
        return False


def _choices(
    right: list[Json], declared: Declared | None, language: Language
) -> tuple[list[Json], list[Json]]:
    """Return what a model might give: the listed values, null last, and what `""` may stand for."""
    listed = sorted((_plain(value) for value in right if value != OMITTED), key=lambda one: one is None)
    stand_ins: list[Json] = [OMITTED, []]
    if language is Language.PYTHON or declared is None:
        return listed, stand_ins
    return (
        [source_literal(value, declared, language) for value in listed],
        [source_literal(value, declared, language) for value in stand_ins],
    )


def _plain(value: Json) -> Json:
    """Turn a right value into one that can be given: each member of an object lists its own right values."""
    match value:
        case Mapping():
            given = ((key, _first(right)) for key, right in value.items())
            return {key: one for key, one in given if one != OMITTED}
        case list():
            return [_plain(one) if isinstance(one, Mapping) else one for one in value]
        case _:
            return value


def _first(right: Json) -> Json:
    """The first right value of a member, `""` (left out) only if there is no other."""
    values = right if isinstance(right, list) else []
    return next((one for one in values if one != OMITTED), OMITTED)
