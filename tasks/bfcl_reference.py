"""A right answer by BFCL's rules, made of the values that an entry lists, where those do not contradict."""

from collections.abc import Iterator, Mapping

from ..parsers.result import Call, Json, Span
from .bfcl_match import refuse, right_values, terms_of
from .bfcl_source import source_literal, source_value
from .bfcl_terms import BfclTerms, Declared, FunctionTerms, Language
from .bfcl_values import OMITTED, CheckerCrashError, value_error
from .sample import Expected, ExpectedCall

_NO_TERMS = FunctionTerms({})


def reference_calls(expected: Expected) -> tuple[Call, ...]:
    """Return the calls that come nearest to a right answer, in the order in which they are due.

    Each parameter gets the first of its right values that the benchmark's checker takes, else it is left out
    where it may be, else it gets the first value that is listed, which is then wrong. Parameters do not
    depend on each other, so the calls are right if any are: `tasks.bfcl_match.refuse` says whether.
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
        is_left_out = OMITTED in right and name not in function.required
        if declared is None:
            if not is_left_out:
                arguments[name] = next(iter(right), None)
            continue
        choices = list(_choices(right, declared, terms.language))
        passing = [one for one in choices if _passes(declared, one, right, terms.language)]
        if passing:
            arguments[name] = passing[0]
        elif not is_left_out and choices:
            arguments[name] = choices[0]
    return Call(due.name, arguments, Span(0, 0))


def _passes(declared: Declared, value: Json, right: list[Json], language: Language) -> bool:
    if language is not Language.PYTHON:
        if not isinstance(value, str):
            return False
        value = source_value(value, declared, language)
    try:
        return value_error(declared, value, right, language) is None
    except CheckerCrashError:
        return False


def _choices(right: list[Json], declared: Declared, language: Language) -> Iterator[Json]:
    """Yield what a model might give for a parameter: the listed values, then what `""` may stand for."""
    listed = [_plain(value) for value in right if value != OMITTED]
    for value in [*listed, OMITTED, *([[]] if OMITTED in right else [])]:
        yield value if language is Language.PYTHON else source_literal(value, declared, language)


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
