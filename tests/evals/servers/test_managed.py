"""Servers that the tool starts itself: one at a time, ready before they are asked, gone afterwards."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from draftproof.errors import UserError
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.record import read_run

from ..scripted_runs import ask, journal, judged, raw_plan, write_suite

# A whole server in one file: answers, says whether it speculates, and starts a child in a session of its own.
SERVER = """
import json, os, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
port, pids, city = int(sys.argv[1]), sys.argv[2], os.environ["CITY"]
if os.environ.get("ENDS"):
    print("no such model"); sys.exit(7)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
with open(pids, "a") as file:
    file.write(f"{os.getpid()} {child.pid}\\n")
time.sleep(float(os.environ.get("LOADS", "0")))
made = 0
class Handler(BaseHTTPRequestHandler):
    def _send(self, value):
        body = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        page = f"sglang:generation_tokens_total {made}\\n"
        self._send(page if self.path == "/metrics" else {"data": [{"id": "scripted"}]})
    def do_POST(self):
        global made
        made += 9
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        city_asked = asked["messages"][-1]["content"].removeprefix("Weather in ").rstrip("?")
        call = {"name": "get_weather", "arguments": {"city": city_asked if city == "right" else city}}
        text = "<tool_call>\\n" + json.dumps(call) + "\\n</tool_call>"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._send({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 9}})
    def log_message(self, *args): pass
print("serving", flush=True)
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def served(tmp_path):
    """A plan whose two arms are started on the same port, as two servers that do not fit side by side."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    command = f"{sys.executable} {script} {port} {tmp_path / 'pids'}"

    def make(count=2, environments=({"CITY": "right"}, {"CITY": "Elsewhere"}), **run):
        raw = raw_plan(write_suite(tmp_path / "s.jsonl", count), {"baseline": url, "mtp": url}, **run)
        for arm, environment in zip(raw["arms"], environments, strict=True):
            arm |= {"serve": command, "env": environment, "start_timeout": 20.0}
        return build_plan(raw, source="test")

    return make, tmp_path / "pids"


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def all_gone(pids, seconds=20.0):
    numbers = [int(word) for word in pids.read_text().split()] if pids.exists() else []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(map(is_alive, numbers)):
            return numbers
        time.sleep(0.05)
    raise AssertionError(f"still there: {[pid for pid in numbers if is_alive(pid)]}")


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
def test_each_arm_has_its_own_server_and_none_is_left(served, tmp_path):
    """Baseline, candidate, baseline again for the control; workers in sessions of their own end as well."""
    make, pids = served
    told = ask(make(control=True), tmp_path / "run")
    summary, _ = judged(tmp_path / "run")
    assert (summary.arms[0].passed, summary.arms[1].passed) == (2, 0)
    assert summary.comparisons[0].control.churn == 0
    assert len(all_gone(pids)) == 6
    starts = [sentence.split(":")[0] for sentence in told if "starting its server" in sentence]
    assert starts == ["arm baseline", "arm mtp", "arm baseline"]
    assert (tmp_path / "run" / "servers" / "mtp.log").read_text() == "serving\n"
    assert [row["stage"] for row in journal(tmp_path / "run", "baseline")] == ["first"] * 2 + ["control"] * 2


@linux
def test_first_answers_can_be_spread_over_several_starts(served, tmp_path):
    """Each arm's server is started for each part, and its totals, fallen to nothing, show that it was."""
    make, pids = served
    told = ask(make(count=7, server_starts=3, margins=False, concurrency=1), tmp_path / "run")
    starts = [sentence.split(":")[0] for sentence in told if "starting its server" in sentence]
    assert starts == ["arm baseline", "arm mtp"] * 3
    assert len(all_gone(pids)) == 12
    # Both arms have the same samples after each start.
    thirds = [[row["id"] for row in journal(tmp_path / "run", arm)] for arm in ("baseline", "mtp")]
    assert thirds[0] == thirds[1]
    starts, mtp = read_run(tmp_path / "run").starts, judged(tmp_path / "run")[0].speeds[1]
    assert {arm: len(times) for arm, times in starts.items()} == {"baseline": 2, "mtp": 2}
    assert (mtp.n, len(mtp.by_start)) == (4, 3)
    assert mtp.tokens_per_second == sorted(mtp.by_start)[1]


def test_starts_need_servers_of_our_own(served):
    """A server that somebody else runs cannot be started again."""
    make, _ = served
    raw = make().model_dump(mode="json")
    raw["run"]["server_starts"] = 2
    for arm in raw["arms"]:
        del arm["serve"], arm["env"], arm["ready_url"]
    with pytest.raises(UserError, match=r"run\.server_starts: .* expected serve in every arm"):
        build_plan(raw, source="plan.toml")


@linux
def test_a_server_that_ends_shows_its_last_words(served, tmp_path):
    """Nothing was asked, and the command is named."""
    make, _ = served
    with pytest.raises(UserError) as caught:
        ask(make(environments=({"CITY": "right", "ENDS": "1"}, {"CITY": "x"})), tmp_path / "run")
    assert caught.value.exit_code == 4
    assert "its server ended with code 7 before it was ready" in str(caught.value)
    assert "no such model" in str(caught.value)


@linux
def test_a_server_that_is_not_ready_in_time_is_ended(served, tmp_path):
    """`start_timeout` is in seconds."""
    make, pids = served
    plan = make(environments=({"CITY": "right", "LOADS": "60"}, {"CITY": "x"}))
    arms = tuple(arm.model_copy(update={"start_timeout": 1.0}) for arm in plan.arms)
    with pytest.raises(UserError, match=r"was not ready within start_timeout 1 s"):
        ask(plan.model_copy(update={"arms": arms}), tmp_path / "run")
    all_gone(pids)


@linux
def test_a_stranger_at_the_address_is_not_asked(served, tmp_path):
    """Or a forgotten server would be judged in place of the one to be started."""
    make, _ = served
    plan = make()
    port = int(plan.arms[0].base_url.rpartition(":")[2].removesuffix("/v1"))
    stranger = subprocess.Popen(
        [sys.executable, str(tmp_path / "server.py"), str(port), str(tmp_path / "other")],
        env={**os.environ, "CITY": "right"},
        stdout=subprocess.PIPE,
    )
    try:
        stranger.stdout.readline()
        with pytest.raises(UserError, match=r"something answers at .* before its server is started"):
            ask(plan, tmp_path / "run")
    finally:
        child = int((tmp_path / "other").read_text().split()[1])
        os.kill(child, signal.SIGKILL)
        stranger.kill()
        stranger.communicate()


RUN = """
import sys, json
from draftproof.evals.plan import Plan
from draftproof.evals.asking.session import ask_plan
from draftproof.reports.progress import SilentProgress
from pathlib import Path
plan = Plan.model_validate(json.loads(sys.argv[1]))
ask_plan(plan, Path(sys.argv[2]), progress=SilentProgress(), tell=lambda text: print(text, flush=True))
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_killed_leaves_no_server(served, tmp_path, number):
    """Whatever ends the run, the server and its workers end too; what was asked is kept and gone on with."""
    make, pids = served
    plan = make(count=400)
    text = json.dumps(plan.model_dump(mode="json"))
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, text, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    for line in run.stdout:
        if "ready after" in line:
            break
    run.send_signal(number)
    run.communicate()
    assert len(all_gone(pids)) == 2
    kept = len(journal(tmp_path / "run", "baseline"))
    assert kept < 400


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        ({"serve": "vllm serve 'm"}, "serve: expected one command"),
        ({"serve": " "}, "serve: expected a command"),
        ({"env": {"A": "1"}}, "env and ready_url go with serve"),
        ({"serve": "x", "env": {"HF_TOKEN": "s3cret"}}, "HF_TOKEN looks like a secret"),
        ({"serve": "x", "ready_url": "here"}, "ready_url: expected an http:// or https:// URL"),
        ({"headers": {"Authorization": "Bearer s3cret"}}, "Authorization: expected its value as ${VARIABLE}"),
        ({"headers": {"X": "a\nb"}}, "expected a header's name and a value of printable ASCII"),
        ({"speculating": "maybe"}, "speculating"),
    ],
)
def test_a_bad_key_of_an_arm_is_one_clear_error(tmp_path, arm, says):
    """And no secret is repeated in it."""
    raw = raw_plan(tmp_path / "s.jsonl", {"baseline": "http://h/v1", "mtp": "http://h/v1"})
    raw["arms"][1] |= arm
    with pytest.raises(UserError) as caught:
        build_plan(raw, source="plan.toml")
    assert says in str(caught.value)
    assert "s3cret" not in str(caught.value)
