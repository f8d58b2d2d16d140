"""The edge where an HTTP answer enters: JSON bytes to the fields that an attempt keeps, exactly as received."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from ..parsers.result import Json
from .attempt import Drafts, ErrorType, Usage

# llama.cpp answers HTTP 500 when its own grammar cannot read what the model wrote: that is the model's output
# failing in the server's parser, not an outage.
PARSE_FAILURE = re.compile(
    r"(?:model|output)\b.{0,80}(?:does not match|could not be parsed|cannot be parsed).{0,80}\bformat"
    r"|failed to parse (?:input|output|tool call)",
    re.IGNORECASE | re.DOTALL,
)


class BadResponseError(Exception):
    """HTTP 200 without an answer in it: not JSON, no choices, or an error where the answer should be."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _UsageDetails(_Lenient):
    reasoning_tokens: int | None = None


class _Usage(_Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    completion_tokens_details: _UsageDetails | None = None


class _Message(_Lenient):
    content: str | None = None
    reasoning: str | None = None  # vLLM
    reasoning_content: str | None = None  # llama.cpp, SGLang
    tool_calls: JsonValue = None


class _Choice(_Lenient):
    message: _Message
    finish_reason: str | None = None
    stop_reason: JsonValue = None


class _Timings(_Lenient):
    """llama.cpp, in every answer; `draft_n` is absent when the request drafted nothing."""

    draft_n: int = 0
    draft_n_accepted: int = 0


class _SpeculativeDecoding(_Lenient):
    num_draft_tokens: int
    num_accepted_draft_tokens: int


class _Metrics(_Lenient):
    speculative_decoding: _SpeculativeDecoding | None = None


class _Completion(_Lenient):
    choices: list[_Choice]
    usage: _Usage | None = None
    system_fingerprint: str | None = None
    timings: _Timings | None = None
    metrics: _Metrics | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What one answer said; every absent field is None."""

    finish_reason: str | None
    stop_reason: JsonValue
    content: str | None
    reasoning: str | None
    tool_calls: JsonValue
    usage: Usage | None
    spec: Drafts | None
    system_fingerprint: str | None


def read_completion(text: str) -> Completion:
    """Read the body of an HTTP 200.

    Raises:
        BadResponseError: The body is not a chat completion with one choice or more.
    """
    try:
        raw: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadResponseError(f"not JSON ({error}): {_glimpse(text)}") from error
    if isinstance(raw, Mapping) and raw.get("error") and not raw.get("choices"):
        raise BadResponseError(f"an error inside HTTP 200: {_glimpse(text)}")
    try:
        completion = _Completion.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadResponseError(f"not a chat completion ({place}: {first['msg']}): {_glimpse(text)}") from None
    if not completion.choices:
        raise BadResponseError(f"no choices: {_glimpse(text)}")
    choice = completion.choices[0]
    message = choice.message
    return Completion(
        finish_reason=choice.finish_reason,
        stop_reason=choice.stop_reason,
        content=message.content,
        reasoning=message.reasoning if message.reasoning is not None else message.reasoning_content,
        tool_calls=message.tool_calls,
        usage=_usage(completion.usage),
        spec=_drafts(completion),
        system_fingerprint=completion.system_fingerprint,
    )


def error_type(status: int, text: str) -> ErrorType:
    """What kind of failure an HTTP error status is."""
    if status >= 500 and PARSE_FAILURE.search(text[:4000]):
        return ErrorType.SERVER_PARSE_FAILURE
    if status == 408:
        return ErrorType.TIMEOUT
    if status in (400, 413, 422):
        return ErrorType.UNSUPPORTED_REQUEST
    return ErrorType.ENDPOINT_ERROR


def error_message(text: str) -> str:
    """The server's own words out of an error body: OpenAI's shape, a bare string, or the text itself."""
    try:
        raw: Json = json.loads(text)
    except (ValueError, RecursionError):
        return _glimpse(text)
    error = raw.get("error", raw) if isinstance(raw, Mapping) else raw
    message = error.get("message", error) if isinstance(error, Mapping) else error
    return _glimpse(message if isinstance(message, str) else json.dumps(message))


def _usage(usage: _Usage | None) -> Usage | None:
    if usage is None:
        return None
    details = usage.completion_tokens_details
    reasoning = usage.reasoning_tokens
    if reasoning is None and details is not None:
        reasoning = details.reasoning_tokens
    return Usage(usage.prompt_tokens, usage.completion_tokens, reasoning)


def _drafts(completion: _Completion) -> Drafts | None:
    if completion.timings is not None:
        return Drafts(completion.timings.draft_n, completion.timings.draft_n_accepted)
    if completion.metrics is not None and (counted := completion.metrics.speculative_decoding) is not None:
        return Drafts(counted.num_draft_tokens, counted.num_accepted_draft_tokens)
    return None


def _glimpse(text: str, size: int = 500) -> str:
    """The start of a text, on one line: enough to know what came, never a whole page of HTML."""
    line = " ".join(text[: 4 * size].split())
    return line if len(line) <= size else f"{line[:size]}…"
