"""What the gate can see before anything is asked: the chance of each decision, over every outcome."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from .statistics import samples_to_decide

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    _Counts = np.ndarray[Any, np.dtype[np.float64]]

# Outcomes further than this from their mean (in standard deviations) share less than a billionth.
_REACH = 7.0
_MOST_ENUMERATED = 50_000


@dataclass(frozen=True, slots=True)
class Chances:
    """How probable each decision is; they add up to 1."""

    passing: float
    regression: float
    inconclusive: float


def decision_chances(
    n: int,
    *,
    churn: float,
    net: float,
    margin: float,
    alpha: float = 0.05,
    alarm_alpha: float | None = None,
) -> Chances:
    """Return the exact chance of each decision of the gate on n pairs.

    Regressions and fixes are multinomial: half the churn each, and what the candidate truly breaks on top of
    the regressions. Each outcome is judged by the gate's own rule: a regression by the one-sided mid-p test
    at alpha with an estimate above the margin, a pass by Tango's one-sided bound. (At n = 200, churn 5 % and
    margin 0.02 that calls 4.1 % without effect and 74 % of true 5 % regressions; McNemar's exact test would
    call 2.3 % and 67 %.) Endpoint failures, new malformed outputs and other candidates are left out; they
    only ever make a pass rarer.

    Args:
        n: Informative pairs, at least 1.
        churn: Share of pairs that differ without any effect, from 0 to 1.
        net: Share of pairs that the candidate breaks, from 0 to 1 - churn.
        margin: How much worse is still no worse, between 0 and 1.
        alpha: One-sided level of the pass, and of the regression too.
        alarm_alpha: Another level of the regression, where several alarms share alpha.

    Raises:
        ValueError: No pairs, or rates that are no probabilities.
    """
    if n < 1 or not 0 <= churn <= 1 or not 0 <= net <= 1 - churn:
        raise ValueError(f"no such design: n {n}, churn {churn}, net {net}")
    import numpy as np
    from scipy.special import bdtr, gammaln, xlog1py, xlogy  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]

    b_rate, c_rate = churn / 2 + net, churn / 2
    b, c = (grid.ravel() for grid in np.meshgrid(_likely(n, b_rate), _likely(n, c_rate), indexing="ij"))
    b, c = b[b + c <= n], c[b + c <= n]
    same, discordant = n - b - c, b + c
    log_chance: _Counts = (
        gammaln(n + 1.0) - gammaln(b + 1) - gammaln(c + 1) - gammaln(same + 1)
        + xlogy(b, b_rate) + xlogy(c, c_rate) + xlog1py(same, -(b_rate + c_rate))
    )  # fmt: skip
    chance = np.exp(log_chance)
    # bdtr(c, m, 1/2) is the chance of c fixes or fewer, which is that of b regressions or more.
    as_observed = np.exp(gammaln(discordant + 1) - gammaln(b + 1) - gammaln(c + 1) - discordant * np.log(2.0))
    midp: _Counts = bdtr(c, discordant.astype(np.int64), 0.5) - as_observed / 2
    is_regression = (midp < (alpha if alarm_alpha is None else alarm_alpha)) & ((b - c) / n > margin)
    is_pass = _is_within(b, c, n, margin, NormalDist().inv_cdf(1 - alpha)) & ~is_regression
    passing, regression = float(chance[is_pass].sum()), float(chance[is_regression].sum())
    return Chances(passing, regression, max(0.0, 1.0 - passing - regression))


def samples_for_pass(*, churn: float, margin: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return how many pairs a harmless candidate needs to pass with the given chance.

    By bisection between half and twice the normal approximation, on exact chances. These rise with n in a
    saw's way, since counts are whole: the answer is one crossing of the line, within 3 % of any other. Beyond
    50,000 pairs the approximation is near enough, and the outcomes too many.

    Args:
        churn: Share of pairs that differ without any effect, above 0.
        margin: How much worse is still no worse, between 0 and 1.
        alpha: One-sided level.
        power: The wanted chance of a pass, at least 0.5.

    Raises:
        ValueError: A churn or a margin out of range.
    """
    estimate = samples_to_decide(1, 0, round(1 / churn), margin, alpha, power) if 0 < churn <= 1 else None
    if estimate is None:
        raise ValueError(f"no size for churn {churn} and margin {margin}")
    if estimate > _MOST_ENUMERATED:
        return estimate

    def is_enough(n: int) -> bool:
        return decision_chances(n, churn=churn, net=0, margin=margin, alpha=alpha).passing >= power

    low, high = 1, 2 * estimate
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _likely(n: int, rate: float) -> "_Counts":
    """Return every count of n that is not quite improbable at that rate."""
    import numpy as np

    reach = _REACH * (n * rate * (1 - rate)) ** 0.5 + _REACH
    return np.arange(max(0, int(n * rate - reach)), min(n, int(n * rate + reach)) + 1, dtype=np.float64)


def _is_within(
    b: "_Counts", c: "_Counts", n: int, margin: float, z: float
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return where Tango's upper bound is within the margin: where his score test refuses the margin itself.

    The bound is where the statistic is -z, and the statistic falls as the difference grows: no equation has
    to be solved for each outcome.
    """
    import numpy as np

    b_rate, c_rate = b / n, c / n
    linear = (2 - b_rate + c_rate) * margin - b_rate - c_rate
    constant = -c_rate * margin * (1 - margin)
    fixes = (np.sqrt(np.maximum(linear**2 - 8 * constant, 0.0)) - linear) / 4
    variance = np.maximum(2 * fixes + margin * (1 - margin), 0.0)
    return b_rate - c_rate - margin + z * np.sqrt(variance / n) <= 0
