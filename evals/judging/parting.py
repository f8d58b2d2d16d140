"""Pairs of answers that part somewhere, as text: what can be shown, and what a margin can be asked about."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..attempt import Body
from ..plan import Mode
from ..reading.answer import Answer
from .finding import Finding, Transition
from .ladder import GradedSample


@dataclass(frozen=True, slots=True)
class Parting:
    """Two answers to one request that part somewhere; `request` is the baseline's."""

    id: str
    candidate: str
    budget: int
    request: Body
    baseline_text: str
    candidate_text: str


def partings(graded: Iterable[GradedSample], findings: Iterable[Finding]) -> Iterator[Parting]:
    """The discordant pairs whose margin is not known yet, and whose texts are."""
    by_id = {one.sample.id: one for one in graded}
    for finding in findings:
        if finding.transition not in (Transition.REGRESSION, Transition.FIX):
            continue
        one = by_id[finding.id]
        left = _answer(one, finding.baseline, finding.judged_budget)
        right = _answer(one, finding.candidate, finding.judged_budget)
        if left is None or right is None or _is_known(one, finding):
            continue
        texts = generated_text(left), generated_text(right)
        if texts[0] is not None and texts[1] is not None and texts[0] != texts[1]:
            yield Parting(
                finding.id, finding.candidate, finding.judged_budget, left.attempt.request, texts[0], texts[1]
            )


def generated_text(answer: Answer) -> str | None:
    """The text as the model wrote it; None where the server took it apart or it is a hash."""
    attempt = answer.attempt
    if attempt.reading is not None or attempt.reasoning:
        return None
    return attempt.raw_text if attempt.mode is Mode.NATIVE else attempt.content


def first_difference(one: str, two: str) -> int:
    """Position of the first character at which two texts differ (the shorter's length if it is a prefix)."""
    for position, (left, right) in enumerate(zip(one, two, strict=False)):
        if left != right:
            return position
    return min(len(one), len(two))


def _is_known(one: GradedSample, finding: Finding) -> bool:
    known = one.divergences.get(finding.candidate, ())
    return any(divergence.budget == finding.judged_budget for divergence in known)


def _answer(one: GradedSample, arm: str, budget: int) -> Answer | None:
    grade = one.arms[arm].get(budget)
    return None if grade is None else grade.answer
