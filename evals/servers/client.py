"""The HTTP client of one arm: no redirects, bounded bodies, and secrets for the host of base_url alone."""

import contextlib
from collections.abc import AsyncGenerator, MutableMapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from ...errors import UserError
from ..arm import Arm
from ..attempt import Body
from .body import ENCODINGS, HttpResponse, RefusedError, raise_refusal, read_text
from .keys import Secrets, api_key, headers_of

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
        secrets: To be taken out of whatever comes back as text.

    Raises:
        UserError: A secret is missing, or cannot be sent.
    """

    def __init__(self, arm: Arm, timeout: float, secrets: Secrets) -> None:
        import openai

        self._secrets = secrets
        self._home = _origin(arm.base_url)
        headers = headers_of(arm)
        self._secret_headers = ("authorization", *headers)
        try:
            http_client = openai.DefaultAsyncHttpxClient(
                # A redirect would carry the request, and its key, to a host that nobody configured.
                follow_redirects=False,
                event_hooks={"request": [self._keep_secrets_home], "response": [self._refuse]},
            )
        except Exception as error:  # noqa: BLE001 - some are the HTTP library's own classes
            # Without the error's own words: a proxy's URL may hold a password.
            raise UserError(
                f"arm {arm.name}: no connection can be prepared ({type(error).__name__})",
                tip="look at HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE; a SOCKS proxy "
                "needs the package socksio",
            ) from None
        self._client: AsyncOpenAI = openai.AsyncOpenAI(
            base_url=arm.base_url,
            api_key=api_key(arm) or "none",
            timeout=openai.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            default_headers={"Accept-Encoding": ENCODINGS, **headers},
            max_retries=0,  # ours count the repeats and bound them in time
            http_client=http_client,
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
            return self._secrets.out_of_text(await read_text(stream.response))

    async def post(self, url: str, body: Body) -> str:
        """Return what is answered to a JSON body; raises as `get`."""
        async with self.opened(url, body) as response:
            return self._secrets.out_of_text(await read_text(response))

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

    async def _refuse(self, response: HttpResponse) -> None:
        try:
            await raise_refusal(response)
        except RefusedError as error:
            # Some servers repeat the headers of what they refuse; a message is cut, maybe within a key.
            text = self._secrets.out_of_text(error.text)
            raise RefusedError(error.status, error.headers, text) from None

    async def _keep_secrets_home(self, request: _Request) -> None:
        # `metrics_url` and `ready_url` may name another host: it has no business with this one's key.
        if _origin(str(request.url)) != self._home:
            for name in self._secret_headers:
                request.headers.pop(name, None)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
