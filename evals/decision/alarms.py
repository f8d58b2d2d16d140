"""The tests that can call a regression, and the one alpha they share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..comparing.arm_summary import ArmSummary
from ..comparing.comparison import Comparison
from ..plan import GateSection
from .statistics import failure_rates_differ, holm, mcnemar_midp


@dataclass(frozen=True, slots=True)
class AlarmTest:
    """One test against "the candidate is no worse", with the sentence for its alarm.

    `least_p` is the smallest p-value that the test could have had, given how many discordant pairs or
    failures there were in both arms together. It does not depend on whose they were.
    """

    claim: str
    method: str
    p: float
    least_p: float


def alarm_tests(
    comparison: Comparison,
    baseline: ArmSummary,
    candidate: ArmSummary,
    gate: GateSection,
    *,
    alpha: float,
    is_self_repeating: bool,
) -> tuple[AlarmTest, ...]:
    """Return the tests of one candidate that could sound an alarm at all.

    Broken syntax and endpoint failures know no margin: a corrupted call is no taste. A test that could not
    reach alpha however its pairs had fallen (three discordant pairs, no failure) can give no false alarm
    either, and takes no share of alpha from the others (Tarone, Biometrics 46, 515-522, 1990).

    Args:
        comparison: The counts of the pair.
        baseline: Figures of the baseline's arm.
        candidate: Figures of the candidate's arm.
        gate: Margin and the rest of `[gate]`.
        alpha: The level that all alarms share.
        is_self_repeating: True for unlabelled traffic on a baseline that repeats itself: then fixes cannot
            occur, and there is no net rate to test.
    """
    tests = [_broken_syntax(comparison), *_failures(baseline, candidate)]
    if not is_self_repeating:
        tests.insert(0, _net_rate(comparison, gate))
    return tuple(test for test in tests if test.least_p < alpha)


def alarms(tests: Sequence[AlarmTest], others: Iterable[float], alpha: float) -> list[str]:
    """Return the sentences of the tests that are significant, by Holm's procedure.

    Args:
        tests: Of this candidate.
        others: The p-values of the other candidates' tests.
        alpha: The level that all of them share.
    """
    p_values = [*(test.p for test in tests), *others]
    shared = (
        f"; alpha {alpha:g} is shared by {len(p_values)} tests of the run (Holm)" if len(p_values) > 1 else ""
    )
    return [
        f"{test.claim} ({test.method} {test.p:.2g} < {level:.3g}{shared})"
        if shared
        else f"{test.claim} ({test.method} {test.p:.2g} < alpha {alpha:g})"
        for test, level in zip(tests, holm(p_values, alpha), strict=False)
        if test.p < level
    ]


def _net_rate(comparison: Comparison, gate: GateSection) -> AlarmTest:
    """McNemar's test; within the margin it is no alarm, however sure, and its p-value counts as 1."""
    worse, better = comparison.counted(gate)
    net_rate = (worse - better) / comparison.informative if comparison.informative else 0.0
    most = (worse + better) / comparison.informative if comparison.informative else 0.0
    return AlarmTest(
        f"significantly worse: net rate {net_rate:+.1%} over the margin {gate.margin:.1%}",
        "mid-p McNemar",
        mcnemar_midp(worse, better) if net_rate > gate.margin else 1.0,
        mcnemar_midp(worse + better, 0) if most > gate.margin else 1.0,
    )


def _broken_syntax(comparison: Comparison) -> AlarmTest:
    broken, mended = comparison.regressions.syntax, comparison.fixes.syntax
    return AlarmTest(
        f"significantly more calls of broken syntax: {broken} new, {mended} gone",
        "mid-p McNemar",
        mcnemar_midp(broken, mended),
        mcnemar_midp(broken + mended, 0),
    )


def _failures(baseline: ArmSummary, candidate: ArmSummary) -> list[AlarmTest]:
    p = failure_rates_differ(baseline.failed, baseline.attempts, candidate.failed, candidate.attempts)
    at_most = min(baseline.failed + candidate.failed, candidate.attempts)
    rest = baseline.failed + candidate.failed - at_most
    least = failure_rates_differ(rest, baseline.attempts, at_most, candidate.attempts)
    if p is None or least is None:
        return []
    claim = (
        f"the endpoint of {candidate.name} fails significantly more often: {candidate.failed} of "
        f"{candidate.attempts} against {baseline.failed} of {baseline.attempts}"
    )
    return [AlarmTest(claim, "Fisher's p", p, least)]
