"""The edge where an HTTP answer enters: JSON to the fields that an attempt keeps, exactly as received."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, JsonValue, ValidationError
from pydantic_core import core_schema

from ..attempt import MOST_COUNTED, Drafts, ErrorType, Timing, Usage

if TYPE_CHECKING:
    from ...parsers.result import Json

# llama.cpp answers HTTP 500 when its own grammar cannot read what the model wrote: that is the model's output
# failing in the server's parser, not an outage. (Its "Failed to parse tool call arguments as JSON" is about
# the messages that were sent, and no answer.)
PARSE_FAILURE = re.compile(
    r"model produced output that does not match"
    r"|\boutput (?:could not|cannot|can't) be parsed"
    r"|failed to parse (?:input|output) at pos",
    re.IGNORECASE,
)

# vLLM's word for a generation that its engine gave up on; some gateways say the same.
FAILED_REASON = "error"


class BadResponseError(Exception):
    """HTTP 200 without an answer in it: not JSON, no choices, or an error where the answer should be."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _OrNone:
    """Reads what it does not understand as None; pydantic's core does it, without a call of ours."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


_T = TypeVar("_T")

# Bookkeeping beside the answer: what cannot be read of it was not told, and the answer stands.
_Told = Annotated[_T | None, _OrNone()]

# What nobody can have counted would break every figure that is made of it.
_Number = Annotated[int, Field(ge=-MOST_COUNTED, le=MOST_COUNTED)]

# Of drafts; less than none (a server's "not known") is no count.
_Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]


class _UsageDetails(_Lenient):
    reasoning_tokens: _Told[_Number] = None


class _PromptDetails(_Lenient):
    cached_tokens: _Told[_Number] = None


class _Usage(_Lenient):
    prompt_tokens: _Told[_Number] = None
    completion_tokens: _Told[_Number] = None
    reasoning_tokens: _Told[_Number] = None
    completion_tokens_details: _Told[_UsageDetails] = None
    prompt_tokens_details: _Told[_PromptDetails] = None


class _TextPart(_Lenient):
    type: Literal["text"] = "text"
    text: str


class _Message(_Lenient):
    content: str | list[_TextPart] | None = None
    reasoning: str | None = None  # vLLM
    reasoning_content: str | None = None  # llama.cpp, SGLang
    tool_calls: JsonValue = None


class _Alternative(_Lenient):
    token: str
    logprob: float


class _Token(_Alternative):
    id: _Told[int] = None  # llama.cpp
    top_logprobs: _Told[list[_Alternative]] = None


class _Logprobs(_Lenient):
    content: _Told[list[_Token]] = None


class _Choice(_Lenient):
    message: _Message | None = None
    text: str | None = None  # of a text completion
    logprobs: _Told[_Logprobs] = None
    token_ids: _Told[list[int]] = None  # vLLM, where the request asks with `return_token_ids`
    finish_reason: str | None = None
    stop_reason: JsonValue = None
    error: JsonValue = None  # OpenRouter, where the provider behind it broke off


class _Timings(_Lenient):
    """llama.cpp, in every answer; `draft_n` is absent when the request drafted nothing."""

    draft_n: _Count = 0
    draft_n_accepted: _Count = 0
    prompt_ms: _Told[float] = None
    predicted_ms: _Told[float] = None
    cache_n: _Told[_Number] = None


class _SpeculativeDecoding(_Lenient):
    num_draft_tokens: _Count
    num_accepted_draft_tokens: _Count
    num_spec_steps: _Told[_Number] = None


class _Metrics(_Lenient):
    speculative_decoding: _Told[_SpeculativeDecoding] = None


class _Completion(_Lenient):
    choices: list[_Choice]
    usage: _Told[_Usage] = None
    system_fingerprint: _Told[str] = None
    timings: _Told[_Timings] = None
    metrics: _Told[_Metrics] = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of an answer with its log probability, and the most probable ones of its place."""

    token: str
    logprob: float
    id: int | None = None
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What one answer said; every absent field is None.

    `token_ids` and `logprobs` are those of the whole answer, where the server tells (`logprobs` not of a
    stream). `first_event_ms` (time to the first event of a choice, be it empty), `ttft_ms` (time to the first
    piece of the answer) and `chunks` (events that held a piece of it) are known of a stream only; chunks say
    nothing about tokens.
    """

    finish_reason: str | None
    stop_reason: JsonValue
    content: str | None
    reasoning: str | None
    tool_calls: JsonValue
    usage: Usage | None
    spec: Drafts | None
    system_fingerprint: str | None
    timing: Timing | None = None
    token_ids: tuple[int, ...] | None = None
    first_event_ms: float | None = None
    ttft_ms: float | None = None
    chunks: int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None


def read_completion(text: str) -> Completion:
    """Read the body of an HTTP 200.

    Raises:
        BadResponseError: The body is no chat or text completion with one choice or more.
    """
    try:
        raw: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadResponseError(f"not JSON ({error}): {glimpse(text)}") from error
    if isinstance(raw, Mapping) and raw.get("error"):
        raise BadResponseError(f"an error inside HTTP 200: {glimpse(text)}")
    return completion_from_json(raw, text)


def completion_from_json(raw: "Json", text: str | None = None) -> Completion:
    """Read a completion out of its JSON; errors show the text that it was read from, if there is one.

    Raises:
        BadResponseError: As `read_completion`.
    """

    def shown() -> str:
        return glimpse(json.dumps(raw) if text is None else text)

    try:
        completion = _Completion.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadResponseError(f"not a completion ({place}: {first['msg']}): {shown()}") from None
    if not completion.choices:
        raise BadResponseError(f"no choices: {shown()}")
    choice = completion.choices[0]
    if choice.error or choice.finish_reason == FAILED_REASON:
        raise BadResponseError(f"the server gave this answer up: {shown()}")
    if choice.message is None and choice.text is None:
        raise BadResponseError(f"not a completion (neither message nor text): {shown()}")
    message = choice.message or _Message(content=choice.text)
    return Completion(
        finish_reason=choice.finish_reason,
        stop_reason=choice.stop_reason,
        content=_text(message.content),
        reasoning=message.reasoning if message.reasoning is not None else message.reasoning_content,
        tool_calls=message.tool_calls,
        usage=_usage(completion.usage),
        spec=_drafts(completion),
        system_fingerprint=completion.system_fingerprint,
        timing=_timing(completion),
        token_ids=None if choice.token_ids is None else tuple(choice.token_ids),
        logprobs=_logprobs(choice.logprobs),
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
        return glimpse(text)
    error = raw.get("error", raw) if isinstance(raw, Mapping) else raw
    message = error.get("message", error) if isinstance(error, Mapping) else error
    return glimpse(message if isinstance(message, str) else json.dumps(message))


def _text(content: str | list[_TextPart] | None) -> str | None:
    return "".join(part.text for part in content) if isinstance(content, list) else content


def _usage(usage: _Usage | None) -> Usage | None:
    if usage is None:
        return None
    details = usage.completion_tokens_details
    reasoning = usage.reasoning_tokens
    if reasoning is None and details is not None:
        reasoning = details.reasoning_tokens
    return Usage(usage.prompt_tokens, usage.completion_tokens, reasoning)


def _logprobs(logprobs: _Logprobs | None) -> tuple[TokenLogprob, ...] | None:
    if logprobs is None or logprobs.content is None:
        return None
    return tuple(
        TokenLogprob(
            one.token,
            one.logprob,
            one.id,
            tuple((other.token, other.logprob) for other in one.top_logprobs or ()),
        )
        for one in logprobs.content
    )


def _drafts(completion: _Completion) -> Drafts | None:
    if completion.timings is not None:
        return Drafts(completion.timings.draft_n, completion.timings.draft_n_accepted)
    if completion.metrics is not None and (counted := completion.metrics.speculative_decoding) is not None:
        return Drafts(counted.num_draft_tokens, counted.num_accepted_draft_tokens, counted.num_spec_steps)
    return None


def _timing(completion: _Completion) -> Timing | None:
    timings, usage = completion.timings, completion.usage
    details = None if usage is None else usage.prompt_tokens_details
    cached = None if details is None else details.cached_tokens
    if timings is None:
        return None if cached is None else Timing(cached_tokens=cached)
    return Timing(
        timings.prompt_ms, timings.predicted_ms, timings.cache_n if timings.cache_n is not None else cached
    )


def glimpse(text: str, size: int = 500) -> str:
    """The start of a text, on one line: enough to know what came, never a whole page of HTML."""
    line = " ".join(text[: 4 * size].split()) or "an empty body"
    return line if len(line) <= size else f"{line[:size]}…"
