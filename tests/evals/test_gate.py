"""The decision, in its order: void, regression, pass, inconclusive."""

from dataclasses import replace

import pytest
from draftproof.evals.arm_summary import ArmSummary
from draftproof.evals.comparison import CauseCounts, Comparison, ControlCounts
from draftproof.evals.gate import Decision, decide, overall
from draftproof.evals.plan import GateSection
from draftproof.evals.server import Speculating

N = 500


def counts(cap=0, syntax=0, contract=0, real=0, unresolved=0):
    return CauseCounts(
        total=cap + syntax + contract + real + unresolved,
        cap=cap,
        malformed=syntax + contract,
        real_change=real,
        unresolved=unresolved,
        syntax=syntax,
        contract=contract,
    )


def comparison(
    regressions=None, fixes=None, *, both_fail=0, void=0, reproduced=0, failures=0, churn=(0, 0), n=N
):
    regressions, fixes = regressions or counts(), fixes or counts()
    return Comparison(
        baseline="baseline",
        candidate="mtp",
        findings=(),
        samples=n,
        compared=n - void,
        both_pass=n - void - both_fail - regressions.total - fixes.total,
        both_fail=both_fail,
        void=void,
        regressions=regressions,
        fixes=fixes,
        control=ControlCounts(n, *churn),
        codes={},
        void_codes={},
        candidate_only_failures=failures,
        reproduced_syntax=reproduced,
        needed_max_tokens=None,
    )


def arm(name, **changes):
    made = ArmSummary(
        name=name,
        model="m",
        attempts=N,
        failed=0,
        retried=0,
        finish_reasons={},
        endings={},
        cut=0,
        passed=400,
        wrong=100,
        void=0,
        tokens_per_second=None,
        draft_tokens=0 if name == "baseline" else 1000,
        accepted_tokens=0 if name == "baseline" else 800,
        speculating=Speculating.OFF if name == "baseline" else Speculating.ON,
    )
    return replace(made, **changes)


def ruling(compared=None, *, baseline=None, candidate=None, complete=True, unlabelled=False, **gate):
    return decide(
        compared or comparison(),
        baseline or arm("baseline"),
        candidate or arm("mtp"),
        GateSection(**gate),
        is_complete=complete,
        dialect="hermes",
        is_unlabelled=unlabelled,
    )


def test_no_change_at_all_passes_given_enough_samples():
    """With 500 pairs and no discordant one the upper bound is 0.54 %, within 3 %."""
    made = ruling()
    assert made.decision is Decision.PASS
    assert made.net_rate == 0
    assert made.interval == pytest.approx((-0.00538, 0.00538), abs=1e-5)


def test_no_change_in_too_few_samples_is_inconclusive_and_says_how_many():
    """60 pairs leave room for 4.3 %: not rejecting a difference is no answer."""
    made = ruling(comparison(n=60))
    assert made.decision is Decision.INCONCLUSIVE
    assert "could be as high as +4.3% (margin 3.0%)" in made.reasons[0]
    assert "(60 so far)" in made.reasons[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"complete": False}, "incomplete"),
        ({"candidate": arm("mtp", model="other")}, "different models: 'm' and 'other'"),
        ({"baseline": arm("baseline", draft_tokens=5)}, "baseline speculates"),
        ({"baseline": arm("baseline", draft_tokens=None, speculating=Speculating.ON)}, "baseline speculates"),
        ({"candidate": arm("mtp", draft_tokens=0)}, "mtp drafted nothing"),
        (
            {"candidate": arm("mtp", draft_tokens=None, speculating=Speculating.OFF)},
            "mtp does not speculate",
        ),
        ({"candidate": arm("mtp", void=26)}, "mtp: 26 of 500 samples are void (5%, [gate] max_failed 5%)"),
        ({"baseline": arm("baseline", void=26)}, "baseline: 26 of 500"),
        ({"baseline": arm("baseline", passed=149)}, "right on 149 of 500 (30%, [gate] min_baseline 30%)"),
        ({"compared": comparison(void=N)}, "every pair is void"),
    ],
)
def test_what_makes_a_comparison_void_comes_first(changes, words):
    """Even beside 100 regressions: a void comparison says nothing about the candidate."""
    changes.setdefault("compared", comparison(counts(real=100)))
    made = ruling(**changes)
    assert made.decision is Decision.VOID
    assert any(words in reason for reason in made.reasons)


def test_a_wrong_dialect_is_named():
    """Hardly anything right looks like a dangerous candidate; the reason names the dialect."""
    made = ruling(baseline=arm("baseline", passed=3))
    assert "is 'hermes' this model's dialect" in made.reasons[0]


@pytest.mark.parametrize(
    ("required", "shown", "decision"),
    [
        ("auto", Speculating.UNKNOWN, Decision.PASS),
        (True, Speculating.UNKNOWN, Decision.VOID),
        (False, Speculating.OFF, Decision.PASS),
        ("auto", Speculating.OFF, Decision.VOID),
        (True, Speculating.ON, Decision.PASS),
    ],
)
def test_speculation_that_cannot_be_seen_is_void_only_on_request(required, shown, decision):
    """`auto` takes unknown for possible; `true` does not; `false` does not look."""
    candidate = arm("mtp", draft_tokens=None, speculating=shown)
    assert ruling(candidate=candidate, require_speculation=required).decision is decision


@pytest.mark.parametrize(
    ("regressions", "fixes", "decision"),
    [
        (counts(real=40), counts(real=10), Decision.REGRESSION),
        # Significant, and the estimate (2.0 %) within the margin: no regression, no pass either.
        (counts(real=20), counts(real=10), Decision.INCONCLUSIVE),
        (counts(real=10), counts(real=10), Decision.PASS),
        (counts(real=3), counts(real=20), Decision.PASS),
        # The cap's are reported, not counted.
        (counts(cap=60), counts(), Decision.PASS),
        (counts(unresolved=40), counts(unresolved=10), Decision.REGRESSION),
        (counts(contract=4), counts(), Decision.PASS),
        # Syntax knows no margin: 4 new against 0 is mid-p 0.031.
        (counts(syntax=4), counts(), Decision.REGRESSION),
        (counts(syntax=4), counts(syntax=4), Decision.PASS),
    ],
)
def test_regressions_are_weighed_against_fixes(regressions, fixes, decision):
    """McNemar with the margin for all causes but the cap's; without a margin for broken syntax."""
    assert ruling(comparison(regressions, fixes)).decision is decision


def test_the_cap_counts_on_request():
    """`[gate] cap = "fail"`: calls that only the cap broke are regressions."""
    made = ruling(comparison(counts(cap=60)), cap="fail")
    assert made.decision is Decision.REGRESSION
    assert made.net_rate == pytest.approx(0.12)


def test_a_reproduced_new_malformed_output_blocks_a_pass():
    """One is not significant, and still nobody enables speculation without having looked at it."""
    compared = comparison(counts(syntax=1), reproduced=1)
    made = ruling(compared)
    assert made.decision is Decision.INCONCLUSIVE
    assert "1 new outputs of broken syntax" in made.reasons[0]
    assert ruling(compared, max_malformed=1).decision is Decision.PASS


def test_more_endpoint_failures_in_the_candidate_are_a_regression():
    """12 of 500 against 1 of 500 is no bad luck (one-sided Fisher p 0.002)."""
    made = ruling(
        comparison(void=13), baseline=arm("baseline", failed=1), candidate=arm("mtp", failed=12, void=12)
    )
    assert made.decision is Decision.REGRESSION
    assert "12 of 500 against 1 of 500" in made.reasons[0]


def test_failures_of_the_candidate_alone_count_against_a_pass():
    """A candidate that loses 5 answers in 200 is not known to be within 3 %."""
    assert ruling(comparison(n=200)).decision is Decision.PASS
    made = ruling(comparison(n=200, void=5, failures=5))
    assert made.decision is Decision.INCONCLUSIVE


def test_samples_that_both_get_wrong_carry_no_information():
    """450 of 500 wrong in both arms leave 50 pairs, too few for a pass."""
    assert ruling(comparison(both_fail=450)).decision is Decision.INCONCLUSIVE
    assert ruling(comparison(both_fail=500)).decision is Decision.VOID


def test_unlabelled_traffic_on_a_self_repeating_baseline_is_only_called_changed():
    """Fixes cannot occur there, so a net rate would claim more than is known; broken syntax still alarms."""
    made = ruling(comparison(counts(real=40)), unlabelled=True)
    assert made.decision is Decision.INCONCLUSIVE
    assert "changed: 40 of 500" in made.reasons[0]
    assert ruling(comparison(counts(syntax=8)), unlabelled=True).decision is Decision.REGRESSION
    churning = comparison(counts(real=40), counts(real=10), churn=(20, 0))
    assert ruling(churning, unlabelled=True).decision is Decision.REGRESSION


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ("pass", "pass"),
        ("pass inconclusive", "inconclusive"),
        ("inconclusive void pass", "void"),
        ("pass void regression inconclusive", "regression"),
    ],
)
def test_the_overall_decision_is_the_worst(decisions, expected):
    """Regression, else void, else inconclusive, else pass."""
    assert overall(map(Decision, decisions.split())) is Decision(expected)


def test_exit_codes_are_the_contract():
    """0 pass, 1 regression, 3 inconclusive, 4 void."""
    assert {decision.value: decision.exit_code for decision in Decision} == {
        "pass": 0,
        "regression": 1,
        "inconclusive": 3,
        "void": 4,
    }
