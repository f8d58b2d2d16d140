"""What bytes from outside must never do, a target for each reader; `python -m tests.fuzz` searches for them.

A target takes any bytes and returns, or raises AssertionError. Whatever else comes out of it is a finding
too: it names the documented exceptions of what it calls, and lets nothing else pass.
"""

import json
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise

from draftproof.evals.attempt import Attempt, Stage, read_attempt
from draftproof.evals.judging.grade import Reference, grade_answer
from draftproof.evals.plan import Mode, RunSection
from draftproof.evals.reading.answer import read_answer
from draftproof.evals.servers.chat_stream import ChatStream, StreamedError
from draftproof.evals.servers.event_stream import EventReader, EventTooLongError
from draftproof.evals.servers.response import BadResponseError, Completion, error_message, read_completion
from draftproof.parsers.codes import DefectCode
from draftproof.parsers.dialects import DIALECTS, guess_dialect
from draftproof.parsers.json_scanner import Decoded, JsonError, JsonFault, decode_located
from draftproof.parsers.strict_json import decode
from draftproof.parsers.tools import compile_tools
from draftproof.tasks.sample import Expected, ExpectedCall

from ..parsers.marked import TOOLS, TYPED_TOOLS

Target = Callable[[bytes], None]

OPEN_CODES = {DefectCode.UNCLOSED_BLOCK, DefectCode.UNCLOSED_REASONING}
DECLARED = (None, TOOLS, TYPED_TOOLS, compile_tools([]))
BEGINNINGS = (False, True, "auto")
DUE = Expected((ExpectedCall("get_weather", {"city": ["Oslo"]}),))
SETTINGS = RunSection(tasks=("builtin:core",))

# Where a text is repeated to see how reading time grows: characters, times, and the growth that is a finding.
SMALL, TIMES, GROWTH = 4_000, 8, 4.0


def text_of(data: bytes) -> str:
    """A text out of any bytes; what is no UTF-8 becomes a lone surrogate, as JSON escapes can make one."""
    return data.decode("utf-8", "surrogateescape")


def pick(data: bytes, count: int, salt: int = 0) -> int:
    """A number below `count` that the bytes decide: the same bytes, the same number."""
    return zlib.crc32(data, salt) % count


def dialect_target(name: str, data: bytes) -> None:
    """Any text gives calls, defects and notes in order and in range, and a cut makes nothing look broken."""
    text, dialect = text_of(data), DIALECTS[name]
    parsed = dialect.parse(text, DECLARED[pick(data, 4)], BEGINNINGS[pick(data, 3, 1)])
    for found in (parsed.calls, parsed.defects, parsed.notes):
        spans = [item.span for item in found]
        assert spans == sorted(spans), "out of order"
        assert all(0 <= span.start <= span.end <= len(text) for span in spans), "out of range"
    is_open = [defect.code in OPEN_CODES for defect in parsed.defects]
    assert parsed.open == any(is_open)
    assert sum(is_open) <= 1
    blocks = sum(call.span.end - call.span.start for call in parsed.calls)
    assert len(parsed.content) + len(parsed.reasoning) + blocks <= len(text), "something is told twice"
    assert parsed.reasoning in text
    position = 0
    for character in parsed.content:
        position = text.index(character, position) + 1
    assert guess_dialect(text) in {None, *DIALECTS}
    whole = dialect.parse(text, TOOLS)
    if whole.defects:
        return
    for salt in range(3):
        cut = dialect.parse(text[: pick(data, len(text) + 1, salt)], TOOLS)
        assert cut.calls == whole.calls[: len(cut.calls)], "a cut made another call"
        assert {defect.code for defect in cut.defects} <= OPEN_CODES, "a cut looks broken"


def json_target(data: bytes) -> None:
    """The strict decoder agrees with itself and with the standard library, and knows where a text breaks."""
    text = text_of(data)
    read, located = decode(text), decode_located(text)
    match read, located:
        case Decoded(), Decoded():
            assert (repr(read.value), read.end) == (repr(located.value), located.end)
            value, end = json.JSONDecoder().raw_decode(text, len(text) - len(text.lstrip(" \t\n\r")))
            assert (repr(value), end) == (repr(read.value), read.end)
            assert read.duplicates == located.duplicates or not read.members
            return
        case JsonError(), JsonError():
            assert read == located
        case _:
            raise AssertionError("one decoder reads what the other refuses")
    assert 0 <= located.string_start <= located.position <= len(text)
    for span in (*located.duplicates, *(member.value_span for member in located.members)):
        assert 0 <= span.start <= span.end <= len(text)
    if located.fault is JsonFault.TRUNCATED:
        assert located.position == len(text)
        return
    before = decode_located(text[: located.position])
    assert isinstance(before, Decoded) or before.fault is JsonFault.TRUNCATED, "the place is not the first"
    for rest in ("0", '"', "}", "e1", "\\ud800"):
        longer = decode_located(text + rest)
        assert isinstance(longer, JsonError), "what is invalid was mended by more text"
        assert longer.fault is JsonFault.INVALID


def events_of(data: bytes, places: list[int]) -> list[str] | str:
    """The events of a stream that comes in pieces; a word where it was refused."""
    reader = EventReader()
    try:
        events = [one for a, b in pairwise([0, *places, len(data)]) for one in reader.feed(data[a:b])]
        return events + reader.close()
    except EventTooLongError:
        return "too long"


def split_places(data: bytes) -> list[int]:
    """Where to split a stream: places that the bytes decide."""
    return sorted(pick(data, len(data) + 1, salt) for salt in range(4))


def events_target(data: bytes) -> None:
    """However a stream is split, the same events come out, and none of them is made of thin air."""
    whole = events_of(data, [])
    assert events_of(data, split_places(data)) == whole
    assert events_of(data, list(range(1, len(data)))) == whole
    assert sum(map(len, whole)) <= len(data)


def answer_of(events: list[str]) -> Completion | str:
    """What the events of a stream come to: an answer, or the documented error in words."""
    stream = ChatStream()
    try:
        for event in events:
            _ = stream.feed(event)
        return stream.completion()
    except (StreamedError, BadResponseError) as error:
        return f"{type(error).__name__}: {error}"


def halved(event: str, data: bytes) -> list[str]:
    """An event whose delta holds one text, as the two that a server with smaller pieces would send."""
    try:
        chunk = json.loads(event)
        (choice,) = chunk["choices"]
        ((name, text),) = choice["delta"].items()
        if not isinstance(text, str) or set(choice) != {"index", "delta"} or set(chunk) != {"choices"}:
            return [event]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [event]
    place = pick(data, len(text) + 1)
    pieces = (text[:place], text[place:])
    return [json.dumps({"choices": [{**choice, "delta": {name: piece}}]}) for piece in pieces]


def stream_target(data: bytes) -> None:
    """A stream becomes an answer or a documented error, the same one in whatever pieces its text comes."""
    events = events_of(data, split_places(data))
    if isinstance(events, str):
        return
    answer = answer_of(events)
    smaller = answer_of([piece for event in events for piece in halved(event, data)])
    if isinstance(answer, str) or isinstance(smaller, str):
        assert isinstance(answer, str) == isinstance(smaller, str)
        return
    assert replace(smaller, chunks=0) == replace(answer, chunks=0) or "nan" in repr(answer)
    judge(answer, data)


def body_target(data: bytes) -> None:
    """The body of an answer is read, or refused in the documented way; an error's words always come out."""
    text = text_of(data)
    assert len(error_message(text)) <= 501
    try:
        answer = read_completion(text)
    except BadResponseError:
        return
    judge(answer, data)


def judge(answer: Completion, data: bytes) -> None:
    """Whatever was received can be journalled, read back the same, and judged in every mode."""
    names = ("finish_reason", "stop_reason", "content", "reasoning", "tool_calls", "usage", "spec", "timing")
    received = {name: getattr(answer, name) for name in names}
    for mode in (Mode.NATIVE, Mode.PROMPTED):
        attempt = Attempt(
            **received,
            id="core/1",
            arm="baseline",
            mode=mode,
            stream=False,
            stage=Stage.FIRST,
            max_tokens=100,
            attempt=1,
            status="success",
            request={},
            duration_ms=1.0,
            ttft_ms=answer.ttft_ms,
            retries=0,
            system_fingerprint=answer.system_fingerprint,
            error=None,
            started_at="2026-01-01T00:00:00.000Z",
            index=0,
            chunks=answer.chunks,
        )
        line = attempt.to_line()
        assert read_attempt(line.encode("ascii")).to_line() == line
        dialect = list(DIALECTS.values())[pick(data, len(DIALECTS))]
        read = read_answer(attempt, TOOLS, dialect, SETTINGS, None)
        grade = grade_answer(read, Reference(DUE))
        assert (grade.verdict == "pass") <= (not read.defects)


def seconds(name: str, text: str) -> float:
    """CPU time of one reading, the best of two."""
    times: list[float] = []
    for _ in range(2):
        started = time.process_time()
        _ = DIALECTS[name].parse(text, TOOLS, "auto")
        times.append(time.process_time() - started)
    return min(times)


def growth_target(data: bytes) -> None:
    """Reading time grows with the text: `START NUL PIECE`, the piece repeated. Timed, so never replayed."""
    start, _, piece = text_of(data[:300]).partition("\0")
    if not piece:
        return
    name = list(DIALECTS)[pick(data, len(DIALECTS))]
    small, large = (start + piece * (size // len(piece)) for size in (SMALL, SMALL * TIMES))
    for _ in range(3):  # a machine that is busy elsewhere is no finding
        if seconds(name, large) / max(seconds(name, small), 0.001) / TIMES <= GROWTH:
            return
    raise AssertionError(f"{name}: reading time grows faster than the text")


TARGETS: dict[str, Target] = {
    **{name: partial(dialect_target, name) for name in DIALECTS},
    "json": json_target,
    "events": events_target,
    "stream": stream_target,
    "body": body_target,
}
TIMED_TARGETS: dict[str, Target] = {"growth": growth_target}
