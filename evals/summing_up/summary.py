"""A run judged as a whole: every arm, every comparison, the decision."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ...errors import UserError
from ..asking.early import read_course, requests_saved
from ..comparing.arm_summary import ArmSummary, summarise_arm
from ..comparing.comparison import Comparison, compare_arms
from ..comparing.speed import ArmSpeed, measure_speed
from ..decision.gate import Decision, Ruling, alarm_alpha, alarm_p_values, decide, overall
from ..decision.sequential import EarlyLook
from ..judging.ladder import GradedSample, grade_run, grade_sample
from ..judging.prompt_sizes import different_prompts
from ..judging.ways import WaySummary, all_ways
from ..plan import GateSection, Plan
from ..runs.record import Record
from ..runs.run import Run
from ..runs.run_settings import asked_settings
from .judged import Judged, against, has_control, judge_run, most
from .summary_file import ArmEntry, ComparisonEntry, SuiteEntry, SummaryFile, WayEntry


@dataclass(frozen=True)
class Summary:
    """What a run shows; `comparisons` and `rulings` are in the order of the plan's candidates.

    `judged` has what was counted on the way, `baseline` the arm that was compared with. `history` says in
    sentences what an accepted earlier run took out of the rulings (`history.py`). `requests_saved` counts the
    first and control requests that stopping early never made.
    """

    run: Run
    gate: GateSection
    baseline: str
    judged: Judged
    arms: tuple[ArmSummary, ...]
    comparisons: tuple[Comparison, ...]
    rulings: tuple[Ruling, ...]
    ways: WaySummary
    speeds: tuple[ArmSpeed, ...]
    history: tuple[str, ...] = ()
    requests_saved: int = 0

    @property
    def decision(self) -> Decision:
        """The decision over all candidates."""
        return overall(ruling.decision for ruling in self.rulings)

    @property
    def is_complete(self) -> bool:
        """Whether all that is due was asked."""
        return self.judged.is_complete

    def graded(self) -> Iterator[GradedSample]:
        """All samples in the order of the suite, graded again one after another."""
        for block in self.run.blocks():
            yield from grade_run(against(block.read(), self.baseline))

    def record_of(self, sample_id: str) -> Record | None:
        """A record that holds a sample, as it was judged; None if the run has no such sample."""
        record = self.run.record_of(sample_id)
        return None if record is None else against(record, self.baseline)

    def graded_sample(self, sample_id: str) -> GradedSample | None:
        """One sample, graded again."""
        record = self.record_of(sample_id)
        return None if record is None else grade_sample(record, record.sample(sample_id))

    def to_json(self) -> dict[str, JsonValue]:
        """The content of summary.json."""
        pairs = zip(self.comparisons, self.rulings, strict=True)
        return SummaryFile(
            decision=self.decision,
            exit_code=self.decision.exit_code,
            complete=self.is_complete and self.run.part is None,
            requests_saved=self.requests_saved,
            unreadable_lines=self.judged.damaged,
            suite=SuiteEntry(digest=self.run.digest, samples=self.judged.samples),
            settings=asked_settings(self.run.plan),
            arms={arm.name: ArmEntry.of(arm) for arm in self.arms},
            ways=[WayEntry(arm=note.arm, id=note.id, code=note.code) for note in self.ways.notes],
            comparisons=[ComparisonEntry.of(comparison, ruling) for comparison, ruling in pairs],
        ).to_json()


def summarise(
    run: Run,
    *,
    gate: GateSection | None = None,
    baseline: str | None = None,
    lines: Callable[[str, bytes], None] | None = None,
) -> Summary:
    """Grade, attribute and decide: a pure function of the run directory.

    Args:
        run: The run.
        gate: Another `[gate]` section than the run's own.
        baseline: Another arm to compare with than the run's own baseline, which is then a candidate.
        lines: Takes the lines of findings.jsonl on the way, each candidate's in the order of the suite.

    Raises:
        UserError: No arm is named so, or the run stopped early on a comparison with its own baseline.
    """
    settings = gate or run.plan.gate
    plan = run.plan if baseline is None else _with_baseline(run, baseline)
    course = read_course(run, settings)
    judged = judge_run(run, course, plan.baseline.name, lines)
    arms = {arm.name: summarise_arm(run, arm, judged.arms[arm.name].counts) for arm in plan.arms}
    control = judged.control if has_control(run, plan.baseline.name) else None
    comparisons = tuple(
        compare_arms(
            (plan.baseline.name, candidate.name),
            judged.pairs[candidate.name].findings,
            control,
            most(*(judged.arms[name].most_needed for name in (plan.baseline.name, candidate.name))),
        )
        for candidate in plan.candidates
    )
    is_early = run.plan.run.until_decided and judged.is_complete
    return Summary(
        run=run,
        gate=settings,
        baseline=plan.baseline.name,
        judged=judged,
        arms=tuple(arms.values()),
        comparisons=comparisons,
        rulings=rule_all(run, judged, arms, comparisons, settings, looks=course.looks),
        ways=all_ways(judged.ways),
        speeds=measure_speed(run, {name: arm.timed for name, arm in judged.arms.items()}, [*arms.values()]),
        requests_saved=requests_saved(run, judged.requests) if is_early else 0,
    )


def _with_baseline(run: Run, baseline: str) -> Plan:
    """The run's plan with another arm as the baseline."""
    if run.plan.run.until_decided and baseline != run.plan.baseline.name:
        raise UserError(
            f"{run.directory}: asked until decided against {run.plan.baseline.name}, so what was asked "
            f"depends on that comparison; {baseline} cannot be the baseline"
        )
    return run.plan.with_baseline(baseline)


def rule_all(
    run: Run,
    judged: Judged,
    arms: Mapping[str, ArmSummary],
    comparisons: Sequence[Comparison],
    gate: GateSection,
    *,
    looks: Mapping[str, EarlyLook] | None = None,
) -> tuple[Ruling, ...]:
    """Decide on each candidate; the alarms of all candidates share one alpha.

    Args:
        run: The run.
        judged: Its samples judged.
        arms: Figures of every arm, by name.
        comparisons: All candidates, against the same baseline.
        gate: Margin, alpha and the rest of `[gate]`.
        looks: What a run that stops early saw on the way, by candidate.
    """
    is_unlabelled = judged.unlabelled == judged.samples
    alpha = alarm_alpha(gate, is_sequential=run.plan.run.until_decided)
    p_values = {
        one.candidate: alarm_p_values(
            one, arms[one.baseline], arms[one.candidate], gate, alpha=alpha, is_unlabelled=is_unlabelled
        )
        for one in comparisons
    }
    asked_baseline = run.plan.baseline.name
    return tuple(
        decide(
            one,
            arms[one.baseline],
            arms[one.candidate],
            gate,
            is_complete=judged.is_complete,
            part=run.part,
            dialect=run.plan.run.dialect,
            is_unlabelled=is_unlabelled,
            others=[p for name, values in p_values.items() if name != one.candidate for p in values],
            early=(looks or {}).get(one.candidate),
            is_baseline_chosen=one.baseline != asked_baseline,
            is_former_baseline=one.candidate == asked_baseline,
            confounds=[told]
            if (
                told := different_prompts(
                    judged.pairs[one.candidate].prompts, run.plan, one.baseline, one.candidate
                )
            )
            else [],
        )
        for one in comparisons
    )
