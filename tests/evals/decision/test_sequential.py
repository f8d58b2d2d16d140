"""E-values: their published and exact values, and that looking after every pair costs no false alarm."""

import random
from fractions import Fraction
from math import comb

import pytest
from draftproof.evals.decision.sequential import net_over_margin, worse_than_zero_ignoring_margin
from hypothesis import given
from hypothesis import strategies as st

COUNTS = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 200))


@pytest.mark.parametrize(("b", "c", "value"), [(7, 0, 31.9), (10, 1, 30.9), (6, 0, 18.1), (0, 0, 1.0)])
def test_the_mixture_gives_its_reference_values(b, c, value):
    """The figures that docs of the method quote."""
    assert round(worse_than_zero_ignoring_margin(b, c), 1) == value


@pytest.mark.parametrize("pairs", [1, 5, 12, 30])
def test_the_mixture_is_one_on_average_when_nothing_is_worse(pairs):
    """Summed over every outcome of a fair coin, exactly."""
    mean = sum(
        Fraction(comb(pairs, b), 2**pairs) * Fraction(worse_than_zero_ignoring_margin(b, pairs - b))
        for b in range(pairs + 1)
    )
    assert float(mean) == pytest.approx(1)


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("churn", [0.02, 0.1, 1.0])
def test_the_bet_is_fair_at_the_margin_and_lossy_within_it(margin, churn):
    """Enumerated over 20 pairs: 1 on average with the net rate at the margin, less below."""
    for net, expected in ((margin, 1.0), (0.0, None)):
        b_rate, c_rate = max(churn, net) / 2 + net / 2, max(churn, net) / 2 - net / 2
        mean = sum(
            comb(20, b)
            * comb(20 - b, c)
            * b_rate**b
            * c_rate**c
            * (1 - b_rate - c_rate) ** (20 - b - c)
            * net_over_margin(b, c, 20, margin)
            for b in range(21)
            for c in range(21 - b)
        )
        assert mean <= 1 + 1e-9
        if expected is not None:
            assert mean == pytest.approx(expected)


@given(COUNTS, st.floats(0, 0.3))
def test_a_regression_raises_the_e_value_and_a_fix_lowers_it(counts, margin):
    """A concordant pair lies between the two."""
    b, c, same = counts
    n = b + c + same + 1
    worse, as_before, better = (
        net_over_margin(b + one, c + other, n, margin) for one, other in ((1, 0), (0, 0), (0, 1))
    )
    assert worse > as_before > better >= 0


@pytest.mark.parametrize(
    ("b", "c", "n", "margin"), [(3, 3, 5, 0.02), (-1, 0, 5, 0.02), (1, 0, 5, 1.0), (1, 0, 5, -0.1)]
)
def test_contradictory_counts_and_margins_are_refused(b, c, n, margin):
    """Nonsense in is an error, not a number."""
    with pytest.raises(ValueError, match=r"no part of|no margin"):
        net_over_margin(b, c, n, margin)


def ever_reaches(source, b_rate, c_rate, margin, level):
    b = c = 0
    for n, drawn in enumerate(source.choices("bc-", [b_rate, c_rate, 1 - b_rate - c_rate], k=200), start=1):
        b, c = b + (drawn == "b"), c + (drawn == "c")
        # Only a regression can raise it.
        if drawn == "b" and net_over_margin(b, c, n, margin) >= 1 / level:
            return True
    return False


def test_looking_after_every_pair_calls_a_harmless_candidate_seldom():
    """At the margin itself, the worst case within it, in a seeded simulation: 0.025 at most."""
    source = random.Random(11)
    called = sum(ever_reaches(source, 0.06, 0.04, 0.02, 0.025) for _ in range(400))
    assert called / 400 <= 0.025


def test_a_real_regression_is_called_before_the_end():
    """A net 15 % at churn 5 % is called within 200 pairs nearly always."""
    source = random.Random(12)
    called = sum(ever_reaches(source, 0.175, 0.025, 0.02, 0.025) for _ in range(100))
    assert called >= 90
