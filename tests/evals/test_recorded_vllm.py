"""Answers of a real vLLM (see `recorded/README.md`): whole and streamed, finished and cut awkwardly."""

import json
from pathlib import Path

import pytest
from draftproof.evals.attempt import Attempt, Drafts, ErrorType, Stage
from draftproof.evals.judging.grade import Reference, grade_answer
from draftproof.evals.plan import Mode, RunSection
from draftproof.evals.reading.answer import Ending, read_answer
from draftproof.evals.servers.chat_stream import ChatStream, StreamedError
from draftproof.evals.servers.event_stream import EventReader
from draftproof.evals.servers.response import error_type, read_completion
from draftproof.parsers.dialects import DIALECTS
from draftproof.parsers.tools import compile_tools
from draftproof.tasks.sample import Expected, ExpectedCall

RECORDED = json.loads((Path(__file__).parent / "recorded" / "vllm-0.32.json").read_text())
HERMES = DIALECTS["hermes"]
OSLO = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
STREAMS = [name for name in RECORDED if name.endswith(".sse") and name != "logit_bias.sse"]
CALLED = Expected((ExpectedCall("get_weather", {"city": ["Oslo"]}),))
# The text of the generation, as the tokens say; `<|im_end|>` is the end of the turn.
TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>'


def streamed(name, *, size=None):
    """The completion of a recorded stream, fed in pieces of `size` bytes."""
    body = RECORDED[name]["body"].encode()
    reader, stream = EventReader(), ChatStream()
    for start in range(0, len(body), size or len(body)):
        for data in reader.feed(body[start : start + (size or len(body))]):
            stream.feed(data)
    for data in reader.close():
        stream.feed(data)
    return stream.completion()


def completion(name):
    return streamed(name) if name.endswith(".sse") else read_completion(RECORDED[name]["body"])


def answer_of(name, raw_text=None):
    made, request = completion(name), RECORDED[name]["request"]
    attempt = Attempt(
        id="s",
        arm="ngram",
        mode=Mode.NATIVE,
        stream=request["stream"],
        stage=Stage.FIRST,
        max_tokens=request["max_tokens"],
        attempt=1,
        status="success",
        finish_reason=made.finish_reason,
        stop_reason=made.stop_reason,
        content=made.content,
        reasoning=made.reasoning,
        tool_calls=made.tool_calls,
        usage=made.usage,
        request=request,
        duration_ms=1.0,
        ttft_ms=None,
        retries=0,
        spec=made.spec,
        system_fingerprint=made.system_fingerprint,
        error=None,
        started_at="",
        index=0,
        raw_text=raw_text,
    )
    settings = RunSection(tasks=("t",), mode=Mode.NATIVE, max_tokens=request["max_tokens"])
    return read_answer(attempt, compile_tools(request.get("tools", [])), HERMES, settings, 4096)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_gives_the_same_answer_split_at_every_byte(name):
    """Byte by byte is every split at once; two odd sizes cut letters, lines and events elsewhere."""
    whole = streamed(name)
    assert [streamed(name, size=size) for size in (1, 7, 1000)] == [whole] * 3


@pytest.mark.parametrize("case", ["call", "prose", "completions"])
def test_streamed_and_whole_answers_agree(case):
    """Everything but the ids of calls, which are drawn for each request."""

    def told(name):
        made = completion(name)
        calls = [call["function"] for call in made.tool_calls or ()]
        usage = (made.usage.prompt_tokens, made.usage.completion_tokens)
        return made.finish_reason, made.content or "", made.reasoning, calls, usage, made.token_ids

    assert told(f"{case}.sse") == told(f"{case}.json")


def test_the_drafts_of_one_request_are_counted_in_both_forms():
    """`--per-request-spec-decode-metrics detailed`: in the body, and in the last event."""
    for name in ("call.json", "call.sse"):
        assert completion(name).spec == Drafts(3, 3, 1)
    assert completion("prose.json").spec == Drafts(0, 0, 0)


@pytest.mark.parametrize(
    ("name", "finish_reason", "calls", "ending", "verdict"),
    [
        ("call.json", "tool_calls", [OSLO], Ending.FINISHED, "pass"),
        ("call.sse", "tool_calls", [OSLO], Ending.FINISHED, "pass"),
        # The JSON is whole and its closing tag is not: JSON loses the call, the stream has given it out.
        ("cap49.json", "length", [], Ending.CUT, "truncated"),
        ("cap49.sse", "length", [OSLO], Ending.CUT, "truncated"),
        ("cap53.json", "length", [], Ending.CUT, "truncated"),
        ("cap53.sse", "length", [OSLO], Ending.CUT, "truncated"),
        # All but the end of the turn: JSON hides the cut behind `tool_calls`, the stream says `length`.
        ("cap54.json", "tool_calls", [OSLO], Ending.CUT_MASKED, "truncated"),
        ("cap54.sse", "length", [OSLO], Ending.CUT, "truncated"),
        ("call_cut_in_json.json", "length", [], Ending.CUT, "truncated"),
        ("call_cut_in_json.sse", "length", [], Ending.CUT, "truncated"),
        # Two calls, the second cut: JSON loses both.
        ("second_cut.json", "length", [], Ending.CUT, "truncated"),
    ],
)
def test_a_call_that_was_cut_is_cut_whatever_the_server_makes_of_it(
    name, finish_reason, calls, ending, verdict
):
    """Neither right nor wrong yet, and without a defect: it is asked again at a larger budget."""
    made, answer = completion(name), answer_of(name)
    assert made.finish_reason == finish_reason
    assert [call["function"] for call in made.tool_calls or ()] == calls
    assert answer.ending is ending
    assert answer.defects == ()
    grade = grade_answer(answer, Reference(CALLED))
    assert grade.verdict == verdict
    assert grade.blame is None


def test_the_second_of_two_calls_is_open_in_a_stream():
    """The first is whole; the second has come in part."""
    answer = answer_of("second_cut.sse")
    assert [call.name for call in answer.parsed.calls] == ["get_weather"]
    assert answer.parsed.open
    assert (answer.ending, answer.defects) == (Ending.CUT, ())


def test_a_refused_parameter_is_an_event_in_a_stream_and_a_status_in_json():
    """HTTP 200 with an error inside, or 400: the same fault."""
    with pytest.raises(StreamedError, match="logit_bias sampling parameters are not yet supported") as caught:
        streamed("logit_bias.sse")
    assert (RECORDED["logit_bias.sse"]["status"], caught.value.status) == (200, 400)
    assert RECORDED["logit_bias.json"]["status"] == 400
    for name in ("logit_bias.sse", "logit_bias.json"):
        assert error_type(400, RECORDED[name]["body"]) is ErrorType.UNSUPPORTED_REQUEST


def test_the_text_behind_a_call_is_read_beside_it():
    """The tokens end with the end of the turn, which is no part of the call."""
    assert len(completion("call.json").token_ids) == 55
    answer = answer_of("call.json", raw_text=TEXT)
    assert [call.name for call in answer.raw.calls] == ["get_weather"]
    assert answer.raw.defects == ()
