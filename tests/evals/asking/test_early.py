"""Stopping early: where it stops follows from the answers in one random order, and from nothing else."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking.early import BATCH, random_order, read_course, requests_made, requests_saved
from draftproof.evals.asking.rounds import due, is_complete
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.decision.gate import Decision
from draftproof.evals.decision.sequential import evidence_of_regression
from draftproof.evals.plan import GateSection
from draftproof.evals.summing_up.history import accepted_of, judge_against
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.markdown import render_markdown

from ...scripted import ScriptedServer
from .. import scripted_runs as asking
from ..build import BUDGET, OPEN, RIGHT, WRONG, attempt, record, sample


def empty(count=160, candidates=("ngram",), expected=None, **run):
    samples = [sample(f"s{number:03}") for number in range(count)]
    if expected is not None:
        samples = [sample(one.id, expected=None) for one in samples]
    return record(samples, [], candidates=candidates, until_decided=True, confirm=0, **run)


def ask_all(made, script, *, at_once=None, limit=None):
    """Answer what is due, as a session does: `at_once` asks between two looks, or whole rounds."""
    source = random.Random(1)
    while asks := due(made):
        for ask in asks if at_once is None else source.sample(asks, min(at_once, len(asks))):
            answered = script(ask)
            made = replace(made, attempts={**made.attempts, answered.key: answered})
        if limit is not None and len(made.attempts) >= limit:
            break
    return made


def answer(ask, content=RIGHT, finish_reason="stop", **changes):
    return attempt(
        content,
        finish_reason,
        arm=ask.arm,
        stage=ask.stage,
        sample_id=ask.id,
        budget=ask.max_tokens,
        number=ask.attempt,
        **changes,
    )


def always_wrong(ask):
    return answer(ask, WRONG if ask.arm == "ngram" else RIGHT)


def always_right(ask):
    return answer(ask)


def test_the_order_is_random_and_the_seeds():
    """The same for every session of a run; another seed gives another."""
    made = empty()
    order = random_order(made)
    assert sorted(order) == [one.id for one in made.samples] != order
    assert order == random_order(made)
    assert order != random_order(empty(seed=2))


def test_a_harmless_candidate_is_asked_everything():
    """Nothing is saved, and the pass is that of a run of fixed size."""
    made = ask_all(empty(), always_right)
    summary = summarise(made)
    assert is_complete(made)
    assert requests_saved(made, requests_made(made)) == summary.requests_saved == 0
    assert summary.comparisons[0].samples == 160
    assert summary.decision is summarise(made, gate=GateSection(margin=0.03)).decision is Decision.PASS


def test_a_candidate_that_is_always_wrong_is_asked_one_batch():
    """Few answers suffice; the rest of the run is not asked, and the report says how much that saves."""
    made = ask_all(empty(), always_wrong)
    summary = summarise(made)
    assert summary.decision is Decision.REGRESSION
    assert "called early" in summary.rulings[0].reasons[0]
    assert len(made.attempts) == BATCH * 3
    assert summary.requests_saved == (160 - BATCH) * 3
    assert summary.to_json()["requests_saved"] == 330
    assert "330 first and control requests were not made" in render_markdown(summary)
    # The batch was in flight already: what came after the call is no part of the figures.
    called_at = summary.comparisons[0].samples
    assert evidence_of_regression(called_at, 0, called_at, 0.03) >= 20
    assert evidence_of_regression(called_at - 1, 0, called_at - 1, 0.03) < 20
    assert called_at < BATCH


@pytest.mark.parametrize("at_once", [7, 40])
def test_where_it_stops_does_not_depend_on_the_pace(at_once):
    """Killed and resumed after any answer, the figures are those of a run in one go."""
    script = lambda ask: answer(ask, WRONG if ask.arm == "ngram" and int(ask.id[1:]) % 7 == 0 else RIGHT)  # noqa: E731
    whole, pieces = ask_all(empty(), script), ask_all(empty(), script, at_once=at_once)
    assert is_complete(whole)
    assert is_complete(pieces)
    assert summarise(whole).comparisons == summarise(pieces).comparisons
    assert summarise(whole).rulings == summarise(pieces).rulings


def test_an_interrupted_run_goes_on_with_what_is_missing():
    """Settled samples are not asked again."""
    some = ask_all(empty(), always_right, at_once=20, limit=100)
    assert not is_complete(some)
    assert summarise(some).decision is Decision.VOID
    whole = ask_all(some, always_right)
    assert len(whole.attempts) == 160 * 3


def test_only_the_candidate_that_is_called_is_dropped():
    """The other one is asked to the end, and the baseline with it; two candidates share alpha."""
    made = ask_all(empty(candidates=("ngram", "mtp")), always_wrong)
    asked = {arm: sum(one.arm == arm for one in made.attempts.values()) for arm in ("ngram", "mtp")}
    assert asked == {"ngram": BATCH, "mtp": 160}
    ngram, mtp = read_course(made).looks["ngram"], read_course(made).looks["mtp"]
    assert ngram.needed == mtp.needed == 40
    assert (ngram.is_called, mtp.is_called) == (True, False)
    assert [ruling.decision for ruling in summarise(made).rulings] == [Decision.REGRESSION, Decision.PASS]


def test_a_cut_sample_counts_when_its_larger_budget_has_answered():
    """The cap's regressions are none for the bet either."""

    def cut_first(ask):
        is_cut = ask.arm == "ngram" and ask.max_tokens == BUDGET
        return answer(
            ask, *((OPEN, "length") if is_cut else (RIGHT, "stop")), tokens=BUDGET if is_cut else 50
        )

    made = ask_all(empty(60), cut_first)
    assert is_complete(made)
    assert summarise(made).comparisons[0].regressions.cap == 60
    assert read_course(made).looks["ngram"].peak == 1
    assert sum(one.stage is Stage.DOUBLED for one in made.attempts.values()) == 120


def test_other_ways_of_asking_are_asked_of_the_same_samples():
    """Streamed and not: what stands beside an answer is asked where the answer was, and saves nothing."""
    script = lambda ask: replace(always_wrong(ask), stream=ask.stream)  # noqa: E731
    made = ask_all(empty(stream="both"), script)
    asked = {arm: sum(one.arm == arm for one in made.attempts.values()) for arm in ("baseline", "ngram")}
    # The rest of the batch was in flight when the call came; it is not asked once more.
    called_at = read_course(made).looks["ngram"].asked
    assert asked == {"baseline": 2 * BATCH + called_at, "ngram": BATCH + called_at}
    assert requests_saved(made, requests_made(made)) == (160 - BATCH) * 3
    assert is_complete(made)


def test_unlabelled_samples_say_nothing_on_the_way():
    """Their fixes may be impossible; they are judged at the end."""
    made = ask_all(empty(60, expected="none"), always_wrong)
    assert requests_saved(made, requests_made(made)) == 0
    assert read_course(made).looks["ngram"].pairs == 0


def test_a_failed_request_is_asked_again_and_holds_nothing_up():
    """It is void until the next session; the walk goes on past it."""
    made = ask_all(empty(60), always_right)
    lost = replace(
        next(one for one in made.attempts.values() if one.arm == "ngram"),
        status="failed",
        error=attempt(error=ErrorType.TIMEOUT).error,
    )
    made = replace(made, attempts={**made.attempts, lost.key: lost})
    assert [ask.id for ask in due(made)] == [lost.id]
    assert is_complete(made)
    assert read_course(made).looks["ngram"].asked == 60


def test_another_gate_cannot_turn_a_stopped_run_into_a_pass_or_a_test():
    """It was stopped for what it showed: under a far wider margin nothing more is known."""
    script = lambda ask: answer(ask, WRONG if ask.arm == "ngram" and int(ask.id[1:]) % 2 else RIGHT)  # noqa: E731
    made = ask_all(empty(), script)
    assert summarise(made).decision is Decision.REGRESSION
    summary = summarise(made, gate=GateSection(margin=0.9))
    assert summary.decision is Decision.INCONCLUSIVE
    assert "stopped early under another [gate]" in summary.rulings[0].reasons[0]


def test_a_stopped_run_has_no_other_baseline():
    """What was asked depends on the one that it had."""
    with pytest.raises(UserError, match="ngram cannot be the baseline"):
        summarise(ask_all(empty(), always_wrong), baseline="ngram")


def test_a_session_stops_asking_and_says_that_the_run_is_complete(tmp_path):
    """Against scripted servers; resuming it asks nothing, and another margin is refused."""
    suite = asking.write_suite(tmp_path / "suite.jsonl", 3 * BATCH)
    with ScriptedServer(asking.right) as baseline, ScriptedServer(asking.wrong) as candidate:
        servers = {"baseline": baseline, "mtp": candidate}
        plan = asking.make_plan(
            suite, servers, until_decided=True, control=True, margins=False, concurrency=8
        )
        assert asking.ask(plan, tmp_path / "run") == []
        assert (len(baseline.requests), len(candidate.requests)) == (2 * BATCH, BATCH)
        assert asking.ask(plan, tmp_path / "run") == [f"{tmp_path / 'run'} is complete: nothing to ask"]
        summary, _ = asking.judged(tmp_path / "run")
        assert (summary.decision, summary.requests_saved) == (Decision.REGRESSION, 6 * BATCH)
        wider = plan.model_copy(update={"gate": GateSection(margin=0.1)})
        with pytest.raises(UserError, match=r"another gate\.margin"):
            asking.ask(wider, tmp_path / "run")
        with pytest.raises(UserError, match=r"another run\.until_decided"):
            asking.ask(asking.make_plan(suite, servers, control=True, margins=False), tmp_path / "run")


def test_a_run_that_may_stop_early_is_compared_with_no_accepted_one():
    """It stops at what it shows, known or new."""
    summary = summarise(ask_all(empty(60), always_right))
    with pytest.raises(UserError, match="stops at what it shows, known or new"):
        judge_against(summary, accepted_of(summary, Path("runs/accepted")))
