"""Native mode on the real llama.cpp: its own parser's calls, read as strictly as the model's own text."""

import importlib.util
import json
from pathlib import Path

import pytest
from draftproof.evals.embedded import Speculation, start_embedded
from draftproof.evals.plan import build_plan
from draftproof.evals.record import read_run
from draftproof.evals.session import ask_plan
from draftproof.evals.summary import summarise
from draftproof.reports.progress import SilentProgress

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed (the extra `demo`)"
    ),
]
SAMPLES = 4
# The model's own template does not render tools; this one does, in the form of Hermes.
TEMPLATE = (Path(__file__).parent / "hermes.jinja").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def native(model_path, tmp_path_factory):
    """A native run of a few starter samples, without speculation and with n-gram."""
    folder = tmp_path_factory.mktemp("native")
    arms, servers = [], []
    try:
        for name, speculation in (("baseline", Speculation.NONE), ("ngram", Speculation.NGRAM)):
            server = start_embedded(
                "small", model_path, speculation, chat_template=TEMPLATE, log=folder / f"{name}.log"
            )
            servers.append(server)
            arms.append({"name": name, "base_url": server.base_url, "model": "small"})
        run = {
            "tasks": ["builtin:starter"],
            "mode": "native",
            "max_tokens": 64,
            "limit": SAMPLES,
            "confirm": 0,
        }
        plan = build_plan({"run": {**run, "concurrency": 1, "in_turn": True}, "arms": arms}, source="test")
        ask_plan(plan, folder / "run", progress=SilentProgress(), tell=print)
    finally:
        for server in servers:
            server.stop()
    return read_run(folder / "run")


def test_llama_cpp_returns_calls_that_are_strictly_whole(native):
    """Its parser gives `tool_calls`, and what it gives keeps to the contract or says how not."""
    calls = [a for a in native.attempts.values() if a.tool_calls]
    assert calls
    for attempt in calls:
        assert attempt.finish_reason in ("tool_calls", "length")
        for call in attempt.tool_calls:
            json.loads(call["function"]["arguments"])


def test_a_native_run_is_judged_to_the_end(native):
    """Every sample has a finding in every arm, and the request carried the tools."""
    summary = summarise(native)
    assert summary.is_complete
    assert [arm.attempts for arm in summary.arms] == [SAMPLES, SAMPLES]
    assert summary.comparisons[0].samples == SAMPLES
    assert summary.comparisons[0].void == 0
    assert all("tools" in attempt.request for attempt in native.attempts.values())
