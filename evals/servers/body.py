"""The body of an HTTP answer, read in pieces and counted: no server can fill our memory.

Everything is read decoded, so a small compressed body is counted by what it becomes. zlib makes at most about
1,000 bytes of one, so what a piece of the network becomes is bounded too; other encodings, and one on top of
another, have no such bound: they are not asked for, and refused.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from .response import BadResponseError

# The longest answers of models are a few MiB; a page of metrics is less.
LARGEST_BODY_BYTES = 64 * 1024 * 1024
LARGEST_ERROR_BYTES = 64 * 1024
ENCODINGS = "gzip, deflate"
_READ_ENCODINGS = frozenset(("", "identity", "gzip", "x-gzip", "deflate"))


class HttpResponse(Protocol):
    """What is used of the client's response; its class differs by the client's version."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by name in any case."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The decoded body, piece by piece."""
        ...


class BodyTooLargeError(BadResponseError):
    """The body has no end, or one too far away; asking again would bring it again."""


class BodyBrokenError(BadResponseError):
    """The connection ended before the body did."""


class RefusedError(Exception):
    """An HTTP status that is no success, with the start of its body."""

    def __init__(self, status: int, headers: Mapping[str, str], text: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        self.text = text


async def pieces_of(response: HttpResponse) -> AsyncIterator[bytes]:
    """Give the bytes of a body as they come.

    Raises:
        BodyBrokenError: It broke off.
        BadResponseError: Its encoding is none that was asked for.
        BodyTooLargeError: It is larger than any answer.
        TimeoutError: Nothing came for too long.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _READ_ENCODINGS:
        raise BadResponseError(f"the body is encoded as {encoding[:100]!r}, which was not asked for")
    size = 0
    async for piece in _unbroken(response.aiter_bytes()):
        size += len(piece)
        if size > LARGEST_BODY_BYTES:
            raise BodyTooLargeError(
                f"the body is larger than {LARGEST_BODY_BYTES:,} bytes, which no answer of a model is"
            )
        yield piece


async def _unbroken(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            yield piece
    except Exception as error:
        # The client's HTTP library raises errors of its own here, of classes that differ by its version.
        if "Timeout" in type(error).__name__:
            raise TimeoutError from error
        raise BodyBrokenError(f"the stream broke off: {innermost(error)}") from error


async def read_text(response: HttpResponse) -> str:
    """Read a whole body; raises as `pieces_of`, but for a ConnectionError where it broke off."""
    try:
        return b"".join([piece async for piece in pieces_of(response)]).decode("utf-8", "replace")
    except BodyBrokenError as error:
        # Of a stream it may be the answer that broke off; here it is the connection.
        raise ConnectionError(str(error)) from error


async def raise_refusal(response: HttpResponse) -> None:
    """Do nothing for a success, else raise; the client would read the body of a refusal to its end.

    Raises:
        RefusedError: With as much of the body as says what is wrong.
    """
    if response.status_code < 300:
        return
    pieces: list[bytes] = []
    try:
        async for piece in pieces_of(response):
            pieces.append(piece)
            if sum(map(len, pieces)) > LARGEST_ERROR_BYTES:
                break
    except BadResponseError:
        pass  # the status stands, whatever became of its page
    text = b"".join(pieces)[:LARGEST_ERROR_BYTES].decode("utf-8", "replace")
    raise RefusedError(response.status_code, response.headers, text)


def innermost(error: BaseException) -> str:
    """The innermost reason of a connection error: "Connection refused", not "Connection error."."""
    seen = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return f"{type(seen).__name__}: {seen}" if str(seen) else type(seen).__name__
