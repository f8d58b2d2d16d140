"""Clustered intervals against figures worked by hand, and against a simulation of repeats."""

import random
from math import sqrt
from statistics import mean, stdev

import pytest
from draftproof.evals.decision.repeats import clustered_interval, mean_differences
from hypothesis import given
from hypothesis import strategies as st


def test_repeats_become_one_difference_a_sample():
    """Right in 2 of 2 against 1 of 2 is half a regression."""
    baseline = [[True, True], [True, False], [False]]
    candidate = [[True, False], [False, True], [True, True]]
    assert mean_differences(baseline, candidate) == (0.5, 0.0, -1.0)


@pytest.mark.parametrize(("baseline", "candidate"), [([[True]], []), ([[]], [[True]]), ([[True]], [[]])])
def test_samples_without_a_partner_or_an_answer_are_refused(baseline, candidate):
    """A missing answer is no zero."""
    with pytest.raises(ValueError, match=r"samples in|without an answer"):
        mean_differences(baseline, candidate)


@given(st.lists(st.integers(-4, 4).map(lambda quarter: quarter / 4), min_size=2, max_size=40))
def test_samples_that_are_their_own_clusters_give_the_ordinary_standard_error(differences):
    """The root of variance over n."""
    made = clustered_interval(differences, range(len(differences)))
    assert made.mean == pytest.approx(mean(differences))
    assert made.standard_error == pytest.approx(stdev(differences) / sqrt(len(differences)))


def test_the_interval_is_the_one_worked_by_hand():
    """Two clusters of two: residual sums ±1, so variance 2 · 2 / 1, error 2/4; t(1) at 97.5 % is 12.706."""
    made = clustered_interval([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"])
    assert (made.mean, made.clusters) == (0.5, 2)
    assert made.standard_error == pytest.approx(0.5)
    assert made.interval == pytest.approx((0.5 - 6.353, 0.5 + 6.353), abs=5e-4)


def test_one_cluster_gives_no_interval():
    """Its spread nobody can know."""
    assert clustered_interval([0.0, 1.0], ["a", "a"]) is None


def test_a_difference_without_a_cluster_is_refused():
    """One for each."""
    with pytest.raises(ValueError, match="2 differences and 1 clusters"):
        clustered_interval([0.0, 1.0], ["a"])


def simulated(source, repeats, samples=200, churn=0.05):
    """One run in which both arms are wrong by chance alone, so that two asks differ at that churn."""
    wrong = (1 - sqrt(1 - 2 * churn)) / 2
    arms = [
        [[source.random() > wrong for _ in range(repeats)] for _ in range(samples)] for _ in ("off", "on")
    ]
    return clustered_interval(mean_differences(*arms), range(samples), confidence=0.9)


def test_repeats_make_passes_likelier():
    """Noise within samples, n = 200, churn 5 %, margin 0.02: near 39 %, 59 % and 81 % for r = 1, 2, 4."""
    source = random.Random(3)
    for repeats, expected in ((1, 0.39), (2, 0.59), (4, 0.81)):
        passed = sum(simulated(source, repeats).interval.high <= 0.02 for _ in range(250))
        assert passed / 250 == pytest.approx(expected, abs=0.08)


def test_clusters_keep_their_promise_where_samples_hang_together():
    """Ten samples that share a fate are one: clustered intervals hold zero nearly always, plain ones not."""
    source = random.Random(5)
    hits, plain_hits = 0, 0
    for _ in range(300):
        fates = [source.choice((-1, 0, 0, 0, 1)) for _ in range(30)]
        differences = [float(fate) for fate in fates for _ in range(10)]
        clustered = clustered_interval(differences, [number // 10 for number in range(300)])
        plain = clustered_interval(differences, range(300))
        hits += clustered.interval.low <= 0 <= clustered.interval.high
        plain_hits += plain.interval.low <= 0 <= plain.interval.high
    assert hits / 300 > 0.91
    assert plain_hits / 300 < 0.7
