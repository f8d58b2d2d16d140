"""A real llama.cpp that dies in the middle of a run: the answers stay, and a new one ends what is left."""

import importlib.util
import json

import pytest
from draftproof.evals.asking.session import ask_plan
from draftproof.evals.plan import build_plan
from draftproof.evals.runs.record import read_run
from draftproof.evals.servers.embedded import Speculation, start_embedded
from draftproof.evals.summing_up.derived import derive
from draftproof.reports.progress import SilentProgress

from .scripted_runs import journal, write_suite

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed (the extra `demo`)"
    ),
]
SAMPLES = 4


class Killing(SilentProgress):
    """Kills a server, with SIGKILL, once an arm has so many answers."""

    def __init__(self, arm, answers, server):
        self._arm, self._left, self._server = arm, answers, server

    def attempt_done(self, attempt):
        self._left -= attempt.arm == self._arm and attempt.succeeded
        if self._left == 0:
            self._server.stop()


def plan_of(suite, urls):
    arms = [{"name": name, "base_url": url, "model": "small"} for name, url in urls.items()]
    run = {
        "tasks": [str(suite)],
        "max_tokens": 16,
        "doublings": 0,
        "confirm": 0,
        "control": False,
        "in_turn": True,  # two engines at once take the cores from each other
        "concurrency": 1,
        "isolate": True,  # a cache that a new server lacks may change how numbers round
        "retries": 1,
        "retry_seconds": 0.2,
        "margins": False,
    }
    return build_plan({"run": run, "arms": arms}, source="test")


def test_a_server_killed_in_the_middle_and_started_again_changes_no_finding(model_path, tmp_path):
    """Kill the candidate after two answers, go on with a new one elsewhere: findings as if nothing was."""
    suite = write_suite(tmp_path / "s.jsonl", SAMPLES)

    def start(speculation, name):
        return start_embedded("small", model_path, speculation, n_ctx=2048, log=tmp_path / f"{name}.log")

    def ask(directory, urls, progress):
        told = []
        ask_plan(plan_of(suite, urls), tmp_path / directory, progress=progress, tell=told.append)
        assert derive(read_run(tmp_path / directory))[1] is None
        return told

    with start(Speculation.NONE, "baseline") as baseline, start(Speculation.NGRAM, "first") as first:
        urls = {"baseline": baseline.base_url, "ngram": first.base_url}
        ask("undisturbed", urls, SilentProgress())
        told = ask("disturbed", urls, Killing("ngram", 2, first))
        assert not first.is_running
        assert any("still without an answer" in sentence for sentence in told), told
        paid = [row for row in journal(tmp_path / "disturbed", "ngram") if row["status"] == "success"]
        assert len(paid) == 2
        with start(Speculation.NGRAM, "second") as second:
            ask("disturbed", urls | {"ngram": second.base_url}, SilentProgress())

    rows = journal(tmp_path / "disturbed", "ngram")
    keys = [json.dumps([row[key] for key in ("id", "stage", "max_tokens", "attempt")]) for row in rows]
    successes = [key for key, row in zip(keys, rows, strict=True) if row["status"] == "success"]
    assert rows[: len(paid)] == paid
    assert len(successes) == len(set(successes)) == len(set(keys))
    findings = [(tmp_path / run / "findings.jsonl").read_bytes() for run in ("undisturbed", "disturbed")]
    assert findings[0] == findings[1]
    assert len(findings[0].splitlines()) == SAMPLES
