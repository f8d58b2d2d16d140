"""Stopping early: pairs in a seeded random order, and a candidate asked no more once it is surely worse.

Only a regression is called early (`[run] until_decided`). Where asking stops follows from the answers in that
order, never from the pace of a session: the same record gives the same stop.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..tasks.draw import Draw
from ..tasks.sample import Sample
from .attempt import Stage
from .attribute import attribute
from .decision.sequential import net_over_margin
from .finding import Cause, Finding, Transition
from .ladder import grade_sample
from .plan import GateSection
from .record import Record
from .stages import Place, is_settled

# Samples that are asked together before the answers are looked at: enough to keep servers busy.
BATCH = 50


@dataclass(slots=True)
class _Tally:
    """One candidate's pairs so far, and the largest e-value on the way."""

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
        value = net_over_margin(self.regressions, self.fixes, self.pairs, self.gate.margin)
        self.peak = max(self.peak, value)


@dataclass(frozen=True, slots=True)
class EarlyLook:
    """What was seen of one candidate on the way.

    `asked` of `planned` samples were asked of it; `pairs` of them are labelled, judged, and right in one arm
    or both. `peak` is the largest e-value against "the net rate is within the margin".
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
    """How far a run came: the places asked or due next, and a look at each candidate."""

    places: tuple[Place, ...]
    looks: Mapping[str, EarlyLook] = field(default_factory=dict[str, EarlyLook])


def read_course(record: Record, gate: GateSection | None = None) -> Course:
    """Walk the answers so far and say which samples are due in which arms.

    A run of fixed size asks every sample of every arm. With `until_decided` the walk goes through settled
    samples in their random order. It drops a candidate after the pair at which its e-value reached
    2 · candidates / alpha: half of alpha, shared by the candidates; the tests at the end have the other half.

    Args:
        record: The run so far.
        gate: Another `[gate]` to look with; where asking stopped is a matter of the run's own.
    """
    plan = record.plan
    names = tuple(arm.name for arm in plan.arms)
    if not plan.run.until_decided:
        return Course(tuple(Place(sample, names) for sample in record.samples))
    looked = gate or plan.gate
    stops = {arm.name: _Tally(plan.gate) for arm in plan.candidates}
    looks = {arm.name: _Tally(looked) for arm in plan.candidates}
    places: list[Place] = []
    waiting = 0
    for sample in random_order(record):
        live = tuple(name for name, tally in stops.items() if tally.peak < _needed(record, plan.gate))
        if not live or waiting >= BATCH:
            break
        place = Place(sample, tuple(name for name in names if name in live or name == plan.baseline.name))
        places.append(place)
        if waiting or not is_settled(record, place):
            waiting += 1
            continue
        graded = grade_sample(record, sample)
        for name in live:
            (finding,) = attribute([graded], baseline=plan.baseline.name, candidate=name)
            for tally in (stops[name], looks[name]):
                tally.add(finding, is_labelled=sample.expected is not None)
    planned, needed = len(record.samples), _needed(record, looked)
    return Course(
        tuple(places),
        {
            name: EarlyLook(tally.asked, planned, tally.pairs, tally.peak, needed)
            for name, tally in looks.items()
        },
    )


def random_order(record: Record) -> list[Sample]:
    """The samples in the order in which a run that may stop early asks them; drawn from the run's seed."""
    return Draw(record.plan.run.seed, "until_decided").shuffled(record.samples)


def requests_saved(record: Record) -> int:
    """How many first and control requests were never made, because a candidate had been called."""
    plan = record.plan
    planned = len(record.samples) * (len(plan.arms) + plan.run.control)
    made = sum(
        attempt.max_tokens == plan.run.max_tokens and attempt.stage in (Stage.FIRST, Stage.CONTROL)
        for attempts in record.by_sample.values()
        for attempt in attempts
    )
    return planned - made


def _needed(record: Record, gate: GateSection) -> float:
    return 2 * len(record.plan.candidates) / gate.alpha
