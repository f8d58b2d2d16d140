"""The same question asked in two ways, or one generation read twice: what the server's own reading did to it.

    stream_mismatch       streamed and not streamed, the answers hold different calls
    stream_loss           the same, and the streamed answer lacks calls that the other has
    raw_differs           native and raw, the answers hold different calls: two generations, so only a note
    server_parse_drop     one generation: its text holds calls that the server did not return
    server_parse_repair   one generation: its text is broken, or holds other calls than the clean ones returned
    server_parse_phantom  one generation: the text holds no call, and the server returned one

They stand beside the causes and change no grade. Answers that were cut are not compared: where a stream ends
and where a parser gives up differ by design.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ..parsers.dialects import DIALECTS
from ..parsers.result import Call, Parsed
from ..tasks.match import same_calls
from ..tasks.sample import Sample
from .answer import Answer, read_answer
from .attempt import Attempt, Stage
from .ladder import read_answers
from .plan import Mode
from .record import Record


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
    compared: dict[tuple[str, str], int]  # (arm, "stream" | "raw" | "server parser") → pairs

    def count(self, arm: str, code: WayCode) -> int:
        """How many samples of an arm have that code."""
        return sum(note.arm == arm and note.code is code for note in self.notes)


def compare_ways(record: Record) -> WaySummary:
    """Compare what was asked in several ways, and what one generation was read as twice."""
    notes: list[WayNote] = []
    compared: Counter[tuple[str, str]] = Counter()
    for arm in record.plan.arms:
        for sample in record.samples:
            answer = read_answers(record, sample, arm.name).get((Stage.FIRST, record.plan.run.max_tokens, 1))
            if answer is None or answer.is_cut or answer.is_server_failure:
                continue
            for kind, code in _of_sample(record, sample, answer):
                compared[arm.name, kind] += 1
                if code is not None:
                    notes.append(WayNote(arm.name, sample.id, code))
    return WaySummary(tuple(notes), dict(compared))


def _of_sample(record: Record, sample: Sample, answer: Answer) -> Iterator[tuple[str, WayCode | None]]:
    raw = raw_reading(record, sample, answer.attempt)
    if raw is not None:
        yield "server parser", server_parse(raw, answer.parsed)
    for other in record.beside.get((sample.id, answer.attempt.arm), ()):
        read = _read(record, sample, other)
        if read is None:
            continue
        differs = same_calls(answer.parsed.calls, read.parsed.calls) is not None
        if other.mode is not answer.attempt.mode:
            yield "raw", WayCode.RAW_DIFFERS if differs else None
        elif differs:
            is_loss = _lacks_some(answer.parsed.calls, read.parsed.calls)
            yield "stream", WayCode.STREAM_LOSS if is_loss else WayCode.STREAM_MISMATCH
        else:
            yield "stream", None


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


def raw_reading(record: Record, sample: Sample, attempt: Attempt) -> Parsed | None:
    """The text behind a native answer, read strictly; None where the server does not show it."""
    if attempt.raw_text is None or attempt.mode is not Mode.NATIVE:
        return None
    dialect = DIALECTS[record.plan.run.dialect]
    return dialect.parse(attempt.raw_text, sample.tools, record.plan.run.starts_in_reasoning)


def _read(record: Record, sample: Sample, attempt: Attempt) -> Answer | None:
    if not attempt.succeeded or attempt.error is not None:
        return None
    dialect = DIALECTS[record.plan.run.dialect]
    answer = read_answer(attempt, sample.tools, dialect, record.plan.run, context=None)
    return None if answer.is_cut else answer


def _lacks_some(calls: Iterable[Call], of: Iterable[Call]) -> bool:
    """True where there are fewer calls than in the other list, and none that is not in it."""
    left = list(of)
    for call in calls:
        match = next((one for one in left if same_calls([one], [call]) is None), None)
        if match is None:
            return False
        left.remove(match)
    return bool(left)
