"""While a run asks: order, concurrency, faults in the middle, and an arm that dies."""

import threading

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking.rounds import due, is_complete
from draftproof.evals.asking.runner import failures_to_give_up
from draftproof.evals.attempt import Stage
from draftproof.evals.judging.finding import Cause, Transition
from draftproof.evals.runs import journal as journal_module
from draftproof.evals.runs.record import read_run

from ...scripted import MODEL, ScriptedServer, delayed, error, hang, json_reply, not_json
from ..scripted_runs import (
    CAP,
    InFlight,
    ask,
    call_of,
    cut,
    journal,
    judged,
    keys,
    make_plan,
    number_of,
    right,
    write_suite,
    wrong,
)


def run(tmp_path, baseline, candidate, count=4, *, pages=None, **settings):
    """One session against two scripts; the told sentences and both servers."""
    suite = write_suite(tmp_path / "suite.jsonl", count)
    with ScriptedServer(baseline) as one, ScriptedServer(candidate, pages=pages) as other:
        told = ask(make_plan(suite, {"baseline": one, "mtp": other}, **settings), tmp_path / "run")
    return told, one, other


def test_all_arms_are_asked_the_same_in_the_same_order(tmp_path):
    """Prompt, parameters and seed of a question are one; so is the order, which `index` keeps."""
    _, one, other = run(tmp_path, right, right, 6, control=True)
    mine, theirs = ([request.body for request in server.requests] for server in (one, other))
    assert mine[:6] == theirs
    assert len(mine) == 12
    control = {body["messages"][-1]["content"]: body["seed"] for body in mine[6:]}
    assert all(control[body["messages"][-1]["content"]] != body["seed"] for body in mine[:6])
    for arm in ("baseline", "mtp"):
        rows = journal(tmp_path / "run", arm)
        assert [row["index"] for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize("concurrency", [1, 3])
def test_never_more_requests_at_once_than_concurrency(tmp_path, concurrency):
    """Per arm, and no fewer while there is work."""
    flying = InFlight()
    scripts = [flying.counted(name, right) for name in ("baseline", "mtp")]
    run(tmp_path, *scripts, 9, concurrency=concurrency)
    assert flying.most == {"baseline": concurrency, "mtp": concurrency}


def test_in_turn_one_arm_ends_before_the_next_begins(tmp_path):
    """On one GPU, arms side by side would slow each other."""
    order = []

    def script(name):
        return lambda request: order.append(name) or right(request)

    run(tmp_path, script("baseline"), script("mtp"), in_turn=True, concurrency=2)
    assert order == ["baseline"] * 4 + ["mtp"] * 4


def test_a_faulty_server_gives_the_findings_of_a_good_one(tmp_path):
    """Faults that pass leave retries in the journal and nothing in the findings."""

    def candidate(request):
        return wrong(request) if number_of(request) == 1 else right(request)

    def faulty(request):
        faults = (error(429, retry_after="0"), not_json(), error(503))
        return faults[request.number % 6 // 2] if request.number % 2 == 0 else candidate(request)

    for name, script in (("good", candidate), ("faulty", faulty)):
        (tmp_path / name).mkdir()
        run(tmp_path / name, right, script, control=True, confirm=2)
    good, bad = (judged(tmp_path / name / "run")[1] for name in ("good", "faulty"))
    assert good == bad
    assert {row["retries"] for row in journal(tmp_path / "faulty" / "run", "mtp")} == {1}


def test_a_cut_sample_is_asked_again_everywhere_and_the_cap_is_blamed(tmp_path):
    """At double the budget, in both arms and the control; nothing else is."""

    def candidate(request):
        is_cut = number_of(request) == 2 and request.body["max_tokens"] == CAP
        return cut(request) if is_cut else right(request)

    run(tmp_path, right, candidate, control=True, confirm=2)
    record = read_run(tmp_path / "run")
    doubled = {(one.arm, one.stage, one.id) for one in record.attempts.values() if one.max_tokens == 2 * CAP}
    assert doubled == {
        ("baseline", Stage.DOUBLED, "s/2"),
        ("baseline", Stage.CONTROL, "s/2"),
        ("mtp", Stage.DOUBLED, "s/2"),
    }
    (finding,) = (
        one
        for one in judged(tmp_path / "run")[0].comparisons[0].findings
        if one.transition is Transition.REGRESSION
    )
    assert (finding.id, finding.cause, finding.code) == ("s/2", Cause.CAP, "cap_cut")


def test_a_doubled_budget_that_is_refused_is_a_context_limit(tmp_path):
    """HTTP 400 for it: unresolved / context_limit, never void, and the run is complete."""

    def candidate(request):
        if number_of(request) != 1:
            return right(request)
        return cut(request) if request.body["max_tokens"] == CAP else error(400, "max_tokens is too large")

    told, _, other = run(tmp_path, right, candidate)
    summary, _ = judged(tmp_path / "run")
    finding = next(one for one in summary.comparisons[0].findings if one.id == "s/1")
    assert (finding.transition, finding.cause, finding.code) == (
        Transition.REGRESSION,
        Cause.UNRESOLVED,
        "context_limit",
    )
    assert (summary.is_complete, summary.comparisons[0].void, told) == (True, 0, [])
    sends = len(other.requests)
    assert sends == 5
    assert ask(summary.run.plan, tmp_path / "run") == [f"{tmp_path / 'run'} is complete: nothing to ask"]


def test_a_doubled_budget_is_clamped_to_what_the_server_allows(tmp_path):
    """`max_model_len` less the prompt, for every arm alike."""
    models = json_reply({"data": [{"id": MODEL, "owned_by": "vllm", "max_model_len": 20 + CAP + 30}]})
    pages = {"/v1/models": models, "/tokenize": error(404)}
    _, one, other = run(tmp_path, right, cut, 1, pages=pages)
    assert [request.body["max_tokens"] for request in one.requests] == [CAP, CAP + 30]
    assert [request.body["max_tokens"] for request in other.requests] == [CAP, CAP + 30]


def test_output_that_the_server_could_not_parse_is_the_models(tmp_path):
    """Asked again at the larger budget, as a cut can surface as one; if it stays it is malformed."""
    message = "The model produced output that does not match the expected peg-native format"
    _, _, other = run(tmp_path, right, lambda _request: error(500, message), 1, confirm=1)
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert (finding.transition, finding.cause, finding.code) == (
        Transition.REGRESSION,
        Cause.MALFORMED,
        "server_parse_failure",
    )
    assert finding.reproduced == (1, 1)
    assert [request.body["max_tokens"] for request in other.requests] == [CAP, 2 * CAP, 2 * CAP]


def test_an_arm_that_dies_is_given_up_and_the_others_finish(tmp_path):
    """After some asks in a row without an answer: said once, the rest is left for the next session."""
    limit = failures_to_give_up(1)
    dead = threading.Event()

    def candidate(request):
        if number_of(request) == 0 or dead.is_set():
            dead.set()
            return error(503, "out of memory")
        return right(request)

    told, one, _ = run(tmp_path, right, candidate, 40, retries=0)
    assert len(one.requests) == 40
    rows = journal(tmp_path / "run", "mtp")
    assert [row["status"] for row in rows[-limit:]] == ["failed"] * limit
    assert len(rows) < 40
    assert told[0] == (
        f"arm mtp: {limit} requests in a row brought no answer (the last: HTTP 503: out of memory); "
        "it is asked nothing more for now"
    )
    record = read_run(tmp_path / "run")
    assert not is_complete(record)
    left = 40 - len(rows) + limit
    assert told[1:] == [
        f"still without an answer: mtp {left}; `draftproof run --out {tmp_path / 'run'}` goes on"
    ]
    assert {request.arm for request in due(record)} == {"mtp"}


def test_an_arm_that_hangs_is_given_up_too(tmp_path):
    """Every worker's timeout is spent a few times, not once for each sample."""
    suite = write_suite(tmp_path / "suite.jsonl", 60)
    with ScriptedServer(lambda _request: hang()) as server:
        plan = make_plan(suite, {"baseline": server, "mtp": server}, timeout=0.1, retries=0, concurrency=4)
        told = ask(plan, tmp_path / "run", arms=["mtp"])
    assert "no whole answer within 0.1 s" in told[0]
    assert failures_to_give_up(4) <= len(journal(tmp_path / "run", "mtp")) < failures_to_give_up(4) + 4


def test_refused_larger_budgets_do_not_look_like_a_dead_arm(tmp_path):
    """A server without room for them answers: nothing is left unasked."""

    def candidate(request):
        return cut(request) if request.body["max_tokens"] == CAP else error(400, "too large")

    told, _, other = run(tmp_path, right, candidate, 12)
    assert (len(other.requests), told) == (24, [])


def test_failures_here_and_there_do_not_stop_an_arm(tmp_path):
    """An answer in between starts the count anew; the failed asks are void and the run complete."""

    def candidate(request):
        return error(500, "now and then") if request.number % 3 else right(request)

    told, _, other = run(tmp_path, right, candidate, 12, retries=0)
    assert len(other.requests) == 12
    record = read_run(tmp_path / "run")
    assert is_complete(record)
    assert len(due(record)) == 8
    assert told == [f"still without an answer: mtp 8; `draftproof run --out {tmp_path / 'run'}` goes on"]


def test_failed_attempts_are_asked_again_and_superseded(tmp_path):
    """The failed line stays in the journal; the answer takes its place, and only those are asked."""

    def broken(request):
        return error(500) if number_of(request) in {1, 3} else right(request)

    suite = write_suite(tmp_path / "suite.jsonl")
    with ScriptedServer(right) as one, ScriptedServer(broken) as other:
        plan = make_plan(suite, {"baseline": one, "mtp": other}, retries=0)
        ask(plan, tmp_path / "run")
        assert judged(tmp_path / "run")[0].comparisons[0].void_codes == {"endpoint_error": 2}
        other.reply = right
        ask(plan, tmp_path / "run")
        assert (len(one.requests), len(other.requests)) == (4, 6)
    rows = journal(tmp_path / "run", "mtp")
    assert [row["status"] for row in rows].count("failed") == 2
    assert [row["index"] for row in rows] == list(range(6))
    record = read_run(tmp_path / "run")
    assert all(attempt.succeeded for attempt in record.attempts.values())
    assert judged(tmp_path / "run")[0].comparisons[0].both_pass == 4


def test_arms_can_be_asked_one_at_a_time(tmp_path):
    """Two servers that do not fit one GPU: what needs the other's answers waits for the next call."""

    def candidate(request):
        if number_of(request) == 0:
            return cut(request) if request.body["max_tokens"] == CAP else right(request)
        return wrong(request) if number_of(request) == 1 else right(request)

    suite = write_suite(tmp_path / "suite.jsonl", 3)
    settings = {"control": True, "confirm": 1}
    with ScriptedServer(right) as one, ScriptedServer(candidate) as other:
        plan = make_plan(suite, {"baseline": one, "mtp": other}, **settings)
        apart, together = tmp_path / "apart", tmp_path / "together"
        told = ask(plan, apart, arms=["baseline"])
        assert (len(one.requests), len(other.requests), other.pages_read) == (6, 0, [])
        assert "still without an answer: mtp 3" in told[-1]
        for arm in ("mtp", "baseline", "mtp", "baseline"):
            ask(plan, apart, arms=[arm])
        ask(plan, together)
    for arm in ("baseline", "mtp"):
        assert sorted(keys(journal(apart, arm))) == sorted(keys(journal(together, arm)))
    assert judged(apart)[1] == judged(together)[1]
    with pytest.raises(UserError, match="no arm is named 'ngram'"):
        ask(plan, apart, arms=["ngram"])


def test_a_full_disk_ends_the_run_with_one_error(tmp_path, monkeypatch):
    """Exit code 4; what was written stands, and the next session goes on from it."""
    suite = write_suite(tmp_path / "suite.jsonl")
    write, room = journal_module._write_whole, iter(range(3))

    def full_after_three(file, line):
        if next(room, None) is None:
            raise OSError(28, "No space left on device")
        write(file, line)

    with ScriptedServer(right) as one, ScriptedServer(right) as other:
        plan = make_plan(suite, {"baseline": one, "mtp": other}, concurrency=3)
        with monkeypatch.context() as patch:
            patch.setattr(journal_module, "_write_whole", full_after_three)
            with pytest.raises(UserError, match=r"jsonl: cannot be written: No space left") as caught:
                ask(plan, tmp_path / "run")
        assert caught.value.exit_code == 4
        kept = sum(len(journal(tmp_path / "run", arm)) for arm in ("baseline", "mtp"))
        assert kept == 3
        sends = len(one.requests) + len(other.requests)
        ask(plan, tmp_path / "run")
        assert len(one.requests) + len(other.requests) == sends + 8 - kept
    assert judged(tmp_path / "run")[0].comparisons[0].both_pass == 4


def test_late_answers_do_not_change_findings(tmp_path):
    """Which of several workers is first does not matter."""

    def slow(request):
        return delayed(right(request), 0.03 if number_of(request) % 2 else 0.0)

    for name, script in (("even", right), ("uneven", slow)):
        (tmp_path / name).mkdir()
        run(tmp_path / name, right, script, 6, concurrency=3)
    assert judged(tmp_path / "even" / "run")[1] == judged(tmp_path / "uneven" / "run")[1]
    assert call_of("City0") in {row["content"] for row in journal(tmp_path / "uneven" / "run", "mtp")}
