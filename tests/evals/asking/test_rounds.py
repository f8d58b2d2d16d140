"""What is due follows from the plan and the attempts alone, round after round."""

from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.evals.asking.rounds import due, is_complete
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.record import Record
from draftproof.evals.servers.server import ServerFacts
from draftproof.tasks.sample import Sample

from ..build import BROKEN, BUDGET, OPEN, OSLO, RIGHT, TOOLS, WRONG, attempt

ARMS = ("baseline", "mtp")


def sample(name="s1"):
    return Sample(
        name, category="simple", messages=({"role": "user", "content": "hi"},), tools=TOOLS, expected=OSLO
    )


def record_of(*attempts, samples=("s1",), context=None, arms=ARMS, **run):
    plan = build_plan(
        {
            "run": {"tasks": ["t"], "max_tokens": BUDGET, "control": False, "confirm": 0, **run},
            "arms": [{"name": name, "base_url": "http://h/v1", "model": "m"} for name in arms],
        },
        source="test",
    )
    facts = {} if context is None else {"mtp": ServerFacts(context=context)}
    return Record(
        directory=Path(),
        plan=plan,
        digest="d",
        samples=tuple(map(sample, samples)),
        facts=facts,
        attempts={one.key: one for one in attempts},
    )


def asked(record, gave_up=frozenset()):
    return [(ask.arm, ask.stage.value, ask.max_tokens, ask.attempt) for ask in due(record, gave_up)]


def firsts(baseline=RIGHT, candidate=RIGHT, **candidate_keywords):
    return attempt(baseline), attempt(candidate, arm="mtp", **candidate_keywords)


def cut(arm="mtp", budget=BUDGET, stage=Stage.FIRST, **keywords):
    return attempt(OPEN, "length", tokens=budget, arm=arm, budget=budget, stage=stage, **keywords)


def test_every_arm_is_asked_in_the_same_order():
    """The order of the samples, in each arm; the control follows the baseline's first answers."""
    record = record_of(samples=("b", "a", "c"), control=True)
    orders = {arm: [ask.id for ask in due(record) if ask.arm == arm] for arm in ARMS}
    assert orders == {"baseline": ["b", "a", "c"] * 2, "mtp": ["b", "a", "c"]}
    stages = [ask.stage for ask in due(record) if ask.arm == "baseline"]
    assert stages == [Stage.FIRST] * 3 + [Stage.CONTROL] * 3


def test_answers_that_are_right_leave_nothing_due():
    """A run is complete when nothing was cut and nothing broke."""
    record = record_of(*firsts(), confirm=2)
    assert asked(record) == []
    assert is_complete(record)


@pytest.mark.parametrize(
    "one_cut",
    [
        pytest.param((attempt(), cut()), id="candidate"),
        pytest.param((cut("baseline"), attempt(arm="mtp")), id="baseline"),
        pytest.param((*firsts(), cut("baseline", stage=Stage.CONTROL)), id="control"),
        pytest.param(
            (attempt(), attempt(arm="mtp", error=ErrorType.SERVER_PARSE_FAILURE)), id="server parse failure"
        ),
    ],
)
def test_what_is_cut_in_one_is_asked_again_of_all(one_cut):
    """Asking only the arm that failed would book ordinary flips to the cap."""
    attempts = list(one_cut)
    if not any(one.stage is Stage.CONTROL for one in attempts):
        attempts.append(attempt(stage=Stage.CONTROL))
    assert asked(record_of(*attempts, control=True)) == [
        ("baseline", "doubled", 200, 1),
        ("mtp", "doubled", 200, 1),
        ("baseline", "control", 200, 1),
    ]


def test_no_larger_budget_before_every_first_answer_is_there():
    """The union of what was cut is known only then."""
    assert asked(record_of(cut())) == [("baseline", "first", 100, 1)]
    assert asked(record_of(cut()), {attempt().key}) == [
        ("baseline", "doubled", 200, 1),
        ("mtp", "doubled", 200, 1),
    ]


def test_no_doublings_means_none():
    """`doublings = 0` reports what was cut as it stands."""
    assert asked(record_of(attempt(), cut(), doublings=0)) == []


def test_two_doublings_ask_again_what_is_still_cut():
    """Four times the budget, for the samples that need it, in all arms."""
    attempts = [
        *(attempt(sample_id=name) for name in ("s1", "s2")),
        *(cut(sample_id=name) for name in ("s1", "s2")),
        *(attempt(sample_id=name, budget=200, stage=Stage.DOUBLED) for name in ("s1", "s2")),
        attempt(sample_id="s1", arm="mtp", budget=200, stage=Stage.DOUBLED),
        cut(sample_id="s2", budget=200, stage=Stage.DOUBLED),
    ]
    record = record_of(*attempts, samples=("s1", "s2"), doublings=2)
    assert [(ask.id, ask.arm, ask.max_tokens) for ask in due(record)] == [
        ("s2", "baseline", 400),
        ("s2", "mtp", 400),
    ]
    more = [
        attempt(sample_id="s2", budget=400, stage=Stage.DOUBLED),
        cut(sample_id="s2", budget=400, stage=Stage.DOUBLED),
    ]
    assert asked(record_of(*attempts, *more, samples=("s1", "s2"), doublings=2)) == []


@pytest.mark.parametrize(("context", "budget"), [(None, 200), (500, 200), (220, 200), (219, 199), (121, 101)])
def test_a_larger_budget_is_clamped_to_the_free_context(context, budget):
    """The smallest context of any arm, less the prompt (20 tokens here), for all arms alike."""
    assert {ask.max_tokens for ask in due(record_of(attempt(), cut(), context=context))} == {budget}


@pytest.mark.parametrize("context", [120, 100, 20, 10])
def test_a_clamp_that_gains_nothing_asks_nothing(context):
    """The sample is then limited by the context, and the run complete."""
    record = record_of(attempt(), cut(), context=context)
    assert asked(record) == []
    assert is_complete(record)


def test_a_clamp_counts_as_a_doubling():
    """One doubling stays one, whatever its budget came to, and resuming finds the same rung again."""
    rungs = [attempt(budget=150, stage=Stage.DOUBLED)]
    record = record_of(attempt(), cut(), *rungs)
    assert asked(record) == [("mtp", "doubled", 150, 1)]
    whole = record_of(attempt(), cut(), *rungs, cut(budget=150, stage=Stage.DOUBLED))
    assert asked(whole) == []


REFUSED = attempt(arm="mtp", budget=200, stage=Stage.DOUBLED, error=ErrorType.UNSUPPORTED_REQUEST)


def test_a_larger_budget_that_the_server_refused_is_settled():
    """HTTP 400 for it means no room: asking again, in this session or the next, would not end."""
    record = record_of(attempt(), cut(), attempt(budget=200, stage=Stage.DOUBLED), REFUSED)
    assert asked(record) == []
    assert is_complete(record)


def test_a_first_budget_that_the_server_refused_is_due_again():
    """A server may be started again with more room."""
    record = record_of(attempt(), attempt(arm="mtp", error=ErrorType.UNSUPPORTED_REQUEST))
    assert asked(record) == [("mtp", "first", 100, 1)]


@pytest.mark.parametrize("kind", [ErrorType.TIMEOUT, ErrorType.ENDPOINT_ERROR, ErrorType.BAD_RESPONSE])
def test_a_failed_attempt_is_due_again_but_does_not_keep_a_run_open(kind):
    """The next session asks it again; meanwhile it is void and counted, and the rest is judged."""
    failed = attempt(arm="mtp", error=kind)
    record = record_of(attempt(), failed)
    assert asked(record) == [("mtp", "first", 100, 1)]
    assert asked(record, {failed.key}) == []
    assert is_complete(record)
    assert not is_complete(record_of(attempt()))


def test_a_regression_that_is_not_the_caps_is_confirmed_in_both_arms():
    """At the judged budget, as often as `confirm` says."""
    assert asked(record_of(*firsts(candidate=WRONG), confirm=2)) == [
        ("baseline", "confirm", 100, 1),
        ("baseline", "confirm", 100, 2),
        ("mtp", "confirm", 100, 1),
        ("mtp", "confirm", 100, 2),
    ]


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [(RIGHT, RIGHT), (WRONG, RIGHT), (BROKEN, RIGHT), (WRONG, WRONG), (WRONG, BROKEN)],
)
def test_nothing_else_is_confirmed(baseline, candidate):
    """Fixes and samples that both get wrong are no findings to reproduce."""
    assert asked(record_of(*firsts(baseline, candidate), confirm=2)) == []


def test_a_regression_of_the_cap_is_not_confirmed():
    """The larger budget has answered already."""
    doubled = [attempt(budget=200, stage=Stage.DOUBLED, arm=arm) for arm in ARMS]
    assert asked(record_of(attempt(), cut(), *doubled, confirm=2)) == []


def test_a_regression_found_at_the_larger_budget_is_confirmed_there():
    """The judged budget is the one at which neither was cut."""
    doubled = [
        attempt(budget=200, stage=Stage.DOUBLED),
        attempt(WRONG, budget=200, stage=Stage.DOUBLED, arm="mtp"),
    ]
    record = record_of(attempt(), cut(), *doubled, confirm=1)
    assert asked(record) == [("baseline", "confirm", 200, 1), ("mtp", "confirm", 200, 1)]


def test_two_candidates_share_the_baselines_confirmations():
    """One question, asked once."""
    record = record_of(
        attempt(), attempt(WRONG, arm="mtp"), attempt(WRONG, arm="ngram"), arms=(*ARMS, "ngram"), confirm=1
    )
    assert asked(record) == [
        ("baseline", "confirm", 100, 1),
        ("mtp", "confirm", 100, 1),
        ("ngram", "confirm", 100, 1),
    ]


def test_what_is_due_does_not_depend_on_the_order_of_lines():
    """Arms answer side by side: lines come in any order."""
    attempts = [attempt(), cut(), attempt(budget=200, stage=Stage.DOUBLED)]
    forwards, backwards = record_of(*attempts), record_of(*reversed(attempts))
    assert asked(forwards) == asked(backwards) == [("mtp", "doubled", 200, 1)]
    assert asked(replace(forwards, damaged=("attempts/mtp.jsonl:1",))) == asked(forwards)
