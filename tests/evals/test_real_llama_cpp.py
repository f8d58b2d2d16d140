"""The real llama.cpp: native, streamed and raw side by side, its counters, margins, a server of our own."""

import asyncio
import importlib.util
import json
import socket
import sys
from pathlib import Path

import pytest
from draftproof.evals.asking.margins import measure_margin
from draftproof.evals.asking.session import ask_plan
from draftproof.evals.attempt import Ask, Stage
from draftproof.evals.judging.ladder import read_answers
from draftproof.evals.judging.parting import Parting
from draftproof.evals.judging.ways import WayCode
from draftproof.evals.plan import Arm, Mode, RunSection, build_plan
from draftproof.evals.reading.answer import Ending
from draftproof.evals.runs.divergence import DivergenceLabel
from draftproof.evals.runs.record import read_run
from draftproof.evals.servers.embedded import Speculation, start_embedded
from draftproof.evals.servers.endpoint import Endpoint
from draftproof.evals.servers.facts import read_facts
from draftproof.evals.servers.server import Speculating
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.progress import SilentProgress

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed (the extra `demo`)"
    ),
]
SAMPLES = 2
# The model's own template does not render tools; this one does, in the form of Hermes.
TEMPLATE = (Path(__file__).parent / "hermes.jinja").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def native(model_path, tmp_path_factory):
    """A native, streamed run of a few samples, asked whole and raw beside, plain and with n-gram."""
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
            "stream": "both",
            "compare_raw": True,
            "max_tokens": 64,
            "limit": SAMPLES,
            "confirm": 0,
            "control": False,
            "doublings": 0,
            "margins": False,
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
    asked = [attempt.request for attempt in native.attempts.values() if attempt.mode is Mode.NATIVE]
    assert all("tools" in request for request in asked)


def test_streamed_answers_hold_what_whole_ones_hold(native):
    """llama.cpp repeats itself: the same calls and the same ending both ways; the times are kept."""
    for (sample, arm), beside in native.beside.items():
        streamed = native.attempt(sample, arm, Stage.FIRST, 64)
        whole = next(one for one in beside if one.mode is Mode.NATIVE)
        assert (streamed.stream, whole.stream) == (True, False)
        assert streamed.completion_tokens == whole.completion_tokens
        assert streamed.finish_reason == whole.finish_reason
        assert streamed.chunks > 0
        assert 0 < streamed.ttft_ms <= streamed.duration_ms
        assert streamed.timing.predicted_ms > 0
    ways = summarise(native).ways
    assert ways.count("baseline", WayCode.STREAM_MISMATCH) == ways.count("baseline", WayCode.STREAM_LOSS) == 0
    assert ways.compared["baseline", "stream"] > 0


def test_raw_mode_asks_with_the_server_s_own_template(native):
    """The prompt is text with the tools in it, and the answer holds the markup that native mode hides."""
    raw = [one for beside in native.beside.values() for one in beside if one.mode is Mode.RAW]
    assert len(raw) == 2 * SAMPLES
    for one in raw:
        assert "<tools>" in one.request["prompt"]
        assert not {"messages", "tools"} & one.request.keys()
    assert any("<tool_call>" in one.content for one in raw)


def test_drafts_of_the_answers_are_those_of_the_server_s_own_counters(native):
    """What came with each answer adds up to what /metrics counted; the baseline drafted nothing."""
    for arm in ("baseline", "ngram"):
        of_arm = [one for one in native.attempts.values() if one.arm == arm and one.succeeded]
        counted = native.counters[arm]
        assert sum(one.spec.draft_tokens for one in of_arm) == counted.draft_tokens
        assert sum(one.spec.accepted_tokens for one in of_arm) == counted.accepted_tokens
        assert sum(one.completion_tokens for one in of_arm) == counted.generated_tokens
    assert native.counters["baseline"].draft_tokens == 0
    assert native.counters["ngram"].draft_tokens > 0
    assert summarise(native).arms[1].speculating is Speculating.ON


def test_the_baseline_says_how_clear_a_choice_was(model_path, tmp_path):
    """The likeliest token against an unlikely one is wide; a text that only goes on longer is unknown."""
    with start_embedded("small", model_path, Speculation.NONE, n_ctx=512, log=tmp_path / "log") as server:
        request = {
            "model": "small",
            "messages": [{"role": "user", "content": "Count: one two three"}],
            "max_tokens": 8,
            "temperature": 0,
            "stream": False,
        }

        async def measure(*pairs):
            endpoint = Endpoint(
                Arm(name="baseline", base_url=server.base_url, model="small"), RunSection(tasks=("t",))
            )
            try:
                endpoint.kind = (await read_facts(endpoint)).kind
                ask = Ask("s", "baseline", Mode.PROMPTED, False, Stage.FIRST, 8)
                own = (await endpoint.ask(ask, request, 0)).content
                partings = [Parting("s", "mtp", 8, request, own, other(own)) for other in pairs]
                return [await measure_margin(endpoint, parting) for parting in partings]
            finally:
                await endpoint.close()

        far, longer = asyncio.run(measure(lambda _: "\u3042\u3042", lambda own: own + " and more"))
    assert far.label is DivergenceLabel.WIDE
    assert far.margin_nats > 1
    assert far.token_index == 0
    assert (longer.label, longer.reason) == (
        DivergenceLabel.UNKNOWN,
        "one answer is the beginning of the other",
    )


SERVE = """
import sys, time
import xllamacpp as x
p = x.CommonParams()
p.model.path, p.port, p.n_ctx, p.n_parallel, p.endpoint_metrics = sys.argv[1], int(sys.argv[2]), 4096, 1, True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 2
if "ngram" in sys.argv:
    p.speculative.types = [x.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    p.speculative.ngram_simple.size_n, p.speculative.ngram_simple.size_m = 2, 4
server = x.Server(p)
time.sleep(600)
"""


def test_a_run_starts_and_stops_its_own_llama_cpp(model_path, tmp_path):
    """Two servers on one port, one after the other; the candidate drafted, and both are gone."""
    script = tmp_path / "serve.py"
    script.write_text(SERVE)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = f"{sys.executable} {script} {model_path} {port}"
    arms = [
        {"name": name, "base_url": f"http://127.0.0.1:{port}/v1", "model": model_path.name, "serve": serve}
        for name, serve in (("baseline", command), ("ngram", f"{command} ngram"))
    ]
    run = {"tasks": ["builtin:starter"], "max_tokens": 8, "limit": 1, "doublings": 0, "control": False}
    plan = build_plan({"run": {**run, "concurrency": 1}, "arms": arms}, source="test")
    ask_plan(plan, tmp_path / "run", progress=SilentProgress(), tell=print)
    record = read_run(tmp_path / "run")
    assert [record.facts[arm.name].speculating for arm in plan.arms] == [Speculating.OFF, Speculating.ON]
    assert record.counters["ngram"].generated_tokens == 8
    with socket.socket() as client:
        assert client.connect_ex(("127.0.0.1", port)) != 0
