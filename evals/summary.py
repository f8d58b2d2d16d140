"""A run judged as a whole: every arm, every comparison, the decision; and the two derived files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from ..errors import UserError
from .arm_summary import ArmSummary, summarise_arm
from .attribute import attribute, control_transitions
from .comparison import CauseCounts, ChurnCounts, Comparison, compare_arms
from .early import Course, read_course, requests_saved
from .gate import Decision, Ruling, alarm_alpha, alarm_p_values, decide, overall
from .grade import Verdict
from .journal import write_json, write_json_lines
from .ladder import GradedSample, grade_run
from .plan import Arm, GateSection
from .record import Record
from .rounds import is_complete
from .ways import WaySummary, compare_ways

# The format of summary.json and findings.jsonl.
# 1: the first.
FORMAT = 1


@dataclass(frozen=True)
class Summary:
    """What a run shows; `comparisons` and `rulings` are in the order of the plan's candidates.

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
    requests_saved: int = 0

    @property
    def decision(self) -> Decision:
        """The decision over all candidates."""
        return overall(ruling.decision for ruling in self.rulings)

    def to_json(self) -> dict[str, JsonValue]:
        """The content of summary.json."""
        pairs = zip(self.comparisons, self.rulings, strict=True)
        return {
            "format": FORMAT,
            "decision": self.decision.value,
            "exit_code": self.decision.exit_code,
            "complete": self.is_complete,
            "requests_saved": self.requests_saved,
            "unreadable_lines": list(self.record.damaged),
            "suite": {"digest": self.record.digest, "samples": len(self.record.samples)},
            "arms": {arm.name: arm.to_json() for arm in self.arms},
            "ways": [{"arm": note.arm, "id": note.id, "code": note.code.value} for note in self.ways.notes],
            "comparisons": [_comparison_json(comparison, ruling) for comparison, ruling in pairs],
        }


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
    complete = is_complete(record)
    course = read_course(record, settings)
    judged = record if baseline is None else _against(record, baseline)
    graded = tuple(grade_run(judged))
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
        rulings=_rule(record, arms, comparisons, settings, course, is_complete=complete),
        is_complete=complete,
        ways=compare_ways(graded, record.plan.run.max_tokens),
        requests_saved=requests_saved(record) if record.plan.run.until_decided and complete else 0,
    )


def _against(record: Record, baseline: str) -> Record:
    """The same run with another arm as the baseline."""
    if record.plan.run.until_decided and baseline != record.plan.baseline.name:
        raise UserError(
            f"{record.directory}: asked until decided against {record.plan.baseline.name}, so what was asked "
            f"depends on that comparison; {baseline} cannot be the baseline"
        )
    return replace(record, plan=record.plan.with_baseline(baseline))


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


def _rule(
    record: Record,
    arms: Mapping[str, ArmSummary],
    comparisons: Sequence[Comparison],
    gate: GateSection,
    course: Course,
    *,
    is_complete: bool,
) -> tuple[Ruling, ...]:
    """Decide on each candidate; the alarms of all candidates share one alpha."""
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
            dialect=record.plan.run.dialect,
            is_unlabelled=is_unlabelled,
            others=[p for name, values in p_values.items() if name != one.candidate for p in values],
            early=course.looks.get(one.candidate),
            is_baseline_chosen=one.baseline != asked_baseline,
            is_former_baseline=one.candidate == asked_baseline,
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
    findings = [finding.to_json() for comparison in summary.comparisons for finding in comparison.findings]
    write_json_lines(directory / "findings.jsonl", findings)
    write_json(directory / "summary.json", summary.to_json())


def _comparison_json(comparison: Comparison, ruling: Ruling) -> dict[str, JsonValue]:
    return {
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "decision": ruling.decision.value,
        "reasons": list(ruling.reasons),
        "samples": comparison.samples,
        "compared": comparison.compared,
        "both_pass": comparison.both_pass,
        "both_fail": comparison.both_fail,
        "void": comparison.void,
        "regressions": _counts_json(comparison.regressions),
        "fixes": _counts_json(comparison.fixes),
        "net_rate": ruling.net_rate,
        "net_rate_interval": None if ruling.interval is None else list(ruling.interval),
        "mcnemar_p": ruling.mcnemar_p,
        "control": _churn_json(comparison.control),
        "by_category": {
            category: {
                "compared": counts.compared,
                "regressions": counts.regressions,
                "fixes": counts.fixes,
                "control": _churn_json(comparison.control_by_category.get(category)),
            }
            for category, counts in comparison.by_category.items()
        },
        "needed_max_tokens": comparison.needed_max_tokens,
        "codes": dict(comparison.codes),
        "void_codes": dict(comparison.void_codes),
    }


def _churn_json(counts: ChurnCounts | None) -> dict[str, JsonValue] | None:
    if counts is None:
        return None
    return {
        "compared": counts.compared,
        "churn": counts.churn,
        "regressions": counts.regressions,
        "fixes": counts.fixes,
    }


def _counts_json(counts: CauseCounts) -> dict[str, JsonValue]:
    return {
        "total": counts.total,
        "cap": counts.cap,
        "malformed": counts.malformed,
        "real_change": counts.real_change,
        "unresolved": counts.unresolved,
        "malformed_syntax": counts.syntax,
        "malformed_contract": counts.contract,
    }
