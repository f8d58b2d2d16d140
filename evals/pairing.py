"""Any two arms, of one run or of two, paired sample by sample as a baseline and a candidate are."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from ..errors import UserError
from .arm_summary import ArmSummary
from .attribute import attribute
from .comparison import Comparison, compare_arms
from .finding import Finding, Transition
from .judged import most, tokens_after_cut
from .ladder import GradedSample
from .run import Run
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


def pair_arms(left: Operand, right: Operand) -> Comparison:
    """Judge two arms over the samples that both were asked, the left one as the baseline."""
    findings: list[Finding] = []
    needed: int | None = None
    for graded in _joined(left, right):
        made = attribute([graded], baseline=left.label, candidate=right.label)
        findings += [finding.without_idle_evidence() for finding in made]
        needed = most(needed, *(tokens_after_cut(graded, name) for name in (left.label, right.label)))
    return compare_arms(findings, None, needed)


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
    is_own_baseline = left.summary is right.summary and left.arm == left.summary.run.plan.baseline.name
    for one in left.summary.graded():
        other = one if left.summary is right.summary else right.summary.graded_sample(one.sample.id)
        if other is None:
            raise AssertionError("runs of one suite have the same samples")
        confirms = {
            (operand.label, budget): repeats
            for operand, graded in ((left, one), (right, other))
            for (arm, budget), repeats in graded.confirms.items()
            if arm == operand.arm
        }
        yield GradedSample(
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
