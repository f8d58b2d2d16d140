"""Figures of one arm, from its `first` attempts only, so that looking twice at failures cannot bias them."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .attempt import Attempt, Stage
from .grade import Grade, Verdict
from .ladder import GradedSample
from .plan import Arm
from .record import Record
from .servers.counters import Counters
from .servers.server import Speculating


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """Counts over the samples of one arm at the first budget.

    `finish_reasons` counts what was received (`"null"` for null). `failed` brought no answer; `void` could
    not be judged (the failed among them). `draft_tokens` and `accepted_tokens` are those that came with the
    answers, None where the server does not count them per request; `counted` is what the server itself
    counted over the whole run, all stages and other clients included. `tokens_per_second` is the median over
    requests, by the client's clock, and only for arms asked in turn.
    """

    name: str
    model: str
    attempts: int
    failed: int
    retried: int
    finish_reasons: dict[str, int]
    endings: dict[str, int]
    cut: int
    passed: int
    wrong: int
    void: int
    tokens_per_second: float | None
    draft_tokens: int | None
    accepted_tokens: int | None
    speculating: Speculating
    counted: Counters | None = None

    @property
    def drafted(self) -> int | None:
        """Draft tokens by whichever count saw any; 0 if one saw none, None if nobody counted."""
        known = [self.draft_tokens, None if self.counted is None else self.counted.draft_tokens]
        return max((count for count in known if count is not None), default=None)

    @property
    def acceptance(self) -> float | None:
        """Accepted of drafted tokens, by the answers' own counts, else by the server's."""
        for drafted, accepted in (
            (self.draft_tokens, self.accepted_tokens),
            (None, None)
            if self.counted is None
            else (self.counted.draft_tokens, self.counted.accepted_tokens),
        ):
            if drafted and accepted is not None:
                return accepted / drafted
        return None


def summarise_arm(record: Record, arm: Arm, graded: Sequence[GradedSample]) -> ArmSummary:
    """Count one arm's first attempts."""
    budget = record.plan.run.max_tokens
    firsts = [
        attempt
        for sample in record.samples
        if (attempt := record.attempt(sample.id, arm.name, Stage.FIRST, budget)) is not None
    ]
    grades = [one.arms[arm.name].get(budget) for one in graded]
    verdicts = Counter(grade.verdict for grade in grades if grade is not None)
    answered = [attempt for attempt in firsts if attempt.succeeded]
    draft_tokens, accepted_tokens = _drafts(answered)
    counted = record.counters.get(arm.name)
    # Of any stage: a server that drafted for a control or a confirmation speculates, whatever its first
    # answers said.
    has_drafted = (counted is not None and bool(counted.draft_tokens)) or any(
        attempt.arm == arm.name and attempt.spec is not None and attempt.spec.draft_tokens > 0
        for attempt in record.attempts.values()
    )
    return ArmSummary(
        name=arm.name,
        model=arm.model,
        attempts=len(firsts),
        failed=len(firsts) - len(answered),
        retried=sum(attempt.retries for attempt in firsts),
        finish_reasons=_sorted_counts(str(a.finish_reason or "null") for a in answered),
        endings=_sorted_counts(_endings(grades)),
        cut=verdicts[Verdict.TRUNCATED],
        passed=verdicts[Verdict.PASS],
        wrong=verdicts[Verdict.FAIL],
        void=verdicts[Verdict.VOID],
        tokens_per_second=median_speed(answered) if record.plan.is_in_turn else None,
        draft_tokens=draft_tokens,
        accepted_tokens=accepted_tokens,
        speculating=Speculating.ON if has_drafted else _speculating(record, arm),
        counted=counted,
    )


def _speculating(record: Record, arm: Arm) -> Speculating:
    """What the server showed; where it shows nothing, what the plan says of it."""
    facts = record.facts.get(arm.name)
    if facts is not None and facts.speculating is not Speculating.UNKNOWN:
        return facts.speculating
    match arm.speculating:
        case True:
            return Speculating.ON
        case False:
            return Speculating.OFF
        case _:
            return Speculating.UNKNOWN


def _drafts(answered: Sequence[Attempt]) -> tuple[int | None, int | None]:
    counted = [attempt.spec for attempt in answered if attempt.spec is not None]
    if not counted:
        return None, None
    return sum(s.draft_tokens for s in counted), sum(s.accepted_tokens for s in counted)


def _endings(grades: Iterable[Grade | None]) -> Iterable[str]:
    return (g.answer.ending.value for g in grades if g is not None and g.answer is not None)


def median_speed(answered: Sequence[Attempt]) -> float | None:
    """Tokens per second of the median request, by the client's clock; None where nothing was counted."""
    rates = [
        tokens / attempt.duration_ms * 1000
        for attempt in answered
        if (tokens := attempt.completion_tokens) and attempt.duration_ms > 0
    ]
    return round(statistics.median(rates), 2) if rates else None


def _sorted_counts(values: Iterable[str]) -> dict[str, int]:
    counts = Counter(values)
    return {value: counts[value] for value in sorted(counts)}
