"""From the grades of two arms to findings: what broke, and whether the cap, the markup or the meaning did it.

The pair is judged at the smallest budget where neither arm is cut, else at the last one: a rule about
endings, the same for every sample, never about who was right.
"""

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec
from pydantic import JsonValue

from ...tasks.bfcl_reading import read_bfcl_answer
from ...tasks.differences import DifferenceCode
from ...tasks.sample import Expected, MatchRule
from ..reading.answer import Ending
from .finding import Cause, Finding, Transition
from .grade import Blame, Fault, Grade, Verdict
from .ladder import GradedSample, Ladder
from .parting import first_difference, generated_text
from .premature import stopped_early
from .ways import locate

MISSING_ATTEMPT = "missing_attempt"
MISSING = Grade(Verdict.VOID, MISSING_ATTEMPT)
STILL_TRUNCATED = "still_truncated"
CONTEXT_LIMIT = "context_limit"
SERVER_LIMIT = "server_limit"
ONLY_BATCHED = "only_batched"
ONLY_WARM = "only_warm"


class Judgement(msgspec.Struct, frozen=True):
    """Two ladders judged, without names: what `judge` makes of them."""

    transition: Transition
    cause: Cause | None
    code: str | None
    blame: Blame | None
    baseline: Grade
    candidate: Grade
    at_cap: tuple[Grade, Grade]
    judged_budget: int
    is_also_cut: bool = False


def attribute(graded: Iterable[GradedSample], *, baseline: str, candidate: str) -> list[Finding]:
    """Pair two arms, sample by sample."""
    return [_finding(sample, baseline, candidate) for sample in graded]


def control_transitions(graded: Iterable[GradedSample], baseline: str) -> list[Transition]:
    """The baseline against itself asked again, judged like any candidate: the churn that is no one's fault.

    An unlabelled sample's first answer is its own reference, so its control alone tells.
    """
    transitions: list[Transition] = []
    for one in graded:
        if one.sample.expected is not None:
            judgement = judge(one.arms[baseline], one.control, is_context_limited=one.is_context_limited)
            transitions.append(judgement.transition)
        else:
            transitions.append(_unlabelled_control(one.control))
    return transitions


def judge(baseline: Ladder, candidate: Ladder, *, is_context_limited: bool) -> Judgement:
    """Judge a pair over its budgets (DESIGN: how a regression gets its cause).

    Args:
        baseline: Grades by budget.
        candidate: Grades by budget, the same budgets unless the run is incomplete.
        is_context_limited: True when a larger budget was due and no server had room for it.
    """
    rungs = [
        (budget, baseline.get(budget, MISSING), candidate.get(budget, MISSING))
        for budget in sorted({*baseline, *candidate})
    ] or [(0, MISSING, MISSING)]
    judged, left, right = rungs[0]
    at_cap = (left, right)
    void = _void_code(left, right)
    for budget, one, other in rungs if void is None else ():
        void = _void_code(one, other)
        if void == "unsupported_request":
            # The server refuses the larger budget: there is no more room, and the smaller one stands.
            void, is_context_limited = None, True
            break
        judged, left, right = budget, one, other
        if void is not None or not (_wants_more(one) or _wants_more(other)):
            break
    if void is not None:
        return Judgement(Transition.VOID, None, void, None, left, right, at_cap, judged)
    if left.verdict is right.verdict is Verdict.TRUNCATED:
        return Judgement(Transition.VOID, None, STILL_TRUNCATED, None, left, right, at_cap, judged)
    transition = _transition(left, right, at_cap)
    match transition:
        case Transition.REGRESSION:
            wrong, wrong_at_cap = right, at_cap[1]
        case Transition.FIX:
            wrong, wrong_at_cap = left, at_cap[0]
        case _:
            return Judgement(transition, None, None, None, left, right, at_cap, judged)
    cause, code, blame, also_cut = _cause(wrong, wrong_at_cap, is_context_limited)
    return Judgement(transition, cause, code, blame, left, right, at_cap, judged, also_cut)


def _void_code(left: Grade, right: Grade) -> str | None:
    if left.verdict is Verdict.VOID:
        return left.code
    return right.code if right.verdict is Verdict.VOID else None


def _wants_more(grade: Grade) -> bool:
    """True for a cut, and for a server's parse failure, as which a cut can surface."""
    return grade.verdict is Verdict.TRUNCATED or (grade.answer is not None and grade.answer.is_server_failure)


def _transition(left: Grade, right: Grade, at_cap: tuple[Grade, Grade]) -> Transition:
    match left.verdict is Verdict.PASS, right.verdict is Verdict.PASS:
        case True, True:
            # The cap's own doing: right there, where the first budget had cut one of two.
            if at_cap[0].verdict is Verdict.PASS and _wants_more(at_cap[1]):
                return Transition.REGRESSION
            if at_cap[1].verdict is Verdict.PASS and _wants_more(at_cap[0]):
                return Transition.FIX
            return Transition.BOTH_PASS
        case True, False:
            return Transition.REGRESSION
        case False, True:
            return Transition.FIX
        case _:
            return Transition.BOTH_FAIL


def _cause(wrong: Grade, at_cap: Grade, is_context_limited: bool) -> tuple[Cause, str, Blame | None, bool]:
    """Cause, code, blame, and whether the blamed text was also cut; the first rule that fits."""
    early = at_cap.blame if at_cap.verdict is Verdict.TRUNCATED else None
    if early is not None and early.code != DifferenceCode.OVERRUN:
        return _by_fault(early), early.code, early, True
    if wrong.verdict is Verdict.PASS:
        if at_cap.answer is not None and at_cap.answer.is_below_budget:
            # It stopped long before the cap: asking again at more is no proof that the cap was to blame.
            return Cause.UNRESOLVED, SERVER_LIMIT, None, False
        is_thinking = at_cap.code == Ending.CUT_REASONING
        return Cause.CAP, "cap_reasoning" if is_thinking else "cap_cut", None, False
    if wrong.blame is not None:
        return _by_fault(wrong.blame), wrong.blame.code, wrong.blame, wrong.verdict is Verdict.TRUNCATED
    return Cause.UNRESOLVED, _unresolved_code(wrong, is_context_limited), None, False


def _by_fault(blame: Blame) -> Cause:
    return Cause.REAL_CHANGE if blame.fault is Fault.DIFFERENCE else Cause.MALFORMED


def _unresolved_code(wrong: Grade, is_context_limited: bool) -> str:
    match wrong.code:
        case Ending.CUT_CONTEXT:
            return CONTEXT_LIMIT
        case Ending.CUT_SERVER:
            return SERVER_LIMIT
        case _:
            return CONTEXT_LIMIT if is_context_limited else STILL_TRUNCATED


def _finding(graded: GradedSample, baseline: str, candidate: str) -> Finding:
    left, right = graded.arms[baseline], graded.arms[candidate]
    budgets = tuple(sorted({*left, *right}))
    judgement = judge(left, right, is_context_limited=graded.is_context_limited)
    code = judgement.code
    if judgement.cause is Cause.REAL_CHANGE and code in (DifferenceCode.NO_CALL, DifferenceCode.EMPTY_OUTPUT):
        wrong, rights = judgement.candidate, [judgement.baseline, graded.control.get(judgement.judged_budget)]
        if judgement.transition is Transition.REGRESSION and stopped_early(wrong, rights):
            code = DifferenceCode.PREMATURE_STOP.value
    reproduced = (
        _reproduced(graded, baseline, candidate, judgement)
        if judgement.transition is Transition.REGRESSION
        else None
    )
    return Finding(
        id=graded.sample.id,
        category=graded.sample.category,
        baseline=baseline,
        candidate=candidate,
        transition=judgement.transition,
        cause=judgement.cause,
        code=code,
        fault=None if judgement.blame is None else judgement.blame.fault,
        baseline_grade=judgement.baseline.verdict,
        candidate_grade=judgement.candidate.verdict,
        at_cap=(judgement.at_cap[0].verdict, judgement.at_cap[1].verdict),
        budgets=budgets,
        judged_budget=judgement.judged_budget,
        reproduced=reproduced,
        is_baseline_failure=judgement.baseline.is_endpoint_failure,
        is_candidate_failure=judgement.candidate.is_endpoint_failure,
        evidence=_evidence(left, right, budgets, judgement)
        | _change_evidence(graded, baseline, candidate, judgement)
        | _bfcl_evidence(graded.sample.expected, judgement),
    )


def _reproduced(
    graded: GradedSample, baseline: str, candidate: str, judgement: Judgement
) -> tuple[int, int] | None:
    """How often the baseline passed and the candidate failed with the same cause, of the repeats made."""
    repeats = _repeats(graded, baseline, candidate, judgement)
    return (sum(repeats.values()), len(repeats)) if repeats else None


def _repeats(graded: GradedSample, baseline: str, candidate: str, judgement: Judgement) -> dict[int, bool]:
    """Of each confirmation that was answered in both arms: whether it showed the regression again."""
    rights = graded.confirms.get((baseline, judgement.judged_budget), {})
    wrongs = graded.confirms.get((candidate, judgement.judged_budget), {})
    shown: dict[int, bool] = {}
    for number in sorted(rights.keys() & wrongs.keys()):
        right, wrong = rights[number], wrongs[number]
        if Verdict.VOID in (right.verdict, wrong.verdict):
            continue
        is_again = right.verdict is Verdict.PASS and wrong.verdict is not Verdict.PASS
        shown[number] = is_again and _cause(wrong, wrong, graded.is_context_limited)[0] is judgement.cause
    return shown


def _company(
    graded: GradedSample, baseline: str, candidate: str, judgement: Judgement
) -> dict[str, JsonValue]:
    """Of a regression that showed again in company and never alone: a fault of batching, or of a warm cache.

    The first confirmation is asked like every other request, the later ones alone and without prefix cache.
    """
    if judgement.transition is not Transition.REGRESSION:
        return {}
    repeats = _repeats(graded, baseline, candidate, judgement)
    alone = [shown for number, shown in repeats.items() if number > 1]
    if not repeats.get(1) or not alone or any(alone):
        return {}
    return {"only": ONLY_WARM if graded.concurrency == 1 else ONLY_BATCHED}


def _change_evidence(
    graded: GradedSample, baseline: str, candidate: str, judgement: Judgement
) -> dict[str, JsonValue]:
    """What is said of a pair that changed, and of no other."""
    if judgement.transition not in (Transition.REGRESSION, Transition.FIX):
        return {}
    return (
        _company(graded, baseline, candidate, judgement)
        | _locus(graded, candidate, judgement)
        | _parting(graded, candidate, judgement)
    )


def _evidence(
    left: Ladder, right: Ladder, budgets: Iterable[int], judgement: Judgement
) -> dict[str, JsonValue]:
    evidence: dict[str, JsonValue] = {"judged_budget": judgement.judged_budget}
    if judgement.blame is not None:
        evidence["class"] = judgement.blame.fault.value
        evidence["message"] = judgement.blame.message
        if judgement.blame.paths:
            evidence["paths"] = list(judgement.blame.paths)
    if judgement.is_also_cut:
        evidence["also_cut"] = True
    evidence["attempts"] = {
        str(budget): {"baseline": _seen(left.get(budget)), "candidate": _seen(right.get(budget))}
        for budget in budgets
    }
    return evidence


def _locus(graded: GradedSample, candidate: str, judgement: Judgement) -> dict[str, JsonValue]:
    """Of a regression that is not the cap's: where it went wrong, and what the server's parser did."""
    answer = judgement.candidate.answer
    if judgement.transition is not Transition.REGRESSION or judgement.blame is None or answer is None:
        return {}
    locus, code = locate(answer, graded.beside.get(candidate, ()))
    found: dict[str, JsonValue] = {"locus": locus.value}
    if code is not None:
        found["server_parse"] = code.value
    return found


def _parting(graded: GradedSample, candidate: str, judgement: Judgement) -> dict[str, JsonValue]:
    """Of a discordant pair: the first character that differs, and how near a tie the baseline found it."""
    left, right = judgement.baseline.answer, judgement.candidate.answer
    if left is None or right is None:
        return {}
    found: dict[str, JsonValue] = {}
    texts = generated_text(left), generated_text(right)
    if texts[0] is not None and texts[1] is not None and texts[0] != texts[1]:
        found["parts_at"] = first_difference(texts[0], texts[1])
    for divergence in graded.divergences.get(candidate, ()):
        if divergence.budget == judgement.judged_budget:
            found["divergence"] = divergence.to_evidence()
    return found


def _bfcl_evidence(expected: Expected | None, judgement: Judgement) -> dict[str, JsonValue]:
    """For a sample of that benchmark: its verdict on both answers, and the stricter readings beside it."""
    if expected is None or expected.match is not MatchRule.BFCL:
        return {}
    readings: dict[str, JsonValue] = {}
    for arm, grade in (("baseline", judgement.baseline), ("candidate", judgement.candidate)):
        answer = grade.answer
        if answer is not None and not answer.is_cut:
            is_broken = any(not defect.code.is_contract for defect in answer.defects)
            reading = read_bfcl_answer(expected, answer.parsed.calls, is_broken=is_broken)
            readings[arm] = cast("JsonValue", reading.to_json())
    return {"bfcl": readings}


def _seen(grade: Grade | None) -> JsonValue:
    """How one attempt ended, for the evidence; tokens stay null where the server did not count them."""
    if grade is None:
        return None
    seen: dict[str, JsonValue] = {"grade": grade.verdict.value, "code": grade.code}
    if grade.answer is not None:
        seen["finish_reason"] = grade.answer.attempt.finish_reason
        seen["ending"] = grade.answer.ending.value
        seen["completion_tokens"] = grade.answer.attempt.completion_tokens
    return seen


def _unlabelled_control(control: Mapping[int, Grade]) -> Transition:
    grade = next((control[b] for b in sorted(control) if not _wants_more(control[b])), MISSING)
    match grade.verdict:
        case Verdict.PASS:
            return Transition.BOTH_PASS
        case Verdict.FAIL:
            return Transition.REGRESSION
        case _:
            return Transition.VOID
