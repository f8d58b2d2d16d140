"""Sessions of one run: interrupted, killed, resumed, refused; nothing is lost and nothing asked twice."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from draftproof.errors import UserError
from draftproof.evals.asking.rounds import is_complete
from draftproof.evals.runs.record import read_run
from draftproof.reports.progress import SilentProgress

from ...scripted import ScriptedServer, answer, delayed, error, hang
from ..scripted_runs import (
    CAP,
    TOOL,
    ask,
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

KEY = "sk-very-secret-0123456789"
SETTINGS = {"control": True, "confirm": 2, "doublings": 2, "concurrency": 2}


def eventful(request):
    """One sample is cut twice, one is wrong, one is cut and then wrong, the rest is right."""
    budget = request.body["max_tokens"]
    match number_of(request):
        case 0 if budget < 4 * CAP:
            return cut(request)
        case 1:
            return wrong(request)
        case 2:
            return cut(request) if budget == CAP else wrong(request)
        case _:
            return right(request)


@pytest.fixture
def arms():
    with ScriptedServer(right) as baseline, ScriptedServer(eventful) as mtp:
        yield {"baseline": baseline, "mtp": mtp}


def undisturbed(tmp_path, arms):
    """The plan, and the findings and keys of a run of it that nothing disturbed."""
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 5), arms, **SETTINGS)
    ask(plan, tmp_path / "whole")
    for server in arms.values():
        server.requests.clear()
    return plan, judged(tmp_path / "whole")[1], {arm: keys(journal(tmp_path / "whole", arm)) for arm in arms}


def test_a_complete_run_asks_nothing_and_says_so(tmp_path, arms):
    """Not even the servers' own pages are read."""
    plan, findings, _ = undisturbed(tmp_path, arms)
    assert '"cause":"cap"' in findings
    assert '"reproduced":"2/2"' in findings
    for server in arms.values():
        server.pages_read.clear()
    assert ask(plan, tmp_path / "whole") == [f"{tmp_path / 'whole'} is complete: nothing to ask"]
    assert [(server.requests, server.pages_read) for server in arms.values()] == [([], [])] * 2


def test_a_journal_that_ends_anywhere_is_gone_on_with(tmp_path, arms):
    """Killed at any byte: whole lines stay, a torn one is asked again, the findings are the same."""
    plan, findings, whole = undisturbed(tmp_path, arms)
    source = random.Random(7)
    for number in range(4):
        directory = tmp_path / f"killed{number}"
        (directory / "attempts").mkdir(parents=True)
        for name in ("run.json", "samples.jsonl"):
            (directory / name).write_bytes((tmp_path / "whole" / name).read_bytes())
        kept = {}
        for arm in arms:
            text = (tmp_path / "whole" / "attempts" / f"{arm}.jsonl").read_bytes()
            text = text[: source.randrange(len(text))]
            (directory / "attempts" / f"{arm}.jsonl").write_bytes(text)
            kept[arm] = text.count(b"\n")
            arms[arm].requests.clear()
        ask(plan, directory)
        assert judged(directory)[1] == findings
        record = read_run(directory)
        assert is_complete(record)
        assert len(record.attempts) == sum(map(len, whole.values()))
        for arm in arms:
            assert len(arms[arm].requests) == len(whole[arm]) - kept[arm]


def test_a_corrupted_line_in_the_middle_is_asked_again(tmp_path, arms):
    """It is counted in the summary, and its sample has an answer all the same."""
    plan, findings, _ = undisturbed(tmp_path, arms)
    path = tmp_path / "whole" / "attempts" / "mtp.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:40] + b"\x00\xff" + lines[2][42:]
    path.write_bytes(b"".join(lines))
    ask(plan, tmp_path / "whole")
    assert len(arms["mtp"].requests) == 1
    summary, after = judged(tmp_path / "whole")
    assert after == findings
    assert summary.judged.damaged == ["attempts/mtp.jsonl:3"]


def write_toml(path, suite, arms):
    servers = "".join(
        f'[[arms]]\nname = "{name}"\nbase_url = "{server.base_url}"\nmodel = "m"\napi_key_env = "MY_KEY"\n'
        for name, server in arms.items()
    )
    run = {"tasks": [str(suite)], "max_tokens": CAP, "timeout": 5.0, "retries": 1, **SETTINGS}
    keys_and_values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in run.items())
    path.write_text(f"[run]\n{keys_and_values}{servers}")
    return path


def started(config, directory):
    command = [sys.executable, "-m", "draftproof", "run", str(config), "--out", str(directory), "--quiet"]
    return subprocess.Popen(
        command, env={**os.environ, "MY_KEY": KEY}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def lines_written(directory):
    return sum(path.read_bytes().count(b"\n") for path in directory.glob("attempts/*.jsonl"))


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_killed_process_loses_nothing_and_its_key_is_nowhere(tmp_path, arms, monkeypatch):
    """Kill -9 while requests are in flight; the next session asks what is missing; the key is on no disk."""
    monkeypatch.setenv("MY_KEY", KEY)
    _, findings, whole = undisturbed(tmp_path, arms)
    for name, script in (("baseline", right), ("mtp", eventful)):
        arms[name].reply = lambda request, script=script: delayed(script(request), 0.02)
    config = write_toml(tmp_path / "plan.toml", tmp_path / "suite.jsonl", arms)
    directory = tmp_path / "run"
    process = started(config, directory)
    wait_for(lambda: lines_written(directory) >= 7)
    process.kill()
    output = "".join(process.communicate())
    # A request that the kill tore in two is no mistake of the script.
    for server in arms.values():
        torn = [problem for problem in server.script_errors if isinstance(problem, json.JSONDecodeError)]
        server.script_errors[:] = [problem for problem in server.script_errors if problem not in torn]
    before = lines_written(directory)
    assert before < sum(map(len, whole.values()))
    sends = sum(len(server.requests) for server in arms.values())
    assert sends - before <= 2 * SETTINGS["concurrency"] + 1

    process = started(config, directory)
    output += "".join(process.communicate(timeout=60))
    assert process.returncode == 0, output
    assert judged(directory)[1] == findings
    for arm in arms:
        assert sorted(keys(journal(directory, arm))) == sorted(whole[arm])
    assert arms["mtp"].requests[0].headers["authorization"] == f"Bearer {KEY}"
    for path in directory.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
    assert KEY not in output


def test_one_interrupt_waits_for_what_is_in_flight(tmp_path, arms):
    """Ctrl-C: nothing new is sent, the answers in flight are kept, and resuming completes the run."""
    plan, findings, whole = undisturbed(tmp_path, arms)

    def interrupted(request):
        if request.number == 1:
            os.kill(os.getpid(), signal.SIGINT)
            return delayed(eventful(request), 0.2)
        return eventful(request)

    arms["mtp"].reply = interrupted
    with pytest.raises(UserError, match="interrupted; every answer that came is kept") as caught:
        ask(plan, tmp_path / "run")
    assert caught.value.exit_code == 130
    rows = journal(tmp_path / "run", "mtp")
    assert len(rows) == len(arms["mtp"].requests) < len(whole["mtp"])
    arms["mtp"].reply = eventful
    ask(plan, tmp_path / "run")
    assert judged(tmp_path / "run")[1] == findings
    assert sorted(keys(journal(tmp_path / "run", "mtp"))) == sorted(whole["mtp"])


def test_two_interrupts_leave_what_is_in_flight(tmp_path, arms):
    """A server that hangs cannot hold the user; what came before is kept."""
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 5), arms, timeout=60.0)
    told_first = threading.Event()

    def hanging(request):
        if request.number == 2:
            os.kill(os.getpid(), signal.SIGINT)
            told_first.wait(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            return hang()
        return eventful(request)

    arms["mtp"].reply = hanging
    start = time.monotonic()
    with pytest.raises(UserError, match="interrupted") as caught:
        ask(plan, tmp_path / "run")
    assert (caught.value.exit_code, time.monotonic() - start < 10) == (130, True)
    assert len(journal(tmp_path / "run", "mtp")) == 2


def test_an_interrupt_does_not_wait_for_a_server_that_asked_for_patience(tmp_path, arms):
    """A repeat is a new request: Ctrl-C ends the wait for it."""

    def busy(_request):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return error(429, retry_after="50")

    arms["mtp"].reply = busy
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 1), arms)
    start = time.monotonic()
    with pytest.raises(UserError, match="interrupted"):
        ask(plan, tmp_path / "run")
    assert time.monotonic() - start < 10


def test_two_processes_do_not_write_one_run(tmp_path, arms):
    """The second is refused at once, and changes nothing, run.json included."""
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 1), arms)
    directory = tmp_path / "run"
    refused = []

    def second(request):
        before = (directory / "run.json").read_bytes()
        other = make_plan(tmp_path / "suite.jsonl", arms, concurrency=99)
        try:
            ask(other, directory)
        except UserError as problem:
            refused.append((problem.what, (directory / "run.json").read_bytes() == before))
        return right(request)

    arms["mtp"].reply = second
    ask(plan, directory)
    assert refused == [(f"{directory}: another draftproof is writing this run", True)]


def test_a_resume_with_another_plan_asks_nothing(tmp_path, arms):
    """The differing key is named before any server is spoken to."""
    suite = write_suite(tmp_path / "suite.jsonl", 2)
    ask(make_plan(suite, arms), tmp_path / "run")
    sends = len(arms["mtp"].requests)
    with pytest.raises(UserError, match=r"another run\.seed \(1 there, 2 here\)"):
        ask(make_plan(suite, arms, seed=2), tmp_path / "run")
    assert len(arms["mtp"].requests) == sends


def test_a_dead_server_refuses_the_run_before_anything_is_asked(tmp_path, arms):
    """Exit code 4, the arm named; the living arm is not asked for half a comparison."""
    plan = make_plan(
        write_suite(tmp_path / "suite.jsonl", 2),
        {"baseline": arms["baseline"], "mtp": "http://127.0.0.1:9/v1"},
    )
    with pytest.raises(UserError, match="arm mtp: no answer from") as caught:
        ask(plan, tmp_path / "run")
    assert caught.value.exit_code == 4
    assert arms["baseline"].requests == []


def test_a_foreign_directory_is_left_alone(tmp_path, arms):
    """A mistyped --out writes nothing there."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "samples.jsonl").write_text("mine\n")
    with pytest.raises(UserError, match="is not empty and not a run"):
        ask(make_plan(write_suite(tmp_path / "suite.jsonl", 1), arms), tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["samples.jsonl"]


def test_a_sample_that_cannot_be_asked_is_found_before_anything_is_paid(tmp_path, arms):
    """Not in the middle of a run, with answers in flight."""
    call = {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{bad"}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    suite = write_suite(tmp_path / "suite.jsonl", 1, messages=messages)
    with pytest.raises(UserError, match="sample s/0: messages: the arguments of an earlier call"):
        ask(make_plan(suite, arms), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert arms["mtp"].requests == []


def test_answers_of_any_characters_survive_the_run(tmp_path, arms):
    """Lone surrogates and NUL in content, tool calls and errors: written, read back, judged, reported."""
    odd = "\ud800\x00\u2028" + "x"
    calls = [{"function": {"name": odd, "arguments": odd}}]
    arms["mtp"].reply = lambda request: (
        answer(odd, tool_calls=calls) if number_of(request) else error(400, odd)
    )
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 3), arms, retries=0)
    ask(plan, tmp_path / "run")
    rows = journal(tmp_path / "run", "mtp")
    assert Counter(row["content"] for row in rows) == {odd: 2, None: 1}
    assert read_run(tmp_path / "run").damaged == ()
    summary, findings = judged(tmp_path / "run")
    assert [json.loads(line)["transition"] for line in findings.splitlines()].count("regression") == 2
    assert summary.comparisons[0].void == 1
    assert rows[0]["request"]["messages"][0]["content"].count(TOOL["function"]["name"])


class Counting(SilentProgress):
    """Counts what it is told."""

    def __init__(self):
        self.asked, self.done = [], 0

    def round_started(self, asks):
        self.asked.append(len(asks))

    def attempt_done(self, _attempt):
        self.done += 1


def test_progress_hears_of_every_round_and_attempt(tmp_path, arms):
    """First with control, two larger budgets, then the confirmations."""
    progress = Counting()
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", 5), arms, **SETTINGS)
    ask(plan, tmp_path / "run", progress=progress)
    assert progress.asked == [15, 6, 3, 8]
    assert progress.done == sum(progress.asked)
