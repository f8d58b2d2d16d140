"""What can go wrong with one send, told apart: the network, the server, or an answer that is none."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from ..attempt import EndpointError, ErrorType
from .chat_stream import StreamedError
from .event_stream import EventTooLongError
from .patience import SendError, is_worth_repeating, read_retry_after
from .response import BadResponseError, error_message, error_type

if TYPE_CHECKING:
    import openai

DRAIN_SECONDS = 1.0


@contextlib.asynccontextmanager
async def as_send_errors(seconds: float) -> AsyncGenerator[None]:
    """Turn whatever goes wrong with one send into a `SendError`; the whole of it may take that long."""
    import openai

    try:
        # The client's own timeout is for silence; a body that comes drop by drop needs one for the whole.
        async with asyncio.timeout(seconds):
            yield
    except openai.APIStatusError as error:
        raise _status_error(error) from None
    except (openai.APITimeoutError, TimeoutError):
        message = f"no whole answer within {seconds:g} s"
        raise SendError(EndpointError(ErrorType.TIMEOUT, None, message), is_retried=True) from None
    except StreamedError as error:
        kind = error_type(error.status or 500, error.text)
        raise SendError(
            EndpointError(kind, error.status, str(error)),
            is_retried=is_worth_repeating(error.status or 500, kind),
        ) from None
    except (BadResponseError, EventTooLongError) as error:
        raise SendError(EndpointError(ErrorType.BAD_RESPONSE, 200, str(error)), is_retried=True) from None
    except (openai.APIConnectionError, OSError) as error:
        raise SendError(
            EndpointError(ErrorType.ENDPOINT_ERROR, None, innermost(error)), is_retried=True
        ) from None


async def pieces_of(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Give the bytes of a stream as they come; one that breaks off is a bad response."""
    try:
        async for piece in stream:
            yield piece
    except Exception as error:
        # The client's HTTP library raises errors of its own here, of classes that differ by its version.
        if "Timeout" in type(error).__name__:
            raise TimeoutError from error
        raise BadResponseError(f"the stream broke off: {innermost(error)}") from error


async def drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what little follows the last event, so that the connection can be used again."""
    with contextlib.suppress(TimeoutError, BadResponseError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _status_error(error: "openai.APIStatusError") -> SendError:
    status, text = error.status_code, error.response.text
    kind = error_type(status, text)
    message = error_message(text)
    if 300 <= status < 400:
        place = error.response.headers.get("location", "nowhere")
        message = f"redirects to {place}, which is not followed; base_url must name the server itself"
    return SendError(
        EndpointError(kind, status, message),
        is_retried=is_worth_repeating(status, kind),
        retry_after=read_retry_after(error.response.headers.get("retry-after")),
    )


def innermost(error: BaseException) -> str:
    """The innermost reason of a connection error: "Connection refused", not "Connection error."."""
    seen = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return f"{type(seen).__name__}: {seen}" if str(seen) else type(seen).__name__
