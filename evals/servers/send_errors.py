"""What can go wrong with one send, told apart: the network, the server, or an answer that is none."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator

from ..attempt import EndpointError, ErrorType
from .body import BodyTooLargeError, RefusedError, innermost
from .chat_stream import StreamedError
from .event_stream import EventTooLongError
from .patience import SendError, is_worth_repeating, read_retry_after
from .response import BadResponseError, error_message, error_type, glimpse

DRAIN_SECONDS = 1.0
DRAIN_BYTES = 64 * 1024


@contextlib.asynccontextmanager
async def as_send_errors(seconds: float) -> AsyncGenerator[None]:
    """Turn whatever goes wrong with one send into a `SendError`; the whole of it may take that long."""
    import aiohttp

    try:
        # The client's own timeout is for silence; a body that comes drop by drop needs one for the whole.
        async with asyncio.timeout(seconds):
            yield
    except RefusedError as error:
        raise _status_error(error) from None
    except TimeoutError:
        message = f"no whole answer within {seconds:g} s"
        raise SendError(EndpointError(ErrorType.TIMEOUT, None, message), is_retried=True) from None
    except StreamedError as error:
        kind = error_type(error.status or 500, error.text)
        raise SendError(
            EndpointError(kind, error.status, str(error)),
            is_retried=is_worth_repeating(error.status or 500, kind),
        ) from None
    except (BadResponseError, EventTooLongError) as error:
        # What was too large once is paid for, and would be too large again.
        is_endless = isinstance(error, BodyTooLargeError | EventTooLongError)
        raise SendError(
            EndpointError(ErrorType.BAD_RESPONSE, 200, str(error)), is_retried=not is_endless
        ) from None
    except (aiohttp.ClientError, OSError) as error:
        raise SendError(
            EndpointError(ErrorType.ENDPOINT_ERROR, None, innermost(error)), is_retried=True
        ) from None


async def drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what little follows the last event, so that the connection can be used again."""
    size = 0
    with contextlib.suppress(TimeoutError, BadResponseError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for piece in pieces:
                size += len(piece)
                if size > DRAIN_BYTES:
                    return


def _status_error(error: RefusedError) -> SendError:
    kind = error_type(error.status, error.text)
    message = error_message(error.text)
    if 300 <= error.status < 400:
        # Without user and query: a login page is often told where to send whom back, with a token.
        place = error.headers.get("location", "nowhere").partition("?")[0]
        where = glimpse(re.sub(r"//[^/]*@", "//", place))
        message = f"redirects to {where}, which is not followed; base_url must name the server itself"
    return SendError(
        EndpointError(kind, error.status, message),
        is_retried=is_worth_repeating(error.status, kind),
        retry_after=read_retry_after(error.headers.get("retry-after")),
    )
