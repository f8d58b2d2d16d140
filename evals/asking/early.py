"""Stopping early: pairs in a seeded random order, and a candidate asked no more once it is surely worse.

Only a regression is called early (`[run] until_decided`). Where asking stops follows from the answers in that
order, never from the pace of a session: the same record gives the same stop.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...tasks.draw import Draw
from ..attempt import Attempt, Stage
from ..decision.sequential import EarlyLook, evidence_of_regression
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
        if finding.cause is Cause.CAP and self.gate.cap != "fail":
            return
        if finding.transition is Transition.FIX:
            self.fixes += 1
        elif finding.transition is Transition.REGRESSION:
            self.regressions += 1
            # Nothing but a regression raises the value.
            value = evidence_of_regression(self.regressions, self.fixes, self.pairs, self.gate.margin)
            self.peak = max(self.peak, value)


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
        return _places(record, self.asked)

    def within(self, ids: Iterable[str]) -> "Course":
        """The part of the course that leads through these samples, without the looks."""
        if self.asked is None:
            return Course(self.arms)
        return Course(self.arms, {one: self.asked[one] for one in ids if one in self.asked})


class Walk:
    """The way through a run's samples; it goes on where it stopped when more answers have come.

    A run of fixed size asks every sample of every arm. With `until_decided` the walk goes through settled
    samples in their random order. It drops a candidate after the pair at which the evidence reached
    candidates / alpha: the candidates share alpha (`sequential.py` says what of it is left for the end).

    Args:
        run: The run so far.
        gate: Another `[gate]` to look with; where asking stopped is a matter of the run's own.
    """

    def __init__(self, run: Run, gate: GateSection | None = None) -> None:
        self._plan, self._gate, self._planned = run.plan, gate or run.plan.gate, len(run.ids)
        self._order = random_order(run) if run.plan.run.until_decided else []
        self._arms = tuple(arm.name for arm in run.plan.arms)
        self._start()

    def _start(self) -> None:
        self._is_outdated = False
        self._stops = {arm.name: _Tally(self._plan.gate) for arm in self._plan.candidates}
        self._looks = {arm.name: _Tally(self._gate) for arm in self._plan.candidates}
        # Samples with the arms that they are asked in, in order: those that are settled, of these the ones
        # with a failed attempt, and from the first that is not settled on the ones that are due.
        self._settled: dict[str, tuple[str, ...]] = {}
        self._failed: dict[str, tuple[str, ...]] = {}
        self._next: dict[str, tuple[str, ...]] = {}

    def saw(self, attempt: Attempt) -> None:
        """Take note of an attempt that came; one of a settled sample may change what that says."""
        self._is_outdated |= attempt.id in self._settled

    def go_on(self, run: Run) -> None:
        """Go as far as the answers reach: on from the last settled sample, or anew if one is outdated.

        Args:
            run: The run as it now is; every attempt that is new in it was seen, and what is known of its
                servers has not changed.
        """
        if self._is_outdated:
            self._start()
        self._next = {}
        needed = _needed(self._plan, self._plan.gate)
        for number in range(len(self._settled), len(self._order)):
            live = {name for name, tally in self._stops.items() if tally.peak < needed}
            if not live or len(self._next) >= BATCH:
                break
            sample_id = self._order[number]
            arms = tuple(name for name in self._arms if name in live or name == self._plan.baseline.name)
            # After the first that waits all are due, whatever was asked of them: nothing has to be looked up.
            if self._next or not self._count(run, sample_id, arms):
                self._next[sample_id] = arms

    def _count(self, run: Run, sample_id: str, arms: tuple[str, ...]) -> bool:
        """Count the pairs of a sample; False if it is not settled."""
        record = run.record_of(sample_id)
        if record is None or not is_settled(record, Place(record.sample(sample_id), arms)):
            return False
        sample, baseline = record.sample(sample_id), self._plan.baseline.name
        graded = grade_sample(record, sample)
        for name in arms:
            if name != baseline:
                (finding,) = attribute([graded], baseline=baseline, candidate=name)
                for tally in (self._stops[name], self._looks[name]):
                    tally.add(finding, is_labelled=sample.expected is not None)
        self._settled[sample_id] = arms
        if any(not one.succeeded for arm in arms for one in record.by_sample.get((sample_id, arm), ())):
            self._failed[sample_id] = arms
        return True

    def places(self, record: Record) -> list[Place]:
        """The samples that were asked, or are due next."""
        return self.course().places(record)

    def open_places(self, record: Record) -> list[Place]:
        """Those of them that may lack an answer which judges them: not settled, or settled by a failure."""
        if not self._plan.run.until_decided:
            return self.places(record)
        return _places(record, self._failed | self._next)

    def course(self) -> Course:
        """How far the walk came."""
        if not self._plan.run.until_decided:
            return Course(self._arms)
        needed = _needed(self._plan, self._gate)
        looks = {
            name: EarlyLook(tally.asked, self._planned, tally.pairs, tally.peak, needed)
            for name, tally in self._looks.items()
        }
        return Course(self._arms, self._settled | self._next, looks)


def read_course(run: Run, gate: GateSection | None = None) -> Course:
    """Walk the answers so far and say which samples are due in which arms; the arguments are `Walk`'s."""
    walk = Walk(run, gate)
    walk.go_on(run)
    return walk.course()


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


def _places(record: Record, arms: Mapping[str, tuple[str, ...]]) -> list[Place]:
    """Those of some samples that are in this record, each with its arms."""
    return [
        Place(record.sample(sample_id), names)
        for sample_id, names in arms.items()
        if record.record_of(sample_id) is not None
    ]


def _needed(plan: Plan, gate: GateSection) -> float:
    return len(plan.candidates) / gate.alpha
