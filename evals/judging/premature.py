"""Did an answer stop early? Attribution alone can tell: it sees how long the baseline's answers were."""

from collections.abc import Iterable

from ..reading.unfinished import stops_inside
from .grade import Grade


def stopped_early(wrong: Grade, rights: Iterable[Grade | None]) -> bool:
    """True when `wrong` stopped under half of every right length, inside something unfinished.

    Unfinished: nothing visible after thinking, an open code fence, or a last character after which text must
    follow. Unknown token counts answer False: what was not counted cannot be half.
    """
    if wrong.answer is None or (tokens := wrong.answer.attempt.completion_tokens) is None:
        return False
    lengths = [
        None if grade.answer is None else grade.answer.attempt.completion_tokens
        for grade in rights
        if grade is not None
    ]
    counted = [length for length in lengths if length is not None]
    if not counted or len(counted) != len(lengths) or tokens * 2 >= min(counted):
        return False
    parsed = wrong.answer.parsed
    if not parsed.content.strip():
        return bool(parsed.reasoning.strip())
    reading = wrong.answer.attempt.reading
    return stops_inside(parsed.content) if reading is None else reading.stops_inside
