"""An OpenAI-compatible server that answers at once, always the same: what is left is the client's own work.

Several processes share one port (SO_REUSEPORT), so that the client is the narrow place; `asking.py` shows it,
with a client that does nothing but send and receive.
"""

import asyncio
import json
import multiprocessing
import socket
from collections.abc import Iterator
from contextlib import contextmanager

TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
PIECES = 12
_HEAD = {"id": "quick", "created": 0, "model": "made"}
_USAGE = {"prompt_tokens": 700, "completion_tokens": 24, "total_tokens": 724}


def _whole() -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    body = json.dumps({**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _USAGE}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )


def _streamed() -> bytes:
    size = -(-len(TEXT) // PIECES)
    choices = [
        {"index": 0, "delta": {"content": TEXT[at : at + size]}, "finish_reason": None}
        for at in range(0, len(TEXT), size)
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = [{**_HEAD, "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    events.append({**_HEAD, "object": "chat.completion.chunk", "choices": [], "usage": _USAGE})
    pieces = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events] + [b"data: [DONE]\n\n"]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    )


WHOLE, STREAMED = _whole(), _streamed()
NOTHING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class _Answering(asyncio.Protocol):
    """One connection; requests come whole or in pieces, never two at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._held = transport, b""

    def data_received(self, data: bytes) -> None:
        self._held = held = self._held + data if self._held else data
        head, found, body = held.partition(b"\r\n\r\n")
        if not found:
            return
        _, _, length = head.lower().partition(b"\r\ncontent-length:")
        if len(body) < int(length.partition(b"\r\n")[0] or 0):
            return
        self._held = b""
        is_streamed = b'"stream":true' in body or b'"stream": true' in body
        self._transport.write((STREAMED if is_streamed else WHOLE) if head.startswith(b"POST") else NOTHING)


def _run(port: int) -> None:
    async def forever() -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", port))
        server = await asyncio.get_running_loop().create_server(_Answering, sock=listener, backlog=1024)
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def quick_servers(count: int = 2) -> Iterator[str]:
    """So many processes behind one address; yields the base URL."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        processes = [multiprocessing.Process(target=_run, args=(port,), daemon=True) for _ in range(count)]
        for process in processes:
            process.start()
        try:
            _wait(port)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            for process in processes:
                process.terminate()
                process.join()


def _wait(port: int) -> None:
    import time

    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server did not come up")
