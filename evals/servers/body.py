"""The body of an HTTP answer, read in pieces and counted: no server can fill our memory.

Everything is read decoded, so a small compressed body is counted by what it becomes. zlib makes at most about
1,000 bytes of one, so what a piece of the network becomes is bounded too; other encodings, and one on top of
another, have no such bound: they are not asked for, and refused.
"""

import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING

from .response import BadResponseError

if TYPE_CHECKING:
    from aiohttp import ClientResponse

# The longest answers of models are a few MiB; a page of metrics is less.
LARGEST_BODY_BYTES = 64 * 1024 * 1024
LARGEST_ERROR_BYTES = 64 * 1024
ENCODINGS = "gzip, deflate"
# What is inflated at once: zlib makes up to a thousand bytes of one.
INFLATED_AT_ONCE_BYTES = 256 * 1024
_PLAIN = frozenset(("", "identity"))
_DEFLATED = frozenset(("gzip", "x-gzip", "deflate"))
_HEADER_BYTES = 2  # by which zlib knows its own
_ANY_HEADER = 32 + zlib.MAX_WBITS  # that of gzip or of zlib, as zlib finds it


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


async def pieces_of(response: "ClientResponse") -> AsyncIterator[bytes]:
    """Give the bytes of a body as they come, decoded.

    Raises:
        BodyBrokenError: It broke off.
        BadResponseError: Its encoding is none that was asked for.
        BodyTooLargeError: It is larger than any answer.
        TimeoutError: Nothing came for too long.
    """
    from aiohttp import ClientError

    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _PLAIN and encoding not in _DEFLATED:
        raise BadResponseError(f"the body is encoded as {encoding[:100]!r}, which was not asked for")
    inflated = _Inflated(encoding) if encoding in _DEFLATED else None
    size = 0
    try:
        # Empty at the end, and only there.
        while piece := await response.content.readany():
            for part in (piece,) if inflated is None else inflated.feed(piece):
                size += len(part)
                if size > LARGEST_BODY_BYTES:
                    raise BodyTooLargeError(
                        f"the body is larger than {LARGEST_BODY_BYTES:,} bytes, which no answer of a model is"
                    )
                yield part
        if inflated is not None:
            inflated.close()
    except TimeoutError:
        raise
    except (ClientError, OSError, zlib.error) as error:
        raise BodyBrokenError(f"the stream broke off: {innermost(error)}") from error


class _Inflated:
    """Inflates a body piece by piece, never much of it at once."""

    def __init__(self, encoding: str) -> None:
        self._zlib = zlib.decompressobj(_ANY_HEADER)
        self._may_be_bare = encoding == "deflate"
        self._held = b""
        self._has_begun = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Give what a piece becomes; what stands after the end of the compressed data is left out."""
        self._has_begun = True
        piece, self._held = self._held + piece, b""
        if self._may_be_bare and len(piece) < _HEADER_BYTES:
            self._held = piece
            return
        while piece and not self._zlib.eof:
            try:
                part = self._zlib.decompress(piece, INFLATED_AT_ONCE_BYTES)
            except zlib.error:
                if not self._may_be_bare:
                    raise
                # Some servers call "deflate" the data of RFC 1951 without the header of zlib.
                self._zlib, part = zlib.decompressobj(-zlib.MAX_WBITS), b""
            else:
                piece = self._zlib.unconsumed_tail
            self._may_be_bare = False
            if part:
                yield part

    def close(self) -> None:
        """Say that the body is over.

        Raises:
            zlib.error: The compressed data are not.
        """
        if self._has_begun and not self._zlib.eof:
            raise zlib.error("the compressed data end too early")


async def read_text(response: "ClientResponse") -> str:
    """Read a whole body; raises as `pieces_of`, but for a ConnectionError where it broke off."""
    try:
        return b"".join([piece async for piece in pieces_of(response)]).decode("utf-8", "replace")
    except BodyBrokenError as error:
        # Of a stream it may be the answer that broke off; here it is the connection.
        raise ConnectionError(str(error)) from error


async def raise_refusal(response: "ClientResponse") -> None:
    """Do nothing for a success, else raise; the client would read the body of a refusal to its end.

    Raises:
        RefusedError: With as much of the body as says what is wrong.
    """
    if response.status < 300:
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
    raise RefusedError(response.status, response.headers, text)


def innermost(error: BaseException) -> str:
    """The innermost reason of a connection error: "Connection refused", not "Connection error."."""
    seen = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return f"{type(seen).__name__}: {seen}" if str(seen) else type(seen).__name__
