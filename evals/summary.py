"""A run judged as a whole: every arm, every comparison, the decision; and the two derived files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from .arm_summary import ArmSummary, summarise_arm
from .attribute import attribute, control_transitions
from .comparison import Comparison, compare_arms
from .finding_line import FindingLine
from .gate import Decision, Ruling, decide, overall
from .grade import Verdict
from .journal import write_json, write_json_lines
from .ladder import GradedSample, grade_run
from .plan import Arm, GateSection
from .record import Record, asked_settings
from .rounds import is_complete
from .speed import ArmSpeed, measure_speed
from .summary_file import ArmEntry, ComparisonEntry, SuiteEntry, SummaryFile, WayEntry
from .ways import WaySummary, compare_ways


@dataclass(frozen=True)
class Summary:
    """What a run shows; `comparisons` and `rulings` are in the order of the plan's candidates.

    `history` says in sentences what an accepted earlier run took out of the rulings (`history.py`).
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
            complete=self.is_complete,
            unreadable_lines=list(self.record.damaged),
            suite=SuiteEntry(digest=self.record.digest, samples=len(self.record.samples)),
            settings=asked_settings(self.record.plan),
            arms={arm.name: ArmEntry.of(arm) for arm in self.arms},
            ways=[WayEntry(arm=note.arm, id=note.id, code=note.code) for note in self.ways.notes],
            comparisons=[ComparisonEntry.of(comparison, ruling) for comparison, ruling in pairs],
        ).to_json()


def summarise(record: Record, *, gate: GateSection | None = None) -> Summary:
    """Grade, attribute and decide: a pure function of the run directory.

    Args:
        record: The run as read.
        gate: Another `[gate]` section than the run's own.
    """
    settings = gate or record.plan.gate
    graded = tuple(grade_run(record))
    arms = {arm.name: summarise_arm(record, arm, graded) for arm in record.plan.arms}
    baseline = record.plan.baseline
    control = control_transitions(graded, baseline.name) if record.plan.run.control else None
    complete = is_complete(record)
    comparisons: list[Comparison] = []
    rulings: list[Ruling] = []
    for candidate in record.plan.candidates:
        findings = attribute(graded, baseline=baseline.name, candidate=candidate.name)
        comparison = compare_arms(findings, control, needed_max_tokens(graded, (baseline, candidate)))
        comparisons.append(comparison)
        rulings.append(rule_on(record, comparison, arms, settings, complete))
    return Summary(
        record,
        settings,
        graded,
        tuple(arms.values()),
        tuple(comparisons),
        tuple(rulings),
        complete,
        compare_ways(graded, record.plan.run.max_tokens),
        measure_speed(record, graded, tuple(arms.values())),
    )


def rule_on(
    record: Record, comparison: Comparison, arms: Mapping[str, ArmSummary], gate: GateSection, complete: bool
) -> Ruling:
    """Decide on one comparison of a run."""
    return decide(
        comparison,
        arms[comparison.baseline],
        arms[comparison.candidate],
        gate,
        is_complete=complete,
        dialect=record.plan.run.dialect,
        is_unlabelled=all(sample.expected is None for sample in record.samples),
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
