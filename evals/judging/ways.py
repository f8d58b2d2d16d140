"""The same question asked in two ways, or one generation read twice: what the server's own reading did to it.

    stream_mismatch       streamed and not streamed, the answers hold different calls
    stream_loss           the same, and the streamed answer lacks calls that the other has
    raw_differs           native and raw, the answers hold different calls: two generations, so only a note
    server_parse_drop     one generation: its text holds calls that the server did not return
    server_parse_repair   one generation: clean calls came of a text that is broken, or that holds others
    server_parse_phantom  one generation: the text holds no call, and the server returned one

They stand beside the causes and change no grade. Answers that were cut are not compared: where a stream ends
and where a parser gives up differ by design.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...parsers.result import Call, Parsed
from ...tasks.match import same_calls
from ..plan import Mode
from ..reading.answer import Answer
from .ladder import GradedSample


class WayCode(StrEnum):
    """What two readings of one question came to."""

    STREAM_MISMATCH = "stream_mismatch"
    STREAM_LOSS = "stream_loss"
    RAW_DIFFERS = "raw_differs"
    SERVER_PARSE_DROP = "server_parse_drop"
    SERVER_PARSE_REPAIR = "server_parse_repair"
    SERVER_PARSE_PHANTOM = "server_parse_phantom"


class Locus(StrEnum):
    """Where a wrong answer went wrong."""

    MODEL = "model"
    SERVER = "server"
    STREAM = "stream"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WayNote:
    """One difference, of one sample in one arm."""

    arm: str
    id: str
    code: WayCode


@dataclass(frozen=True, slots=True)
class WaySummary:
    """What was compared, per arm, and what differed."""

    notes: tuple[WayNote, ...]
    compared: dict[tuple[str, str], int]  # pairs, by arm and "stream", "raw" or "server parser"

    def count(self, arm: str, code: WayCode) -> int:
        """How many samples of an arm have that code."""
        return sum(note.arm == arm and note.code is code for note in self.notes)


def all_ways(parts: Iterable[WaySummary]) -> WaySummary:
    """What was compared of several parts of a run, in their order."""
    notes: list[WayNote] = []
    compared: Counter[tuple[str, str]] = Counter()
    for part in parts:
        notes += part.notes
        compared.update(part.compared)
    return WaySummary(tuple(notes), dict(compared))


def compare_ways(graded: Iterable[GradedSample], first_budget: int) -> WaySummary:
    """Compare what was asked in several ways, and what one generation was read as twice."""
    notes: list[WayNote] = []
    compared: Counter[tuple[str, str]] = Counter()
    for one in graded:
        for arm, ladder in one.arms.items():
            grade = ladder.get(first_budget)
            answer = None if grade is None else grade.answer
            if answer is None or answer.is_cut or answer.is_server_failure:
                continue
            for kind, code in _of_answer(answer, one.beside.get(arm, ())):
                compared[arm, kind] += 1
                if code is not None:
                    notes.append(WayNote(arm, one.sample.id, code))
    return WaySummary(tuple(notes), dict(compared))


def _of_answer(answer: Answer, beside: Sequence[Answer]) -> Iterator[tuple[str, WayCode | None]]:
    if answer.raw is not None:
        yield "server parser", server_parse(answer.raw, answer.parsed)
    for other in beside:
        if other.is_cut or other.is_server_failure:
            continue
        differs = same_calls(answer.parsed.calls, other.parsed.calls) is not None
        if other.attempt.mode is not answer.attempt.mode:
            yield "raw", WayCode.RAW_DIFFERS if differs else None
        elif differs:
            is_loss = _lacks_some(answer.parsed.calls, other.parsed.calls)
            yield "stream", WayCode.STREAM_LOSS if is_loss else WayCode.STREAM_MISMATCH
        else:
            yield "stream", None


def locate(answer: Answer, beside: Sequence[Answer]) -> tuple[Locus, WayCode | None]:
    """Say where a wrong answer went wrong, and what the server's parser did to it.

    Without a server's parser in the way (prompted, raw) it is the model. In native mode it takes the text of
    this very generation to tell; where the server hides that, nobody knows.
    """
    if answer.attempt.mode is not Mode.NATIVE:
        return Locus.MODEL, None
    if answer.raw is None:
        return Locus.UNKNOWN, None
    if (code := server_parse(answer.raw, answer.parsed)) is None:
        return Locus.MODEL, None
    whole = [one for one in beside if one.attempt.mode is Mode.NATIVE and not one.attempt.stream]
    is_streams_own = answer.attempt.stream and any(
        same_calls(one.parsed.calls, answer.raw.calls) is None for one in whole
    )
    return Locus.STREAM if is_streams_own else Locus.SERVER, code


def server_parse(raw: Parsed, native: Parsed) -> WayCode | None:
    """Say what the server's parser did to a generation; None if both readings agree.

    Args:
        raw: The text of the generation, read strictly.
        native: What the server returned of it.
    """
    is_clean = not any(not defect.code.is_contract for defect in native.defects)
    is_broken = any(not defect.code.is_contract for defect in raw.defects)
    if is_broken:
        return WayCode.SERVER_PARSE_REPAIR if native.calls and is_clean else None
    if same_calls(raw.calls, native.calls) is None:
        return None
    if raw.calls and _lacks_some(native.calls, raw.calls):
        return WayCode.SERVER_PARSE_DROP
    return WayCode.SERVER_PARSE_REPAIR if raw.calls else WayCode.SERVER_PARSE_PHANTOM


def _lacks_some(calls: Iterable[Call], of: Iterable[Call]) -> bool:
    """True where there are fewer calls than in the other list, and none that is not in it."""
    left = list(of)
    for call in calls:
        match = next((one for one in left if same_calls([one], [call]) is None), None)
        if match is None:
            return False
        left.remove(match)
    return bool(left)
