"""Calls compared as BFCL compares them: to the letter, with its greedy walk over parallel calls.

Written from a description of the benchmark's behaviour. Each refusal keeps the benchmark's own error type, so
that a score can be compared with its result files; `tasks.bfcl_reading` is the stricter view beside it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..parsers.result import Call, Json
from .bfcl_source import source_value
from .bfcl_terms import BfclRule, BfclTerms, FunctionTerms, Language
from .bfcl_values import OMITTED, CheckerCrashError, is_known_type, value_error
from .differences import Difference, DifferenceCode
from .sample import Expected, ExpectedCall
from .values import identity, member_path, shown

CHECKER_CRASH = "checker_crash"
"""Not the benchmark's word: its checker raises an exception here, and so gives no result."""

_VALUES_IN_A_MESSAGE = 3
_NO_TERMS = FunctionTerms({})
_COUNT_ERROR = {
    BfclRule.SIMPLE: "simple_function_checker:wrong_count",
    BfclRule.MULTIPLE: "multiple_function_checker:wrong_count",
    BfclRule.PARALLEL: "parallel_function_checker_no_order:wrong_count",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the benchmark does not take an answer: its own error type, and what that is called here."""

    error_type: str
    difference: Difference


def compare_bfcl(expected: Expected, calls: Sequence[Call]) -> Difference | None:
    """Judge calls by the benchmark's rules; None if it would take them."""
    refusal = refuse(expected, calls)
    return None if refusal is None else refusal.difference


def refuse(expected: Expected, calls: Sequence[Call]) -> Refusal | None:
    """Judge the calls of one answer, in the order in which they came.

    Args:
        expected: What is due, with the terms to match by (`expected.bfcl`).
        calls: Calls that were read from the answer. An answer that held something unreadable must fail before
            it comes here: the benchmark takes a broken call for no call, and credits it where none is due.

    Returns:
        None if the benchmark's checker says `valid`.
    """
    terms = terms_of(expected)
    match terms.rule:
        case BfclRule.IRRELEVANCE:
            return _refuse_any(calls)
        case BfclRule.RELEVANCE:
            return _refuse_none(calls)
        case BfclRule.PARALLEL:
            return _refuse_count(expected, calls) or _refuse_greedily(expected.calls, calls, terms)
        case BfclRule.SIMPLE | BfclRule.MULTIPLE:
            refusal = _refuse_count(expected, calls)
            if refusal is not None or not calls:
                return refusal
            return refuse_call(expected.calls[0], calls[0], terms)


def terms_of(expected: Expected) -> BfclTerms:
    """Return the terms of something expected, which the match rule "bfcl" needs."""
    if expected.bfcl is None:
        raise ValueError('an expectation with the match rule "bfcl" has no terms')
    return expected.bfcl


def refuse_call(due: ExpectedCall, call: Call, terms: BfclTerms) -> Refusal | None:
    """Judge one call against one that is due; the first thing wrong, in the benchmark's order, is said."""
    try:
        return _refuse_call(due, call, terms)
    except (CheckerCrashError, RecursionError) as error:
        reason = str(error) or "nested too deeply"
        message = f"{due.name}: the benchmark's checker would crash: {reason}"
        return _refusal(CHECKER_CRASH, DifferenceCode.WRONG_ARGUMENTS, message)


def right_values(due: ExpectedCall, name: str) -> list[Json]:
    """Return every value that is right for a parameter, `""` among them if it may be left out."""
    values = due.arguments[name]
    return [*values, OMITTED] if name in due.optional and OMITTED not in values else values


def _refuse_call(due: ExpectedCall, call: Call, terms: BfclTerms) -> Refusal | None:
    function = terms.functions.get(due.name, _NO_TERMS)
    if call.name != due.name:
        message = f"{call.name} was called instead of {due.name}"
        return _refusal("simple_function_checker:wrong_func_name", DifferenceCode.WRONG_FUNCTION, message)
    for name in function.required:
        if name not in call.arguments:
            return _missing(due, name, "simple_function_checker:missing_required")
    for name, value in call.arguments.items():
        if name not in function.parameters or name not in due.arguments:
            path = member_path("$", name)
            message = f"{due.name}: {path} is {shown(value)}, but none was due"
            error_type = "simple_function_checker:unexpected_param"
            return _refusal(error_type, DifferenceCode.EXTRA_ARGUMENT, message, path)
        if (error_type := _argument_error(due, function, name, value, terms.language)) is not None:
            return _wrong(due, name, value, error_type)
    for name in due.arguments:
        if name not in call.arguments and OMITTED not in right_values(due, name):
            return _missing(due, name, "simple_function_checker:missing_optional")
    return None


def _argument_error(
    due: ExpectedCall, function: FunctionTerms, name: str, value: Json, language: Language
) -> str | None:
    declared = function.parameters[name]
    if language is not Language.PYTHON and is_known_type(declared, language):
        if not isinstance(value, str):
            return "type_error:java" if language is Language.JAVA else "type_error:js"
        value = source_value(value, declared, language)
    return value_error(declared, value, right_values(due, name), language)


def _refuse_greedily(due: Sequence[ExpectedCall], calls: Sequence[Call], terms: BfclTerms) -> Refusal | None:
    """Give each due call, in order, the first unused call that fits it: greedy, never taken back."""
    unused = list(calls)
    for wanted in due:
        refusals: list[Refusal] = []
        for position, call in enumerate(unused):
            refusal = refuse_call(wanted, call, terms)
            if refusal is None:
                del unused[position]
                break
            if refusal.error_type == CHECKER_CRASH:
                return refusal
            refusals.append(refusal)
        else:
            return _no_match(refusals)
    return None


def _no_match(refusals: Sequence[Refusal]) -> Refusal:
    """Say of a due call that nothing fits what is wrong with the call that comes nearest."""
    order = list(DifferenceCode)
    nearest = max(refusals, key=lambda one: order.index(one.difference.code)).difference
    error_type = "parallel_function_checker_no_order:cannot_find_match"
    return _refusal(error_type, nearest.code, nearest.message, *nearest.paths)


def _refuse_count(expected: Expected, calls: Sequence[Call]) -> Refusal | None:
    rule, due = terms_of(expected).rule, expected.calls
    wanted = 1 if rule is BfclRule.SIMPLE else len(due)
    if len(calls) == wanted:
        return None
    names = ", ".join(one.name for one in due)
    if not calls:
        return _refusal(_COUNT_ERROR[rule], DifferenceCode.NO_CALL, f"no call came, but {names} was due")
    message = f"{len(calls)} calls came ({_names(calls)}), {wanted} due ({names})"
    if len(calls) < wanted:
        return _refusal(_COUNT_ERROR[rule], DifferenceCode.MISSING_CALL, message)
    counts = Counter(identity([one.name, one.arguments]) for one in calls)
    is_repeated = len(counts) <= wanted < len(calls)
    code = DifferenceCode.DUPLICATE_CALL if is_repeated else DifferenceCode.EXTRA_CALL
    return _refusal(_COUNT_ERROR[rule], code, message)


def _refuse_any(calls: Sequence[Call]) -> Refusal | None:
    if not calls:
        return None
    message = f"no call was due, but {_names(calls)} came"
    return _refusal("irrelevance:called", DifferenceCode.CALL_NOT_DUE, message)


def _refuse_none(calls: Sequence[Call]) -> Refusal | None:
    if calls:
        return None
    return _refusal("relevance:no_call", DifferenceCode.NO_CALL, "no call came, but some call was due")


def _missing(due: ExpectedCall, name: str, error_type: str) -> Refusal:
    path = member_path("$", name)
    message = f"{due.name}: {path} is missing"
    return _refusal(error_type, DifferenceCode.MISSING_ARGUMENT, message, path)


def _wrong(due: ExpectedCall, name: str, value: Json, error_type: str) -> Refusal:
    path = member_path("$", name)
    right = due.arguments[name]
    texts = [shown(one) for one in right[:_VALUES_IN_A_MESSAGE]]
    more = len(right) - len(texts)
    wanted = " or ".join([*texts, f"{more} other values"] if more else texts) or "no value at all"
    message = f"{due.name}: {path} is {shown(value)}, expected {wanted}"
    return _refusal(error_type, DifferenceCode.WRONG_ARGUMENTS, message, path)


def _names(calls: Sequence[Call]) -> str:
    return ", ".join(one.name for one in calls)


def _refusal(error_type: str, code: DifferenceCode, message: str, *paths: str) -> Refusal:
    return Refusal(error_type, Difference(code, f"{message} ({error_type})", paths))
