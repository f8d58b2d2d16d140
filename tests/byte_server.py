"""A server on 127.0.0.1 that answers every request with bytes of a test's choosing, HTTP or not."""

import asyncio
import contextlib
import itertools

# The client went, in the middle of a request or not; or the test is over.
_ENDS = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)


class ByteServer:
    """Answers one request after another on each connection; an async context manager.

    Args:
        answers: Called with the number of the request, from 0; gives the pieces to send, perhaps for ever.
        closes: Whether a connection ends after its first answer.
        tls: The server's SSL context.
    """

    def __init__(self, answers, *, closes=True, tls=None):
        self.requests, self.sent = [], 0
        self._tasks = set()
        self._answers, self._closes, self._tls = answers, closes, tls

    @property
    def port(self):
        return self._server.sockets[0].getsockname()[1]

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        self._tasks.add(asyncio.current_task())
        with contextlib.closing(writer), contextlib.suppress(*_ENDS):
            for _ in itertools.count():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = [line for line in head.lower().split("\r\n") if line.startswith("content-length:")]
                body = await reader.readexactly(int(length[0].split(":")[1]) if length else 0)
                self.requests.append((head, body))
                for piece in self._answers(len(self.requests) - 1):
                    writer.write(piece)
                    await writer.drain()
                    self.sent += len(piece)
                    await asyncio.sleep(0)
                if self._closes:
                    break


def head(status=200, **headers):
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} Scripted", *lines, "", ""]).encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)
