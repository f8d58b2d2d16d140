"""Net rates by category: where in a suite a candidate loses or wins, each with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..evals.comparing.comparison import Comparison
from ..evals.decision.statistics import tango_interval
from ..evals.judging.finding import Cause, Finding, Transition
from ..evals.plan import GateSection

_UNINFORMATIVE = (Transition.VOID, Transition.BOTH_FAIL)


@dataclass(frozen=True, slots=True)
class Rate:
    """(regressions − fixes) / n over the pairs in which one arm was right; None where n is 0.

    `interval` is two-sided at confidence 1 − 2·alpha, as in the gate.
    """

    label: str
    n: int
    regressions: int
    fixes: int
    net: float | None
    interval: tuple[float, float] | None


def net_rates(comparison: Comparison, gate: GateSection) -> tuple[Rate, ...]:
    """The rate of all pairs, then one for each category in the order of the suite."""
    categories = dict.fromkeys(finding.category for finding in comparison.findings)
    groups = [("all", list(comparison.findings))]
    if len(categories) > 1:
        groups += [(name, [f for f in comparison.findings if f.category == name]) for name in categories]
    return tuple(_rate(label, findings, gate) for label, findings in groups)


def _rate(label: str, findings: Sequence[Finding], gate: GateSection) -> Rate:
    n = sum(finding.transition not in _UNINFORMATIVE for finding in findings)
    counted = [one for one in findings if gate.cap == "fail" or one.cause is not Cause.CAP]
    worse = sum(finding.transition is Transition.REGRESSION for finding in counted)
    better = sum(finding.transition is Transition.FIX for finding in counted)
    interval = tango_interval(worse, better, n, confidence=1 - 2 * gate.alpha)
    return Rate(label, n, worse, better, (worse - better) / n if n else None, interval)
