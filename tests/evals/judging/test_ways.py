"""Asked or read in two ways: what a server's parser or stream did, and where a wrong answer went wrong."""

import json

import pytest
from draftproof.evals.judging.ways import Locus, WayCode, compare_ways, server_parse
from draftproof.parsers.dialects import DIALECTS
from draftproof.parsers.native import read_native
from draftproof.parsers.tools import compile_tools
from draftproof.reports.server_tables import ways_table

from ...scripted import ScriptedServer, answer, json_reply, streamed, tool_call
from ..scripted_runs import TOOL, ask, call_of, judged, make_plan, number_of, write_suite

HERMES = DIALECTS["hermes"]
TOOLS = compile_tools([TOOL])
OSLO, BERGEN = tool_call("get_weather", {"city": "Oslo"}), tool_call("get_weather", {"city": "Bergen"})


def native(*calls, content=None):
    return read_native(
        content,
        None,
        list(calls) or None,
        TOOLS,
        finish_reason="tool_calls",
        completion_tokens=20,
        dialect=HERMES,
    )


def raw(text):
    return HERMES.parse(text, TOOLS, "auto")


@pytest.mark.parametrize(
    ("text", "calls", "code"),
    [
        (call_of("Oslo"), [OSLO], None),
        (call_of("Oslo") + "<|im_end|>", [OSLO], None),
        ("Sunny.", [], None),
        (call_of("Oslo"), [], WayCode.SERVER_PARSE_DROP),
        (call_of("Oslo") + call_of("Bergen"), [BERGEN], WayCode.SERVER_PARSE_DROP),
        (call_of("Oslo"), [BERGEN], WayCode.SERVER_PARSE_REPAIR),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}</tool_call>',
            [OSLO],
            WayCode.SERVER_PARSE_REPAIR,
        ),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}</tool_call>', [], None),
        ("It is sunny.", [OSLO], WayCode.SERVER_PARSE_PHANTOM),
    ],
)
def test_a_generation_read_twice_says_what_the_server_made_of_it(text, calls, code):
    """Dropped, repaired, invented; a broken text that came back as no call is the model's."""
    assert server_parse(raw(text), native(*calls)) is code


def vllm(reply):
    """A scripted vLLM: native answers with token ids, which /detokenize turns into what the script says."""
    card = {"id": "scripted", "object": "model", "owned_by": "vllm", "max_model_len": 4096}
    return ScriptedServer(
        reply, pages={"/v1/models": json_reply({"data": [card]}), "/version": json_reply({"version": "0"})}
    )


def with_ids(reply, text):
    body = json.loads(reply.body)
    body["choices"][0]["token_ids"] = [ord(letter) for letter in text]
    return json_reply(body)


def speaking(make):
    """`make(request)` gives what the server returns, and the text that the model wrote."""

    def reply(request):
        if request.path == "/detokenize":
            return json_reply({"prompt": "".join(map(chr, request.body["tokens"]))})
        returned, text = make(request)
        return with_ids(returned, text)

    return reply


def right(request):
    city = f"City{number_of(request)}"
    call = tool_call("get_weather", {"city": city})
    return answer(None, "tool_calls", tool_calls=[call]), call_of(city)


def dropped(request):
    """The model was right and the server's parser lost the call."""
    return answer("", "stop"), right(request)[1]


def test_a_call_that_the_server_lost_is_the_server_s(tmp_path):
    """VLLM is asked for its tokens; the finding says where it went wrong."""
    suite = write_suite(tmp_path / "s.jsonl", 2)
    with vllm(speaking(right)) as baseline, vllm(speaking(dropped)) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}, mode="native"), tmp_path / "run")
        assert all(one.body["return_token_ids"] for one in mtp.requests if one.path == "/v1/chat/completions")
    summary, _ = judged(tmp_path / "run")
    (finding, _other) = summary.comparisons[0].findings
    assert finding.evidence["locus"] == Locus.SERVER
    assert finding.evidence["server_parse"] == "server_parse_drop"
    assert summary.ways.count("mtp", WayCode.SERVER_PARSE_DROP) == 2
    assert summary.ways.compared == {("baseline", "server parser"): 2, ("mtp", "server parser"): 2}
    assert summary.to_json()["ways"][0] == {"arm": "mtp", "id": "s/0", "code": "server_parse_drop"}


def test_a_wrong_call_that_the_server_read_right_is_the_model_s(tmp_path):
    """Both readings agree."""

    def wrong(_request):
        return answer(None, "tool_calls", tool_calls=[BERGEN]), call_of("Bergen")

    suite = write_suite(tmp_path / "s.jsonl", 1)
    with vllm(speaking(right)) as baseline, vllm(speaking(wrong)) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}, mode="native"), tmp_path / "run")
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert finding.evidence["locus"] == Locus.MODEL


def test_without_the_tokens_nobody_knows_where(tmp_path):
    """Another server: native, and its text hidden."""
    suite = write_suite(tmp_path / "s.jsonl", 1)
    with (
        ScriptedServer(lambda request: right(request)[0]) as baseline,
        ScriptedServer(lambda _request: answer("", "stop")) as mtp,
    ):
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}, mode="native"), tmp_path / "run")
    (finding,) = judged(tmp_path / "run")[0].comparisons[0].findings
    assert finding.evidence["locus"] == Locus.UNKNOWN


def losing_in_streams(request):
    """Right when whole; its stream leaves the call out."""
    if request.body["stream"]:
        return streamed([{"content": " "}])
    return right(request)[0]


def altering_in_streams(request):
    if request.body["stream"]:
        return streamed([{"tool_calls": [{"index": 0, **BERGEN}]}], "tool_calls")
    return right(request)[0]


@pytest.mark.parametrize(
    ("candidate", "code"),
    [(losing_in_streams, WayCode.STREAM_LOSS), (altering_in_streams, WayCode.STREAM_MISMATCH)],
)
def test_a_stream_that_says_something_else_is_reported_beside_the_causes(tmp_path, candidate, code):
    """`stream = "both"` asks each question once each way; the streamed answer is judged."""

    def whole_and_streamed(request):
        call = {"index": 0, **tool_call("get_weather", {"city": f"City{number_of(request)}"})}
        return (
            streamed([{"tool_calls": [call]}], "tool_calls") if request.body["stream"] else right(request)[0]
        )

    suite = write_suite(tmp_path / "s.jsonl", 2)
    with ScriptedServer(whole_and_streamed) as baseline, ScriptedServer(candidate) as mtp:
        plan = make_plan(suite, {"baseline": baseline, "mtp": mtp}, mode="native", stream="both")
        ask(plan, tmp_path / "run")
        assert sorted(one.body["stream"] for one in mtp.requests) == [False, False, True, True]
    summary, _ = judged(tmp_path / "run")
    assert (summary.arms[0].passed, summary.arms[1].passed) == (2, 0)
    assert summary.ways.count("mtp", code) == 2
    assert summary.ways.count("baseline", code) == 0
    rows = ways_table(summary.ways).rows
    assert ("baseline", "stream", "2", "none") in rows
    assert ("mtp", "stream", "2", f"{code.value} 2") in rows


def test_nothing_is_said_where_nothing_was_asked_twice(tmp_path):
    """No table without a comparison."""
    suite = write_suite(tmp_path / "s.jsonl", 1)
    with ScriptedServer(lambda _request: answer(call_of("City0"))) as server:
        ask(make_plan(suite, {"baseline": server, "mtp": server}), tmp_path / "run")
    assert ways_table(judged(tmp_path / "run")[0].ways) is None
    assert compare_ways([], 1).compared == {}
