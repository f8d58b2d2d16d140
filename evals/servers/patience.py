"""How patient we are with an endpoint: what is worth a repeat, after how long, and when it is enough."""

import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from ..attempt import EndpointError, ErrorType
from ..stopping import Stopping

if TYPE_CHECKING:
    import tenacity

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


def patient_sends(retries: int, retry_seconds: float, stopping: Stopping) -> "tenacity.AsyncRetrying":
    """The sends of one ask, as tenacity's attempts; the last failure is raised when they end.

    They end after `retries` repeats, or when the next would start later than `retry_seconds` after the first
    failure (not the first send: a long generation that breaks off late still has its repeats), or when the
    run is to end. Between them: what the server asked for, else exponential backoff with full jitter.
    """
    import tenacity

    first_failure: float | None = None

    def is_enough(state: tenacity.RetryCallState) -> bool:
        nonlocal first_failure
        now = time.monotonic()
        if first_failure is None:
            first_failure = now
        is_late = now + state.upcoming_sleep - first_failure > retry_seconds
        return is_late or state.attempt_number > retries or stopping.is_set

    return tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(lambda error: isinstance(error, SendError) and error.is_retried),
        wait=_pause,
        stop=is_enough,
        sleep=stopping.wait,
        reraise=True,
    )


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
