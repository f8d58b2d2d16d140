"""Bodies without end or measure: refused in bounded memory, said in one sentence, and not asked for again."""

import asyncio
import gzip
import itertools
import json
import tracemalloc
import zlib

import pytest
from draftproof.errors import UserError
from draftproof.evals.arm import Arm
from draftproof.evals.attempt import Ask, ErrorType, Stage, read_attempt
from draftproof.evals.plan import Mode, RunSection
from draftproof.evals.servers import body, patience
from draftproof.evals.servers.endpoint import Endpoint

from ...byte_server import ByteServer, chunk, head

LIMIT = 256 * 1024
WHOLE = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}
DELTA = {"choices": [{"index": 0, "delta": {"content": "fine"}, "finish_reason": "stop"}]}
EVENTS = f"data: {json.dumps(DELTA)}\n\ndata: [DONE]\n\n".encode()
STREAM = {"Content_Type": "text/event-stream", "Transfer_Encoding": "chunked"}
BOMB = gzip.compress(bytes(64 * LIMIT))


@pytest.fixture(autouse=True)
def _small_and_short(monkeypatch):
    monkeypatch.setattr(body, "LARGEST_BODY_BYTES", LIMIT)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def endpoint_of(base_url, **run):
    settings = RunSection(**{"tasks": ("t",), "timeout": 5.0, "retries": 3, "retry_seconds": 5.0, **run})
    return Endpoint(Arm(name="mtp", base_url=base_url, model="m"), settings)


def asked(*answer, stream=False, closes=True, count=1, **run):
    """The attempts, and the server, when every request is answered by these pieces, or functions of them."""

    def answers(number):
        return itertools.chain.from_iterable(
            (one(number) if callable(one) else one) if not isinstance(one, bytes) else (one,)
            for one in answer
        )

    async def main():
        async with ByteServer(answers, closes=closes) as server:
            endpoint = endpoint_of(server.base_url, **run)
            try:
                ask = Ask("s/1", "mtp", Mode.PROMPTED, stream, Stage.FIRST, 8)
                return [await endpoint.ask(ask, {"stream": stream}, n) for n in range(count)], server
            finally:
                await endpoint.close()

    return asyncio.run(main())


def for_ever(piece):
    return lambda _number: itertools.repeat(piece)


@pytest.mark.parametrize(
    ("stream", "answer"),
    [
        (False, [head(Content_Type="application/json"), for_ever(b" " * 9000)]),
        (False, [head(Content_Length=10**12), for_ever(b"[" * 9000)]),
        (False, [head(Content_Encoding="gzip", Content_Length=len(BOMB)), BOMB]),
        (False, [head(Content_Encoding="deflate"), zlib.compress(bytes(64 * LIMIT))]),
        (True, [head(**STREAM, Content_Encoding="gzip"), chunk(BOMB), b"0\r\n\r\n"]),
        (True, [head(**STREAM), for_ever(chunk(b": still there\n\n" * 500))]),
        (True, [head(**STREAM), for_ever(chunk(b"x" * 9000))]),
        (True, [head(**STREAM), for_ever(chunk(b"data: {}\n\n" * 500))]),
        (True, [head(**STREAM), for_ever(chunk(EVENTS.partition(b"data: [")[0] * 100))]),
        (True, [head(Content_Type="application/json"), for_ever(b" " * 9000)]),
    ],
)
def test_a_body_without_end_is_one_bad_response(stream, answer):
    """Sent once: to ask again would bring it again, and be paid for again."""
    (attempt,), server = asked(*answer, stream=stream)
    assert (attempt.status, attempt.error.type) == ("failed", ErrorType.BAD_RESPONSE)
    assert attempt.error.message == "the body is larger than 262,144 bytes, which no answer of a model is"
    assert (attempt.retries, len(server.requests)) == (0, 1)


def test_a_bomb_does_not_fill_the_memory():
    """What a body becomes is counted while it is inflated, not after."""
    bomb = gzip.compress(bytes(512 * LIMIT), 1)
    tracemalloc.start()
    try:
        asked(head(Content_Encoding="gzip", Content_Length=len(bomb)), bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 128 * LIMIT + 4 * len(bomb)


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "compress", "gzip, br", "x" * 5000])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding):
    """Those that can inflate without measure are not asked for; nor is one in another."""
    (attempt,), server = asked(head(Content_Encoding=encoding, Content_Length=2), b"{}", retries=0)
    assert (attempt.error.type, attempt.error.status) == (ErrorType.BAD_RESPONSE, 200)
    assert "which was not asked for" in attempt.error.message
    assert len(attempt.error.message) < 200
    assert "accept-encoding: gzip, deflate\r\n" in server.requests[0][0].lower()


def bare_deflate(text):
    deflating = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflating.compress(text) + deflating.flush()


@pytest.mark.parametrize("step", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", bare_deflate),
        ("identity", bytes),
    ],
)
def test_a_compressed_answer_is_read(encoding, encode, step):
    """Proxies compress, and the network splits anywhere; some call "deflate" what has no header of zlib."""
    sent = encode(json.dumps(WHOLE).encode())
    pieces = [sent[n : n + step] for n in range(0, len(sent), step)]
    (attempt,), server = asked(head(Content_Encoding=encoding, Content_Length=len(sent)), *pieces)
    assert (attempt.status, attempt.content) == ("success", "fine")
    assert len(server.requests) == 1


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress])
def test_a_compressed_answer_that_ends_too_early_is_no_answer(encode):
    """However whole what came of it looks: its check sum did not come."""
    sent = encode(json.dumps(WHOLE).encode())[:-4]
    (attempt,), _ = asked(head(Content_Encoding="gzip", Content_Length=len(sent)), sent, retries=0)
    assert (attempt.status, attempt.error.type) == ("failed", ErrorType.ENDPOINT_ERROR)
    assert "end too early" in attempt.error.message


def test_a_key_that_a_server_sets_as_a_cookie_is_not_sent_back():
    """A request does not depend on what was answered before."""
    text = json.dumps(WHOLE).encode()
    _, server = asked(head(Set_Cookie="a=b; Path=/", Content_Length=len(text)), text, count=2)
    assert all("cookie" not in request.lower() for request, _ in server.requests)


def test_events_after_the_end_do_not_hold_the_answer():
    """The answer was whole with [DONE]; what a server goes on sending is left unread."""
    tail = chunk(b"data: {}\n\n" * 100)
    (attempt,), server = asked(head(**STREAM), chunk(EVENTS), for_ever(tail), stream=True)
    assert (attempt.status, attempt.content, len(server.requests)) == ("success", "fine", 1)


@pytest.mark.parametrize("status", [400, 500, 302])
def test_an_error_page_without_end_is_cut(status):
    """The status and the start of the page say what is wrong."""
    (attempt,), server = asked(head(status), for_ever(b"no room " * 1000), retries=1)
    assert (attempt.status, attempt.error.status) == ("failed", status)
    assert len(attempt.error.message) < 600
    assert server.sent < 64 * LIMIT


@pytest.mark.parametrize("status", [400, 503])
def test_a_compressed_error_page_is_cut(status):
    """It may be a bomb as well."""
    (attempt,), _ = asked(head(status, Content_Encoding="gzip", Content_Length=len(BOMB)), BOMB, retries=0)
    assert attempt.error.status == status


@pytest.mark.parametrize(
    "answer",
    [
        [head(**{f"X_{n}": "y" * 20 for n in range(10_000)}, Content_Length=2), b"{}"],
        [head(X="y" * 1_000_000, Content_Length=2), b"{}"],
        [b"HTTP/1.1 200 OK\r\n", for_ever(b"X: y\r\n" * 1000)],
        [b"SSH-2.0-OpenSSH_9.9\r\n"],
        [b"\x00\xff" * 500],
        [b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"],
        [head(Content_Length=len(json.dumps(WHOLE)) + 5), json.dumps(WHOLE).encode()],
        [head(Content_Encoding="gzip", Content_Length=8), b"\x1f\x8bbroken"],
        [b""],
    ],
)
def test_what_is_no_http_is_the_endpoints_fault(answer):
    """Repeated like every fault of the network, then a failed line with a reason."""
    (attempt,), server = asked(*answer, retries=1)
    assert (attempt.status, attempt.error.type) == ("failed", ErrorType.ENDPOINT_ERROR)
    assert attempt.error.message
    assert len(server.requests) == 2


def test_a_length_that_is_too_short_is_no_answer():
    """The rest of the body is not read as the answer to the next request."""
    text = json.dumps(WHOLE).encode()
    attempts, _ = asked(head(Content_Length=len(text) - 7), text, closes=False, count=3, retries=0)
    assert {one.status for one in attempts} == {"failed"}


@pytest.mark.parametrize("depth", [10, 100, 180, 250, 300, 1000, 5000, 100_000])
def test_nesting_of_any_depth_is_an_answer_or_a_bad_response(depth):
    """Whatever is kept can be written, and read back the same."""
    deep = "[" * depth + "]" * depth
    text = f'{{"choices": [{{"message": {{"content": null, "tool_calls": {deep}}}}}]}}'.encode()
    (attempt,), _ = asked(head(Content_Length=len(text)), text, retries=0)
    assert attempt.status in ("success", "failed")
    assert read_attempt(attempt.to_line().encode()) == attempt


def page(answer, url, timeout=5.0):
    async def main():
        async with ByteServer(lambda _number: answer) as server:
            endpoint = endpoint_of(server.base_url, timeout=timeout)
            try:
                return await endpoint.get_text(url.replace("ROOT", f"http://127.0.0.1:{server.port}"))
            finally:
                await endpoint.close()

    return asyncio.run(main())


@pytest.mark.parametrize("status", [200, 404])
def test_an_extra_page_without_end_is_none(status):
    """Neither bytes for ever nor drops for ever hold the run."""
    assert page(itertools.chain([head(status)], itertools.repeat(b"x" * 9000)), "ROOT/metrics") is None


def test_a_page_that_comes_drop_by_drop_times_out():
    """The timeout is for the whole of it."""
    drops = itertools.chain([head(200)], itertools.repeat(b""))
    assert page(drops, "ROOT/metrics", timeout=0.2) is None
    with pytest.raises(UserError, match=r"no whole answer within 0\.2 s"):
        page(itertools.chain([head(200)], itertools.repeat(b"")), "/models", timeout=0.2)
