"""Evidence that may be looked at after every pair: e-values, which stopping early cannot inflate.

An e-value is what a bet against a claim has made of a stake of 1. While the claim is true it is 1 or less on
average at any moment, so by Ville's inequality it ever reaches 1 / level with a chance of at most `level`,
however often somebody looks. A p-value has no such right: looking at McNemar's every five pairs calls a
harmless candidate worse in a quarter of all runs.
"""

from math import exp, lgamma, log, log1p

# Stakes, as shares of the largest that cannot be lost whole: the mean over a fixed grid is a fair bet too.
_SHARES = tuple((number + 0.5) / 20 for number in range(20))


def net_over_margin(b: int, c: int, n: int, margin: float) -> float:
    """Return the e-value against "the net rate is at most the margin".

    Each pair is d = 1 (a regression), -1 (a fix) or 0. Betting a share s on d > margin multiplies the wealth
    by 1 + s (d - margin), which is 1 or less on average if the net rate is within the margin and s lies
    between 0 and 1 / (1 + margin) (Waudby-Smith and Ramdas, Journal of the Royal Statistical Society B 86,
    1-27, 2024). The wealth here is the mean over a fixed grid of shares, so it depends on the counts alone.

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
    if not 0 <= margin < 1:
        raise ValueError(f"{margin} is no margin; expected 0 or more, below 1")
    logs: list[float] = []
    for share in _SHARES:
        stake = share / (1 + margin)
        logs.append(
            b * log1p(stake * (1 - margin))
            + c * log1p(-stake * (1 + margin))
            + (n - b - c) * log1p(-stake * margin)
        )
    # Beyond that no float goes, and no decision needs more.
    return sum(exp(min(value, 700.0)) for value in logs) / len(logs)


def worse_than_zero_ignoring_margin(b: int, c: int) -> float:
    """Return the e-value against "regressions are no likelier than fixes", whatever the margin.

    The uniform mixture over every probability from one half to 1 that a discordant pair is a regression:
    2^(b+c+1) times the integral of p^b (1-p)^c from 1/2 to 1 (Robbins, Annals of Mathematical Statistics 41,
    1397-1409, 1970). 7-0 gives 31.9, 10-1 gives 30.9, 6-0 gives 18.1. It answers another question than the
    gate's: a harm far below the margin makes it as large as one likes.

    Args:
        b: Regressions so far.
        c: Fixes so far.
    """
    from scipy.special import betainc  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]

    # The incomplete beta function's complement, from 1/2 to 1, is that from 0 to 1/2 with b and c exchanged.
    tail = float(betainc(c + 1, b + 1, 0.5))  # pyright: ignore[reportUnknownArgumentType]
    if tail == 0.0:
        return 0.0
    beta = lgamma(b + 1) + lgamma(c + 1) - lgamma(b + c + 2)
    return exp(min((b + c + 1) * log(2) + beta + log(tail), 700.0))
