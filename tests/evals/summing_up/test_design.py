"""A run before it is made: its requests, its time, and what its gate could see."""

from dataclasses import replace

import pytest
from draftproof.evals.asking.rounds import due
from draftproof.evals.attempt import Stage
from draftproof.evals.decision.power import decision_chances
from draftproof.evals.plan import build_plan
from draftproof.evals.summing_up.design import Expectation, design_run, expect_like
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.plan import hopeless_sentence, render_plan

from ..asking.test_early import answer
from ..build import BUDGET, OPEN, RIGHT, WRONG, attempt, plan, record, sample


def costs(design):
    return {cost.stage.value: (cost.least, cost.most, cost.most_tokens) for cost in design.stages}


def test_first_and_control_are_sure_and_the_rest_may_be_due():
    """10 samples, three arms, one doubling, two confirmations, a budget of 100."""
    assert costs(design_run(plan("a", "b"), 10, Expectation())) == {
        "first": (30, 30, 3000),
        "control": (10, 10, 1000),
        "doubled": (0, 40, 8000),
        "confirm": (0, 60, 12000),
    }
    # Streamed and not: the other way is asked of every arm once more.
    assert costs(design_run(plan(stream="both"), 10, Expectation()))["first"] == (40, 40, 4000)
    bare = design_run(plan(control=False, confirm=0, doublings=0), 10, Expectation())
    assert [cost.most for cost in bare.stages] == [20, 0, 0, 0]


@pytest.mark.parametrize("candidates", [("ngram",), ("ngram", "mtp")])
def test_no_run_asks_more_than_was_planned(candidates):
    """A candidate that is always cut first and wrong later needs every stage in full."""
    made = record([sample(f"s{n}") for n in range(4)], [], candidates=candidates, doublings=2)
    while asks := due(made):
        for ask in asks:
            is_cut = ask.arm != "baseline" and ask.max_tokens < 4 * BUDGET
            wrong = RIGHT if ask.arm == "baseline" else WRONG
            one = answer(
                ask,
                *((OPEN, "length") if is_cut else (wrong, "stop")),
                tokens=ask.max_tokens if is_cut else 9,
            )
            made = replace(made, attempts={**made.attempts, one.key: one})
    most = {cost.stage: cost.most for cost in design_run(made.plan, 4, Expectation()).stages}
    asked = {stage: sum(one.stage is stage for one in made.attempts.values()) for stage in Stage}
    # What the control needs at larger budgets is planned with the doubled ones.
    assert asked[Stage.DOUBLED] + asked[Stage.CONTROL] == most[Stage.DOUBLED] + most[Stage.CONTROL]
    assert asked[Stage.FIRST] == most[Stage.FIRST]
    assert asked[Stage.CONFIRM] == most[Stage.CONFIRM]


@pytest.mark.parametrize(
    ("in_turn", "seconds"),
    [
        # The baseline alone: first 1,000, control 1,000, doubled 4,000, confirm 4,000 tokens, at 80 a second.
        (False, 125.0),
        # Both: 2,000 + 1,000 + 6,000 + 8,000.
        (True, 212.5),
    ],
)
def test_the_time_is_that_of_the_arm_that_is_asked_most(in_turn, seconds):
    """Or of all, where they are asked one after another; 8 requests in flight at 10 tokens a second."""
    made = design_run(plan(in_turn=in_turn), 10, Expectation(tokens_per_second=10, mean_tokens=40))
    assert made.most_seconds == pytest.approx(seconds)
    assert made.likely_seconds == pytest.approx((20 + 10) * 40 / 80 if in_turn else (10 + 10) * 40 / 80)
    assert design_run(plan(), 10, Expectation()).most_seconds is None


def test_the_chances_are_those_of_the_gate():
    """At the least level that the alarm may have: alpha over the candidates, less that for early looks."""
    alone = design_run(plan(), 200, Expectation())
    assert alone.chances[0.05] == decision_chances(200, churn=0.05, net=0.05, margin=0.03)
    three = design_run(plan("a", "b", "c", until_decided=True), 200, Expectation())
    assert three.chances[0.05] == decision_chances(
        200, churn=0.05, net=0.05, margin=0.03, alarm_alpha=0.05 * 0.8 / 3
    )
    assert three.needed == alone.needed == pytest.approx(383, rel=0.04)


@pytest.mark.parametrize(
    ("samples", "margin", "is_hopeless"), [(20, 0.03, True), (20, 0.3, False), (60, 0.02, False)]
)
def test_a_design_that_can_neither_pass_nor_detect_is_hopeless(samples, margin, is_hopeless):
    """60 samples can hardly pass at 2 %, and still call one broken call in ten."""
    raw = plan().model_dump(mode="json")
    made = design_run(build_plan({**raw, "gate": {"margin": margin}}, source="test"), samples, Expectation())
    assert made.is_hopeless is is_hopeless
    assert ("hardly pass or detect anything" in " ".join(render_plan(made).split())) is is_hopeless
    assert f"{samples} pairs at margin" in hopeless_sentence(made)


def earlier(control, **run):
    """Ten samples, the last wrong in both arms; the control differs on as many as asked."""
    attempts = [
        attempt(WRONG if n == 9 else RIGHT, sample_id=f"s{n}", arm=arm, tokens=30, drafts=(0, 0))
        for n in range(10)
        for arm in ("baseline", "ngram")
    ]
    if control is not None:
        attempts += [
            attempt(WRONG if n < control or n == 9 else RIGHT, sample_id=f"s{n}", stage=Stage.CONTROL)
            for n in range(10)
        ]
    made = record(
        [sample(f"s{n}") for n in range(10)], attempts, confirm=0, control=control is not None, **run
    )
    return summarise(made)


@pytest.mark.parametrize(
    ("control", "churn", "source"),
    [
        (2, 0.2, "control of test"),
        (0, 0.05, "control of test"),
        (None, 0.05, "what the candidates of test changed"),
    ],
)
def test_an_earlier_run_says_what_to_expect(control, churn, source):
    """Its control's churn, else what was observed; where nothing changed, half a pair."""
    made = expect_like(earlier(control))
    assert (made.churn, made.churn_source) == (pytest.approx(churn), source)
    assert made.informative == pytest.approx(0.9)
    assert (made.mean_tokens, made.tokens_per_second) == (30, 30)


def test_the_plan_is_printed_with_every_figure():
    """Requests, tokens, chances, sizes and time, within the width."""
    text = render_plan(
        design_run(plan(until_decided=True), 500, Expectation(tokens_per_second=40, mean_tokens=60))
    )
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "500 samples, arms baseline, ngram; margin 3.0%, alpha 0.05" in lines
    assert "first 1,000 100,000" in lines
    assert "all 1,500 to 5,000 850,000" in lines
    assert any(line.startswith("10% net 100.0% 0.0% 0.0%") for line in lines)
    assert any(line.startswith("until_decided:") for line in lines)
    assert (
        "Time: 26 min at most, at 40 tokens/s a request; first and control at their usual length 3 min."
        in lines
    )
    assert max(map(len, text.splitlines())) <= 100
