"""Any two arms, judged as a baseline and a candidate are."""

from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.errors import UserError
from draftproof.evals.judging.finding import Transition
from draftproof.evals.summing_up.pairing import only_one_breaks, operands, pair_arms
from draftproof.evals.summing_up.summary import summarise

from ...reports.runs import three_arms


def other_run(**changes):
    return replace(three_arms(), directory=Path("runs/other"), **changes)


def pair(one="ngram", other="mtp"):
    summary = summarise(three_arms())
    return pair_arms(*operands(summary, one, summary, other)).comparison


def test_two_candidates_are_judged_against_each_other():
    """By the same rules, as if the first were the baseline."""
    comparison = pair()
    changed = {f.id: f.transition for f in comparison.findings if f.transition.value in ("regression", "fix")}
    assert {name for name, what in changed.items() if what is Transition.FIX} == {
        "core/cap",
        "core/expression",
        "core/contract",
        "core/real",
    }
    assert {name for name, what in changed.items() if what is Transition.REGRESSION} == {
        "core/thinking",
        "core/unresolved",
        "core/silent",
    }
    assert (comparison.compared, comparison.void, comparison.both_fail) == (11, 1, 2)


def test_turning_a_pair_around_turns_every_count_around():
    """What only one breaks does not depend on which is named first."""
    there, back = only_one_breaks(pair()), only_one_breaks(pair("mtp", "ngram"))
    assert there == {key: (ours, theirs) for key, (theirs, ours) in back.items()}
    assert there["cap", "cap_cut"] == (1, 0)
    assert there["cap", "cap_reasoning"] == (0, 1)


def test_the_baseline_against_a_candidate_is_the_runs_own_comparison():
    """Nothing is judged twice in two ways."""
    summary = summarise(three_arms())
    comparison = pair_arms(*operands(summary, "baseline", summary, "mtp")).comparison
    own = summary.comparisons[1]
    assert comparison.findings == own.findings
    assert (comparison.regressions, comparison.fixes) == (own.regressions, own.fixes)


def test_an_arm_against_the_same_arm_of_an_equal_run_finds_nothing():
    """And the arms are called by run and arm."""
    one, other = summarise(three_arms()), summarise(other_run())
    left, right = operands(one, "ngram", other, "ngram")
    assert (left.label, right.label) == ("test:ngram", "other:ngram")
    comparison = pair_arms(left, right).comparison
    assert comparison.regressions.total == comparison.fixes.total == 0


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (other_run(digest="another"), "differ in suite ('digest' and 'another')"),
        (replace(three_arms(seed=2), directory=Path("runs/other")), "differ in run.seed (1 and 2)"),
        (replace(three_arms(doublings=2), directory=Path("runs/other")), "differ in run.doublings"),
    ],
)
def test_unlike_runs_are_refused_with_the_key_that_differs(other, words):
    """What was asked differently cannot be compared."""
    with pytest.raises(UserError) as caught:
        operands(summarise(three_arms()), "ngram", summarise(other), "ngram")
    assert words in str(caught.value)


def test_an_unknown_arm_and_an_arm_against_itself_are_refused():
    """With the known names."""
    summary = summarise(three_arms())
    with pytest.raises(UserError, match="no arm is named 'eagle'; expected one of baseline, ngram, mtp"):
        operands(summary, "eagle", summary, "mtp")
    with pytest.raises(UserError, match="expected two arms"):
        operands(summary, "mtp", summary, "mtp")
