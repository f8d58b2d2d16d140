"""How patient we are with an endpoint: what is worth a repeat, after how long, and when it is enough."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from ..attempt import EndpointError, ErrorType
from ..stopping import Stopping

if TYPE_CHECKING:
    import tenacity

_T = TypeVar("_T")

RETRIED_STATUSES = frozenset((408, 409, 429))
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 20.0


class SendError(Exception):
    """One send that brought no answer; `retry_after` is what the server asked us to wait, in seconds."""

    def __init__(self, error: EndpointError, *, is_retried: bool, retry_after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.is_retried = is_retried
        self.retry_after = retry_after


async def patiently(
    send: Callable[[], Awaitable[_T]], retries: int, retry_seconds: float, stopping: Stopping
) -> _T:
    """Send, and send again while that may help; the last failure is raised when it is enough.

    It is after `retries` repeats, or when the next would start later than `retry_seconds` after the first
    failure (not the first send: a long generation that breaks off late still has its repeats), or when the
    run is to end. Between sends: what the server asked for, else exponential backoff with full jitter.

    Raises:
        SendError: What the last send came to.
    """
    try:
        return await send()
    except SendError as failure:
        if not failure.is_retried:
            raise
        # Nearly every first send brings an answer, and tenacity costs more than sending: it begins here.
        return await _Repeats(send, failure, retries, retry_seconds, stopping).run()


class _Repeats(Generic[_T]):
    """The sends after a first one that failed; to tenacity that failure is the first attempt."""

    def __init__(
        self,
        send: Callable[[], Awaitable[_T]],
        failure: SendError,
        retries: int,
        retry_seconds: float,
        stopping: Stopping,
    ) -> None:
        self._send, self._last, self._stopping = send, failure, stopping
        self._retries, self._retry_seconds = retries, retry_seconds
        self._first_failure = time.monotonic()
        self._is_told = False

    async def run(self) -> _T:
        import tenacity

        return await tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, SendError) and error.is_retried
            ),
            wait=_pause,
            stop=self._is_enough,
            sleep=self._stopping.wait,
            reraise=True,
        )(self._attempt)

    async def _attempt(self) -> _T:
        is_first, self._is_told = not self._is_told, True
        if is_first or self._stopping.is_set:  # woken from its pause: a repeat would be a new send
            raise self._last
        try:
            return await self._send()
        except SendError as failure:
            self._last = failure
            raise

    def _is_enough(self, state: "tenacity.RetryCallState") -> bool:
        is_late = time.monotonic() + state.upcoming_sleep - self._first_failure > self._retry_seconds
        return is_late or state.attempt_number > self._retries or self._stopping.is_set


def _pause(state: "tenacity.RetryCallState") -> float:
    import tenacity

    failure = state.outcome.exception() if state.outcome else None
    if isinstance(failure, SendError) and failure.retry_after is not None:
        return failure.retry_after
    return tenacity.wait_random_exponential(multiplier=FIRST_PAUSE_SECONDS, max=LONGEST_PAUSE_SECONDS)(state)


def is_worth_repeating(status: int, kind: ErrorType) -> bool:
    """True for an HTTP error that may be gone in a moment; never for a model's output that was refused."""
    if kind is ErrorType.SERVER_PARSE_FAILURE:
        return False
    return status in RETRIED_STATUSES or status >= 500


def read_retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110 10.2.3: seconds, or a date), None if unreadable.

    Fractions of a second, which the RFC has not, are sent by some and read here.
    """
    if value is None:
        return None
    if (digits := value.strip()).isascii() and digits.replace(".", "", 1).isdecimal():
        return float(digits)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
