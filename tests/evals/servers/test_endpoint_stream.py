"""Streamed answers over HTTP: the same attempt as a whole answer, and the faults that only streams have."""

import asyncio
import json
from dataclasses import replace

import pytest
from draftproof.evals.attempt import Ask, ErrorType, Stage
from draftproof.evals.plan import Arm, Mode, RunSection
from draftproof.evals.servers import patience
from draftproof.evals.servers.endpoint import Endpoint

from ...scripted import (
    ScriptedReply,
    ScriptedServer,
    answer,
    broken_off,
    hang,
    in_turn,
    reset,
    streamed,
    text_reply,
    tool_call,
)

ASK = Ask("s/1", "mtp", Mode.NATIVE, True, Stage.FIRST, 8)
BODY = {"model": "m", "messages": [], "max_tokens": 8, "stream": True}
HELLO = streamed([{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}])


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)


async def send(base_url, count, **run):
    settings = RunSection(**{"tasks": ("t",), "timeout": 5.0, "retries": 1, "retry_seconds": 5.0, **run})
    endpoint = Endpoint(Arm(name="mtp", base_url=base_url, model="m"), settings)
    try:
        return [await endpoint.ask(ASK, BODY, n) for n in range(count)]
    finally:
        await endpoint.close()


def attempt_of(*replies, **run):
    with ScriptedServer(in_turn(*replies)) as server:
        (attempt,) = asyncio.run(send(server.base_url, 1, **run))
    return attempt, len(server.requests)


def events(*data):
    pieces = tuple(f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n".encode() for one in data)
    return ScriptedReply(200, b"", {"Content-Type": "text/event-stream"}, pieces)


def test_a_streamed_answer_is_an_attempt_with_its_times():
    """Time to the first piece within the time of the whole; chunks count pieces, tokens come from usage."""
    attempt, _ = attempt_of(HELLO)
    assert (attempt.status, attempt.content, attempt.finish_reason) == ("success", "Hello", "stop")
    assert (attempt.stream, attempt.chunks, attempt.completion_tokens) == (True, 2, 10)
    assert 0 < attempt.ttft_ms <= attempt.duration_ms
    line = json.loads(attempt.to_line())
    assert line["chunks"] == 2
    assert "raw_text" not in line


def test_a_stream_begins_with_its_first_event_and_not_with_its_first_piece():
    """Of an empty answer only the role comes; of another one it comes first; of a whole one nobody knows."""
    for reply, has_piece in ((streamed([{"role": "assistant", "content": ""}]), False), (HELLO, True)):
        attempt, _ = attempt_of(reply)
        assert (attempt.ttft_ms is not None) is has_piece
        assert 0 < attempt.first_event_ms <= (attempt.ttft_ms or attempt.duration_ms)
    attempt, _ = attempt_of(answer("whole"))
    assert (attempt.first_event_ms, attempt.ttft_ms) == (None, None)


@pytest.mark.parametrize("split", [1, 2, 7, 64])
def test_where_the_network_splits_a_stream_does_not_matter(split):
    """Events arrive in packets of any size."""
    whole = b"".join(HELLO.pieces)
    pieces = tuple(whole[n : n + split] for n in range(0, len(whole), split))
    attempt, _ = attempt_of(replace(HELLO, pieces=pieces))
    assert (attempt.content, attempt.finish_reason, attempt.chunks) == ("Hello", "stop", 2)


def test_calls_come_out_of_a_stream_as_out_of_a_whole_answer():
    """Compared with the same calls sent at once."""
    call = {"index": 0, **tool_call("get_weather", {"city": "Oslo"})}
    first = {**call, "function": {"name": "get_weather", "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": part}} for part in ('{"city": ', '"Oslo"}')]
    deltas = [{"tool_calls": [one]} for one in (first, *rest)]
    attempt, _ = attempt_of(streamed(deltas, "tool_calls"))
    assert attempt.tool_calls == [tool_call("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize(
    "first",
    [
        broken_off(HELLO),
        reset(HELLO),
        streamed([{"content": "a"}], None, done=False),
        events({"error": {"message": "overloaded", "code": 503}}),
        events({"error": {"message": "lost its engine"}}),
        events("{"),
        text_reply("<html>", 200, "text/html"),
        ScriptedReply(200, b"", {"Content-Type": "text/event-stream"}),
    ],
)
def test_a_passing_fault_of_a_stream_is_repeated(first):
    """A stream that broke off is no answer, however much of it had come."""
    attempt, sends = attempt_of(first, HELLO)
    assert (attempt.status, attempt.content, attempt.retries, sends) == ("success", "Hello", 1, 2)


@pytest.mark.parametrize(
    ("reply", "kind", "status", "says"),
    [
        (
            events(
                {"error": {"message": "logit_bias is not supported", "type": "Bad Request", "code": 400}},
                "[DONE]",
            ),
            ErrorType.UNSUPPORTED_REQUEST,
            400,
            "logit_bias is not supported",
        ),
        (
            events(
                {
                    "error": {
                        "message": "The model produced output that does not match the expected format",
                        "code": 500,
                    }
                }
            ),
            ErrorType.SERVER_PARSE_FAILURE,
            500,
            "The model produced output",
        ),
    ],
)
def test_an_error_event_is_what_its_status_would_be(reply, kind, status, says):
    """HTTP 200 has been sent by then: vLLM refuses a parameter in the stream, and it is no moment's fault."""
    attempt, sends = attempt_of(reply)
    assert sends == 1
    assert (attempt.error.type, attempt.error.status) == (kind, status)
    assert says in attempt.error.message


def test_a_stream_that_stays_silent_is_a_timeout():
    """Nothing comes, or it stops half-way."""
    attempt, _ = attempt_of(hang(), retries=0, timeout=0.3)
    assert attempt.error.type is ErrorType.TIMEOUT


def test_a_server_that_does_not_stream_is_understood():
    """It shows in the journal: no chunks, no time to the first."""
    attempt, sends = attempt_of(answer("fine"))
    assert (attempt.content, attempt.chunks, attempt.ttft_ms, sends) == ("fine", None, None, 1)


def test_the_connection_is_used_again():
    """A stream is read to its end, so that a thousand samples are not a thousand connections."""
    with ScriptedServer(in_turn(HELLO)) as server:
        attempts = asyncio.run(send(server.base_url, 5))
        assert all(one.succeeded for one in attempts)
        assert server.connections == 1
