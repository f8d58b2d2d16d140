"""Stopping early: pairs in a seeded random order, and a candidate asked no more once it is surely worse.

Only a regression is called early (`[run] until_decided`). Where asking stops follows from the answers in that
order, never from the pace of a session: the same record gives the same stop.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...tasks.draw import Draw
from ..attempt import Stage
from ..decision.sequential import evidence_of_regression
from ..judging.attribute import attribute
from ..judging.finding import Cause, Finding, Transition
from ..judging.ladder import grade_sample
from ..plan import GateSection, Plan
from ..runs.record import Record
from ..runs.run import Run
from .stages import Place, is_settled

# Samples that are asked together before the answers are looked at: enough to keep servers busy.
BATCH = 50


@dataclass(slots=True)
class _Tally:
    """One candidate's pairs so far, and the strongest evidence on the way."""

    gate: GateSection
    regressions: int = 0
    fixes: int = 0
    pairs: int = 0
    asked: int = 0
    peak: float = 1.0

    def add(self, finding: Finding, *, is_labelled: bool) -> None:
        """Count one more sample; one without a label, void, or wrong in both arms says nothing."""
        self.asked += 1
        if not is_labelled or finding.transition in (Transition.VOID, Transition.BOTH_FAIL):
            return
        self.pairs += 1
        if finding.cause is not Cause.CAP or self.gate.cap == "fail":
            self.regressions += finding.transition is Transition.REGRESSION
            self.fixes += finding.transition is Transition.FIX
        value = evidence_of_regression(self.regressions, self.fixes, self.pairs, self.gate.margin)
        self.peak = max(self.peak, value)


@dataclass(frozen=True, slots=True)
class EarlyLook:
    """What was seen of one candidate on the way.

    `asked` of `planned` samples were asked of it; `pairs` of them are labelled, judged, and right in one arm
    or both. `peak` is the largest `evidence_of_regression`, an e-value against "the net rate is within the
    margin".
    """

    asked: int
    planned: int
    pairs: int
    peak: float
    needed: float

    @property
    def is_called(self) -> bool:
        """Whether the evidence for a regression sufficed."""
        return self.peak >= self.needed

    @property
    def is_cut_short(self) -> bool:
        """Whether asking stopped before the last sample."""
        return self.asked < self.planned

    def sentence(self, margin: float) -> str:
        """What this look says, for a reason."""
        seen = (
            f"e-value {self.peak:.3g} of {self.needed:.3g} against a net rate within {margin:.1%}, after "
            f"{self.asked:,} of {self.planned:,} samples"
        )
        if self.is_called:
            return f"worse than the margin, called early: {seen}"
        return f"asking stopped early under another [gate]; under this one that says nothing: {seen}"


@dataclass(frozen=True, slots=True)
class Course:
    """How far a run came: which samples were asked, or are due next, in which arms; a look at each candidate.

    `asked` has their arms by sample, in the order of asking; None stands for every sample in all `arms`.
    """

    arms: tuple[str, ...]
    asked: Mapping[str, tuple[str, ...]] | None = None
    looks: Mapping[str, EarlyLook] = field(default_factory=dict[str, EarlyLook])

    def places(self, record: Record) -> list[Place]:
        """Those samples of a record that were asked, or are due next, in the order of asking."""
        if self.asked is None:
            return [Place(sample, self.arms) for sample in record.samples]
        return [
            Place(record.sample(sample_id), arms)
            for sample_id, arms in self.asked.items()
            if record.record_of(sample_id) is not None
        ]

    def within(self, ids: Iterable[str]) -> "Course":
        """The part of the course that leads through these samples, without the looks."""
        if self.asked is None:
            return Course(self.arms)
        return Course(self.arms, {one: self.asked[one] for one in ids if one in self.asked})


def read_course(run: Run, gate: GateSection | None = None) -> Course:
    """Walk the answers so far and say which samples are due in which arms.

    A run of fixed size asks every sample of every arm. With `until_decided` the walk goes through settled
    samples in their random order. It drops a candidate after the pair at which the evidence reached
    candidates / alpha: the candidates share alpha (`sequential.py` says what of it is left for the end).

    Args:
        run: The run so far.
        gate: Another `[gate]` to look with; where asking stopped is a matter of the run's own.
    """
    plan = run.plan
    names = tuple(arm.name for arm in plan.arms)
    if not plan.run.until_decided:
        return Course(names)
    looked = gate or plan.gate
    stops = {arm.name: _Tally(plan.gate) for arm in plan.candidates}
    looks = {arm.name: _Tally(looked) for arm in plan.candidates}
    asked: dict[str, tuple[str, ...]] = {}
    waiting = 0
    for sample_id in random_order(run):
        live = tuple(name for name, tally in stops.items() if tally.peak < _needed(plan, plan.gate))
        if not live or waiting >= BATCH:
            break
        asked[sample_id] = tuple(name for name in names if name in live or name == plan.baseline.name)
        # The last samples are due, whatever was asked of them: nothing has to be looked up.
        record = None if waiting else run.record_of(sample_id)
        if record is None or not is_settled(record, Place(record.sample(sample_id), asked[sample_id])):
            waiting += 1
            continue
        sample = record.sample(sample_id)
        graded = grade_sample(record, sample)
        for name in live:
            (finding,) = attribute([graded], baseline=plan.baseline.name, candidate=name)
            for tally in (stops[name], looks[name]):
                tally.add(finding, is_labelled=sample.expected is not None)
    planned, needed = len(run.ids), _needed(plan, looked)
    return Course(
        names,
        asked,
        {
            name: EarlyLook(tally.asked, planned, tally.pairs, tally.peak, needed)
            for name, tally in looks.items()
        },
    )


def random_order(run: Run) -> list[str]:
    """The samples in the order in which a run that may stop early asks them; drawn from the run's seed."""
    return Draw(run.plan.run.seed, "until_decided").shuffled(run.ids)


def requests_made(record: Record) -> int:
    """How many first and control requests were made of the samples of a record."""
    budget = record.plan.run.max_tokens
    return sum(
        attempt.max_tokens == budget and attempt.stage in (Stage.FIRST, Stage.CONTROL)
        for attempts in record.by_sample.values()
        for attempt in attempts
    )


def requests_saved(run: Run, made: int) -> int:
    """How many first and control requests were never made, because a candidate had been called."""
    plan = run.plan
    return len(run.ids) * (len(plan.arms) + plan.run.control) - made


def _needed(plan: Plan, gate: GateSection) -> float:
    return len(plan.candidates) / gate.alpha
