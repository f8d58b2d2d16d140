"""A run judged as a whole: every arm, every comparison, the decision; and the two derived files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from ..errors import UserError
from .arm_summary import ArmSummary, summarise_arm
from .attribute import attribute, control_transitions
from .comparison import Comparison, compare_arms
from .decision.gate import Decision, Ruling, alarm_alpha, alarm_p_values, decide, overall
from .early import Course, EarlyLook, read_course, requests_saved
from .finding_line import FindingLine
from .grade import Verdict
from .journal import write_json, write_json_lines
from .ladder import GradedSample, grade_run
from .plan import Arm, GateSection
from .prompt_sizes import different_prompts
from .record import Record, asked_settings
from .rounds import is_complete
from .speed import ArmSpeed, measure_speed
from .summary_file import ArmEntry, ComparisonEntry, SuiteEntry, SummaryFile, WayEntry
from .ways import WaySummary, compare_ways


@dataclass(frozen=True)
class Summary:
    """What a run shows; `comparisons` and `rulings` are in the order of the plan's candidates.

    `history` says in sentences what an accepted earlier run took out of the rulings (`history.py`).
    `requests_saved` counts the first and control requests that stopping early never made.
    """

    record: Record
    gate: GateSection
    graded: tuple[GradedSample, ...]
    arms: tuple[ArmSummary, ...]
    comparisons: tuple[Comparison, ...]
    rulings: tuple[Ruling, ...]
    is_complete: bool
    ways: WaySummary
    speeds: tuple[ArmSpeed, ...]
    history: tuple[str, ...] = ()
    requests_saved: int = 0

    @property
    def decision(self) -> Decision:
        """The decision over all candidates."""
        return overall(ruling.decision for ruling in self.rulings)

    def to_json(self) -> dict[str, JsonValue]:
        """The content of summary.json."""
        pairs = zip(self.comparisons, self.rulings, strict=True)
        return SummaryFile(
            decision=self.decision,
            exit_code=self.decision.exit_code,
            complete=self.is_complete and self.record.part is None,
            requests_saved=self.requests_saved,
            unreadable_lines=list(self.record.damaged),
            suite=SuiteEntry(digest=self.record.digest, samples=len(self.record.samples)),
            settings=asked_settings(self.record.plan),
            arms={arm.name: ArmEntry.of(arm) for arm in self.arms},
            ways=[WayEntry(arm=note.arm, id=note.id, code=note.code) for note in self.ways.notes],
            comparisons=[ComparisonEntry.of(comparison, ruling) for comparison, ruling in pairs],
        ).to_json()


def summarise(record: Record, *, gate: GateSection | None = None, baseline: str | None = None) -> Summary:
    """Grade, attribute and decide: a pure function of the run directory.

    Args:
        record: The run as read.
        gate: Another `[gate]` section than the run's own.
        baseline: Another arm to compare with than the run's own baseline, which is then a candidate.

    Raises:
        UserError: No arm is named so, or the run stopped early on a comparison with its own baseline.
    """
    settings = gate or record.plan.gate
    course = read_course(record, settings)
    judged = record if baseline is None else _against(record, baseline)
    graded = tuple(grade_run(judged))
    complete = is_complete(record, graded if judged is record else None)
    arms = {arm.name: summarise_arm(judged, arm, graded) for arm in judged.plan.arms}
    comparisons = tuple(
        _compare(record, judged, graded, course, candidate) for candidate in judged.plan.candidates
    )
    return Summary(
        record=record,
        gate=settings,
        graded=graded,
        arms=tuple(arms.values()),
        comparisons=comparisons,
        rulings=rule_all(record, arms, comparisons, settings, is_complete=complete, looks=course.looks),
        is_complete=complete,
        ways=compare_ways(graded, record.plan.run.max_tokens),
        speeds=measure_speed(record, graded, tuple(arms.values())),
        requests_saved=requests_saved(record) if record.plan.run.until_decided and complete else 0,
    )


def _against(record: Record, baseline: str) -> Record:
    """The same run with another arm as the baseline; where answers left the former one says nothing of it."""
    if baseline == record.plan.baseline.name:
        return record
    if record.plan.run.until_decided:
        raise UserError(
            f"{record.directory}: asked until decided against {record.plan.baseline.name}, so what was asked "
            f"depends on that comparison; {baseline} cannot be the baseline"
        )
    return replace(record, plan=record.plan.with_baseline(baseline), divergences={})


def _compare(
    record: Record, judged: Record, graded: Sequence[GradedSample], course: Course, candidate: Arm
) -> Comparison:
    """Count one candidate's samples; those not asked of it, since it had been called, are no part of that."""
    baseline = judged.plan.baseline
    asked = {place.sample.id: place.arms for place in course.places}
    findings = attribute(
        (one for one in graded if candidate.name in asked.get(one.sample.id, ())),
        baseline=baseline.name,
        candidate=candidate.name,
    )
    control = None
    # Another arm than the run's own baseline was asked once only: it has no control.
    if record.plan.run.control and baseline.name == record.plan.baseline.name:
        repeated = [one for one in graded if one.sample.id in asked]
        transitions = control_transitions(repeated, baseline.name)
        control = [(one.sample.category, made) for one, made in zip(repeated, transitions, strict=True)]
    return compare_arms(findings, control, needed_max_tokens(graded, (baseline, candidate)))


def rule_all(
    record: Record,
    arms: Mapping[str, ArmSummary],
    comparisons: Sequence[Comparison],
    gate: GateSection,
    *,
    is_complete: bool,
    looks: Mapping[str, EarlyLook] | None = None,
) -> tuple[Ruling, ...]:
    """Decide on each candidate; the alarms of all candidates share one alpha.

    Args:
        record: The run.
        arms: Figures of every arm, by name.
        comparisons: All candidates, against the same baseline.
        gate: Margin, alpha and the rest of `[gate]`.
        is_complete: False when some ask has no answer yet.
        looks: What a run that stops early saw on the way, by candidate.
    """
    is_unlabelled = all(sample.expected is None for sample in record.samples)
    alpha = alarm_alpha(gate, is_sequential=record.plan.run.until_decided)
    p_values = {
        one.candidate: alarm_p_values(
            one, arms[one.baseline], arms[one.candidate], gate, alpha=alpha, is_unlabelled=is_unlabelled
        )
        for one in comparisons
    }
    asked_baseline = record.plan.baseline.name
    return tuple(
        decide(
            one,
            arms[one.baseline],
            arms[one.candidate],
            gate,
            is_complete=is_complete,
            part=record.part,
            dialect=record.plan.run.dialect,
            is_unlabelled=is_unlabelled,
            others=[p for name, values in p_values.items() if name != one.candidate for p in values],
            early=(looks or {}).get(one.candidate),
            is_baseline_chosen=one.baseline != asked_baseline,
            is_former_baseline=one.candidate == asked_baseline,
            confounds=[told] if (told := different_prompts(record, one.baseline, one.candidate)) else [],
        )
        for one in comparisons
    )


def needed_max_tokens(graded: Sequence[GradedSample], arms: Sequence[Arm]) -> int | None:
    """The most tokens of any answer that was cut at first and finished later, in these arms."""
    needed = [
        tokens for one in graded for arm in arms if (tokens := _tokens_after_cut(one, arm.name)) is not None
    ]
    return max(needed, default=None)


def _tokens_after_cut(graded: GradedSample, arm: str) -> int | None:
    grades = list(graded.arms[arm].values())
    if not grades or grades[0].verdict is not Verdict.TRUNCATED:
        return None
    for grade in grades[1:]:
        if grade.answer is not None and not grade.answer.is_cut:
            return grade.answer.attempt.completion_tokens
    return None


def write_derived(directory: Path, summary: Summary) -> None:
    """Write findings.jsonl and summary.json, each whole."""
    findings = [
        FindingLine.of(finding).to_json()
        for comparison in summary.comparisons
        for finding in comparison.findings
    ]
    write_json_lines(directory / "findings.jsonl", findings)
    write_json(directory / "summary.json", summary.to_json())
