"""The statistics against published numbers, against scipy, and against enumeration of everything possible."""

import random
from functools import cache
from math import comb, exp, lgamma, log
from statistics import NormalDist

import pytest
from draftproof.evals.decision.statistics import (
    failure_rates_differ,
    holm,
    mcnemar_exact,
    mcnemar_midp,
    samples_to_decide,
    tango_interval,
    upper_bound,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

COUNTS = st.integers(0, 60).flatmap(
    lambda n: st.integers(0, n).flatmap(lambda b: st.tuples(st.just(b), st.integers(0, n - b), st.just(n)))
)


@cache
def bound(b, c, n, alpha=0.05):
    return upper_bound(b, c, n, alpha)


def probability(b, c, n, b_rate, c_rate):
    """Return how probable b regressions and c fixes are among n pairs."""
    terms = [(b, b_rate), (c, c_rate), (n - b - c, 1 - b_rate - c_rate)]
    if any(count and not rate for count, rate in terms):
        return 0.0
    return exp(lgamma(n + 1) + sum(k * log(rate) - lgamma(k + 1) if k else 0.0 for k, rate in terms))


def enumerate_pairs(n, b_rate, c_rate, least=1e-8):
    """Yield all outcomes of n pairs that are not quite improbable, with their probabilities."""
    for b in range(n + 1):
        for c in range(n + 1 - b):
            chance = probability(b, c, n, b_rate, c_rate)
            if chance >= least:
                yield b, c, chance
            elif c > n * c_rate:
                break


# McNemar


@pytest.mark.parametrize(
    ("b", "c", "one_sided"), [(5, 0, 0.0313), (6, 0, 0.0156), (8, 1, 0.0195), (12, 4, 0.0384), (0, 0, 1.0)]
)
def test_the_exact_test_gives_its_reference_values(b, c, one_sided):
    assert mcnemar_exact(b, c).one_sided == pytest.approx(one_sided, abs=5.1e-5)


@pytest.mark.parametrize(
    ("b", "c", "exact", "midp"),
    [
        # Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014): Bentur 2009, Cavo 2012.
        (7, 1, 0.0703, 0.0391),
        (16, 6, 0.0525, 0.0347),
    ],
)
def test_both_tests_give_published_two_sided_values(b, c, exact, midp):
    assert round(mcnemar_exact(b, c).two_sided, 4) == exact
    # With b > c the two-sided mid-p value is twice the one-sided one.
    assert round(2 * mcnemar_midp(b, c), 4) == midp


def test_five_against_none_cannot_reach_two_sided_significance():
    assert mcnemar_exact(5, 0).two_sided == 0.0625


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_two_directions_of_the_midp_test_are_complements(b, c):
    assert mcnemar_midp(b, c) + mcnemar_midp(c, b) == pytest.approx(1)
    assert mcnemar_midp(b, c) < mcnemar_exact(b, c).one_sided


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_further_regression_is_never_evidence_of_safety(b, c):
    assert mcnemar_midp(b + 1, c) < mcnemar_midp(b, c) < mcnemar_midp(b, c + 1)


# Tango


@pytest.mark.parametrize(
    ("b", "c", "n", "confidence", "low", "high", "digits"),
    [
        # Fagerland, Lydersen and Laake (2014), Bentur 2009 and Cavo 2012; the second also in the tests of the
        # R package contingencytables.
        (1, 7, 21, 0.95, -0.517, -0.026, 3),
        (6, 16, 161, 0.95, -0.1240, -0.0054, 4),
        # R, PropCIs::scoreci.mp(25, 28, 618, 0.90), which takes the difference the other way round.
        (28, 25, 618, 0.90, -0.0148, 0.0247, 4),
        # No discordant pair: z² / (n + z²).
        (0, 0, 200, 0.95, -0.0188, 0.0188, 4),
        (0, 0, 200, 0.90, -0.0133, 0.0133, 4),
    ],
)
def test_the_interval_is_the_published_one(b, c, n, confidence, low, high, digits):
    interval = tango_interval(b, c, n, confidence)
    assert interval is not None
    assert (round(interval.low, digits), round(interval.high, digits)) == (low, high)


def test_the_upper_bound_is_one_sided():
    assert round(bound(0, 0, 200), 4) == 0.0133


def test_without_a_pair_there_is_no_answer():
    assert tango_interval(0, 0, 0) is None
    assert upper_bound(0, 0, 0) is None


@pytest.mark.parametrize(("b", "c", "n"), [(3, 3, 5), (-1, 0, 5), (0, -1, 5), (1, 0, 0)])
def test_counts_that_contradict_each_other_are_refused(b, c, n):
    with pytest.raises(ValueError, match=f"of {n} pairs"):
        tango_interval(b, c, n)


@given(COUNTS.filter(lambda counts: counts[2] > 0))
def test_the_interval_holds_its_estimate_and_mirrors(counts):
    b, c, n = counts
    interval, mirrored = tango_interval(b, c, n), tango_interval(c, b, n)
    assert interval is not None
    assert mirrored is not None
    assert -1 <= interval.low <= (b - c) / n <= interval.high <= 1
    assert interval.low < interval.high
    assert interval == pytest.approx((-mirrored.high, -mirrored.low))


@given(COUNTS.filter(lambda counts: counts[0] + counts[1] < counts[2]))
def test_a_further_regression_raises_the_bound(counts):
    b, c, n = counts
    assert bound(b + 1, c, n) > bound(b, c, n)


@given(COUNTS.filter(lambda counts: counts[2] > 0))
def test_the_bounds_solve_the_score_equation(counts):
    """The statistic at a bound is the quantile; the likeliest rates are found here by a search."""
    b, c, n = counts
    high = bound(b, c, n, 0.025)
    if high > 0.999:
        return

    def log_likelihood(fixes):
        terms = [(b, fixes + high), (c, fixes), (n - b - c, 1 - 2 * fixes - high)]
        return sum(count * log(max(rate, 1e-300)) for count, rate in terms if count)

    low, top = max(0.0, -high), (1 - high) / 2
    for _ in range(200):  # ternary search: the likelihood has one peak
        left, right = low + (top - low) / 3, top - (top - low) / 3
        low, top = (left, top) if log_likelihood(left) < log_likelihood(right) else (low, right)
    variance = 2 * low + high - high**2
    assert (n * high - (b - c)) ** 2 == pytest.approx(1.959964**2 * n * variance, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("n", [20, 40])
def test_the_interval_covers_what_it_claims(n):
    intervals = {(b, c): tango_interval(b, c, n) for b in range(n + 1) for c in range(n + 1 - b)}
    covered = []
    for b_rate in (0.01, 0.05, 0.1, 0.2, 0.45):
        for c_rate in (0.01, 0.05, 0.1, 0.2, 0.45):
            truth = b_rate - c_rate
            covered.append(
                sum(
                    probability(b, c, n, b_rate, c_rate)
                    for (b, c), interval in intervals.items()
                    if interval.low <= truth <= interval.high
                )
            )
    # Tango's interval undercuts its level by little, and is wide where almost nothing is discordant.
    assert min(covered) > 0.935
    assert 0.95 < sum(covered) / len(covered) < 0.975


def test_the_interval_covers_what_it_claims_in_a_simulation():
    source = random.Random(7)
    hits = 0
    for _ in range(1500):
        drawn = source.choices(["b", "c", "same"], [0.06, 0.03, 0.91], k=150)
        interval = tango_interval(drawn.count("b"), drawn.count("c"), 150)
        hits += interval.low <= 0.03 <= interval.high
    assert 0.935 < hits / 1500 < 0.965


@pytest.mark.parametrize(
    ("n", "churn", "margin", "passes"),
    [(200, 0.05, 0.02, 0.32), (407, 0.02, 0.02, 0.81), (810, 0.05, 0.02, 0.80), (158, 0.05, 0.05, 0.80)],
)
def test_a_harmless_candidate_passes_as_often_as_measured(n, churn, margin, passes):
    chance = sum(
        chance
        for b, c, chance in enumerate_pairs(n, churn / 2, churn / 2, least=1e-6)
        if bound(b, c, n) <= margin
    )
    assert chance == pytest.approx(passes, abs=0.015)


@pytest.mark.parametrize("churn", [0.08, 0.12])
def test_a_candidate_at_the_margin_passes_no_more_often_than_alpha(churn):
    outcomes = enumerate_pairs(200, (churn + 0.05) / 2, (churn - 0.05) / 2, least=1e-6)
    assert sum(chance for b, c, chance in outcomes if bound(b, c, 200) < 0.05) < 0.055


# Failures, sizes


@pytest.mark.parametrize(
    ("baseline", "candidate", "p"),
    [
        ((1, 4), (3, 4), 0.2429),  # Fisher's lady tasting tea: 17 of 70
        ((0, 200), (0, 200), 1.0),
        ((0, 200), (5, 200), 0.0305),  # all five on one side: C(200, 5) / C(400, 5), nearly 1/32
        ((5, 200), (0, 200), 1.0),
    ],
)
def test_failures_are_compared_by_fishers_exact_test(baseline, candidate, p):
    assert failure_rates_differ(*baseline, *candidate) == pytest.approx(p, abs=5e-5)


def test_an_arm_that_was_never_asked_has_no_failure_rate():
    assert failure_rates_differ(0, 0, 1, 5) is None
    assert failure_rates_differ(1, 5, 0, 0) is None


@pytest.mark.parametrize(
    ("margin", "needed"),
    [(0.02, (407, 810, 1583)), (0.03, (207, 383, 720)), (0.05, (90, 158, 265))],
)
def test_the_size_that_decides_is_near_the_enumerated_one(margin, needed):
    for discordant, size in zip((20, 50, 100), needed, strict=True):
        estimated = samples_to_decide(discordant // 2, discordant // 2, 1000, margin)
        assert abs(estimated - size) <= max(20, 0.06 * size)


def test_an_observed_gain_needs_fewer_samples_and_an_observed_loss_no_fewer():
    even = samples_to_decide(25, 25, 1000, 0.02)
    assert samples_to_decide(20, 30, 1000, 0.02) < even
    assert samples_to_decide(30, 20, 1000, 0.02) == even


@pytest.mark.parametrize("n", [0, 200])
def test_without_discordance_a_size_is_still_named(n):
    needed = samples_to_decide(0, 0, n, 0.02)
    assert needed is not None
    assert needed > 0


@pytest.mark.parametrize("margin", [0.0, -0.1, 1.0])
def test_a_margin_that_decides_nothing_has_no_size(margin):
    assert samples_to_decide(1, 1, 100, margin) is None


@given(COUNTS, st.floats(0.005, 0.3))
def test_a_wider_margin_never_needs_more_samples(counts, margin):
    assert samples_to_decide(*counts, margin * 2) <= samples_to_decide(*counts, margin)


# Several tests


@pytest.mark.parametrize(
    ("p_values", "levels"),
    [
        ((), ()),
        ((0.03,), (0.05,)),
        # Holm's own scheme: the smallest at alpha/3, the next at alpha/2; there it stops.
        ((0.04, 0.01, 0.03), (0.025, 0.05 / 3, 0.025)),
        ((0.02, 0.02), (0.025, 0.05)),
        ((0.01, 0.012, 0.04), (0.05 / 3, 0.025, 0.05)),
    ],
)
def test_holm_gives_each_test_its_level(p_values, levels):
    """Step by step from the smallest, until one is not below."""
    assert holm(p_values, 0.05) == pytest.approx(levels)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_refuses_what_its_adjusted_p_values_refuse(p_values):
    """The adjusted p-value is the running maximum of (k − rank) · p, and is compared with alpha."""
    levels, adjusted = holm(p_values, 0.05), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        adjusted = max(adjusted, p_values[index] * (len(p_values) - rank))
        if abs(adjusted - 0.05) > 1e-9:
            assert (p_values[index] < levels[index]) is (adjusted < 0.05)


def test_holm_keeps_false_alarms_at_alpha_in_a_simulation():
    """Five true claims at once: one alarm or more in about 5 % of runs."""
    source = random.Random(4)
    alarms = 0
    for _ in range(4000):
        p_values = [source.random() for _ in range(5)]
        alarms += any(p < level for p, level in zip(p_values, holm(p_values, 0.05), strict=True))
    assert 0.035 < alarms / 4000 < 0.06


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 20), st.integers(0, 20))
def test_exact_tests_are_exact(b, c, more_asked, most_asked):
    """The definitions, term by term: the way from one term to the next loses nothing."""
    n = b + c
    assert mcnemar_exact(b, c).one_sided == sum(comb(n, k) for k in range(b, n + 1)) / 2**n
    left, right = b + more_asked, c + most_asked
    if left and right:
        tail = sum(comb(right, k) * comb(left, n - k) for k in range(c, min(n, right) + 1))
        assert failure_rates_differ(b, left, c, right) == tail / comb(left + right, n)


def test_exact_tests_answer_for_a_million_samples():
    """Tens of thousands of discordant pairs, or of failures, are counted in whole numbers all the same."""
    assert mcnemar_exact(15_000, 15_000).one_sided == pytest.approx(0.5023, abs=1e-4)
    assert failure_rates_differ(10_000, 300_000, 10_000, 300_000) == pytest.approx(0.503, abs=1e-3)


# Checked against the likelihood itself


def variance_at(b_rate, c_rate, difference):
    """The variance of one pair's difference at the likeliest rates that have it, found by search."""

    def unlikelihood(fixes):
        terms = [
            (b_rate, fixes + difference),
            (c_rate, fixes),
            (1 - b_rate - c_rate, 1 - difference - 2 * fixes),
        ]
        return -sum(share * log(max(rate, 1e-300)) for share, rate in terms if share > 0)

    least, most = max(0.0, -difference), (1 - difference) / 2
    found = minimize_scalar(unlikelihood, bounds=(least, most), method="bounded", options={"xatol": 1e-12})
    fixes = min((found.x, least, most), key=unlikelihood)
    return 2 * fixes + difference - difference**2


@pytest.mark.parametrize(
    ("b", "c", "n"),
    [(0, 0, 20), (1, 1, 10), (1, 1, 60), (3, 1, 40), (2, 9, 50), (0, 4, 30), (0, 6, 6), (5, 1, 6)],
)
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_a_bound_is_where_the_score_test_stops_to_refuse(b, c, n, confidence):
    """At both ends of the interval the score statistic is z, with the variance searched for."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for more, fewer, end in zip((b, c), (c, b), (1, -1), strict=True):
        interval = tango_interval(b, c, n, confidence)
        bound_ = interval.high if end == 1 else -interval.low
        distance = z * (variance_at(more / n, fewer / n, bound_) / n) ** 0.5
        assert (more - fewer) / n + distance == pytest.approx(bound_, abs=1e-6)


@pytest.mark.parametrize(("b", "c"), [(2, 2), (2, 8), (5, 20), (10, 20), (0, 30), (8, 2)])
@pytest.mark.parametrize("margin", [0.02, 0.05])
def test_the_size_is_that_of_the_published_formula(b, c, margin):
    """Of Tang, Tang and Chan (2003), with the variance at the margin searched for; a loss counts as none."""
    discordant, net = (b + c) / 100, min(0, (b - c) / 100)
    at_margin = variance_at((discordant + net) / 2, (discordant - net) / 2, margin)
    z_alpha, z_power = NormalDist().inv_cdf(0.95), NormalDist().inv_cdf(0.8)
    size = (z_alpha * at_margin**0.5 + z_power * (discordant - net**2) ** 0.5) ** 2 / (margin - net) ** 2
    assert samples_to_decide(b, c, 100, margin) == pytest.approx(size, abs=1.01)


def test_only_the_rates_of_discordance_matter_for_the_size():
    """And none observed counts as half a pair, of however many were asked."""
    assert samples_to_decide(1, 0, 100, 0.02) == samples_to_decide(2, 0, 200, 0.02)
    assert samples_to_decide(1, 5, 100, 0.02) == samples_to_decide(2, 10, 200, 0.02)
    assert samples_to_decide(0, 0, 100, 0.02) == samples_to_decide(1, 0, 200, 0.02)
    assert samples_to_decide(0, 0, 1, 0.02) == samples_to_decide(1, 0, 2, 0.02)
    assert samples_to_decide(0, 0, 0, 0.02) == samples_to_decide(1, 0, 2, 0.02)


def test_a_p_value_is_never_above_one_and_the_defaults_are_the_usual_ones():
    """As many fixes as regressions are no evidence at all; alpha is 5 %, power 80 %, confidence 95 %."""
    assert mcnemar_exact(3, 3).two_sided == 1.0
    assert upper_bound(3, 1, 100) == upper_bound(3, 1, 100, alpha=0.05)
    assert tango_interval(3, 1, 100) == tango_interval(3, 1, 100, confidence=0.95)
    assert samples_to_decide(3, 1, 100, 0.02) == samples_to_decide(3, 1, 100, 0.02, alpha=0.05, power=0.8)


def test_a_p_value_at_its_level_is_not_below_it_and_stops_the_procedure():
    """What comes after is decided at the same level, and so is not significant either."""
    assert holm((0.025, 0.03), 0.05) == (0.025, 0.025)
