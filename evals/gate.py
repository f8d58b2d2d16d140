"""The decision on one candidate, with its reasons: void, regression, pass, or inconclusive, in that order."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from .arm_summary import ArmSummary
from .comparison import Comparison
from .plan import GateSection
from .server import Speculating
from .statistics import failure_rates_differ, mcnemar_midp, samples_to_decide, tango_interval, upper_bound


class Decision(StrEnum):
    """What the gate says of a candidate, and overall."""

    PASS = "pass"
    REGRESSION = "regression"
    INCONCLUSIVE = "inconclusive"
    VOID = "void"

    @property
    def exit_code(self) -> int:
        """The exit code of `draftproof gate`."""
        return {"pass": 0, "regression": 1, "inconclusive": 3, "void": 4}[self.value]


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision with its figures.

    `net_rate` is (regressions − fixes) / informative pairs, and `interval` Tango's two-sided score interval
    of it at confidence 1 − 2·alpha, so that its upper bound is the one-sided bound that a pass needs. Both
    are None where no pair was informative. `mcnemar_p` is the one-sided mid-p.
    """

    decision: Decision
    reasons: tuple[str, ...]
    net_rate: float | None
    interval: tuple[float, float] | None
    mcnemar_p: float | None


def decide(
    comparison: Comparison,
    baseline: ArmSummary,
    candidate: ArmSummary,
    gate: GateSection,
    *,
    is_complete: bool,
    dialect: str,
    is_unlabelled: bool,
) -> Ruling:
    """Decide on one candidate.

    Args:
        comparison: The counts of the pair.
        baseline: Figures of the baseline's arm.
        candidate: Figures of the candidate's arm.
        gate: Margin, alpha and the rest of `[gate]`.
        is_complete: False when some ask has no answer yet.
        dialect: Named when hardly anything was right: a wrong dialect looks exactly like that.
        is_unlabelled: True when no compared sample has a label.
    """
    cap_counts = gate.cap == "fail"
    worse = comparison.regressions.without_cap(cap_counts=cap_counts)
    better = comparison.fixes.without_cap(cap_counts=cap_counts)
    pairs = comparison.informative
    net_rate = (worse - better) / pairs if pairs else None
    interval = tango_interval(worse, better, pairs, confidence=1 - 2 * gate.alpha)
    midp = mcnemar_midp(worse, better) if pairs else None

    def rule(decision: Decision, reasons: Iterable[str]) -> Ruling:
        return Ruling(decision, tuple(reasons), net_rate, interval, midp)

    voids = [
        *(
            []
            if is_complete
            else ["the run is incomplete: some requests were not made yet; run it again to go on"]
        ),
        *_void_reasons(comparison, baseline, candidate, gate, dialect),
    ]
    if voids or net_rate is None or interval is None or midp is None:
        return rule(Decision.VOID, voids or ["no pair could be compared in which one arm was right"])
    is_self_repeating = is_unlabelled and comparison.control is not None and not comparison.control.churn
    if alarms := _alarms(
        comparison, baseline, candidate, gate, net_rate, midp, is_unlabelled=is_self_repeating
    ):
        return rule(Decision.REGRESSION, alarms)
    if is_self_repeating:
        changed = (
            f"changed: {worse} of {pairs} answers differ from the baseline's; nobody labelled these samples "
            "and the baseline repeats itself exactly, so better or worse cannot be told"
        )
        return rule(Decision.INCONCLUSIVE, [changed])
    blocks = _blocks(comparison, gate, worse, better)
    if not blocks:
        upper = _upper_with_failures(comparison, gate, worse, better)
        return rule(
            Decision.PASS,
            [f"no worse than the margin: the net rate is at most {upper:+.1%} (margin {gate.margin:.1%})"],
        )
    return rule(Decision.INCONCLUSIVE, blocks)


def overall(decisions: Iterable[Decision]) -> Decision:
    """The decision over several candidates: regression, else void, else inconclusive, else pass."""
    found = set(decisions)
    for decision in (Decision.REGRESSION, Decision.VOID, Decision.INCONCLUSIVE):
        if decision in found:
            return decision
    return Decision.PASS if found else Decision.VOID


def _void_reasons(
    comparison: Comparison, baseline: ArmSummary, candidate: ArmSummary, gate: GateSection, dialect: str
) -> list[str]:
    reasons: list[str] = []
    if baseline.model != candidate.model:
        reasons.append(f"the arms name different models: {baseline.model!r} and {candidate.model!r}")
    if baseline.drafted or baseline.speculating is Speculating.ON:
        reasons.append(f"{baseline.name} speculates: it is no baseline")
    if (silence := _not_speculating(candidate, gate)) is not None:
        reasons.append(silence)
    reasons += [
        f"{arm.name}: {arm.void} of {arm.attempts} samples are void ({arm.void / arm.attempts:.0%}, "
        f"[gate] max_failed {gate.max_failed:.0%})"
        for arm in (baseline, candidate)
        if arm.attempts and arm.void / arm.attempts > gate.max_failed
    ]
    graded = baseline.attempts - baseline.void
    if graded and baseline.passed / graded < gate.min_baseline:
        reasons.append(
            f"the baseline is right on {baseline.passed} of {graded} ({baseline.passed / graded:.0%}, [gate] "
            f"min_baseline {gate.min_baseline:.0%}): is {dialect!r} this model's dialect, and does the suite "
            "suit the model?"
        )
    if not comparison.compared:
        reasons.append("nothing could be compared: every pair is void")
    return reasons


def _not_speculating(candidate: ArmSummary, gate: GateSection) -> str | None:
    if gate.require_speculation is False:
        return None
    if candidate.drafted == 0:
        return f"{candidate.name} drafted nothing: this compares a server without speculation"
    if candidate.drafted is None and candidate.speculating is Speculating.OFF:
        return f"{candidate.name} does not speculate: its server, or the plan, says that speculation is off"
    if candidate.drafted is None and candidate.speculating is Speculating.UNKNOWN:
        if gate.require_speculation is True:
            return (
                f"{candidate.name}: whether it speculates cannot be seen ([gate] require_speculation = true)"
            )
        return None
    return None


def _alarms(
    comparison: Comparison,
    baseline: ArmSummary,
    candidate: ArmSummary,
    gate: GateSection,
    net_rate: float,
    midp: float,
    *,
    is_unlabelled: bool,
) -> list[str]:
    """Reasons for `regression`. Syntax and endpoint failures know no margin: a corrupted call is no taste."""
    alarms: list[str] = []
    if not is_unlabelled and midp < gate.alpha and net_rate > gate.margin:
        alarms.append(
            f"significantly worse: net rate {net_rate:+.1%} over the margin {gate.margin:.1%} "
            f"(mid-p McNemar {midp:.2g} < alpha {gate.alpha:g})"
        )
    broken, mended = comparison.regressions.syntax, comparison.fixes.syntax
    if (p := mcnemar_midp(broken, mended)) < gate.alpha:
        alarms.append(
            f"significantly more calls of broken syntax: {broken} new, {mended} gone (mid-p McNemar {p:.2g} "
            f"< alpha {gate.alpha:g})"
        )
    p = failure_rates_differ(baseline.failed, baseline.attempts, candidate.failed, candidate.attempts)
    if p is not None and p < gate.alpha:
        alarms.append(
            f"the endpoint of {candidate.name} fails significantly more often: {candidate.failed} of "
            f"{candidate.attempts} against {baseline.failed} of {baseline.attempts} (p {p:.2g})"
        )
    return alarms


def _blocks(comparison: Comparison, gate: GateSection, worse: int, better: int) -> list[str]:
    """What stands between this candidate and a pass."""
    blocks: list[str] = []
    upper = _upper_with_failures(comparison, gate, worse, better)
    if upper > gate.margin:
        needed = samples_to_decide(
            worse, better, comparison.informative, margin=gate.margin, alpha=gate.alpha
        )
        how_many = (
            "no number of samples would decide at this rate"
            if needed is None
            else f"about {needed} pairs would decide at this rate of change ({comparison.informative} so far)"
        )
        blocks.append(f"the net rate could be as high as {upper:+.1%} (margin {gate.margin:.1%}); {how_many}")
    if comparison.reproduced_syntax > gate.max_malformed:
        blocks.append(
            f"{comparison.reproduced_syntax} new outputs of broken syntax ([gate] max_malformed "
            f"{gate.max_malformed}): look at each before you enable speculation"
        )
    return blocks


def _upper_with_failures(comparison: Comparison, gate: GateSection, worse: int, better: int) -> float:
    """The one-sided upper bound, endpoint failures of the candidate alone counted as regressions."""
    failures = comparison.candidate_only_failures
    bound = upper_bound(worse + failures, better, comparison.informative + failures, gate.alpha)
    return 1.0 if bound is None else bound
