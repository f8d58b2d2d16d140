"""The clock of a run: one for all arms, and never streams whose pieces came all at once."""

from dataclasses import replace

import pytest
from draftproof.evals.attempt import Timing
from draftproof.evals.comparing.clock import Clock, choose_clock
from draftproof.evals.comparing.timed_answer import time_answer
from draftproof.evals.plan import Mode

from ..build import RIGHT, attempt


def streamed(*, began=100.0, first_piece=150.0, took=500.0, chunks=20, mode=Mode.NATIVE, tokens=41):
    one = attempt(RIGHT, tokens=tokens, mode=mode)
    return replace(
        one, stream=True, first_event_ms=began, ttft_ms=first_piece, duration_ms=took, chunks=chunks
    )


BURST = streamed(began=499.0)
TIMED = replace(streamed(), timing=Timing(predicted_ms=200.0))


@pytest.mark.parametrize(
    ("by_arm", "clock"),
    [
        ([], None),
        ([[], []], None),
        ([[TIMED], [TIMED]], Clock.SERVER),
        ([[TIMED], [streamed()]], Clock.STREAM),
        ([[streamed()], []], Clock.STREAM),
        ([[streamed()], [attempt(RIGHT, tokens=40)]], Clock.WHOLE),
        ([[streamed()] * 9 + [BURST], [streamed()]], Clock.STREAM),
        ([[streamed()] * 8 + [BURST], [streamed()]], Clock.WHOLE),
        # An empty stream of one token has nothing to come at once.
        ([[streamed(began=499.9, tokens=1)]], Clock.STREAM),
        # The whole answer in one piece, long after its first event: held back, and still timed.
        ([[streamed(chunks=1, first_piece=499.9)]], Clock.STREAM),
        # Lines of earlier versions know no first event: what a parser held back cannot be told.
        ([[streamed(began=None)]], Clock.WHOLE),
        ([[streamed(began=None, mode=Mode.PROMPTED)]], Clock.STREAM),
    ],
)
def test_all_arms_have_one_clock(by_arm, clock):
    """The best that every arm has; a ratio of two clocks would mean nothing."""
    assert choose_clock([[time_answer(one, 0, None) for one in answers] for answers in by_arm]) is clock


@pytest.mark.parametrize(
    ("clock", "rate"),
    [(Clock.SERVER, 41 / 0.2), (Clock.STREAM, 40 / 0.4), (Clock.WHOLE, 41 / 0.5)],
)
def test_a_rate_counts_the_tokens_that_its_clock_saw(clock, rate):
    """A stream's clock starts with the first token; a held back first piece does not shorten it."""
    assert clock.rate(time_answer(TIMED, 0, None)) == pytest.approx(rate)


@pytest.mark.parametrize("clock", list(Clock))
def test_without_tokens_there_is_no_rate(clock):
    """Nor where the clock did not run."""
    for nothing in ({"usage": None}, {"duration_ms": 0.0, "first_event_ms": 0.0, "timing": None}):
        assert clock.rate(time_answer(replace(TIMED, **nothing), 0, None)) is None
