"""How patient we are with an endpoint: what is worth a repeat, after how long, and when it is enough."""

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .attempt import EndpointError, ErrorType

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


class Patience:
    """The repeats of one ask.

    It ends after `retries` repeats, or when the next would start later than `retry_seconds` after the first
    failure (not the first send: a long generation that breaks off late still has its repeats).
    """

    def __init__(self, retries: int, retry_seconds: float) -> None:
        self._retries, self._retry_seconds = retries, retry_seconds
        self._first_failure: float | None = None
        self.repeats = 0

    def pause_after(self, failure: SendError, now: float) -> float | None:
        """Seconds to wait before the next send, which is thereby counted; None when it is enough.

        What the server asked for, else exponential backoff with full jitter.

        Args:
            failure: What the last send came to.
            now: A monotonic clock, in seconds.
        """
        if self._first_failure is None:
            self._first_failure = now
        pause = failure.retry_after
        if pause is None:
            longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0**self.repeats)
            pause = random.uniform(0, longest)  # noqa: S311 - jitter, no secret
        is_late = now + pause - self._first_failure > self._retry_seconds
        if not failure.is_retried or self.repeats >= self._retries or is_late:
            return None
        self.repeats += 1
        return pause


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
