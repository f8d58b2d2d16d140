"""How patient we are with an endpoint: pauses, their bounds, and when it is enough."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from draftproof.evals.attempt import EndpointError, ErrorType
from draftproof.evals.servers import patience
from draftproof.evals.servers.patience import SendError, patiently, read_retry_after
from draftproof.evals.stopping import Stopping


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
        ("-1", None),
        ("", None),
        ("soon", None),
        ("٣", None),
        ("1.2.3", None),
        (".", None),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 21 Oct 2015 07:28:00 +9999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    """RFC 9110: seconds, or a date; anything else says nothing and backoff decides."""
    assert read_retry_after(value) == seconds


def test_retry_after_a_date_to_come_is_the_time_until_then():
    """A date is counted from now."""
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 95 < read_retry_after(moment) <= 100


def failure(*, is_retried=True, retry_after=None):
    return SendError(
        EndpointError(ErrorType.ENDPOINT_ERROR, 500, "x"), is_retried=is_retried, retry_after=retry_after
    )


class _Clock(Stopping):
    """Time that only waiting moves."""

    def __init__(self, now=0.0):
        super().__init__()
        self.now, self.pauses = now, []

    async def wait(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


def pauses_of(monkeypatch, failures, retries, retry_seconds, *, first_send_lasts=0.0):
    """The pauses between sends that fail one after another as given (the last failure for ever)."""

    async def fail():
        clock = _Clock()
        monkeypatch.setattr(patience.time, "monotonic", lambda: clock.now)
        sends = 0

        async def send():
            nonlocal sends
            clock.now += first_send_lasts if not sends else 0.0
            sends += 1
            raise failures[min(sends, len(failures)) - 1]

        with pytest.raises(SendError):
            await patiently(send, retries, retry_seconds, clock)
        assert sends == len(clock.pauses) + 1
        return clock.pauses

    return asyncio.run(fail())


def test_pauses_grow_and_are_bounded(monkeypatch):
    """Exponential backoff with full jitter, never over twenty seconds."""
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.5)
    pauses = pauses_of(monkeypatch, [failure()], 8, 1e9)
    longest = [0.5, 1, 2, 4, 8, 16, 20, 20]
    assert len(pauses) == len(longest)
    assert all(0 <= pause <= most for pause, most in zip(pauses, longest, strict=True))
    assert len(set(pauses)) > 1


def test_patience_is_counted_from_the_first_failure(monkeypatch):
    """A generation that breaks off after an hour still has its repeats."""
    patient = [failure(retry_after=10)]
    assert pauses_of(monkeypatch, patient, 99, 60, first_send_lasts=3600.0) == [10] * 6
    assert pauses_of(monkeypatch, [failure(is_retried=False, retry_after=0)], 5, 60) == []
