"""A scripted OpenAI-compatible server on 127.0.0.1: every answer, and every fault, is what a test says."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import EllipsisType
from typing import Any, Self

MODEL = "scripted"


@dataclass(frozen=True, slots=True)
class ScriptedRequest:
    """One POST as it arrived.

    `number` counts POSTs from 0 in order of arrival; `path` has no query; `headers` have lower-case names;
    `body` is the JSON that was sent.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Fault(Enum):
    """What happens to a reply on its way."""

    NONE = "none"
    RESET = "reset"  # half of the body, then the connection is reset
    BREAK = "break"  # half of the body, then the connection is closed in order
    HANG = "hang"  # nothing, until the client gives up or the server closes


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One HTTP answer; a reply with `pieces` is sent in chunks, one a piece, as a stream is."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pieces: tuple[bytes, ...] = ()
    delay_s: float = 0.0
    fault: Fault = Fault.NONE


Script = Callable[[ScriptedRequest], ScriptedReply]


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> ScriptedReply:
    """Answer with a JSON value."""
    return ScriptedReply(
        status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})}
    )


def text_reply(text: str, status: int = 200, content_type: str = "text/plain") -> ScriptedReply:
    """Answer with a text, as `/metrics` does."""
    return ScriptedReply(status, text.encode(), {"Content-Type": content_type})


def tool_call(name: str, arguments: Any, call_id: str = "call_1") -> dict[str, Any]:
    """Return one member of `message.tool_calls`; a string of arguments is sent as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def answer(
    content: str | None = None,
    finish_reason: str | EllipsisType | None = "stop",
    *,
    prompt_tokens: int = 20,
    completion_tokens: int = 10,
    tool_calls: Sequence[Mapping[str, Any]] | None = None,
    reasoning: str | None = None,
    timings: Mapping[str, Any] | None = None,
    usage: bool = True,
    **members: Any,
) -> ScriptedReply:
    """Answer a chat completion.

    Args:
        content: The visible text, or null.
        finish_reason: As the server would say it; None is null, `...` leaves the member out.
        prompt_tokens: Counted in `usage`.
        completion_tokens: Counted in `usage`.
        tool_calls: What `tool_call` makes, or anything else.
        reasoning: Sent as `reasoning_content`.
        timings: As llama.cpp reports them (`draft_n`, `draft_n_accepted`).
        usage: False leaves `usage` out.
        **members: Members of the response itself, as `system_fingerprint`.
    """
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if tool_calls is not None:
        message["tool_calls"] = list(tool_calls)
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    return _completion(
        "chat.completion",
        {"index": 0, "message": message, "finish_reason": finish_reason},
        (prompt_tokens, completion_tokens) if usage else None,
        timings,
        members,
    )


def text_answer(
    text: str,
    finish_reason: str | EllipsisType | None = "stop",
    *,
    prompt_tokens: int = 20,
    completion_tokens: int = 10,
    timings: Mapping[str, Any] | None = None,
    usage: bool = True,
    **members: Any,
) -> ScriptedReply:
    """Answer a text completion (`/v1/completions`); the arguments are those of `answer`."""
    return _completion(
        "text_completion",
        {"index": 0, "text": text, "finish_reason": finish_reason},
        (prompt_tokens, completion_tokens) if usage else None,
        timings,
        members,
    )


def _completion(
    kind: str,
    choice: dict[str, Any],
    tokens: tuple[int, int] | None,
    timings: Mapping[str, Any] | None,
    members: Mapping[str, Any],
) -> ScriptedReply:
    body: dict[str, Any] = {"id": "scripted-1", "object": kind, "created": 0, "model": MODEL}
    body["choices"] = [{name: value for name, value in choice.items() if value is not ...}]
    if tokens is not None:
        body["usage"] = _usage(*tokens)
    if timings is not None:
        body["timings"] = dict(timings)
    return json_reply({**body, **members})


def streamed(
    deltas: Sequence[Mapping[str, Any]],
    finish_reason: str | None = "stop",
    *,
    prompt_tokens: int = 20,
    completion_tokens: int = 10,
    usage: bool = True,
    done: bool = True,
) -> ScriptedReply:
    """Answer a chat completion as server-sent events, one delta an event.

    `usage` adds the closing event that `stream_options` asks for; without `done` the terminator is missing,
    as in a stream that ended early.
    """
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": dict(delta), "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish_reason})
    head = {"id": "scripted-1", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
    events: list[dict[str, Any]] = [{**head, "choices": [choice]} for choice in choices]
    if usage:
        events.append({**head, "choices": [], "usage": _usage(prompt_tokens, completion_tokens)})
    pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    if done:
        pieces.append(b"data: [DONE]\n\n")
    return ScriptedReply(200, b"", {"Content-Type": "text/event-stream"}, tuple(pieces))


def _usage(prompt_tokens: int, completion_tokens: int) -> dict[str, int]:
    total = prompt_tokens + completion_tokens
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": total}


def error(status: int, message: str = "scripted error", *, retry_after: str | None = None) -> ScriptedReply:
    """Refuse in the form of OpenAI's errors."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return json_reply({"error": {"message": message, "type": "scripted", "code": status}}, status, headers)


def html(status: int = 502) -> ScriptedReply:
    """Answer with a page, as a proxy in front of a server does."""
    return text_reply(f"<html><body><h1>{status}</h1></body></html>", status, "text/html")


def not_json() -> ScriptedReply:
    """Answer 200 with a body that says JSON and is none."""
    return ScriptedReply(200, b'{"choices": [', {"Content-Type": "application/json"})


def without_choices() -> ScriptedReply:
    """Answer 200 with JSON that is no completion."""
    return json_reply({"object": "chat.completion", "model": MODEL})


def reset(reply: ScriptedReply | None = None) -> ScriptedReply:
    """Reset the connection half-way through a reply."""
    return replace(reply or answer("never whole"), fault=Fault.RESET)


def broken_off(reply: ScriptedReply | None = None) -> ScriptedReply:
    """Close the connection half-way through a reply."""
    return replace(reply or answer("never whole"), fault=Fault.BREAK)


def hang() -> ScriptedReply:
    """Never answer."""
    return ScriptedReply(fault=Fault.HANG)


def delayed(reply: ScriptedReply, seconds: float) -> ScriptedReply:
    """Answer late; closing the server does not wait for it."""
    return replace(reply, delay_s=seconds)


def in_turn(*replies: ScriptedReply) -> Script:
    """Return a script that gives one reply a request, in order of arrival, and the last one ever after."""
    return lambda request: replies[min(request.number, len(replies) - 1)]


class ScriptedServer:
    """The server, as a context manager; it answers in threads of its own.

    POSTs go to the script, GETs to `pages`; `/v1/models` answers by itself, any other page with 404.

    Args:
        reply: Called once for every POST that has no page, from many threads at once.
        max_model_len: Told by `/v1/models`, as vLLM does; None leaves it out.
        pages: Replies by path (`/props`, `/slots`, `/metrics`, `/tokenize`), or functions that make them.
    """

    def __init__(
        self,
        reply: Script,
        *,
        max_model_len: int | None = None,
        pages: Mapping[str, ScriptedReply | Callable[[], ScriptedReply]] | None = None,
    ) -> None:
        card: dict[str, Any] = {"id": MODEL, "object": "model", "owned_by": "test"}
        if max_model_len is not None:
            card["max_model_len"] = max_model_len
        self.reply = reply
        self.pages = {"/v1/models": json_reply({"object": "list", "data": [card]}), **(pages or {})}
        self.requests: list[ScriptedRequest] = []
        self.pages_read: list[str] = []
        self.script_errors: list[Exception] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = _Http(self)
        # A short poll, since closing a server waits for it.
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def root_url(self) -> str:
        """The address of the server itself, where `/props`, `/slots` and `/metrics` are."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def connections(self) -> int:
        """How many connections were opened so far."""
        return self._http.connections

    @property
    def base_url(self) -> str:
        """The address of the OpenAI interface."""
        return f"{self.root_url}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.close_connections()
        self._http.server_close()
        self._thread.join()
        if self.script_errors:
            # A mistake of the script must fail its test, not look like a server's 500.
            raise self.script_errors[0]

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> ScriptedReply:
        """Return the reply to one request, and log the request."""
        page = self.pages.get(path)
        if page is not None or method != "POST":
            with self._lock:
                self.pages_read.append(path)
            if page is None:
                return error(404, f"no page {path}")
            return page if isinstance(page, ScriptedReply) else page()
        with self._lock:
            request = ScriptedRequest(len(self.requests), path, headers, json.loads(body))
            self.requests.append(request)
        return self.reply(request)


class _Http(ThreadingHTTPServer):
    """The listening socket, and every connection that is still open."""

    daemon_threads = False  # so that closing joins them, and no socket outlives its test
    request_queue_size = 128

    def __init__(self, scripted: ScriptedServer) -> None:
        self.scripted = scripted
        self._open: set[socket.socket] = set()
        self.connections = 0
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
            self.connections += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Wake every thread that waits for a kept-alive client."""
        with self._open_lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # the client was faster
                    continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that gave up is what a test wanted."""


class _Connection(BaseHTTPRequestHandler):
    """One client's connection, kept alive between its requests."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Stay silent."""

    def _answer(self, body: bytes) -> None:
        scripted = self.server.scripted
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            reply = scripted.respond(self.command, self.path.partition("?")[0], headers, body)
        except Exception as problem:  # noqa: BLE001 - raised again when the server closes
            scripted.script_errors.append(problem)
            reply = error(500, f"the script failed: {problem!r}")
        if reply.fault is Fault.HANG:
            scripted.closing.wait()
            self.close_connection = True
            return
        scripted.closing.wait(reply.delay_s)
        self._send(reply)

    def _send(self, reply: ScriptedReply) -> None:
        whole = reply.fault is Fault.NONE
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.pieces:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        pieces = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in reply.pieces] or [reply.body]
        if not whole:
            self.close_connection = True
            pieces = pieces[: len(pieces) // 2] or [pieces[0][: len(pieces[0]) // 2]]
        for piece in pieces:
            self.wfile.write(piece)
        if whole and reply.pieces:
            self.wfile.write(b"0\r\n\r\n")
        if reply.fault is Fault.RESET:
            # A linger of no seconds turns closing into a reset, if nothing shuts the socket down before.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()
