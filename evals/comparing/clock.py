"""Whose clock measures how long the tokens of an answer took: one for all arms, or no ratio holds."""

from collections.abc import Collection
from enum import StrEnum

from ..attempt import Attempt
from ..plan import Mode

# No engine makes a forward pass in less: pieces closer together were held back and let go at once, by a proxy
# that buffers, a server's parser, or a machine with no core to spare for its HTTP side.
_LEAST_PIECE_MS = 1.0

# Of an arm's answers, the share that may come in such bursts: a median does not feel them.
_MOST_BURSTS = 0.1


class Clock(StrEnum):
    """Whose clock measured the generation."""

    SERVER = "server"  # the server's own time for the tokens
    STREAM = "client, after the first token"  # ours, from the first event of a stream to its end
    WHOLE = "client, prompt included"  # ours, from sending to the end

    def generation_ms(self, attempt: Attempt) -> float | None:
        """How long the tokens took (but by `WHOLE`, from the first one on); None where it is not known."""
        match self:
            case Clock.SERVER:
                return None if attempt.timing is None else attempt.timing.predicted_ms
            case Clock.STREAM:
                began = _began_ms(attempt)
                return None if began is None else attempt.duration_ms - began
            case Clock.WHOLE:
                return attempt.duration_ms

    def rate(self, attempt: Attempt) -> float | None:
        """Tokens per second; the first token of a stream came with the prompt."""
        tokens, ms = attempt.completion_tokens or 0, self.generation_ms(attempt)
        if self is Clock.STREAM:
            tokens -= 1
        return tokens / ms * 1000 if ms and ms > 0 and tokens > 0 else None


def choose_clock(by_arm: Collection[Collection[Attempt]]) -> Clock | None:
    """The best clock that every arm has; None where no arm has an answer.

    Args:
        by_arm: The answers of each arm.
    """
    answered = [attempts for attempts in by_arm if attempts]
    if not answered:
        return None
    if all(one.timing is not None and one.timing.predicted_ms for attempts in answered for one in attempts):
        return Clock.SERVER
    bursts = (sum(map(_is_burst, attempts)) / len(attempts) for attempts in answered)
    return Clock.STREAM if all(share <= _MOST_BURSTS for share in bursts) else Clock.WHOLE


def _began_ms(attempt: Attempt) -> float | None:
    """When the first token was there; a server's parser may have held its piece back, but not its event."""
    if attempt.first_event_ms is not None or attempt.mode is Mode.NATIVE:
        return attempt.first_event_ms
    return attempt.ttft_ms


def _is_burst(attempt: Attempt) -> bool:
    """Whether the pieces came all at once (or none was seen to come), and their times say nothing."""
    began = _began_ms(attempt)
    if began is None:
        return True
    pieces = max((attempt.chunks or 1) - 1, 1)
    return (attempt.completion_tokens or 0) > 1 and attempt.duration_ms - began < _LEAST_PIECE_MS * pieces
