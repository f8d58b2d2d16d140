"""Any two arms, of one run or of two, paired sample by sample as a baseline and a candidate are."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from ...errors import UserError
from ..comparing.arm_summary import ArmSummary
from ..comparing.comparison import Comparison, compare_arms
from ..judging.attribute import attribute
from ..judging.finding import Finding, Transition
from ..judging.ladder import GradedSample
from ..plan import Arm
from ..runs.run import Run
from .judged import most, tokens_after_cut
from .summary import Summary


@dataclass(frozen=True)
class Operand:
    """One arm of a judged run, and how it is called beside the other."""

    summary: Summary
    arm: str
    label: str

    @property
    def figures(self) -> ArmSummary:
        """The arm's own figures."""
        return next(one for one in self.summary.arms if one.name == self.arm)

    @property
    def plan_arm(self) -> Arm:
        """The arm as its run's plan has it."""
        return self.summary.run.plan.arm(self.arm)

    def graded_sample(self, sample_id: str) -> GradedSample:
        """A sample of its run, in all its arms."""
        found = self.summary.graded_sample(sample_id)
        if found is None:
            raise AssertionError("arms are compared over the samples that both runs have")
        return found


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms, and what became of each sample from the left one, as the baseline, to the right one."""

    left: Operand
    right: Operand
    comparison: Comparison

    @property
    def is_of_one_run(self) -> bool:
        """False when the arms are of two runs."""
        return self.left.summary is self.right.summary

    def graded(self) -> Iterator[GradedSample]:
        """All samples with the two arms alone, under their labels, graded again one after another."""
        for one in self.left.summary.graded():
            yield _joined(self.left, self.right, one)

    def graded_sample(self, sample_id: str) -> GradedSample:
        """One sample, which must be of the pair, in the same way."""
        return _joined(self.left, self.right, self.left.graded_sample(sample_id))


def run_pairs(summary: Summary) -> tuple[Pair, ...]:
    """A run's own comparisons: every candidate against the baseline."""
    return tuple(
        Pair(
            *(Operand(summary, name, name) for name in (comparison.baseline, comparison.candidate)),
            comparison=comparison,
        )
        for comparison in summary.comparisons
    )


def operands(one: Summary, arm: str, other: Summary, other_arm: str) -> tuple[Operand, Operand]:
    """Two arms to compare; those of two runs are called by run and arm.

    Raises:
        UserError: An arm's name is unknown, both are the same, or the runs asked different things.
    """
    for summary, name in ((one, arm), (other, other_arm)):
        summary.run.plan.arm(name)
    if one is other:
        if arm == other_arm:
            raise UserError(f"both are the arm {arm!r} of one run; expected two arms")
        return Operand(one, arm, arm), Operand(other, other_arm, other_arm)
    refuse_unlike(one.run, other.run)
    names = [summary.run.directory.name for summary in (one, other)]
    if names[0] == names[1]:
        names = [str(summary.run.directory) for summary in (one, other)]
    return Operand(one, arm, f"{names[0]}:{arm}"), Operand(other, other_arm, f"{names[1]}:{other_arm}")


def refuse_unlike(one: Run, other: Run) -> None:
    """Check that two runs asked the same.

    Raises:
        UserError: They did not; the first key that differs is named.
    """
    here, there = _asked(one), _asked(other)
    for key, value in here.items():
        if value != there[key]:
            raise UserError(
                f"{one.directory} and {other.directory} differ in {key} ({_shown(value)} and "
                f"{_shown(there[key])})",
                tip="two arms can be compared where both were asked the same, and in the same way",
            )


def pair_arms(left: Operand, right: Operand) -> Pair:
    """Judge two arms over the samples that both were asked, the left one as the baseline."""
    findings: list[Finding] = []
    needed: int | None = None
    for one in left.summary.graded():
        graded = _joined(left, right, one)
        made = attribute([graded], baseline=left.label, candidate=right.label)
        findings += [finding.without_idle_evidence() for finding in made]
        needed = most(needed, *(tokens_after_cut(graded, name) for name in (left.label, right.label)))
    return Pair(left, right, compare_arms((left.label, right.label), findings, None, needed))


def only_one_breaks(comparison: Comparison) -> dict[tuple[str, str], tuple[int, int]]:
    """How many samples only the left arm breaks, and only the right one, by (cause, code)."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for finding in comparison.findings:
        if finding.cause is None or finding.code is None:
            continue
        left, right = counts.get((finding.cause.value, finding.code), (0, 0))
        is_right = finding.transition is Transition.REGRESSION
        counts[finding.cause.value, finding.code] = (left + (not is_right), right + is_right)
    return counts


def _joined(left: Operand, right: Operand, one: GradedSample) -> GradedSample:
    """A sample of the left run with the two arms alone, under their labels."""
    is_own_baseline = left.summary is right.summary and left.arm == left.summary.run.plan.baseline.name
    other = one if left.summary is right.summary else right.graded_sample(one.sample.id)
    confirms = {
        (operand.label, budget): repeats
        for operand, graded in ((left, one), (right, other))
        for (arm, budget), repeats in graded.confirms.items()
        if arm == operand.arm
    }
    return GradedSample(
        sample=one.sample,
        arms={left.label: one.arms[left.arm], right.label: other.arms[right.arm]},
        control=one.control if left.arm == left.summary.run.plan.baseline.name else {},
        confirms=confirms,
        is_context_limited=one.is_context_limited or other.is_context_limited,
        beside={
            left.label: one.beside.get(left.arm, ()),
            right.label: other.beside.get(right.arm, ()),
        },
        # Margins are the baseline's own: between two candidates nobody measured one.
        divergences={right.label: one.divergences.get(right.arm, ())} if is_own_baseline else {},
    )


def _asked(asked: Run) -> dict[str, JsonValue]:
    """What two runs must share for their arms to be compared; the digest stands for every sample."""
    run = asked.plan.run
    return {
        "suite": asked.digest,
        "shard": None if asked.part is None else asked.part.text,
        "run.mode": run.mode.value,
        "run.max_tokens": run.max_tokens,
        "run.doublings": run.doublings,
        "run.temperature": run.temperature,
        "run.top_p": run.top_p,
        "run.seed": run.seed,
        "run.system_prompt": run.system_prompt,
        "run.redact": run.redact,
    }


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
