"""What judging some samples of a run leaves behind: findings, and counts that add up to those of the run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking.early import Course, requests_made
from ..asking.rounds import is_complete
from ..comparing.arm_summary import ArmCounts, count_arm
from ..comparing.speed import timed_answers
from ..comparing.timed_answer import TimedAnswers
from ..judging.attribute import attribute, control_transitions
from ..judging.finding import Finding, Transition
from ..judging.finding_line import to_line
from ..judging.grade import Verdict
from ..judging.ladder import GradedSample, grade_run
from ..judging.position import passes
from ..judging.prompt_sizes import PromptSizes, compare_prompts
from ..judging.ways import WaySummary, compare_ways
from ..runs.collection import uncollected
from ..runs.journal import attempts_path
from ..runs.record import Record
from ..runs.run import Block, Run
from .processes import in_processes

if TYPE_CHECKING:
    from array import array


@dataclass(slots=True)
class ArmJudged:
    """One arm on these samples.

    `passes` is what `position.passes` returns, `timed` what `speed.timed_answers` does; `most_needed` are the
    most tokens of any answer that was cut at first and finished later.
    """

    counts: ArmCounts
    passes: "array[int]"
    timed: TimedAnswers
    most_needed: int | None

    def add(self, other: "ArmJudged") -> None:
        """Add the same arm on later samples."""
        self.counts.add(other.counts)
        self.passes += other.passes
        self.timed.add(other.timed)
        self.most_needed = most(self.most_needed, other.most_needed)


@dataclass(slots=True)
class PairJudged:
    """One candidate against the baseline on these samples, those not asked of it left out.

    `findings` have no evidence where nothing changed: that stands in their lines alone. `lines` are the lines
    of findings.jsonl.
    """

    findings: list[Finding]
    lines: bytes
    prompts: PromptSizes

    def add(self, other: "PairJudged") -> None:
        """Add the same pair on later samples, all but its lines: they are kept elsewhere."""
        self.findings += other.findings
        self.prompts.add(other.prompts)


@dataclass(slots=True)
class Judged:
    """Samples judged; what is known of later samples is added at the end.

    `control` is what the baseline did against itself, with each sample's category. `is_complete` says whether
    all that is due of these samples was asked, `requests` how many first and control requests were.
    """

    samples: int
    unlabelled: int
    arms: dict[str, ArmJudged]
    pairs: dict[str, PairJudged]
    control: list[tuple[str, Transition]]
    ways: list[WaySummary]
    requests: int
    is_complete: bool
    damaged: list[str] = field(default_factory=list[str])

    def add(self, other: "Judged") -> None:
        """Add later samples of the same run."""
        self.samples += other.samples
        self.unlabelled += other.unlabelled
        for name, arm in other.arms.items():
            self.arms[name].add(arm)
        for name, pair in other.pairs.items():
            self.pairs[name].add(pair)
        self.control += other.control
        self.ways += other.ways
        self.requests += other.requests
        self.is_complete &= other.is_complete
        self.damaged += other.damaged


def judge_record(record: Record, course: Course, baseline: str | None = None) -> Judged:
    """Grade and attribute the samples of a record; every figure of a run is the sum of such parts.

    Args:
        record: Some samples of a run, or all of them.
        course: Which of them were to be asked of which arms.
        baseline: Another arm to compare with than the run's own baseline.
    """
    judged = against(record, baseline)
    graded = list(grade_run(judged))
    places = course.places(record)
    asked = {place.sample.id: place.arms for place in places}
    name, first_budget = judged.plan.baseline.name, record.plan.run.max_tokens
    control: list[tuple[str, Transition]] = []
    if has_control(record, name):
        repeated = [one for one in graded if one.sample.id in asked]
        transitions = control_transitions(repeated, name)
        control = [(one.sample.category, made) for one, made in zip(repeated, transitions, strict=True)]
    return Judged(
        samples=len(record.samples),
        unlabelled=sum(sample.expected is None for sample in record.samples),
        arms={arm.name: _arm(judged, arm.name, graded) for arm in judged.plan.arms},
        pairs={arm.name: _pair(judged, graded, asked, arm.name) for arm in judged.plan.candidates},
        control=control,
        ways=[compare_ways(graded, first_budget)],
        requests=requests_made(record),
        is_complete=is_complete(record, places, graded if judged is record else None),
        damaged=list(record.damaged),
    )


def judge_run(
    run: Run, course: Course, baseline: str | None, lines: Callable[[str, bytes], None] | None
) -> Judged:
    """Judge all samples of a run, those that stay on disk a block at a time and in several processes.

    Args:
        run: The run.
        course: Which samples were to be asked of which arms.
        baseline: Another arm to compare with than the run's own baseline.
        lines: Takes lines of findings.jsonl and the candidate they are of, in the order of the suite.
    """
    tasks = ((block, course.within(block.ids), baseline) for block in run.blocks())
    parts = map(_judge, tasks) if isinstance(run, Record) else in_processes(_judge, tasks)
    judged: Judged | None = None
    with uncollected():
        for part in parts:
            for name, pair in part.pairs.items():
                if lines is not None:
                    lines(name, pair.lines)
                pair.lines = b""
            if judged is None:
                judged = part
            else:
                judged.add(part)
    if judged is None:
        raise AssertionError("a run has a block, if an empty one")
    judged.damaged = in_order(run, {*run.damaged, *judged.damaged})
    return judged


def _judge(task: tuple[Block, Course, str | None]) -> Judged:
    block, course, baseline = task
    with uncollected():
        return judge_record(block.read(), course, baseline)


def in_order(run: Run, damaged: Iterable[str]) -> list[str]:
    """Names of journal lines in the order of arms and lines."""
    arms = {attempts_path(Path(), arm.name).as_posix(): n for n, arm in enumerate(run.plan.arms)}

    def place(name: str) -> tuple[int, int]:
        file, _, line = name.rpartition(":")
        return arms[file], int(line)

    return sorted(damaged, key=place)


def against(record: Record, baseline: str | None) -> Record:
    """The same record with another arm as baseline; where answers left the former one says nothing of it."""
    if baseline is None or baseline == record.plan.baseline.name:
        return record
    return replace(record, plan=record.plan.with_baseline(baseline), divergences={})


def has_control(run: Run, baseline: str) -> bool:
    """Whether this baseline was asked twice: another arm than the run's own was not."""
    return run.plan.run.control and baseline == run.plan.baseline.name


def most(*counts: int | None) -> int | None:
    """The largest of some counts; None where none is known."""
    return max((count for count in counts if count is not None), default=None)


def tokens_after_cut(graded: GradedSample, arm: str) -> int | None:
    """The tokens of an answer of an arm that was cut at first and finished later; None if none was."""
    grades = list(graded.arms[arm].values())
    if not grades or grades[0].verdict is not Verdict.TRUNCATED:
        return None
    for grade in grades[1:]:
        if grade.answer is not None and not grade.answer.is_cut:
            return grade.answer.attempt.completion_tokens
    return None


def _arm(record: Record, arm: str, graded: list[GradedSample]) -> ArmJudged:
    return ArmJudged(
        count_arm(record, arm, graded),
        passes(record, arm, graded),
        timed_answers(record, arm, graded),
        most(*(tokens_after_cut(one, arm) for one in graded)),
    )


def _pair(
    record: Record, graded: list[GradedSample], asked: Mapping[str, tuple[str, ...]], candidate: str
) -> PairJudged:
    baseline = record.plan.baseline.name
    findings = attribute(
        (one for one in graded if candidate in asked.get(one.sample.id, ())),
        baseline=baseline,
        candidate=candidate,
    )
    return PairJudged(
        [finding.without_idle_evidence() for finding in findings],
        b"".join(map(to_line, findings)),
        compare_prompts(record, baseline, candidate),
    )
