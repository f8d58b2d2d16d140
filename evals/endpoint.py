"""One arm over HTTP: sends a request, retries what is the network's fault, records what came back."""

import asyncio
import os
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from ..errors import UserError
from .attempt import Ask, Attempt, Body, EndpointError, ErrorType
from .patience import SendError, is_worth_repeating, patient_sends, read_retry_after
from .plan import Arm, RunSection
from .response import BadResponseError, Completion, error_message, error_type, read_completion
from .stopping import Stopping

if TYPE_CHECKING:
    import openai
    from openai import AsyncOpenAI

# A server that is there takes a connection at once, however long its answers take.
CONNECT_SECONDS = 10.0
PAGE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Sent:
    """What one ask came to: an answer or the last error, and the time of the last send.

    `retries` counts the sends before it.
    """

    outcome: Completion | EndpointError
    duration_ms: float
    started_at: str
    retries: int


class Endpoint:
    """The client of one arm; use it inside one event loop and `await close()` at the end.

    Args:
        arm: Where, which model, and the name of the variable that holds the key.
        settings: Of the run: timeout and repeats.
        stopping: Ends the wait for a repeat; an answer in flight is waited for.

    Raises:
        UserError: The key is missing, or cannot be sent.
    """

    def __init__(self, arm: Arm, settings: RunSection, stopping: Stopping | None = None) -> None:
        import openai

        self.arm = arm
        self._settings = settings
        self._stopping = stopping or Stopping()
        self._key = api_key(arm)
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            base_url=arm.base_url,
            api_key=self._key or "none",
            timeout=openai.Timeout(settings.timeout, connect=min(CONNECT_SECONDS, settings.timeout)),
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
            UserError: Nobody answers at `base_url`, or the key is refused there (exit code 4).
        """
        import openai

        # The pages beside the OpenAI routes are extras: one that hangs or breaks is one that is not there.
        is_extra = url.startswith("http")
        try:
            return await self._client.get(
                url, cast_to=str, options={"timeout": min(PAGE_SECONDS, self._settings.timeout)}
            )
        except openai.APIStatusError as error:
            if error.status_code in (401, 403) and not is_extra:
                raise UserError(
                    f"arm {self.arm.name}: {self.arm.base_url} refused the key (HTTP {error.status_code})",
                    tip=f"set {self.arm.api_key_env or 'OPENAI_API_KEY'} to the key of this server",
                    exit_code=4,
                ) from None
            return None
        except (openai.APIConnectionError, OSError) as error:
            if is_extra:
                return None
            cause = self._without_key(_cause(error))
            raise UserError(
                f"arm {self.arm.name}: no answer from {self.arm.base_url} ({cause})",
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
                # Some servers repeat the headers of what they refuse.
                return replace(
                    attempt, status=status, error=replace(error, message=self._without_key(error.message))
                )
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
        outcome: Completion | EndpointError | None = None
        started, ended, started_at, sends = 0.0, 0.0, "", 0
        try:
            async for send in patient_sends(
                self._settings.retries, self._settings.retry_seconds, self._stopping
            ):
                with send:
                    if sends and self._stopping.is_set:
                        break  # woken from its pause: a repeat would be a new send
                    started, started_at, sends = time.monotonic(), _now(), sends + 1
                    try:
                        outcome = await self._send(body)
                    except SendError as failure:
                        outcome = failure.error
                        raise
                    finally:
                        ended = time.monotonic()
        except SendError as last:
            outcome = last.error
        if outcome is None:
            raise AssertionError("no send was made")
        return Sent(outcome, round((ended - started) * 1000, 3), started_at, sends - 1)

    async def _send(self, body: Body) -> Completion:
        import openai

        try:
            # The client's own timeout is for silence; a body that comes drop by drop needs one for the whole.
            async with asyncio.timeout(self._settings.timeout):
                text = await self._client.post("/chat/completions", cast_to=str, body=dict(body))
            return read_completion(text)
        except openai.APIStatusError as error:
            raise _status_error(error) from None
        except (openai.APITimeoutError, TimeoutError):
            message = f"no whole answer within {self._settings.timeout:g} s"
            raise SendError(EndpointError(ErrorType.TIMEOUT, None, message), is_retried=True) from None
        except (openai.APIConnectionError, OSError) as error:
            raise SendError(
                EndpointError(ErrorType.ENDPOINT_ERROR, None, _cause(error)), is_retried=True
            ) from None
        except BadResponseError as error:
            raise SendError(EndpointError(ErrorType.BAD_RESPONSE, 200, str(error)), is_retried=True) from None

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def api_key(arm: Arm) -> str | None:
    """The arm's key from the environment; it goes into the client and nowhere else.

    Raises:
        UserError: The plan names a variable that is not set, or its value cannot stand in a header.
    """
    name = arm.api_key_env or "OPENAI_API_KEY"
    # A file read into a variable brings its last newline along.
    key = os.environ.get(name, "").strip()
    if not key:
        if arm.api_key_env is None:
            return None
        raise UserError(
            f"arm {arm.name}: api_key_env names {name}, which is not set",
            tip=f"export {name}=… before the run; keys are read from the environment only",
        )
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"arm {arm.name}: {name} holds a character that no key has (a line break, or not ASCII)"
        )
    return key


def _status_error(error: "openai.APIStatusError") -> SendError:
    status, text = error.status_code, error.response.text
    kind = error_type(status, text)
    message = error_message(text)
    if 300 <= status < 400:
        place = error.response.headers.get("location", "nowhere")
        message = f"redirects to {place}, which is not followed; base_url must name the server itself"
    return SendError(
        EndpointError(kind, status, message),
        is_retried=is_worth_repeating(status, kind),
        retry_after=read_retry_after(error.response.headers.get("retry-after")),
    )


def _cause(error: BaseException) -> str:
    """The innermost reason of a connection error: "Connection refused", not "Connection error."."""
    seen = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return f"{type(seen).__name__}: {seen}" if str(seen) else type(seen).__name__


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
