"""Whose clock measures how long the tokens of an answer took: one for all arms, or no ratio holds."""

from collections.abc import Collection
from enum import StrEnum

from .timed_answer import TimedAnswer

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

    def generation_ms(self, answer: TimedAnswer) -> float | None:
        """How long the tokens took (but by `WHOLE`, from the first one on); None where it is not known."""
        match self:
            case Clock.SERVER:
                return answer.predicted_ms
            case Clock.STREAM:
                return None if answer.began_ms is None else answer.duration_ms - answer.began_ms
            case Clock.WHOLE:
                return answer.duration_ms

    def rate(self, answer: TimedAnswer) -> float | None:
        """Tokens per second; the first token of a stream came with the prompt."""
        tokens, ms = answer.tokens, self.generation_ms(answer)
        if self is Clock.STREAM:
            tokens -= 1
        return tokens / ms * 1000 if ms and ms > 0 and tokens > 0 else None


def choose_clock(by_arm: Collection[Collection[TimedAnswer]]) -> Clock | None:
    """The best clock that every arm has; None where no arm has an answer.

    Args:
        by_arm: The answers of each arm.
    """
    answered = [answers for answers in by_arm if answers]
    if not answered:
        return None
    if all(one.predicted_ms for answers in answered for one in answers):
        return Clock.SERVER
    bursts = (sum(map(_is_burst, answers)) / len(answers) for answers in answered)
    return Clock.STREAM if all(share <= _MOST_BURSTS for share in bursts) else Clock.WHOLE


def _is_burst(answer: TimedAnswer) -> bool:
    """Whether the pieces came all at once (or none was seen to come), and their times say nothing."""
    if answer.began_ms is None:
        return True
    pieces = max((answer.chunks or 1) - 1, 1)
    return answer.tokens > 1 and answer.duration_ms - answer.began_ms < _LEAST_PIECE_MS * pieces
