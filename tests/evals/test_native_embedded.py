"""Native mode on the real llama.cpp: its own parser's calls, read as strictly as the model's own text."""

import importlib.util
import json
from pathlib import Path

import pytest
from draftproof.evals.answer import Ending
from draftproof.evals.embedded import Speculation, start_embedded
from draftproof.evals.ladder import read_answers
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


def test_calls_of_llama_cpps_own_parser_are_read_strictly(native):
    """A whole answer gives the calls that the server parsed; one that was cut is open and no defect."""
    answers = [
        answer
        for sample in native.samples
        for arm in native.plan.arms
        for answer in read_answers(native, sample, arm.name).values()
    ]
    whole = [one for one in answers if one.attempt.finish_reason == "tool_calls"]
    cut = [one for one in answers if one.attempt.finish_reason == "length"]
    assert whole
    for one in whole:
        parsed = [(call.name, dict(call.arguments)) for call in one.parsed.calls]
        received = [call["function"] for call in one.attempt.tool_calls]
        assert parsed == [(each["name"], json.loads(each["arguments"])) for each in received]
    for one in cut:
        assert one.ending is Ending.CUT
        assert one.defects == ()


def test_a_native_run_is_judged_to_the_end(native):
    """Every sample has a finding in every arm, and the request carried the tools."""
    summary = summarise(native)
    assert summary.is_complete
    assert [arm.attempts for arm in summary.arms] == [SAMPLES, SAMPLES]
    assert summary.comparisons[0].samples == SAMPLES
    assert summary.comparisons[0].void == 0
    assert all("tools" in attempt.request for attempt in native.attempts.values())
