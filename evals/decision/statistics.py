"""The statistics of the gate: tests and intervals for paired answers, named after their methods.

One pair is one sample, asked in both arms. Of `n` pairs, `b` were right in the baseline only (regressions)
and `c` in the candidate only (fixes). Everything here is a pure function of such counts, and returns None
where no number would be an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, sqrt
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ExactP:
    """The p-values of an exact test: of "more regressions than fixes", and of any difference."""

    one_sided: float
    two_sided: float


def mcnemar_exact(b: int, c: int) -> ExactP:
    """Test by McNemar's exact conditional test whether regressions and fixes are equally likely.

    Conditional on b + c discordant pairs, regressions are binomial with probability one half (McNemar,
    Psychometrika 12, 1947), counted here in whole numbers. Without a discordant pair both p-values are 1.

    Args:
        b: Regressions.
        c: Fixes.
    """
    return ExactP(one_sided=_coin_tail(b, b + c), two_sided=min(1.0, 2 * _coin_tail(max(b, c), b + c)))


def mcnemar_midp(b: int, c: int) -> float:
    """Test by McNemar's mid-p test, one-sided, whether regressions outnumber fixes.

    The exact p-value less half the probability of what was observed; nearly as powerful as the asymptotic
    test, and as good as never above its level (Fagerland, Lydersen and Laake, BMC Medical Research
    Methodology 13:91, 2013). Without a discordant pair it is one half.

    Args:
        b: Regressions.
        c: Fixes.
    """
    as_observed = comb(b + c, b) / 2 ** (b + c)
    return mcnemar_exact(b, c).one_sided - as_observed / 2


def tango_interval(b: int, c: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Return Tango's score interval for the net rate (b - c) / n.

    The set of differences that the score test does not refuse (Tango, Statistics in Medicine 17, 891-908,
    1998). Its bounds never collapse: without a discordant pair they are plus and minus z² / (n + z²).

    Args:
        b: Regressions.
        c: Fixes.
        n: All pairs, concordant ones included.
        confidence: Two-sided, between 0 and 1.

    Returns:
        The interval, within [-1, 1]; None without a pair, since nothing is known then.

    Raises:
        ValueError: The counts contradict each other.
    """
    if not 0 <= b <= b + c <= n:
        raise ValueError(f"{b} regressions and {c} fixes are no part of {n} pairs")
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return Interval(-_tango_upper(c, b, n, z), _tango_upper(b, c, n, z))


def upper_bound(b: int, c: int, n: int, alpha: float = 0.05) -> float | None:
    """Return the one-sided upper bound of the net rate (b - c) / n, by Tango's score test at level alpha.

    This is the non-inferiority question: a candidate is no worse than a margin if the bound is within it.
    None without a pair.
    """
    interval = tango_interval(b, c, n, confidence=1 - 2 * alpha)
    return None if interval is None else interval.high


def failure_rates_differ(
    baseline_failed: int, baseline_asked: int, candidate_failed: int, candidate_asked: int
) -> float | None:
    """Test by Fisher's exact test, one-sided, whether the candidate's endpoint fails more often.

    Fisher's test is conservative, which is wanted here: an outage is no property of speculation, and only
    a clear excess may be called one.

    Returns:
        The p-value; None if one of the arms was never asked.
    """
    if not (baseline_asked and candidate_asked):
        return None
    failed = baseline_failed + candidate_failed
    ways = comb(candidate_asked, candidate_failed) * comb(baseline_asked, baseline_failed)
    as_many = 0
    for count in range(candidate_failed, min(failed, candidate_asked) + 1):
        as_many += ways
        # From one whole number to the next: each from the beginning would take hours for a million samples.
        ways = ways * (candidate_asked - count) * (failed - count)
        ways //= (count + 1) * (baseline_asked - failed + count + 1)
    return as_many / comb(candidate_asked + baseline_asked, failed)


def holm(p_values: Sequence[float], alpha: float) -> tuple[float, ...]:
    """Return the level at which each of several tests is decided, so that all share one alpha.

    Holm's step-down procedure (Scandinavian Journal of Statistics 6, 65-70, 1979): the smallest of k p-values
    is compared with alpha / k, the next with alpha / (k - 1), and so on until one is not below; it and
    all larger ones are not significant. Whatever the tests have to do with each other, the chance of one
    false alarm or more stays at or below alpha.

    Args:
        p_values: One for each test, in any order.
        alpha: The chance of a false alarm that all tests share.

    Returns:
        For each p-value, in the order given, its level: the test is significant exactly if p < level.
    """
    levels = [0.0] * len(p_values)
    level, is_stopped = 0.0, False
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if not is_stopped:
            level = alpha / (len(p_values) - rank)
            is_stopped = p_values[index] >= level
        levels[index] = level
    return tuple(levels)


def samples_to_decide(
    b: int, c: int, n: int, margin: float, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return how many pairs would probably show that a candidate is no worse than the margin.

    The size at which Tango's test at level alpha passes with the given power, in the normal approximation
    (Tang, Tang and Chan, Statistics in Medicine 22, 1217-1233, 2003): with discordant pairs as frequent as
    observed, and a net rate of zero, or the observed one where that is below zero. It agrees with
    enumeration within 6 % or 20 pairs. The answer may be fewer pairs than were asked: then this run was
    unlucky, or the candidate is worse.

    Args:
        b: Regressions.
        c: Fixes.
        n: Pairs; with none, or with none discordant, discordance counts as that of half a pair.
        margin: How much worse is still no worse, above 0.
        alpha: One-sided level.
        power: The probability of passing then, at least 0.5.

    Returns:
        The number of pairs; None where every margin would pass or fail by definition (not 0 < margin < 1).
    """
    if not 0 < margin < 1:
        return None
    discordant = max(b + c, 0.5) / max(n, 1)
    net = min(0.0, (b - c) / n) if n else 0.0
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha), NormalDist().inv_cdf(power)
    at_margin = _score_variance((discordant + net) / 2, (discordant - net) / 2, margin)
    needed = z_alpha * sqrt(at_margin) + z_power * sqrt(max(discordant - net**2, 0.0))
    return ceil((needed / (margin - net)) ** 2)


def _coin_tail(least: int, tosses: int) -> float:
    """Return how probable `least` heads or more are in that many tosses of a fair coin."""
    ways, as_many = comb(tosses, least), 0
    for heads in range(least, tosses + 1):
        as_many += ways
        # From one whole number to the next, as above.
        ways = ways * (tosses - heads) // (heads + 1)
    return as_many / 2**tosses


def _tango_upper(b: int, c: int, n: int, z: float) -> float:
    """Return the difference above (b - c) / n at which the score statistic is -z."""
    if b == n:
        return 1.0
    if b == c == 0:
        return z**2 / (n + z**2)
    if c == n:
        # The variance vanishes at the estimate itself, where a solver would stop; solved by hand.
        return (z**2 - n) / (z**2 + n)

    def excess(difference: float) -> float:
        variance = _score_variance(b / n, c / n, difference)
        return (b - c) / n - difference + z * sqrt(variance / n)

    # Positive at the estimate, where the variance is not zero; negative at 1, where it is. Halved by hand: to
    # import a solver takes longer than to judge a thousand samples.
    low, high = (b - c) / n, 1.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2


def _score_variance(b_rate: float, c_rate: float, difference: float) -> float:
    """Return the variance of one pair's difference, at the likeliest rates that have it (Tango 1998)."""
    linear = (2 - b_rate + c_rate) * difference - b_rate - c_rate
    constant = -c_rate * difference * (1 - difference)
    fixes = (sqrt(max(linear**2 - 8 * constant, 0.0)) - linear) / 4
    return max(2 * fixes + difference * (1 - difference), 0.0)
