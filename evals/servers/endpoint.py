"""One arm over HTTP: sends a request, retries what is the network's fault, records what came back."""

import time
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import JsonValue

from ...errors import UserError
from ..arm import Arm
from ..attempt import Ask, Attempt, Body, EndpointError, ErrorType
from ..plan import Mode, RunSection
from ..stopping import Stopping
from .body import pieces_of, read_text
from .chat_stream import ChatStream
from .client import Client
from .event_stream import EventReader
from .keys import Secrets
from .page import Page
from .patience import SendError, patiently
from .raw_prompt import (
    RENDERING_KINDS,
    completion_body,
    decode_page,
    read_decoded,
    read_rendered,
    render_page,
)
from .response import BadResponseError, Completion, read_completion
from .send_errors import as_send_errors, drain
from .server import ServerKind

PAGE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Sent:
    """What one ask came to: an answer or the last error, and the time of the last send.

    `body` is what was sent last: in raw mode with the rendered prompt. `retries` counts the sends before it.
    """

    outcome: Completion | EndpointError
    body: Body
    duration_ms: float
    started_at: str
    retries: int


class Endpoint:
    """The client of one arm; use it inside one event loop and `await close()` at the end.

    Args:
        arm: Where, which model, and the name of the variable that holds the key.
        settings: Of the run: timeout and repeats.
        stopping: Ends the wait for a repeat; an answer in flight is waited for.

    Attributes:
        kind: Which engine answers, once somebody has found out (`facts.py`).

    Raises:
        UserError: The key is missing, or cannot be sent.
    """

    def __init__(self, arm: Arm, settings: RunSection, stopping: Stopping | None = None) -> None:
        self.arm = arm
        self.kind = ServerKind.UNKNOWN
        self._settings = settings
        self._stopping = stopping or Stopping()
        self._secrets = Secrets(arm)
        self._client = Client(arm, settings.timeout, self._secrets)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def get_text(self, url: str) -> str | None:
        """A page of the server (absolute URL, or relative to `base_url`); None where it has none.

        Raises:
            UserError: Nobody answers at `base_url`, or the key is refused there (exit code 4).
        """
        # The pages beside the OpenAI routes are extras: one that hangs or breaks is one that is not there.
        is_extra = url.startswith("http")
        try:
            async with as_send_errors(min(PAGE_SECONDS, self._settings.timeout)):
                return await self._client.get(url)
        except SendError as failure:
            status = failure.error.status
            if is_extra or status not in (None, 200, 401, 403):
                return None
            if status in (401, 403):
                raise UserError(
                    f"arm {self.arm.name}: {self.arm.base_url} refused the key (HTTP {status})",
                    tip=f"set {self.arm.api_key_env or 'OPENAI_API_KEY'} to the key of this server",
                    exit_code=4,
                ) from None
            cause = self._secrets.out_of_error(failure.error.message)
            raise UserError(
                f"arm {self.arm.name}: no answer from {self.arm.base_url} ({cause})",
                tip="is the server up, and is base_url right? it ends in /v1 on most servers",
                exit_code=4,
            ) from None

    async def complete(self, body: Body) -> Completion:
        """Send one chat completion, once: a question of our own, that no journal keeps.

        Raises:
            SendError: No answer came.
        """
        try:
            return await self._send("/chat/completions", body, stream=body.get("stream") is True)
        except SendError as failure:
            message = self._secrets.out_of_error(failure.error.message)
            raise SendError(replace(failure.error, message=message), is_retried=failure.is_retried) from None

    async def render(self, body: Body) -> str | list[JsonValue] | None:
        """Return the prompt that the server makes of a chat body: text, or token ids.

        None where it has no such page, or does not answer there: like every page beside the OpenAI routes.
        """
        if self.kind not in RENDERING_KINDS:
            return None
        try:
            page = render_page(self.kind, body, self.arm.name)
            return read_rendered(await self._post(page, min(PAGE_SECONDS, self._settings.timeout)))
        except (SendError, BadResponseError):
            return None

    async def post_text(self, page: Page) -> str | None:
        """Return what a page beside the OpenAI routes answers to a POST; None where it has no answer."""
        try:
            return await self._post(page, min(PAGE_SECONDS, self._settings.timeout))
        except SendError:
            return None

    async def ask(self, ask: Ask, body: Body, index: int) -> Attempt:
        """Send until an answer comes or the retries end; never raises for what the endpoint did."""
        if ask.mode is Mode.NATIVE and self.kind is ServerKind.VLLM:
            body = {**body, "return_token_ids": True}
        if self._settings.isolate or ask.is_alone:
            body = {**body, **_without_prefix_cache(self.kind)}
        sent = await self._send_patiently(ask, body)
        attempt = Attempt(
            id=ask.id,
            arm=self.arm.name,
            mode=ask.mode,
            stream=ask.stream,
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
            request=dict(sent.body),
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
                    attempt,
                    status=status,
                    error=replace(error, message=self._secrets.out_of_error(error.message)),
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
                    timing=completion.timing,
                    ttft_ms=completion.ttft_ms,
                    first_event_ms=completion.first_event_ms,
                    chunks=completion.chunks,
                    raw_text=await self._raw_text(completion),
                )

    async def _send_patiently(self, ask: Ask, body: Body) -> Sent:
        started, ended, started_at, sends = 0.0, 0.0, "", 0

        async def send() -> Completion:
            nonlocal body, started, ended, started_at, sends
            started, started_at, sends = time.monotonic(), _now(), sends + 1
            try:
                if ask.mode is Mode.RAW and "prompt" not in body:
                    body = await self._rendered(body)
                    started = time.monotonic()
                path = "/completions" if ask.mode is Mode.RAW else "/chat/completions"
                return await self._send(path, body, stream=ask.stream)
            finally:
                ended = time.monotonic()

        outcome: Completion | EndpointError
        try:
            outcome = await patiently(
                send, self._settings.retries, self._settings.retry_seconds, self._stopping
            )
        except SendError as last:
            outcome = last.error
        return Sent(outcome, body, round((ended - started) * 1000, 3), started_at, sends - 1)

    async def _rendered(self, body: Body) -> Body:
        """The text completion that asks what `body` asks, its prompt rendered by the server."""
        page = render_page(self.kind, body, self.arm.name)
        async with as_send_errors(self._settings.timeout):
            return completion_body(body, read_rendered(await self._post(page, self._settings.timeout)))

    async def _raw_text(self, completion: Completion) -> str | None:
        """The text of the generation before the server's parser read it; None where the server hides it."""
        if completion.token_ids is None or self.kind is not ServerKind.VLLM:
            return None
        try:
            return read_decoded(await self.post_page(decode_page(self.arm.model, completion.token_ids)))
        except SendError:
            return None  # an extra: the answer itself stands

    async def post_page(self, page: Page) -> str:
        """Send a POST to a page beside the OpenAI routes; return what came back.

        Raises:
            SendError: Nothing came, or an error.
        """
        return await self._post(page, self._settings.timeout)

    async def _post(self, page: Page, seconds: float) -> str:
        async with as_send_errors(seconds):
            url = server_root(self.arm.base_url) + page.path
            return await self._client.post(url, page.body)

    async def _send(self, path: str, body: Body, *, stream: bool) -> Completion:
        async with as_send_errors(self._settings.timeout):
            if stream:
                completion = await self._stream(path, body)
            else:
                completion = read_completion(await self._client.post(path, body))
            return self._secrets.out_of_completion(completion)

    async def _stream(self, path: str, body: Body) -> Completion:
        started = time.monotonic()
        first_event_ms: float | None = None
        ttft_ms: float | None = None
        events, answer = EventReader(), ChatStream()
        # Read as bytes, by our own reader: the client's would drop what it does not expect.
        async with self._client.opened(path, body) as response:
            if response.headers.get("content-type", "").startswith("application/json"):
                # A server, or a proxy, that does not stream: the answer came whole (and has no chunks).
                return read_completion(self._secrets.out_of_text(await read_text(response)))
            pieces = pieces_of(response)
            async for piece in pieces:
                for data in events.feed(piece):
                    has_piece = answer.feed(self._secrets.out_of_text(data))
                    if ttft_ms is None and answer.has_begun:
                        now_ms = round((time.monotonic() - started) * 1000, 3)
                        first_event_ms = now_ms if first_event_ms is None else first_event_ms
                        ttft_ms = now_ms if has_piece else None
                if answer.is_done:
                    break
            if not response.content.at_eof():
                await drain(pieces)
        for data in events.close():
            answer.feed(self._secrets.out_of_text(data))
        return answer.completion(first_event_ms=first_event_ms, ttft_ms=ttft_ms)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _without_prefix_cache(kind: ServerKind) -> dict[str, JsonValue]:
    """Request fields that keep an answer apart from earlier ones; none where the server has no such field."""
    match kind:
        case ServerKind.VLLM:
            return {"cache_salt": uuid.uuid4().hex}
        case ServerKind.LLAMA_CPP:
            return {"cache_prompt": False}
        case _:
            return {}


def server_root(base_url: str) -> str:
    """`http://host/v1` → `http://host`: a server's own pages live beside the OpenAI routes."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", ""))
