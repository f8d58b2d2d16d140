"""One arm over HTTP: what is repeated, what is not, and what the journal then says."""

import asyncio
import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from draftproof.errors import UserError
from draftproof.evals.attempt import Ask, EndpointError, ErrorType, Stage
from draftproof.evals.plan import Arm, Mode, RunSection
from draftproof.evals.servers import patience
from draftproof.evals.servers.endpoint import Endpoint
from draftproof.evals.servers.server import ServerKind
from draftproof.evals.stopping import Stopping

from ...scripted import (
    ScriptedReply,
    ScriptedServer,
    answer,
    broken_off,
    delayed,
    error,
    hang,
    html,
    in_turn,
    json_reply,
    not_json,
    reset,
    streamed,
    text_reply,
    without_choices,
)

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 8}
ASK = Ask("s/1", "mtp", Mode.PROMPTED, False, Stage.FIRST, 8)
PARSE_FAILURE = "The model produced output that does not match the expected peg-native format"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def settings_of(**run):
    return RunSection(**{"tasks": ("t",), "timeout": 5.0, "retries": 2, "retry_seconds": 5.0, **run})


def arm_of(base_url, **members):
    return Arm(name="mtp", base_url=base_url, model="m", **members)


async def send(base_url, stopping=None, **run):
    endpoint = Endpoint(arm_of(base_url), settings_of(**run), stopping)
    try:
        return await endpoint.ask(ASK, BODY, 3)
    finally:
        await endpoint.close()


async def read_page(base_url, url, **members):
    endpoint = Endpoint(arm_of(base_url, **members), settings_of())
    try:
        return await endpoint.get_text(url)
    finally:
        await endpoint.close()


def attempt_of(*replies, **run):
    """The attempt that comes of these replies in turn, and how many sends the server saw."""
    with ScriptedServer(in_turn(*replies)) as server:
        attempt = asyncio.run(send(server.base_url, **run))
    return attempt, len(server.requests)


def unused_url():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


SOON = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
GIVEN_UP = json_reply({"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]})


@pytest.mark.parametrize(
    "first",
    [
        error(408),
        error(409),
        error(429, retry_after="0"),
        error(429, retry_after="0.01"),
        error(429, retry_after=SOON),
        error(429, retry_after="soon"),
        error(500, retry_after="0"),
        error(503, "Loading model"),
        html(502),
        reset(),
        broken_off(),
        ScriptedReply(200),
        not_json(),
        without_choices(),
        text_reply("<html>", 200, "text/html"),
        json_reply({"error": {"message": "overloaded"}}),
        json_reply({"choices": []}),
        GIVEN_UP,
        streamed([{"content": "a"}]),
    ],
)
def test_a_passing_fault_is_one_attempt_in_the_journal(first):
    """What is the network's or the server's moment is repeated, and counted as a repeat."""
    attempt, sends = attempt_of(first, answer("fine", completion_tokens=4))
    assert (attempt.status, attempt.content, attempt.retries, sends) == ("success", "fine", 1, 2)
    assert attempt.error is None


@pytest.mark.parametrize(
    ("reply", "kind", "status", "says"),
    [
        (error(500, "boom"), ErrorType.ENDPOINT_ERROR, 500, "boom"),
        (html(502), ErrorType.ENDPOINT_ERROR, 502, "502"),
        (error(429, "slow down", retry_after="0"), ErrorType.ENDPOINT_ERROR, 429, "slow down"),
        (error(408), ErrorType.TIMEOUT, 408, "scripted error"),
        (broken_off(), ErrorType.ENDPOINT_ERROR, None, ""),
        (reset(), ErrorType.ENDPOINT_ERROR, None, ""),
        (not_json(), ErrorType.BAD_RESPONSE, 200, "not JSON"),
        (json_reply({"choices": []}), ErrorType.BAD_RESPONSE, 200, "no choices"),
    ],
)
def test_a_fault_that_stays_is_a_failed_attempt(reply, kind, status, says):
    """Two repeats, then a failed line with the last error; nothing of an answer is in it."""
    attempt, sends = attempt_of(reply)
    assert (attempt.status, attempt.retries, sends) == ("failed", 2, 3)
    assert (attempt.error.type, attempt.error.status) == (kind, status)
    assert says in attempt.error.message
    assert attempt.error.message
    assert (attempt.content, attempt.usage, attempt.finish_reason, attempt.spec) == (None, None, None, None)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(400, "max_tokens is too large"), ErrorType.UNSUPPORTED_REQUEST),
        (error(401), ErrorType.ENDPOINT_ERROR),
        (error(403), ErrorType.ENDPOINT_ERROR),
        (error(404), ErrorType.ENDPOINT_ERROR),
        (error(413), ErrorType.UNSUPPORTED_REQUEST),
        (error(422), ErrorType.UNSUPPORTED_REQUEST),
    ],
)
def test_what_a_repeat_cannot_mend_is_sent_once(reply, kind):
    """A refused request is refused again."""
    attempt, sends = attempt_of(reply)
    assert (attempt.status, attempt.error.type, attempt.retries, sends) == ("failed", kind, 0, 1)


def test_output_that_the_server_could_not_parse_is_an_answer():
    """llama.cpp's HTTP 500 about the model's output is a success with an error, never sent again."""
    attempt, sends = attempt_of(error(500, PARSE_FAILURE), answer("never asked"))
    assert (attempt.status, attempt.content, sends) == ("success", None, 1)
    assert attempt.error == EndpointError(ErrorType.SERVER_PARSE_FAILURE, 500, PARSE_FAILURE)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status):
    """It would carry the key to a host that nobody configured; the message says where it pointed."""
    with ScriptedServer(lambda _request: answer("stolen")) as other:
        place = f"{other.base_url}/chat/completions"
        reply = ScriptedReply(status, b"", {"Location": place})
        attempt, sends = attempt_of(reply)
    assert (attempt.status, attempt.error.status, sends) == ("failed", status, 1)
    assert place in attempt.error.message
    assert other.requests == []


@pytest.mark.parametrize("reply", [hang(), delayed(answer("late"), 3)])
def test_a_server_that_hangs_times_out(reply):
    """No whole answer within the timeout is a failed attempt of that type."""
    attempt, sends = attempt_of(reply, timeout=0.15, retries=1)
    assert (attempt.status, attempt.error.type, sends) == ("failed", ErrorType.TIMEOUT, 2)
    assert attempt.error.message == "no whole answer within 0.15 s"


def test_a_body_that_comes_drop_by_drop_times_out():
    """The timeout is for the whole answer: bytes that keep coming do not postpone it."""

    async def drip(_reader, writer):
        try:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(100):
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def main():
        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            return await send(url, timeout=0.2, retries=0)

    assert asyncio.run(main()).error.type is ErrorType.TIMEOUT


def test_nobody_there_is_a_failed_attempt_with_the_reason():
    """The innermost reason is told, not "Connection error."."""
    attempt = asyncio.run(send(unused_url(), retries=1))
    assert (attempt.status, attempt.error.type, attempt.retries) == ("failed", ErrorType.ENDPOINT_ERROR, 1)
    assert attempt.error.message.startswith("ConnectionRefusedError")


def test_no_repeats_means_one_send():
    """`retries = 0` is kept."""
    assert attempt_of(error(500), answer(), retries=0)[1] == 1


@pytest.mark.parametrize("value", ["3600", "99999999999999999999999", "9" * 5000])
def test_a_wait_longer_than_the_patience_is_not_waited_for(value):
    """A Retry-After beyond `retry_seconds` ends the ask at once."""
    attempt, sends = attempt_of(error(429, retry_after=value), answer())
    assert (attempt.status, sends) == ("failed", 1)


def test_no_repeat_is_sent_once_the_run_is_to_end():
    """Ctrl-C ends the wait for a repeat; the failure is what the ask came to."""

    async def main(url):
        stopping = Stopping()
        asyncio.get_running_loop().call_later(0.1, stopping.set)
        return await asyncio.wait_for(send(url, stopping, retry_seconds=60.0), 5)

    with ScriptedServer(in_turn(error(429, retry_after="30"), answer())) as server:
        attempt = asyncio.run(main(server.base_url))
    assert (attempt.status, attempt.error.status, len(server.requests)) == ("failed", 429, 1)


def test_the_line_holds_everything_that_came():
    """Request, counts, drafts, fingerprint, order and time stand in the attempt as they were."""
    reply = answer(
        "a\ud800\x00",
        "length",
        completion_tokens=8,
        reasoning="hm",
        timings={"draft_n": 5, "draft_n_accepted": 4},
        system_fingerprint="b11434",
    )
    attempt, _ = attempt_of(reply)
    row = json.loads(attempt.to_line())
    assert row["content"] == "a\ud800\x00"
    assert row["request"] == BODY
    assert row["usage"] == {"prompt_tokens": 20, "completion_tokens": 8, "reasoning_tokens": None}
    assert row["spec"] == {"draft_tokens": 5, "accepted_tokens": 4, "steps": None}
    assert (row["finish_reason"], row["reasoning"], row["system_fingerprint"]) == ("length", "hm", "b11434")
    assert (row["index"], row["retries"], row["error"]) == (3, 0, None)
    assert row["duration_ms"] > 0
    assert datetime.fromisoformat(row["started_at"]).tzinfo is not None


KEY = "sk-very-secret-0123456789"


def refusing_with_headers(request):
    return error(400, f"bad request; headers were {dict(request.headers)}")


def test_the_key_is_sent_and_never_kept(monkeypatch):
    """It goes into the header; a server that repeats it in an error does not get it into the journal."""
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")

    async def main(url):
        endpoint = Endpoint(arm_of(url, api_key_env="MY_KEY"), settings_of())
        try:
            return await endpoint.ask(ASK, BODY, 0)
        finally:
            await endpoint.close()

    with ScriptedServer(refusing_with_headers) as server:
        attempt = asyncio.run(main(server.base_url))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in attempt.to_line()
    assert "Bearer [key]" in attempt.error.message


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "is not set"),
        ("", "is not set"),
        (" \n", "is not set"),
        ("a\nb", "holds a character"),
        ("schlüssel", "holds"),
    ],
)
def test_a_key_that_cannot_be_sent_is_named_and_not_shown(monkeypatch, value, says):
    """The variable is named; its value never is."""
    if value is None:
        monkeypatch.delenv("MY_KEY", raising=False)
    else:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(UserError, match=says) as caught:
        Endpoint(arm_of("http://127.0.0.1:1/v1", api_key_env="MY_KEY"), settings_of())
    assert "MY_KEY" in str(caught.value)
    assert not value or not value.strip() or value not in str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_said_before_anything_is_asked(monkeypatch, status):
    """One clear error with exit code 4, the variable's name, and not the key."""
    monkeypatch.setenv("MY_KEY", KEY)
    with (
        ScriptedServer(
            lambda _request: answer(), pages={"/v1/models": error(status, f"bad key {KEY}")}
        ) as server,
        pytest.raises(UserError, match=rf"refused the key \(HTTP {status}\)") as caught,
    ):
        asyncio.run(read_page(server.base_url, "/models", api_key_env="MY_KEY"))
    assert caught.value.exit_code == 4
    assert "MY_KEY" in caught.value.tip
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "page", [error(404), error(500), html(502), ScriptedReply(302, b"", {"Location": "/login"})]
)
def test_a_page_that_is_not_there_is_none(page):
    """No page is no fact."""
    with ScriptedServer(lambda _request: answer(), pages={"/v1/models": page}) as server:
        assert asyncio.run(read_page(server.base_url, "/models")) is None


def test_nobody_at_base_url_is_said_at_once():
    """A dead server ends the run before it begins, with exit code 4."""
    with pytest.raises(UserError, match="arm mtp: no answer from http") as caught:
        asyncio.run(read_page(unused_url(), "/models"))
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("page", [reset(), broken_off()])
def test_an_extra_page_that_breaks_is_none(page):
    """`/metrics` or `/slots` may hang or break: the run does not depend on them."""
    with ScriptedServer(lambda _request: answer(), pages={"/metrics": page}) as server:
        assert asyncio.run(read_page(server.base_url, f"{server.root_url}/metrics")) is None


def test_a_template_page_that_gives_no_prompt_is_a_bad_response():
    """In raw mode: the server's fault, repeated and then void, and no crash of the run."""

    async def main(url):
        endpoint = Endpoint(arm_of(url), settings_of(retries=1))
        endpoint.kind = ServerKind.VLLM
        try:
            return await endpoint.ask(ASK._replace(mode=Mode.RAW), BODY, 0)
        finally:
            await endpoint.close()

    with ScriptedServer(lambda _: answer(), pages={"/tokenize": json_reply({})}) as server:
        attempt = asyncio.run(main(server.base_url))
        assert (attempt.status, attempt.error.type) == ("failed", ErrorType.BAD_RESPONSE)
        assert (attempt.retries, server.requests) == (1, [])
