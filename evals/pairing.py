"""Any two arms, of one run or of two, paired sample by sample as a baseline and a candidate are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from ..errors import UserError
from .arm_summary import ArmSummary
from .attribute import attribute
from .comparison import Comparison, compare_arms
from .finding import Transition
from .ladder import GradedSample
from .plan import Arm
from .record import Record
from .summary import Summary, needed_max_tokens


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
        return self.summary.record.plan.arm(self.arm)

    @cached_property
    def graded(self) -> Mapping[str, GradedSample]:
        """The samples of its run, by id."""
        return {one.sample.id: one for one in self.summary.graded}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms, and what became of each sample from the left one, as the baseline, to the right one.

    `graded` are the samples with the arms under their labels.
    """

    left: Operand
    right: Operand
    graded: Sequence[GradedSample]
    comparison: Comparison

    @property
    def is_of_one_run(self) -> bool:
        """False when the arms are of two runs."""
        return self.left.summary is self.right.summary


def run_pairs(summary: Summary) -> tuple[Pair, ...]:
    """A run's own comparisons: every candidate against the baseline."""
    return tuple(
        Pair(
            *(Operand(summary, name, name) for name in (comparison.baseline, comparison.candidate)),
            graded=summary.graded,
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
        summary.record.plan.arm(name)
    if one is other:
        if arm == other_arm:
            raise UserError(f"both are the arm {arm!r} of one run; expected two arms")
        return Operand(one, arm, arm), Operand(other, other_arm, other_arm)
    refuse_unlike(one.record, other.record)
    names = [summary.record.directory.name for summary in (one, other)]
    if names[0] == names[1]:
        names = [str(summary.record.directory) for summary in (one, other)]
    return Operand(one, arm, f"{names[0]}:{arm}"), Operand(other, other_arm, f"{names[1]}:{other_arm}")


def refuse_unlike(one: Record, other: Record) -> None:
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
    graded = tuple(_joined(left, right))
    findings = attribute(graded, baseline=left.label, candidate=right.label)
    renamed = [one.plan_arm.model_copy(update={"name": one.label}) for one in (left, right)]
    return Pair(left, right, graded, compare_arms(findings, None, needed_max_tokens(graded, renamed)))


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


def _joined(left: Operand, right: Operand) -> Iterator[GradedSample]:
    """Samples with the two arms alone, under their labels."""
    is_own_baseline = left.summary is right.summary and left.arm == left.summary.record.plan.baseline.name
    for one in left.summary.graded:
        other = right.graded[one.sample.id]
        confirms = {
            (operand.label, budget): repeats
            for operand, graded in ((left, one), (right, other))
            for (arm, budget), repeats in graded.confirms.items()
            if arm == operand.arm
        }
        yield GradedSample(
            sample=one.sample,
            arms={left.label: one.arms[left.arm], right.label: other.arms[right.arm]},
            control=one.control if left.arm == left.summary.record.plan.baseline.name else {},
            confirms=confirms,
            is_context_limited=one.is_context_limited or other.is_context_limited,
            beside={
                left.label: one.beside.get(left.arm, ()),
                right.label: other.beside.get(right.arm, ()),
            },
            # Margins are the baseline's own: between two candidates nobody measured one.
            divergences={right.label: one.divergences.get(right.arm, ())} if is_own_baseline else {},
        )


def _asked(record: Record) -> dict[str, JsonValue]:
    """What two runs must share for their arms to be compared; the digest stands for every sample."""
    run = record.plan.run
    return {
        "suite": record.digest,
        "shard": None if record.part is None else record.part.text,
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
