"""The stricter view of an answer to a BFCL entry, beside the benchmark's own verdict.

Where the benchmark walks greedily over parallel calls, here is a bipartite matching; where it normalises,
JSON equality; and where it credits a broken call as an abstention, three outcomes instead of two.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..parsers.result import Call, Json
from .assignment import cheapest_assignment
from .bfcl_match import refuse, refuse_call, right_values, terms_of
from .bfcl_source import source_value
from .bfcl_terms import BfclRule, BfclTerms, Declared, Language
from .bfcl_values import OMITTED
from .sample import Expected, ExpectedCall
from .values import equal

UNDECODED = "ast_decoder:decoder_failed"
"""The benchmark's word for an answer that it cannot read."""


class Abstention(StrEnum):
    """What an answer did where no call was due."""

    ABSTAINED = "abstained"
    UNPARSABLE = "tried_and_unparsable"
    CALLED = "called"


@dataclass(frozen=True, slots=True)
class BfclReading:
    """One answer under three rules of growing strictness.

    Attributes:
        compatible: What the benchmark says. Where no call is due, it takes a broken call for none.
        error_type: Its error type, where it says no.
        bipartite: Its rule for one call, but parallel calls matched as well as they can be.
        exact: As `bipartite`, with JSON equality instead of normalised strings and lenient types.
        abstention: Where no call is due, what was done; None elsewhere.
    """

    compatible: bool
    error_type: str | None
    bipartite: bool
    exact: bool
    abstention: Abstention | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the reading as it stands in the evidence of a finding."""
        raw: dict[str, Json] = {
            "compatible": self.compatible,
            "error_type": self.error_type,
            "bipartite": self.bipartite,
            "exact": self.exact,
        }
        if self.abstention is not None:
            raw["abstention"] = self.abstention.value
        return raw


def read_bfcl_answer(expected: Expected, calls: Sequence[Call], *, is_broken: bool) -> BfclReading:
    """Judge one answer by the benchmark's rules and by stricter ones.

    Args:
        expected: What is due, by the match rule "bfcl".
        calls: Calls that were read, in the order in which they came.
        is_broken: The answer also held something that could not be read as a call.
    """
    terms = terms_of(expected)
    match terms.rule:
        case BfclRule.IRRELEVANCE:
            return _read_abstention(calls, is_broken=is_broken)
        case _ if is_broken:
            return BfclReading(compatible=False, error_type=UNDECODED, bipartite=False, exact=False)
        case BfclRule.RELEVANCE:
            is_right = bool(calls)
            error_type = None if is_right else "relevance:no_call"
            return BfclReading(is_right, error_type, bipartite=is_right, exact=is_right)
        case _:
            refusal = refuse(expected, calls)
    return BfclReading(
        compatible=refusal is None,
        error_type=None if refusal is None else refusal.error_type,
        bipartite=_matches(expected.calls, calls, lambda due, call: refuse_call(due, call, terms) is None),
        exact=_matches(expected.calls, calls, lambda due, call: _is_exact(due, call, terms)),
    )


def _read_abstention(calls: Sequence[Call], *, is_broken: bool) -> BfclReading:
    if calls:
        return BfclReading(
            compatible=False,
            error_type="irrelevance:called",
            bipartite=False,
            exact=False,
            abstention=Abstention.CALLED,
        )
    return BfclReading(
        compatible=True,
        error_type=None,
        bipartite=not is_broken,
        exact=not is_broken,
        abstention=Abstention.UNPARSABLE if is_broken else Abstention.ABSTAINED,
    )


def _matches(
    due: Sequence[ExpectedCall], calls: Sequence[Call], fits: Callable[[ExpectedCall, Call], bool]
) -> bool:
    """Say whether calls and due calls can be paired so that every pair fits."""
    if len(due) != len(calls):
        return False
    costs = [[0 if fits(wanted, call) else 1 for call in calls] for wanted in due]
    return all(costs[row][column] == 0 for row, column in cheapest_assignment(costs))


def _is_exact(due: ExpectedCall, call: Call, terms: BfclTerms) -> bool:
    if call.name != due.name or any(name not in due.arguments for name in call.arguments):
        return False
    parameters = terms.functions[due.name].parameters
    for name in due.arguments:
        right = right_values(due, name)
        if name not in call.arguments:
            if OMITTED not in right:
                return False
            continue
        value = _meant(call.arguments[name], parameters.get(name), terms.language)
        if not any(_equals(alternative, value) for alternative in right if alternative != OMITTED):
            return False
    return True


def _meant(value: Json, declared: Declared | None, language: Language) -> Json:
    """Return what source text stands for, in the categories that write arguments as such."""
    if language is Language.PYTHON or declared is None or not isinstance(value, str):
        return value
    return source_value(value, declared, language)


def _equals(alternative: Json, value: Json) -> bool:
    """Compare with one right value, in which each member of an object lists its own right values."""
    match alternative, value:
        case Mapping(), Mapping():
            return all(key in alternative for key in value) and all(
                _fits_member(right, value[key]) if key in value else _may_be_left_out(right)
                for key, right in alternative.items()
            )
        case list(), list() if any(isinstance(one, Mapping) for one in alternative):
            return len(alternative) == len(value) and all(map(_equals, alternative, value))
        case _:
            return equal(alternative, value)


def _fits_member(right: Json, value: Json) -> bool:
    values = right if isinstance(right, list) else [right]
    return any(equal(one, value) for one in values)


def _may_be_left_out(right: Json) -> bool:
    return isinstance(right, list) and OMITTED in right
