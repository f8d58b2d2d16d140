"""Evidence that may be looked at after every pair: e-values, which stopping early cannot inflate.

An e-value is what a bet against a claim has made of a stake of 1. While the claim is true it is 1 or less on
average at any moment, so by Ville's inequality it ever reaches 1 / level with a chance of at most `level`,
however often somebody looks. A p-value has no such right: looking at McNemar's every five pairs calls a
harmless candidate worse in a quarter of all runs.
"""

from dataclasses import dataclass
from functools import cache
from math import exp, log, log1p

# The part of alpha by which looking on the way may call a candidate that is no worse at all; the tests at the
# end have the rest. It costs hardly a request to leave them most of it (docs/deciding.md).
SHARE_ON_THE_WAY = 0.2

# Stakes, as shares of the largest that cannot be lost whole: a weighted mean over a fixed grid is a fair bet
# too. The middle weighs most, as in a Beta(3, 3): there stand the best stakes on net rates of 5 to 20 %.
_SHARES = tuple((number + 0.5) / 20 for number in range(20))
_WEIGHTS = tuple((share * (1 - share)) ** 2 for share in _SHARES)


@dataclass(frozen=True, slots=True)
class EarlyLook:
    """What was seen of one candidate on the way.

    `asked` of `planned` samples were asked of it; `pairs` of them are labelled, judged, and right in one arm
    or both. `peak` is the largest `evidence_of_regression`, an e-value against "the net rate is within the
    margin".
    """

    asked: int
    planned: int
    pairs: int
    peak: float
    needed: float

    @property
    def is_called(self) -> bool:
        """Whether the evidence for a regression sufficed."""
        return self.peak >= self.needed

    @property
    def is_cut_short(self) -> bool:
        """Whether asking stopped before the last sample."""
        return self.asked < self.planned

    def sentence(self, margin: float) -> str:
        """What this look says, for a reason."""
        seen = (
            f"e-value {self.peak:.3g} of {self.needed:.3g} against a net rate within {margin:.1%}, after "
            f"{self.asked:,} of {self.planned:,} samples"
        )
        if self.is_called:
            return f"worse than the margin, called early: {seen}"
        return f"asking stopped early under another [gate]; under this one that says nothing: {seen}"


def evidence_of_regression(b: int, c: int, n: int, margin: float) -> float:
    """Return the evidence that calls a regression when it reaches candidates / alpha, at whichever pair.

    The smaller of two e-values: against "the net rate is within the margin", and against "it is zero or
    less", of which only `SHARE_ON_THE_WAY` counts. So a candidate within the margin is called on the way with
    a chance of at most alpha, and one that is no worse at all with at most that share of alpha, whatever its
    churn.

    Args:
        b: Regressions so far.
        c: Fixes so far.
        n: Pairs so far, in an order that has nothing to do with how they came out.
        margin: How much worse is still no worse, from 0 up to but not including 1.

    Returns:
        The evidence, 0 or more.

    Raises:
        ValueError: The counts contradict each other, or the margin is out of range.
    """
    return min(net_over_margin(b, c, n, margin), SHARE_ON_THE_WAY * net_over_margin(b, c, n, 0.0))


def net_over_margin(b: int, c: int, n: int, margin: float) -> float:
    """Return the e-value against "the net rate is at most the margin".

    Each pair is d = 1 (a regression), -1 (a fix) or 0. Betting a share s on d > margin multiplies the wealth
    by 1 + s (d - margin), which is 1 or less on average if the net rate is within the margin and s lies
    between 0 and 1 / (1 + margin) (Waudby-Smith and Ramdas, Journal of the Royal Statistical Society B 86,
    1-27, 2024). The wealth here is a mean over a fixed grid of shares, so it depends on the counts alone.

    Args:
        b: Regressions so far.
        c: Fixes so far.
        n: Pairs so far, in an order that has nothing to do with how they came out.
        margin: How much worse is still no worse, from 0 up to but not including 1.

    Returns:
        The e-value, 0 or more; 1 without a pair.

    Raises:
        ValueError: The counts contradict each other, or the margin is out of range.
    """
    if not 0 <= b <= b + c <= n:
        raise ValueError(f"{b} regressions and {c} fixes are no part of {n} pairs")
    # Beyond that no float goes, and no decision needs more.
    return sum(
        exp(min(weight + b * worse + c * better + (n - b - c) * same, 700.0))
        for weight, worse, better, same in _bets(margin)
    )


@cache
def _bets(margin: float) -> tuple[tuple[float, float, float, float], ...]:
    """Return logarithms for each share: of its weight, and of what a regression, a fix and no change do."""
    if not 0 <= margin < 1:
        raise ValueError(f"{margin} is no margin; expected 0 or more, below 1")
    total = sum(_WEIGHTS)
    stakes = [share / (1 + margin) for share in _SHARES]
    return tuple(
        (
            log(weight / total),
            log1p(stake * (1 - margin)),
            log1p(-stake * (1 + margin)),
            log1p(-stake * margin),
        )
        for weight, stake in zip(_WEIGHTS, stakes, strict=True)
    )
