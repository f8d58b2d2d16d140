"""The tests that can call a regression: what each says, and when it takes a share of alpha."""

import pytest
from draftproof.evals.decision.alarms import AlarmTest, alarm_tests, alarms
from draftproof.evals.decision.statistics import failure_rates_differ, mcnemar_midp
from draftproof.evals.plan import GateSection

from .test_gate import N, arm, comparison, counts


def possible(regressions, fixes=None, *, alpha=0.05, candidate=None, **changes):
    made = comparison(regressions, fixes, n=100, **changes)
    arms = arm("baseline"), candidate or arm("mtp")
    return alarm_tests(made, *arms, GateSection(), alpha=alpha, is_self_repeating=False)


def test_each_test_says_what_it_claims_its_method_and_the_least_it_could_say():
    """The rate of net regressions first, then broken syntax, then failures of the endpoint."""
    failing = arm("mtp", failed=30)
    assert possible(counts(real=12, syntax=8), counts(real=2), candidate=failing) == (
        AlarmTest(
            "significantly worse: net rate +18.0% over the margin 3.0%",
            "mid-p McNemar",
            mcnemar_midp(20, 2),
            mcnemar_midp(22, 0),
        ),
        AlarmTest(
            "significantly more calls of broken syntax: 8 new, 0 gone",
            "mid-p McNemar",
            mcnemar_midp(8, 0),
            mcnemar_midp(8, 0),
        ),
        AlarmTest(
            f"the endpoint of mtp fails significantly more often: 30 of {N} against 0 of {N}",
            "Fisher's p",
            failure_rates_differ(0, N, 30, N),
            failure_rates_differ(0, N, 30, N),
        ),
    )


@pytest.mark.parametrize(("worse", "better"), [(5, 2), (10, 10), (2, 8)])
def test_within_the_margin_no_rate_is_an_alarm_and_the_test_takes_its_share(worse, better):
    """At the margin as well: how the pairs fell is chance, that they could have fallen otherwise is not."""
    (test,) = possible(counts(real=worse), counts(real=better))
    assert (test.p, test.least_p) == (1.0, mcnemar_midp(worse + better, 0))


def test_what_could_not_reach_alpha_takes_no_share():
    """Three pairs at a margin of 3 % cannot go over it, and a level that is only met is not reached."""
    assert possible(counts(real=3), alpha=0.2) == ()
    assert possible(counts(real=5), alpha=mcnemar_midp(5, 0)) == ()
    assert len(possible(counts(real=5), alpha=mcnemar_midp(5, 0) * 1.01)) == 1


def test_without_a_pair_or_a_request_there_is_no_test():
    """Nothing is divided by nothing."""
    assert possible(counts(), both_fail=100) == ()
    assert possible(counts(), candidate=arm("mtp", attempts=0)) == ()


def test_a_p_value_at_its_level_is_no_alarm():
    """Significant is what is below."""
    assert alarms([AlarmTest("worse", "p", 0.05, 0.001)], [], 0.05) == []
    assert alarms([AlarmTest("worse", "p", 0.04, 0.001)], [], 0.05) == ["worse (p 0.04 < alpha 0.05)"]
