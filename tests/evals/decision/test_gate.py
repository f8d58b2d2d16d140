"""The decision, in its order: void, regression, pass, inconclusive."""

from dataclasses import replace

import pytest
from draftproof.evals.comparing.arm_summary import ArmSummary
from draftproof.evals.comparing.comparison import CauseCounts, ChurnCounts, Comparison
from draftproof.evals.decision.gate import Decision, decide, overall
from draftproof.evals.decision.sequential import EarlyLook
from draftproof.evals.plan import GateSection
from draftproof.evals.servers.server import Speculating

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
    regressions=None,
    fixes=None,
    *,
    both_fail=0,
    void=0,
    reproduced=0,
    failures=0,
    churn=(0, 0),
    n=N,
    wide=0,
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
        control=ChurnCounts(n, *churn),
        codes={},
        void_codes={},
        candidate_only_failures=failures,
        reproduced_syntax=reproduced,
        needed_max_tokens=None,
        reproduced_wide=wide,
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


def ruling(
    compared=None, *, baseline=None, candidate=None, complete=True, unlabelled=False, facts=None, **gate
):
    return decide(
        compared or comparison(),
        baseline or arm("baseline"),
        candidate or arm("mtp"),
        GateSection(**gate),
        is_complete=complete,
        dialect="hermes",
        is_unlabelled=unlabelled,
        **(facts or {}),
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
    ("others", "decision"),
    [
        ((), "regression"),
        ((0.5,), "regression"),
        # The net rate is at p = 0.0154: over 0.05 / 4 with three more tests, below 0.05 / 3 with one out.
        ((0.5, 0.5, 0.5), "pass"),
        ((0.001, 0.5, 0.5), "regression"),
    ],
)
def test_all_alarms_of_all_candidates_share_one_alpha(others, decision):
    """Holm: another candidate makes no false alarm likelier; what the others show clearly costs nothing."""
    made = ruling(comparison(counts(real=13), counts(real=4)), margin=0.015, facts={"others": others})
    assert made.mcnemar_p == pytest.approx(0.0154, abs=5e-5)
    expected = Decision.INCONCLUSIVE if decision == "pass" else Decision(decision)
    assert made.decision is expected
    if others and expected is Decision.REGRESSION:
        assert f"alpha 0.05 is shared by {len(others) + 1} tests of the run (Holm)" in made.reasons[0]


def test_a_test_that_could_not_alarm_takes_no_share_of_alpha():
    """Three malformed outputs cannot be significant, and four against four could have been."""
    three = ruling(comparison(counts(real=40, syntax=3), counts(real=10)))
    assert "< alpha 0.05)" in three.reasons[0]
    eight = ruling(comparison(counts(real=40, syntax=4), counts(real=10, syntax=4)))
    assert "shared by 2 tests" in eight.reasons[0]


def test_a_reproduced_wide_divergence_blocks_a_pass():
    """Rounding flips near-ties; where the baseline was sure, something else is at work."""
    made = ruling(comparison(counts(real=2), wide=1))
    assert made.decision is Decision.INCONCLUSIVE
    assert "1 regressions part from the baseline where it was sure of another token" in made.reasons[0]


@pytest.mark.parametrize(
    ("preset", "n", "decision", "note"),
    [
        ("smoke", 200, "pass", None),
        ("smoke", 150, "pass", 'preset "smoke" is meant for 200 samples or more; 150 were compared'),
        ("gate", 400, "pass", 'preset "gate" is meant for 500 samples or more; 400 were compared'),
        (
            "release",
            100,
            "inconclusive",
            'preset "release" is meant for 1,000 samples or more; 100 were compared',
        ),
        (None, 100, "pass", None),
    ],
)
def test_a_preset_says_when_a_run_is_too_small_for_it(preset, n, decision, note):
    """A note among the reasons; the decision stays."""
    made = ruling(comparison(n=n), preset=preset)
    assert made.decision is Decision(decision)
    assert [reason for reason in made.reasons if "preset" in reason] == ([] if note is None else [note])


def test_a_chosen_baseline_may_speculate_and_the_former_one_need_not():
    """`gate --baseline mtp`: neither is a reason for void then."""
    chosen = {
        "baseline": arm("mtp"),
        "candidate": arm("baseline"),
        "facts": {"is_baseline_chosen": True, "is_former_baseline": True},
    }
    assert ruling(**chosen).decision is Decision.PASS
    chosen["facts"] = {}
    assert ruling(**chosen).decision is Decision.VOID


def look(peak, asked=N):
    return EarlyLook(asked=asked, planned=N, pairs=asked, peak=peak, needed=20)


def test_enough_evidence_on_the_way_is_a_regression_whatever_came_later():
    """An e-value may be looked at as often as one likes: what it once reached stands."""
    made = ruling(comparison(counts(real=3)), facts={"early": look(21.5, asked=120)})
    assert made.decision is Decision.REGRESSION
    assert "called early: e-value 21.5 of 20 against a net rate within 3.0%" in made.reasons[0]
    assert "after 120 of 500 samples" in made.reasons[0]


def test_a_run_that_looked_on_the_way_has_four_fifths_of_alpha_left_at_the_end():
    """15 against 7 is mid-p 0.047: significant at 0.05, and not at 0.04; 11 against 4 is 0.038."""
    compared = comparison(counts(real=15), counts(real=7), n=200)
    assert ruling(compared, margin=0.02).mcnemar_p == pytest.approx(0.047, abs=5e-4)
    assert ruling(compared, margin=0.02).decision is Decision.REGRESSION
    assert ruling(compared, margin=0.02, facts={"early": look(2)}).decision is Decision.INCONCLUSIVE
    surer = comparison(counts(real=11), counts(real=4), n=200)
    assert ruling(surer, margin=0.02, facts={"early": look(2)}).decision is Decision.REGRESSION


def test_a_run_that_stopped_under_another_gate_is_judged_by_no_test_of_fixed_size():
    """Its size depends on what was seen."""
    made = ruling(comparison(counts(real=40), counts(real=1)), facts={"early": look(2, asked=120)})
    assert made.decision is Decision.INCONCLUSIVE
    assert "stopped early under another [gate]" in made.reasons[0]


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
