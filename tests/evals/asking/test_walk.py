"""A walk that goes on where it stopped comes, after every answer, to where a new one comes."""

from dataclasses import replace
from unittest import mock

from draftproof.evals.asking import early
from draftproof.evals.asking.early import Walk, read_course
from draftproof.evals.asking.growing import GrowingRecord
from draftproof.evals.asking.rounds import due, is_complete
from draftproof.evals.attempt import Ask, ErrorType, Stage
from draftproof.evals.plan import GateSection
from draftproof.evals.runs.record import Record
from draftproof.evals.servers.server import ServerFacts
from hypothesis import given, settings
from hypothesis import strategies as st

from ..build import BUDGET, OPEN, RIGHT, WRONG, attempt, record, sample

CANDIDATES = ("ngram", "mtp")
SAMPLES = [sample(f"s{number}") for number in range(9)]


def begun(**run):
    """A run of few samples that asks three at a time, and needs little to call a candidate."""
    made = record(SAMPLES, [], candidates=CANDIDATES, until_decided=True, **run)
    plan = made.plan.model_copy(update={"gate": GateSection(alpha=0.4)})
    return GrowingRecord(
        directory=made.directory, plan=plan, digest="d", samples=made.samples, facts={}, attempts={}
    )


def read_again(grown):
    """The same record as a journal gives it, in another order of lines."""
    return Record(
        directory=grown.directory,
        plan=grown.plan,
        digest="d",
        samples=grown.samples,
        facts=grown.facts,
        attempts=dict(reversed(grown.attempts.items())),
    )


def answered(draw, ask):
    """What may come of one ask: right, wrong, cut, no answer, or no room for a larger budget."""
    kinds = ["right", "right", "wrong", "cut", "lost", "refused"]
    kind = draw(st.sampled_from(kinds if ask.arm != "ngram" else ["wrong", *kinds]))
    errors = {"lost": ErrorType.TIMEOUT, "refused": ErrorType.UNSUPPORTED_REQUEST}
    return replace(
        attempt(
            {"wrong": WRONG, "cut": OPEN}.get(kind, RIGHT),
            "length" if kind == "cut" else "stop",
            tokens=ask.max_tokens if kind == "cut" else 50,
            prompt_tokens=draw(st.sampled_from([20, 60])),
            budget=ask.max_tokens,
            stage=ask.stage,
            number=ask.attempt,
            arm=ask.arm,
            sample_id=ask.id,
            error=errors.get(kind),
        ),
        stream=ask.stream,
    )


def any_ask(draw, grown):
    """One that nobody is waiting for: asked before, or long before its turn."""
    stage = draw(st.sampled_from(Stage))
    budgets = {Stage.FIRST: [BUDGET], Stage.DOUBLED: [2 * BUDGET, 4 * BUDGET]}
    return Ask(
        draw(st.sampled_from([one.id for one in SAMPLES])),
        draw(st.sampled_from(["baseline", *CANDIDATES])),
        grown.plan.run.mode,
        draw(st.booleans()),
        stage,
        draw(st.sampled_from(budgets.get(stage, [BUDGET, 2 * BUDGET]))),
    )


@given(st.data(), st.sampled_from([{}, {"doublings": 2, "control": False}, {"stream": "both", "confirm": 0}]))
@settings(max_examples=25, deadline=None)
def test_a_walk_goes_on_as_if_it_began_anew(data, run):
    """Answers in any order, failures that a later session mends, larger budgets, confirmations.

    Facts of a server change between sessions alone.
    """
    draw, grown, gave_up = data.draw, begun(**run), set()
    walk = Walk(grown)
    with mock.patch.object(early, "BATCH", 3):
        for _ in range(15):
            asks = due(grown, gave_up, walk=walk)
            fresh = read_again(grown)
            assert walk.course() == read_course(fresh)
            assert asks == due(fresh, gave_up)
            # What is looked at alone is all that may be missing.
            with mock.patch.object(Walk, "open_places", Walk.places):
                assert asks == due(fresh, gave_up)
            failed = {key for key, one in fresh.attempts.items() if not one.succeeded}
            assert is_complete(fresh) is (due(fresh, failed) == [])
            match draw(st.sampled_from(["answers"] * 8 + ["other answer", "session", "facts"])):
                case "session":
                    walk, gave_up = Walk(grown), set()
                case "facts":
                    context = draw(st.sampled_from([None, 110]))
                    grown = replace(grown, facts={"ngram": ServerFacts(context=context)})
                    # Servers are met before anything is asked, and by no session twice.
                    walk, gave_up = Walk(grown), set()
                case what:
                    others = [any_ask(draw, grown)] if what == "other answer" or not asks else []
                    for ask in others or draw(st.permutations(asks))[: draw(st.integers(1, 30))]:
                        came = answered(draw, ask)
                        grown.keep(came)
                        walk.saw(came)
                        if not came.succeeded:
                            gave_up.add(came.key)


def test_what_is_settled_is_looked_at_once():
    """However often somebody asks what is due: a session grows with its samples, not their square."""
    grown = begun(confirm=0)
    walk = Walk(grown)
    with (
        mock.patch.object(early, "BATCH", 3),
        mock.patch.object(early, "grade_sample", side_effect=early.grade_sample) as graded,
        mock.patch.object(early, "is_settled", side_effect=early.is_settled) as looked_at,
    ):
        rounds = 0
        while asks := due(grown, walk=walk):
            rounds += 1
            for ask in asks:
                came = attempt(sample_id=ask.id, arm=ask.arm, stage=ask.stage)
                grown.keep(came)
                walk.saw(came)
    assert rounds == len(SAMPLES) / 3
    assert graded.call_count == len(SAMPLES)
    assert looked_at.call_count <= len(SAMPLES) + rounds
