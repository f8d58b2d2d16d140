"""One request to one arm for one sample, and everything that came back: a line of the journal."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, TypedDict

import msgspec

from .plan import Mode

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import JsonValue

else:
    JsonValue = Any  # any JSON, to the reader of lines

# More than anything counts to, and what a float still holds exactly: figures are made of counts.
MOST_COUNTED = 2**53
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=-MOST_COUNTED, le=MOST_COUNTED)]


class Stage(StrEnum):
    """Why an attempt was made."""

    FIRST = "first"
    CONTROL = "control"  # the baseline again: the noise floor
    DOUBLED = "doubled"  # a larger budget, for what was cut in any arm
    CONFIRM = "confirm"  # the same budget again: does a finding reproduce?


class Key(NamedTuple):
    """What makes an attempt itself; unique among the successes of a run."""

    id: str
    arm: str
    mode: Mode
    stream: bool
    stage: Stage
    max_tokens: int
    attempt: int = 1


class Ask(Key):
    """A request that is due: the key that its journal line will have."""

    __slots__ = ()

    @property
    def is_alone(self) -> bool:
        """Whether nothing else is asked of the arm meanwhile, and no prefix is warm.

        So are confirmations from the second on: what shows in company only is a fault of batching, or of the
        prefix cache.
        """
        return self.stage is Stage.CONFIRM and self.attempt > 1


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server gave them; a count it did not give is None, never 0."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    reasoning_tokens: Count | None = None


@dataclass(frozen=True, slots=True)
class Drafts:
    """Draft tokens proposed and accepted while this answer was made, as the server counted them.

    `steps` counts the forward passes that verified a draft; None where the server does not tell.
    """

    draft_tokens: Count
    accepted_tokens: Count
    steps: Count | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """What the server itself measured of one answer; what it does not tell is None."""

    prompt_ms: float | None = None
    predicted_ms: float | None = None
    cached_tokens: Count | None = None


class ErrorType(StrEnum):
    """Whose fault a failed attempt is, and of which kind."""

    ENDPOINT_ERROR = "endpoint_error"
    TIMEOUT = "timeout"
    BAD_RESPONSE = "bad_response"
    UNSUPPORTED_REQUEST = "unsupported_request"
    SERVER_PARSE_FAILURE = "server_parse_failure"  # the model's output, not an outage: status is "success"


@dataclass(frozen=True, slots=True)
class EndpointError:
    """What the endpoint answered instead of a completion."""

    type: ErrorType
    status: int | None
    message: str


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call as it was read, each value of its arguments a hash."""

    name: str
    arguments: dict[str, str]
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReadMark:
    """The code of a defect or a note, and its place in the text as it came."""

    code: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer read as when it came, in a run whose texts are hashes (`[run] redact`).

    `content` and `reasoning` are hashes, empty where the text was blank. `loops` and `stops_inside` are what
    `loops.py` and `premature.py` said of the text.
    """

    calls: tuple[ReadCall, ...]
    defects: tuple[ReadMark, ...]
    notes: tuple[ReadMark, ...]
    content: str
    reasoning: str
    open: bool
    loops: bool
    stops_inside: bool


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A line of `attempts/ARM.jsonl`; field names follow the vendor verifiers where they exist.

    `finish_reason` and `tool_calls` stand as received: null stays null. `duration_ms` is the wall time of the
    send that counted (earlier, retried sends are counted in `retries`). `index` is the order of sending
    within the arm, from 0. Of a stream, `ttft_ms` is the time to the first piece of the answer, `chunks` the
    number of pieces, and `first_event_ms` the time to the first event of a choice, be it empty: engines send
    it with the first token, while a server's parser may hold the first piece back. `timing` is what the
    server measured. `raw_text` is the text of this very generation before the server's parser read it, where
    the server gives its tokens. `reading` stands in redacted runs only: there every text is a hash. `request`
    is empty where it was left in the journal (`without_request`), and never there.
    """

    id: str
    arm: str
    mode: Mode
    stream: bool
    stage: Stage
    max_tokens: int
    attempt: int
    status: Literal["success", "failed"]
    finish_reason: str | None
    stop_reason: JsonValue
    content: str | None
    reasoning: str | None
    tool_calls: JsonValue
    usage: Usage | None
    request: dict[str, JsonValue]
    duration_ms: float
    ttft_ms: float | None
    retries: int
    spec: Drafts | None
    system_fingerprint: str | None
    error: EndpointError | None
    started_at: str
    index: Count
    chunks: Count | None = None
    first_event_ms: float | None = None
    timing: Timing | None = None
    raw_text: str | None = None
    reading: Reading | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attempt):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _NAMES)

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as of any dataclass that compares by value

    @property
    def key(self) -> Key:
        """The key of this line."""
        return Key(self.id, self.arm, self.mode, self.stream, self.stage, self.max_tokens, self.attempt)

    @property
    def succeeded(self) -> bool:
        """True when an answer of the model came back, however bad."""
        return self.status == "success"

    @property
    def completion_tokens(self) -> int | None:
        """Tokens of the answer, None when the server did not count them.

        Some fill in 0 or -1 where they count nothing; an answer that says something took a token or more.
        """
        tokens = None if self.usage is None else self.usage.completion_tokens
        if tokens is None or tokens > 0:
            return tokens
        return 0 if tokens == 0 and not (self.content or self.reasoning or self.tool_calls) else None

    def without_request(self) -> "Attempt":
        """The same attempt, its request left in the journal."""
        return replace(self, request={})

    def to_line(self) -> str:
        """One JSON line with its newline; ASCII, so that no text of a model can break it."""
        row = {name: getattr(self, name) for name in _NAMES}
        for name in _LATE_NAMES:
            if row[name] is None:
                del row[name]
        return _LINES.encode(row) + "\n"


def _members(part: "DataclassInstance") -> dict[str, object]:
    """A part of an attempt as an object; its own parts come back here."""
    return {field.name: getattr(part, field.name) for field in fields(part)}


_NAMES = tuple(field.name for field in fields(Attempt))
# They came after the first release of the format, and may be absent.
_LATE_NAMES = ("chunks", "timing", "raw_text", "reading")
# The parts of an attempt become objects where they stand: to copy it whole first would copy the request too.
_LINES = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=_members)

_ID = b'{"id":"'


class _Unread(TypedDict):
    """An object whose members are passed over."""


@dataclass(frozen=True, slots=True, eq=False)
class _WithoutRequest(Attempt):
    """An attempt whose request, most of its line, is left there; else as any other."""

    request: _Unread  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]


@cache
def _reader(kind: type[Attempt]) -> msgspec.json.Decoder[Attempt]:
    return msgspec.json.Decoder(kind)


def read_attempt(line: bytes, *, with_request: bool = True) -> Attempt:
    """One journal line.

    Args:
        line: The line.
        with_request: False leaves `request` empty: reading takes half the time then.

    Raises:
        ValueError: Not a line this version wrote (torn, corrupted, or of another format).
    """
    if not with_request and not line.isascii():
        # None of ours, and what is passed over may be no text at all.
        return read_attempt(line).without_request()
    kind = Attempt if with_request else _WithoutRequest
    try:
        attempt = _reader(kind).decode(line)
    except msgspec.DecodeError:
        # Unlike this reader the standard library's takes the lone surrogates that servers do send.
        attempt = msgspec.convert(json.loads(line), Attempt)
        if not with_request:
            attempt = attempt.without_request()
    if leading_id(line) not in (None, attempt.id):
        raise ValueError("another id stands further on: of which sample the line is, nobody can say")
    return attempt


def leading_id(line: bytes) -> str | None:
    """The id that a line begins with, as ours do; None where it does not, or where it has to be decoded."""
    if not line.startswith(_ID):
        return None
    plain = line[len(_ID) : line.find(b'"', len(_ID))]
    return plain.decode("ascii") if plain.isascii() and b"\\" not in plain else None


def derived_seed(seed: int, sample_id: str, stage: Stage, attempt: int) -> int:
    """The seed that is sent: arms share it, repeats and controls get another (31 bits, as servers take)."""
    text = json.dumps([seed, sample_id, stage.value, attempt])
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4], "big") >> 1


Body = Mapping[str, JsonValue]
