"""E-values: their exact values, and that looking after every pair keeps to the alpha that it was given."""

import random
from fractions import Fraction
from math import comb

import pytest
from draftproof.evals.decision.sequential import SHARE_ON_THE_WAY, evidence_of_regression, net_over_margin
from hypothesis import given
from hypothesis import strategies as st

COUNTS = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 200))
ALPHA = 0.05


def mean(value, pairs, b_rate, c_rate):
    """Over every outcome of that many pairs."""
    same = 1 - b_rate - c_rate
    return sum(
        comb(pairs, b) * comb(pairs - b, c) * b_rate**b * c_rate**c * same ** (pairs - b - c) * value(b, c)
        for b in range(pairs + 1)
        for c in range(pairs + 1 - b)
    )


def ever_called(pairs, b_rate, c_rate, margin, evidence=evidence_of_regression):
    """How probable it is that the evidence suffices after one of the pairs, over every course of them."""
    on, called = {(0, 0): 1.0}, 0.0
    for n in range(1, pairs + 1):
        after: dict[tuple[int, int], float] = {}
        for (b, c), chance in on.items():
            for key, rate in (((b + 1, c), b_rate), ((b, c + 1), c_rate), ((b, c), 1 - b_rate - c_rate)):
                after[key] = after.get(key, 0.0) + chance * rate
        over = [key for key in after if evidence(*key, n, margin) >= 1 / ALPHA]
        called += sum(after.pop(key) for key in over)
        on = {key: chance for key, chance in after.items() if chance > 1e-12}
    return called


def wealth_by_beta(b, c):
    """The integral over all shares of 30 s² (1 - s)² (1 + s)^b (1 - s)^c, term by term."""
    total = Fraction(0)
    for power in range(b + 1):
        # Of s^(power + 2) (1 - s)^(c + 2): a beta function of whole numbers.
        total += Fraction(30 * comb(b, power), (power + c + 5) * comb(power + c + 4, c + 2))
    return float(total)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (7, 0), (10, 1), (12, 4), (20, 9)])
def test_the_bet_at_zero_is_the_mixture_that_it_approximates(b, c):
    """A grid of twenty shares is as good as all of them; pairs without a difference change nothing."""
    assert net_over_margin(b, c, b + c, 0.0) == pytest.approx(wealth_by_beta(b, c), rel=2e-3)
    assert net_over_margin(b, c, b + c + 50, 0.0) == net_over_margin(b, c, b + c, 0.0)


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("churn", [0.0, 0.02, 0.1, 0.9])
def test_the_bet_is_fair_at_the_margin(margin, churn):
    """Enumerated over 20 pairs: 1 on average with the net rate at the margin."""
    b_rate, c_rate = churn / 2 + margin, churn / 2
    assert mean(lambda b, c: net_over_margin(b, c, 20, margin), 20, b_rate, c_rate) == pytest.approx(1)


@given(
    st.integers(1, 12),
    st.floats(0, 0.3),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(["within", "zero"]),
)
def test_the_evidence_is_worth_no_more_than_alpha_gives_it(pairs, margin, fixed, worse, claim):
    """On average over every outcome 1 or less within the margin, and a part of it where nothing is worse."""
    most = 0.0 if claim == "zero" else margin
    c_rate = fixed * (1 - most)
    b_rate = worse * min(c_rate + most, 1 - c_rate)
    value = mean(lambda b, c: evidence_of_regression(b, c, pairs, margin), pairs, b_rate, c_rate)
    assert value <= (SHARE_ON_THE_WAY if claim == "zero" else 1) + 1e-9


@given(COUNTS, st.floats(0, 0.3))
def test_a_regression_raises_the_evidence_and_a_fix_lowers_it(counts, margin):
    """A pair without a difference lies between the two, or changes nothing."""
    b, c, same = counts
    n = b + c + same + 1
    worse, as_before, better = (
        evidence_of_regression(b + one, c + other, n, margin) for one, other in ((1, 0), (0, 0), (0, 1))
    )
    assert worse > as_before > better >= 0


@given(COUNTS, st.floats(0, 0.3))
def test_a_pair_without_a_difference_never_raises_the_evidence(counts, margin):
    """So a call can only come with a regression."""
    b, c, same = counts
    now, later = (evidence_of_regression(b, c, b + c + same + one, margin) for one in (0, 1))
    assert later <= now


def former_evidence(b, c, n, margin):
    """The rule before this one: all shares alike, called at 2 / alpha."""
    stakes = [(number + 0.5) / 20 / (1 + margin) for number in range(20)]
    same = n - b - c
    wealth = [
        (1 + s * (1 - margin)) ** b * (1 - s * (1 + margin)) ** c * (1 - s * margin) ** same for s in stakes
    ]
    return sum(wealth) / len(wealth)


@pytest.mark.parametrize("margin", [0.02, 0.03, 0.05])
@pytest.mark.parametrize("pairs", [59, 75, 150, 400, 1000])
def test_what_the_former_rule_called_is_called(margin, pairs):
    """From the 59th pair on: a run that it stopped is complete."""
    b = 0
    for c in range(pairs // 10):
        while former_evidence(b, c, pairs, margin) < 2 / ALPHA:
            b += 1
        assert evidence_of_regression(b, c, pairs, margin) >= 1 / ALPHA


@pytest.mark.parametrize(
    ("b", "c", "n", "margin"), [(3, 3, 5, 0.02), (-1, 0, 5, 0.02), (1, 0, 5, 1.0), (1, 0, 5, -0.1)]
)
def test_contradictory_counts_and_margins_are_refused(b, c, n, margin):
    """Nonsense in is an error, not a number."""
    with pytest.raises(ValueError, match=r"no part of|no margin"):
        net_over_margin(b, c, n, margin)


@pytest.mark.parametrize(
    ("b_rate", "c_rate", "margin", "most"),
    [
        pytest.param(0.03, 0.0, 0.03, ALPHA, id="at the margin, no churn"),
        pytest.param(0.055, 0.025, 0.03, ALPHA, id="at the margin, churn 5 %"),
        pytest.param(0.3, 0.2, 0.1, ALPHA, id="at the margin, much churn"),
        pytest.param(0.025, 0.025, 0.03, SHARE_ON_THE_WAY * ALPHA, id="no effect, churn 5 %"),
        pytest.param(0.2, 0.2, 0.03, SHARE_ON_THE_WAY * ALPHA, id="no effect, much churn"),
        pytest.param(0.5, 0.5, 0.01, SHARE_ON_THE_WAY * ALPHA, id="no effect, nothing but churn"),
    ],
)
def test_looking_after_every_pair_calls_a_harmless_candidate_seldom(b_rate, c_rate, margin, most):
    """Over every course of 60 pairs, and whatever the churn."""
    assert 0 < ever_called(60, b_rate, c_rate, margin) <= most


def test_the_bet_against_the_margin_alone_would_take_from_the_tests_at_the_end():
    """Where everything is churn, a margin of 1 % is hardly more than none."""
    assert ever_called(60, 0.5, 0.5, 0.01, net_over_margin) > 2 * SHARE_ON_THE_WAY * ALPHA


def test_a_real_regression_is_called_before_the_end():
    """A net 15 % at churn 5 % is called within 200 pairs nearly always."""
    source = random.Random(12)
    called = 0
    for _ in range(100):
        b = c = 0
        for n, drawn in enumerate(source.choices("bc-", [0.175, 0.025, 0.8], k=200), start=1):
            b, c = b + (drawn == "b"), c + (drawn == "c")
            if drawn == "b" and evidence_of_regression(b, c, n, 0.02) >= 1 / ALPHA:
                called += 1
                break
    assert called >= 90
