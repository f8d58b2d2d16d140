"""Figures of one arm, from its `first` attempts only, so that looking twice at failures cannot bias them."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ..attempt import Attempt, Drafts, Stage
from ..judging.grade import Verdict
from ..judging.ladder import GradedSample
from ..plan import Arm
from ..runs.record import Record
from ..runs.run import Run
from ..servers.counters import Counters
from ..servers.server import Speculating


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


@dataclass(slots=True)
class ArmCounts:
    """What some samples of one arm count up to; other samples of it can be added.

    `drafts` are those that came with the first answers, None where none did. `has_drafted` looks at answers
    of any stage: a server that drafted for a control or a confirmation speculates, whatever its first answers
    said. `rates` are tokens per second, for arms asked in turn.
    """

    attempts: int = 0
    failed: int = 0
    retried: int = 0
    finish_reasons: Counter[str] = field(default_factory=Counter[str])
    endings: Counter[str] = field(default_factory=Counter[str])
    verdicts: Counter[Verdict] = field(default_factory=Counter[Verdict])
    drafts: Drafts | None = None
    has_drafted: bool = False
    rates: list[float] = field(default_factory=list[float])

    def add(self, other: "ArmCounts") -> None:
        """Add what other samples of the arm count up to."""
        self.attempts += other.attempts
        self.failed += other.failed
        self.retried += other.retried
        self.finish_reasons.update(other.finish_reasons)
        self.endings.update(other.endings)
        self.verdicts.update(other.verdicts)
        self.drafts = _sum(one for one in (self.drafts, other.drafts) if one is not None)
        self.has_drafted |= other.has_drafted
        self.rates += other.rates


def count_arm(record: Record, arm: str, graded: Sequence[GradedSample]) -> ArmCounts:
    """Count one arm's first attempts."""
    budget = record.plan.run.max_tokens
    asked = [attempt for one in graded for attempt in record.by_sample.get((one.sample.id, arm), ())]
    beside = (attempt for one in graded for attempt in record.beside.get((one.sample.id, arm), ()))
    firsts = [one for one in asked if one.stage is Stage.FIRST and one.max_tokens == budget]
    grades = [grade for one in graded if (grade := one.arms[arm].get(budget)) is not None]
    answered = [attempt for attempt in firsts if attempt.succeeded]
    return ArmCounts(
        attempts=len(firsts),
        failed=len(firsts) - len(answered),
        retried=sum(attempt.retries for attempt in firsts),
        finish_reasons=Counter(str(attempt.finish_reason or "null") for attempt in answered),
        endings=Counter(grade.answer.ending.value for grade in grades if grade.answer is not None),
        verdicts=Counter(grade.verdict for grade in grades),
        drafts=_sum(attempt.spec for attempt in answered if attempt.spec is not None),
        has_drafted=any(one.spec is not None and one.spec.draft_tokens > 0 for one in chain(asked, beside)),
        rates=speeds(answered) if record.plan.is_in_turn else [],
    )


def summarise_arm(run: Run, arm: Arm, counts: ArmCounts) -> ArmSummary:
    """The figures of one arm from what all its samples count up to."""
    counted, drafts = run.counters.get(arm.name), counts.drafts
    has_drafted = counts.has_drafted or (counted is not None and bool(counted.draft_tokens))
    return ArmSummary(
        name=arm.name,
        model=arm.model,
        attempts=counts.attempts,
        failed=counts.failed,
        retried=counts.retried,
        finish_reasons=_sorted(counts.finish_reasons),
        endings=_sorted(counts.endings),
        cut=counts.verdicts[Verdict.TRUNCATED],
        passed=counts.verdicts[Verdict.PASS],
        wrong=counts.verdicts[Verdict.FAIL],
        void=counts.verdicts[Verdict.VOID],
        tokens_per_second=median_speed(counts.rates),
        draft_tokens=None if drafts is None else drafts.draft_tokens,
        accepted_tokens=None if drafts is None else drafts.accepted_tokens,
        speculating=Speculating.ON if has_drafted else _speculating(run, arm),
        counted=counted,
    )


def _speculating(run: Run, arm: Arm) -> Speculating:
    """What the server showed; where it shows nothing, what the plan says of it."""
    facts = run.facts.get(arm.name)
    if facts is not None and facts.speculating is not Speculating.UNKNOWN:
        return facts.speculating
    match arm.speculating:
        case True:
            return Speculating.ON
        case False:
            return Speculating.OFF
        case _:
            return Speculating.UNKNOWN


def speeds(answered: Iterable[Attempt]) -> list[float]:
    """Tokens per second of each request by the client's clock, of those whose tokens were counted."""
    return [
        tokens / attempt.duration_ms * 1000
        for attempt in answered
        if (tokens := attempt.completion_tokens) and attempt.duration_ms > 0
    ]


def median_speed(rates: Sequence[float]) -> float | None:
    """Tokens per second of the median request; None where there is none."""
    return round(statistics.median(rates), 2) if rates else None


def _sum(drafts: Iterable[Drafts]) -> Drafts | None:
    """All of them together; None if there are none."""
    counted = list(drafts)
    if not counted:
        return None
    return Drafts(sum(one.draft_tokens for one in counted), sum(one.accepted_tokens for one in counted))


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {value: counts[value] for value in sorted(counts)}
