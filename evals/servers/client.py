"""The HTTP client of one arm: no redirects, bounded bodies, and secrets for the host of base_url alone."""

import contextlib
from collections.abc import AsyncGenerator, MutableMapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from ..arm import Arm
from ..attempt import Body
from .body import ENCODINGS, HttpResponse, raise_refusal, read_text
from .keys import api_key, headers_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# A server that is there takes a connection at once, however long its answers take.
CONNECT_SECONDS = 10.0
_DEFAULT_PORTS = {"http": 80, "https": 443}


class _Request(Protocol):
    @property
    def url(self) -> object: ...

    @property
    def headers(self) -> MutableMapping[str, str]: ...


class Client:
    """Sends to one arm's server; use it inside one event loop and `await close()` at the end.

    Proxies and certificates are the environment's (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`).

    Args:
        arm: Where, and the names of the variables that hold its secrets.
        timeout: Seconds of silence after which a request fails.

    Raises:
        UserError: A secret is missing, or cannot be sent.
    """

    def __init__(self, arm: Arm, timeout: float) -> None:
        import openai

        self._home = _origin(arm.base_url)
        headers = headers_of(arm)
        self._secret_headers = ("authorization", *headers)
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            base_url=arm.base_url,
            api_key=api_key(arm) or "none",
            timeout=openai.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            default_headers={"Accept-Encoding": ENCODINGS, **headers},
            max_retries=0,  # ours count the repeats and bound them in time
            http_client=openai.DefaultAsyncHttpxClient(
                # A redirect would carry the request, and its key, to a host that nobody configured.
                follow_redirects=False,
                event_hooks={"request": [self._keep_secrets_home], "response": [raise_refusal]},
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def get(self, url: str) -> str:
        """Return the body of a page (absolute URL, or relative to `base_url`).

        Raises:
            RefusedError: Another status than success.
            BadResponseError: The body is no text of a bearable size, or broke off.
            OSError: Nobody answers; or the client's own error of a connection.
        """
        import openai

        stream = await self._client.get(
            url, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
        )
        async with stream:
            return await read_text(stream.response)

    async def post(self, url: str, body: Body) -> str:
        """Return what is answered to a JSON body; raises as `get`."""
        async with self.opened(url, body) as response:
            return await read_text(response)

    @contextlib.asynccontextmanager
    async def opened(self, url: str, body: Body) -> AsyncGenerator[HttpResponse]:
        """Send a JSON body; give the response, whose body is still to be read. Raises as `get`."""
        import openai

        # A stream also of what is none: the client's own readers do not count what they read.
        stream = await self._client.post(
            url, cast_to=object, body=dict(body), stream=True, stream_cls=openai.AsyncStream[object]
        )
        async with stream:
            yield stream.response

    async def _keep_secrets_home(self, request: _Request) -> None:
        # `metrics_url` and `ready_url` may name another host: it has no business with this one's key.
        if _origin(str(request.url)) != self._home:
            for name in self._secret_headers:
                request.headers.pop(name, None)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
