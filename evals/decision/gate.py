"""The decision on one candidate, with its reasons: void, regression, pass, or inconclusive, in that order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..comparing.arm_summary import ArmSummary
from ..comparing.comparison import Comparison
from ..plan import PRESET_SAMPLES, GateSection
from ..runs.shard import Part
from ..servers.server import Speculating
from .alarms import alarm_tests, alarms
from .sequential import SHARE_ON_THE_WAY, EarlyLook
from .statistics import mcnemar_midp, samples_to_decide, tango_interval, upper_bound


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
    part: Part | None = None,
    dialect: str,
    is_unlabelled: bool,
    others: Sequence[float] = (),
    early: EarlyLook | None = None,
    is_baseline_chosen: bool = False,
    is_former_baseline: bool = False,
    confounds: Sequence[str] = (),
) -> Ruling:
    """Decide on one candidate.

    Args:
        comparison: The counts of the pair.
        baseline: Figures of the baseline's arm.
        candidate: Figures of the candidate's arm.
        gate: Margin, alpha and the rest of `[gate]`.
        is_complete: False when some ask has no answer yet.
        part: What this is of a run that was split; None of a whole one.
        dialect: Named when hardly anything was right: a wrong dialect looks exactly like that.
        is_unlabelled: True when no compared sample has a label.
        others: The p-values of the other candidates' tests (`alarm_p_values`), which share alpha.
        early: What a run that stops early saw of this candidate; None for a run of fixed size.
        is_baseline_chosen: True when somebody asked for this arm as the baseline: it may speculate.
        is_former_baseline: True when the candidate is the plan's own baseline: it need not speculate.
        confounds: What else differed between the arms, in sentences: with any, nothing can be concluded.
    """
    worse, better = comparison.counted(gate)
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
        *(
            []
            if part is None
            else [f"holds {part.text}, not all {part.samples:,} samples; `draftproof merge` joins shards"]
        ),
        *([] if is_baseline_chosen else _speculating_baseline(baseline)),
        *([] if is_former_baseline else _not_speculating(candidate, gate)),
        *_void_reasons(comparison, baseline, candidate, gate, dialect),
        *confounds,
    ]
    if voids or net_rate is None or interval is None or midp is None:
        return rule(Decision.VOID, voids or ["no pair could be compared in which one arm was right"])
    if early is not None and early.is_called:
        return rule(Decision.REGRESSION, [early.sentence(gate.margin)])
    small = _too_small_for_preset(comparison, gate)
    if early is not None and early.is_cut_short:
        # A test of fixed size on a run whose size depends on what was seen is no test.
        return rule(Decision.INCONCLUSIVE, [early.sentence(gate.margin), *small])
    is_self_repeating = _is_self_repeating(comparison, is_unlabelled=is_unlabelled)
    alpha = alarm_alpha(gate, is_sequential=early is not None)
    tests = alarm_tests(
        comparison, baseline, candidate, gate, alpha=alpha, is_self_repeating=is_self_repeating
    )
    if called := alarms(tests, others, alpha):
        return rule(Decision.REGRESSION, [*called, *small])
    if is_self_repeating:
        changed = (
            f"changed: {worse} of {pairs} answers differ from the baseline's; nobody labelled these samples "
            "and the baseline repeats itself exactly, so better or worse cannot be told"
        )
        return rule(Decision.INCONCLUSIVE, [changed])
    if blocks := _blocks(comparison, gate, worse, better):
        return rule(Decision.INCONCLUSIVE, [*blocks, *small])
    upper = _upper_with_failures(comparison, gate, worse, better)
    passed = f"no worse than the margin: the net rate is at most {upper:+.1%} (margin {gate.margin:.1%})"
    return rule(Decision.PASS, [passed, *small])


def alarm_alpha(gate: GateSection, *, is_sequential: bool) -> float:
    """The level of the alarms at the end of a run: less what early looks had of alpha."""
    return gate.alpha * (1 - SHARE_ON_THE_WAY) if is_sequential else gate.alpha


def alarm_p_values(
    comparison: Comparison,
    baseline: ArmSummary,
    candidate: ArmSummary,
    gate: GateSection,
    *,
    alpha: float,
    is_unlabelled: bool,
) -> tuple[float, ...]:
    """The p-values that this candidate brings into the family of tests which share alpha."""
    is_self_repeating = _is_self_repeating(comparison, is_unlabelled=is_unlabelled)
    tests = alarm_tests(
        comparison, baseline, candidate, gate, alpha=alpha, is_self_repeating=is_self_repeating
    )
    return tuple(test.p for test in tests)


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


def _is_self_repeating(comparison: Comparison, *, is_unlabelled: bool) -> bool:
    """True for unlabelled traffic on a baseline that repeats itself: fixes cannot occur there."""
    return is_unlabelled and comparison.control is not None and not comparison.control.churn


def _speculating_baseline(baseline: ArmSummary) -> list[str]:
    if baseline.drafted or baseline.speculating is Speculating.ON:
        return [f"{baseline.name} speculates: it is no baseline"]
    return []


def _not_speculating(candidate: ArmSummary, gate: GateSection) -> list[str]:
    if gate.require_speculation is False or candidate.drafted:
        return []
    if candidate.drafted == 0:
        return [f"{candidate.name} drafted nothing: this compares a server without speculation"]
    match candidate.speculating:
        case Speculating.OFF:
            return [
                f"{candidate.name} does not speculate: its server, or the plan, says that speculation is off"
            ]
        case Speculating.UNKNOWN if gate.require_speculation is True:
            return [
                f"{candidate.name}: whether it speculates cannot be seen ([gate] require_speculation = true)"
            ]
        case _:
            return []


def _too_small_for_preset(comparison: Comparison, gate: GateSection) -> list[str]:
    least = PRESET_SAMPLES[gate.preset] if gate.preset is not None else 0
    if comparison.compared >= least:
        return []
    compared = f"{comparison.compared:,} were compared"
    return [f'preset "{gate.preset}" is meant for {least:,} samples or more; {compared}']


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
    if comparison.reproduced_wide:
        blocks.append(
            f"{comparison.reproduced_wide} regressions part from the baseline where it was sure of another "
            "token (wide divergence): rounding flips near-ties, so look for a bug in speculation"
        )
    return blocks


def _upper_with_failures(comparison: Comparison, gate: GateSection, worse: int, better: int) -> float:
    """The one-sided upper bound, endpoint failures of the candidate alone counted as regressions."""
    failures = comparison.candidate_only_failures
    bound = upper_bound(worse + failures, better, comparison.informative + failures, gate.alpha)
    return 1.0 if bound is None else bound
