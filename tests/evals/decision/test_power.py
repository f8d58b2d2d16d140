"""Chances of each decision: the method's figures, the gate's own statistics, and a simulation."""

import random
from itertools import product

import pytest
from draftproof.evals.decision.power import decision_chances, samples_for_pass
from draftproof.evals.decision.statistics import mcnemar_midp, upper_bound
from hypothesis import given, settings
from hypothesis import strategies as st

from .test_statistics import probability


@pytest.mark.parametrize(
    ("net", "passing", "regression"),
    [(0, 0.319, 0.041), (0.05, 0.001, 0.741), (0.1, 0.0, 0.989)],
)
def test_the_chances_are_the_methods_figures(net, passing, regression):
    """At n = 200, churn 5 %, margin 0.02; by the mid-p rule (the exact test calls 2 %, 67 % and 98 %)."""
    made = decision_chances(200, churn=0.05, net=net, margin=0.02)
    assert (round(made.passing, 3), round(made.regression, 3)) == (passing, regression)
    assert made.passing + made.regression + made.inconclusive == pytest.approx(1)


@pytest.mark.parametrize("n", [25, 60])
def test_the_chances_are_those_of_the_gates_own_statistics(n):
    """Every outcome judged by `mcnemar_midp` and `upper_bound` themselves, at several rates."""
    rulings = {}
    for b, c in product(range(n + 1), repeat=2):
        if b + c <= n:
            is_worse = mcnemar_midp(b, c) < 0.05 and (b - c) / n > 0.05
            rulings[b, c] = "worse" if is_worse else "pass" if upper_bound(b, c, n) <= 0.05 else "open"
    for churn, net in ((0.0, 0.0), (0.02, 0.0), (0.1, 0.05), (0.5, 0.2)):
        chances = dict.fromkeys(("worse", "pass", "open"), 0.0)
        for (b, c), ruling in rulings.items():
            chances[ruling] += probability(b, c, n, churn / 2 + net, churn / 2)
        made = decision_chances(n, churn=churn, net=net, margin=0.05)
        assert made.passing == pytest.approx(chances["pass"], abs=1e-6)
        assert made.regression == pytest.approx(chances["worse"], abs=1e-6)


def test_the_chances_are_those_of_a_simulation():
    """Two thousand seeded runs of 150 pairs."""
    source, passed, worse = random.Random(9), 0, 0
    for _ in range(2000):
        drawn = source.choices("bc-", [0.05, 0.02, 0.93], k=150)
        b, c = drawn.count("b"), drawn.count("c")
        passed += upper_bound(b, c, 150) <= 0.05
        worse += mcnemar_midp(b, c) < 0.05 and (b - c) / 150 > 0.05
    made = decision_chances(150, churn=0.04, net=0.03, margin=0.05)
    assert passed / 2000 == pytest.approx(made.passing, abs=0.035)
    assert worse / 2000 == pytest.approx(made.regression, abs=0.035)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.floats(0, 0.5), st.floats(0.0, 0.4), st.floats(0.005, 0.2))
def test_chances_are_chances(n, churn, net, margin):
    """Between 0 and 1, adding up to 1; and what breaks more is no likelier to pass."""
    made = decision_chances(n, churn=churn, net=net, margin=margin)
    parts = (made.passing, made.regression, made.inconclusive)
    assert all(-1e-9 <= part <= 1 + 1e-9 for part in parts)
    assert sum(parts) == pytest.approx(1, abs=1e-6)
    worse = decision_chances(n, churn=churn, net=net + 0.05, margin=margin)
    assert worse.passing <= made.passing + 1e-6


@pytest.mark.parametrize(("n", "churn", "net"), [(0, 0.1, 0.0), (10, -0.1, 0.0), (10, 0.5, 0.6)])
def test_a_design_that_cannot_be_is_refused(n, churn, net):
    """Rates are shares, and there is at least one pair."""
    with pytest.raises(ValueError, match="no such design"):
        decision_chances(n, churn=churn, net=net, margin=0.02)


@pytest.mark.parametrize(
    ("margin", "sizes"), [(0.02, (407, 810, 1583)), (0.03, (207, 383, 720)), (0.05, (90, 158, 265))]
)
def test_the_sizes_for_a_pass_are_the_methods_figures(margin, sizes):
    """Within the saw's teeth: 4 %."""
    for churn, size in zip((0.02, 0.05, 0.1), sizes, strict=True):
        assert samples_for_pass(churn=churn, margin=margin) == pytest.approx(size, rel=0.04)


@pytest.mark.parametrize(("churn", "margin"), [(0.0, 0.02), (1.5, 0.02), (0.05, 0.0)])
def test_a_size_that_cannot_be_is_refused(churn, margin):
    """Without churn every size would do; a margin of nothing none."""
    with pytest.raises(ValueError, match="no size"):
        samples_for_pass(churn=churn, margin=margin)
