"""An attempt judged against its sample: pass, fail, truncated or void, with the code that says why."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from ...parsers.codes import DefectCode
from ...parsers.result import Call
from ...tasks.differences import Difference, DifferenceCode
from ...tasks.match import compare, same_calls
from ...tasks.sample import Expected, MatchRule
from ..attempt import Attempt, ErrorType
from ..reading.answer import Answer, Ending, visible_text
from ..reading.loops import loops


class Verdict(StrEnum):
    """The four grades; nothing is ever quietly none of them."""

    PASS = "pass"
    FAIL = "fail"
    TRUNCATED = "truncated"
    VOID = "void"


class Fault(StrEnum):
    """What kind of wrong: a client could not dispatch it, or could and it was wrong."""

    SYNTAX = "syntax"  # markup, JSON, name expression, arguments not an object
    CONTRACT = "contract"  # undeclared function, schema
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class Blame:
    """The first thing wrong with an answer: its kind, code, and a sentence."""

    fault: Fault
    code: str
    message: str
    paths: tuple[str, ...] = ()


class Grade(msgspec.Struct, frozen=True):
    """The verdict on one attempt.

    `blame` is set for `fail`, and for a `truncated` answer in which something was wrong (or everything due
    had been said) before the place of the cut. `code` names the reason of `void` or how it was cut.
    """

    verdict: Verdict
    code: str | None = None
    blame: Blame | None = None
    answer: Answer | None = None

    @property
    def is_endpoint_failure(self) -> bool:
        """True when the endpoint brought no answer to judge."""
        return self.verdict is Verdict.VOID and self.code in ENDPOINT_FAILURES


@dataclass(frozen=True, slots=True)
class Reference:
    """What a right answer is: labelled calls, or the calls of the baseline's first answer.

    Arms and controls mostly make the same calls: those that were read together are compared once.
    """

    right: Expected | Sequence[Call]
    _said: dict[int, tuple[Sequence[Call], Difference | None]] = field(
        default_factory=dict[int, tuple[Sequence[Call], Difference | None]], repr=False, compare=False
    )

    def difference(self, calls: Sequence[Call]) -> Difference | None:
        """What is wrong with the calls of an answer; None if nothing is."""
        # The calls are kept beside their id: as long as they live no others can have it.
        held = self._said.get(id(calls))
        if held is None:
            right = self.right
            said = compare(right, calls) if isinstance(right, Expected) else same_calls(right, calls)
            held = self._said[id(calls)] = (calls, said)
        return held[1]


ENDPOINT_FAILURES = frozenset(ErrorType) - {ErrorType.SERVER_PARSE_FAILURE}


def grade_failed(attempt: Attempt) -> Grade:
    """The grade of an attempt that brought no answer: the endpoint's fault, never the model's."""
    code = attempt.error.type.value if attempt.error is not None else "endpoint_error"
    return Grade(Verdict.VOID, code)


def grade_answer(answer: Answer, reference: Reference) -> Grade:
    """Judge one answer.

    Defects come before differences: what could not be dispatched is not compared.
    """
    if answer.is_server_failure:
        message = "the server's parser could not read the model's output"
        code = DefectCode.SERVER_PARSE_FAILURE.value
        return Grade(Verdict.FAIL, code, Blame(Fault.SYNTAX, code, message), answer)
    match answer.ending:
        case Ending.FILTERED | Ending.ABORTED:
            return Grade(Verdict.VOID, answer.ending.value, None, answer)
        case Ending.REPETITION:
            blame = Blame(Fault.DIFFERENCE, DifferenceCode.DEGENERATE_LOOP, "the server stopped a repetition")
            return Grade(Verdict.FAIL, blame.code, blame, answer)
        case ending if ending.is_cut:
            return Grade(Verdict.TRUNCATED, ending.value, _blame_before_cut(answer, reference), answer)
        case _:
            blame = None if _is_right_by_bfcl(answer, reference) else _defect(answer)
            blame = blame or _difference(answer, reference)
            verdict = Verdict.PASS if blame is None else Verdict.FAIL
            return Grade(verdict, None if blame is None else blame.code, blame, answer)


def _defect(answer: Answer) -> Blame | None:
    for defect in answer.defects:
        fault = Fault.CONTRACT if defect.code.is_contract else Fault.SYNTAX
        return Blame(fault, defect.code.value, defect.message)
    return None


def _is_right_by_bfcl(answer: Answer, reference: Reference) -> bool:
    """True where only a schema is broken and the benchmark accepts the calls.

    Its published answers break its own schemas (177 of them, counted), so a schema says nothing against an
    answer that its rule of matching takes.
    """
    return (
        isinstance(reference.right, Expected)
        and reference.right.match is MatchRule.BFCL
        and all(defect.code.is_schema for defect in answer.defects)
        and reference.difference(answer.parsed.calls) is None
    )


def _difference(answer: Answer, reference: Reference) -> Blame | None:
    parsed = answer.parsed
    if not parsed.calls and not parsed.content.strip():
        return Blame(Fault.DIFFERENCE, DifferenceCode.EMPTY_OUTPUT, "the answer holds no call and no text")
    if (difference := reference.difference(answer.parsed.calls)) is None:
        return None
    if _is_loop(answer):
        return _loop()
    return Blame(Fault.DIFFERENCE, difference.code.value, difference.message, difference.paths)


def _blame_before_cut(answer: Answer, reference: Reference) -> Blame | None:
    """What was wrong before the cut and no larger budget may launder; also `overrun`."""
    if (defect := _defect(answer)) is not None:
        return defect
    if _is_loop(answer):
        return _loop()
    if (
        answer.parsed.calls
        and not answer.is_tail_unseen
        and reference.difference(answer.parsed.calls) is None
    ):
        message = "everything due had been called, and the text ran on into the cap"
        return Blame(Fault.DIFFERENCE, DifferenceCode.OVERRUN.value, message)
    return None


def _loop() -> Blame:
    return Blame(
        Fault.DIFFERENCE, DifferenceCode.DEGENERATE_LOOP.value, "the tail of the answer repeats itself"
    )


def _is_loop(answer: Answer) -> bool:
    reading = answer.attempt.reading
    return loops(visible_text(answer.attempt)) if reading is None else reading.loops
