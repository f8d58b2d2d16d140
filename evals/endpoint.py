"""One arm over HTTP: sends a request, retries what is the network's fault, records what came back."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

from ..errors import UserError
from .attempt import Ask, Attempt, Body, EndpointError, ErrorType
from .plan import Arm, RunSection
from .response import BadResponseError, Completion, error_message, error_type, read_completion

if TYPE_CHECKING:
    import openai
    from openai import AsyncOpenAI
    from tenacity import RetryCallState

RETRIED_STATUSES = frozenset((408, 409, 429))


class SendError(Exception):
    """One send that brought no answer; `retry_after` is what the server asked us to wait, in seconds."""

    def __init__(self, error: EndpointError, *, is_retried: bool, retry_after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.is_retried = is_retried
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Sent:
    """What one ask came to: an answer or the last error, the time of the last send, and the repeats before."""

    outcome: Completion | EndpointError
    duration_ms: float
    started_at: str
    retries: int


class Endpoint:
    """The client of one arm; use it inside one event loop and `await close()` at the end."""

    def __init__(self, arm: Arm, settings: RunSection) -> None:
        import openai

        self.arm = arm
        self._settings = settings
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            base_url=arm.base_url,
            api_key=api_key(arm) or "none",
            timeout=settings.timeout,
            max_retries=0,  # ours count the repeats and bound them in time
            # A redirect would carry the request, and its key, to a host that nobody configured.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def get_text(self, url: str) -> str | None:
        """A page of the server (absolute URL, or relative to `base_url`); None where it has none.

        Raises:
            UserError: Nobody answers there, or the key is refused (exit code 4).
        """
        import openai

        try:
            return await self._client.get(
                url, cast_to=str, options={"timeout": min(15.0, self._settings.timeout)}
            )
        except openai.APIStatusError as error:
            if error.status_code in (401, 403) and not url.startswith("http"):
                raise UserError(
                    f"arm {self.arm.name}: {self.arm.base_url} refused the key (HTTP {error.status_code})",
                    tip=f"set {self.arm.api_key_env or 'OPENAI_API_KEY'} to the key of this server",
                    exit_code=4,
                ) from None
            return None
        except openai.APIConnectionError as error:
            raise UserError(
                f"arm {self.arm.name}: no answer from {self.arm.base_url} ({_cause(error)})",
                tip="is the server up, and is base_url right? it ends in /v1 on most servers",
                exit_code=4,
            ) from None

    async def ask(self, ask: Ask, body: Body, index: int) -> Attempt:
        """Send until an answer comes or the retries end; never raises for what the endpoint did."""
        sent = await self._send_patiently(body)
        attempt = Attempt(
            id=ask.id,
            arm=self.arm.name,
            mode=self._settings.mode,
            stream=self._settings.stream,
            stage=ask.stage,
            max_tokens=ask.max_tokens,
            attempt=ask.attempt,
            status="failed",
            finish_reason=None,
            stop_reason=None,
            content=None,
            reasoning=None,
            tool_calls=None,
            usage=None,
            request=dict(body),
            duration_ms=sent.duration_ms,
            ttft_ms=None,
            retries=sent.retries,
            spec=None,
            system_fingerprint=None,
            error=None,
            started_at=sent.started_at,
            index=index,
        )
        match sent.outcome:
            case EndpointError() as error:
                is_answer = error.type is ErrorType.SERVER_PARSE_FAILURE
                status: Literal["success", "failed"] = "success" if is_answer else "failed"
                return replace(attempt, status=status, error=error)
            case Completion() as completion:
                return replace(
                    attempt,
                    status="success",
                    finish_reason=completion.finish_reason,
                    stop_reason=completion.stop_reason,
                    content=completion.content,
                    reasoning=completion.reasoning,
                    tool_calls=completion.tool_calls,
                    usage=completion.usage,
                    spec=completion.spec,
                    system_fingerprint=completion.system_fingerprint,
                )

    async def _send_patiently(self, body: Body) -> Sent:
        import tenacity

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, SendError) and error.is_retried
            ),
            wait=_wait,
            stop=_stop(self._settings.retries, self._settings.retry_seconds),
            reraise=True,
        )
        sends, started, started_at = 0, time.monotonic(), _now()

        async def send() -> Completion:
            nonlocal sends, started, started_at
            sends, started, started_at = sends + 1, time.monotonic(), _now()
            return await self._send(body)

        outcome: Completion | EndpointError
        try:
            outcome = await retrying(send)
        except SendError as error:
            outcome = error.error
        return Sent(outcome, round((time.monotonic() - started) * 1000, 3), started_at, sends - 1)

    async def _send(self, body: Body) -> Completion:
        import openai

        try:
            text = await self._client.post("/chat/completions", cast_to=str, body=dict(body))
            return read_completion(text)
        except openai.APIStatusError as error:
            raise _status_error(error) from None
        except openai.APITimeoutError:
            message = f"no whole answer within {self._settings.timeout:g} s"
            raise SendError(EndpointError(ErrorType.TIMEOUT, None, message), is_retried=True) from None
        except openai.APIConnectionError as error:
            raise SendError(
                EndpointError(ErrorType.ENDPOINT_ERROR, None, _cause(error)), is_retried=True
            ) from None
        except BadResponseError as error:
            raise SendError(EndpointError(ErrorType.BAD_RESPONSE, 200, str(error)), is_retried=True) from None


def api_key(arm: Arm) -> str | None:
    """The arm's key from the environment; it goes into the client and nowhere else.

    Raises:
        UserError: The plan names a variable that is not set.
    """
    if arm.api_key_env is None:
        return os.environ.get("OPENAI_API_KEY") or None
    if not (key := os.environ.get(arm.api_key_env)):
        raise UserError(
            f"arm {arm.name}: api_key_env names {arm.api_key_env}, which is not set",
            tip=f"export {arm.api_key_env}=… before the run; keys are read from the environment only",
        )
    return key


def _status_error(error: "openai.APIStatusError") -> SendError:
    text = error.response.text
    kind = error_type(error.status_code, text)
    is_retried = kind is not ErrorType.SERVER_PARSE_FAILURE and (
        error.status_code in RETRIED_STATUSES or error.status_code >= 500
    )
    return SendError(
        EndpointError(kind, error.status_code, error_message(text)),
        is_retried=is_retried,
        retry_after=_retry_after(error.response.headers.get("retry-after")),
    )


def _retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110 10.2.3: seconds, or a date)."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _wait(state: "RetryCallState") -> float:
    """What the server asked for; else exponential backoff from 0.5 s, jittered, at most 20 s."""
    import tenacity

    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, SendError) and error.retry_after is not None:
        return error.retry_after
    return tenacity.wait_random_exponential(multiplier=0.5, max=20)(state)


def _stop(retries: int, retry_seconds: float) -> "Callable[[RetryCallState], bool]":
    """Stop after `retries` repeats, or when the next would start later than `retry_seconds` after the first
    failure: a long generation that breaks off late still has its repeats.
    """
    first_failure: float | None = None

    def stop(state: "RetryCallState") -> bool:
        nonlocal first_failure
        now = time.monotonic()
        if first_failure is None:
            first_failure = now
        return state.attempt_number > retries or now + state.upcoming_sleep - first_failure > retry_seconds

    return stop


def _cause(error: BaseException) -> str:
    """The innermost reason of a connection error: "Connection refused", not "Connection error."."""
    seen = error
    while seen.__cause__ is not None:
        seen = seen.__cause__
    return f"{type(seen).__name__}: {seen}" if str(seen) else type(seen).__name__


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
