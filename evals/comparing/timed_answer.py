"""How long first answers took, and what they are made of: all that speed is measured from.

A run has millions, so they are kept as numbers in a row and not as attempts.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from math import isnan, nan
from typing import NamedTuple

from ...parsers.result import Parsed
from ..attempt import Attempt, Drafts
from ..plan import Mode


class Kind(StrEnum):
    """What an answer is made of: drafting lives on repetition, and calls repeat more than prose."""

    CALLS = "calls"
    CODE = "code"
    PROSE = "prose"


class TimedAnswer(NamedTuple):
    """A first answer without its texts; what nobody measured is None.

    `position` is the place in the order of sending in its arm, `start` which start of the server it came
    after (from 0), `tokens` what was generated (0 where nobody counted). `began_ms` is when the first token
    was there, and `predicted_ms` the server's own time for the tokens.
    """

    position: int
    start: int
    tokens: int
    duration_ms: float
    ttft_ms: float | None
    began_ms: float | None
    predicted_ms: float | None
    chunks: int | None
    drafts: Drafts | None
    kind: Kind | None


def time_answer(attempt: Attempt, start: int, parsed: Parsed | None) -> TimedAnswer:
    """The times of an attempt; `parsed` is what its text was read as, if it was."""
    return TimedAnswer(
        position=attempt.index,
        start=start,
        tokens=attempt.completion_tokens or 0,
        duration_ms=attempt.duration_ms,
        ttft_ms=attempt.ttft_ms,
        began_ms=_began_ms(attempt),
        predicted_ms=None if attempt.timing is None else attempt.timing.predicted_ms,
        chunks=attempt.chunks,
        drafts=attempt.spec,
        kind=None if parsed is None else _kind(parsed),
    )


@dataclass(slots=True)
class TimedAnswers:
    """Timed answers of one arm; `numbers` has a row of 96 bytes of each, NaN where nobody measured."""

    numbers: "array[float]" = field(default_factory=lambda: array("d"))

    def append(self, one: TimedAnswer) -> None:
        """Add an answer."""
        drafts = one.drafts
        told = (drafts.draft_tokens, drafts.accepted_tokens, drafts.steps) if drafts else (None, None, None)
        kind = None if one.kind is None else _KINDS.index(one.kind)
        self.numbers.extend(nan if value is None else value for value in (*one[:-2], *told, kind))

    def add(self, other: "TimedAnswers") -> None:
        """Add later answers."""
        self.numbers.extend(other.numbers)

    def __len__(self) -> int:
        return len(self.numbers) // _ROW

    def __iter__(self) -> Iterator[TimedAnswer]:
        for at in range(0, len(self.numbers), _ROW):
            row = self.numbers[at : at + _ROW]
            (
                position,
                start,
                tokens,
                duration,
                ttft,
                began,
                predicted,
                chunks,
                drafted,
                accepted,
                steps,
                kind,
            ) = row
            yield TimedAnswer(
                int(position),
                int(start),
                int(tokens),
                duration,
                _known(ttft),
                _known(began),
                _known(predicted),
                _count(chunks),
                None if isnan(drafted) else Drafts(int(drafted), int(accepted), _count(steps)),
                None if isnan(kind) else _KINDS[int(kind)],
            )


# Numbers of an answer: its fields, drafts as three.
_ROW = len(TimedAnswer._fields) + 2
_KINDS = tuple(Kind)


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _count(value: float) -> int | None:
    return None if isnan(value) else int(value)


def _began_ms(attempt: Attempt) -> float | None:
    """When the first token was there; a server's parser may have held its piece back, but not its event."""
    if attempt.first_event_ms is not None or attempt.mode is Mode.NATIVE:
        return attempt.first_event_ms
    return attempt.ttft_ms


def _kind(parsed: Parsed) -> Kind:
    if parsed.calls or parsed.open:
        return Kind.CALLS
    return Kind.CODE if "```" in parsed.content else Kind.PROSE
