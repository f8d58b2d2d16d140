"""The HTTP client of one arm: no redirects, bounded bodies, and secrets for the host of base_url alone."""

import contextlib
import json
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...errors import UserError
from ..arm import Arm
from ..attempt import Body
from .body import ENCODINGS, RefusedError, raise_refusal, read_text
from .keys import Secrets, api_key, headers_of
from .proxies import Proxies, Proxy

if TYPE_CHECKING:
    from aiohttp import ClientResponse

# A server that is there takes a connection at once, however long its answers take.
CONNECT_SECONDS = 10.0
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": ENCODINGS,
    "Content-Type": "application/json",
    "User-Agent": "draftproof",
}
# ASCII: a sample may hold half of a surrogate pair, which UTF-8 cannot.
_BODIES = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Client:
    """Sends to one arm's server; made and used inside one event loop, with `await close()` at the end.

    Proxies and certificates are the environment's (`HTTPS_PROXY`, `NO_PROXY`, `SSL_CERT_FILE`). How long an
    answer may take is the caller's to bound.

    Args:
        arm: Where, and the names of the variables that hold its secrets.
        timeout: Seconds after which a request fails; no connection is waited for longer.
        secrets: To be taken out of whatever comes back as text.

    Raises:
        UserError: A secret is missing or cannot be sent; or what the environment says of proxies and
            certificates cannot be used.
    """

    def __init__(self, arm: Arm, timeout: float, secrets: Secrets) -> None:
        import aiohttp

        self._secrets = secrets
        self._base_url = arm.base_url
        self._home = _origin(arm.base_url)
        self._routes: dict[str, _Route] = {}
        own = headers_of(arm)
        taken = {name.lower() for name in own}
        ours = {"Authorization": f"Bearer {api_key(arm) or 'none'}", **_HEADERS}
        self._home_headers = {name: value for name, value in ours.items() if name.lower() not in taken} | own
        try:
            self._proxies = Proxies()
            authorities = _authorities()
        except (OSError, ValueError) as error:
            # Without the error's own words: a proxy's URL may hold a password.
            raise UserError(
                f"arm {arm.name}: no connection can be prepared ({type(error).__name__})",
                tip="look at HTTPS_PROXY, HTTP_PROXY and ALL_PROXY (http:// or https://, no SOCKS) "
                "and at SSL_CERT_FILE and SSL_CERT_DIR",
            ) from None
        self._session = aiohttp.ClientSession(
            # The caller decides how many requests are in flight.
            connector=aiohttp.TCPConnector(limit=0, ssl=authorities),
            # Requests must not depend on what was answered before.
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_SECONDS, timeout)),
            auto_decompress=False,  # body.py does, and counts
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def get(self, url: str) -> str:
        """Return the body of a page (absolute URL, or relative to `base_url`).

        Raises:
            RefusedError: Another status than success.
            BadResponseError: The body is no text of a bearable size, or broke off.
            OSError: Nobody answers; or the client's own error of a connection.
        """
        async with self._opened("GET", url, None) as response:
            return self._secrets.out_of_text(await read_text(response))

    async def post(self, url: str, body: Body) -> str:
        """Return what is answered to a JSON body; raises as `get`."""
        async with self.opened(url, body) as response:
            return self._secrets.out_of_text(await read_text(response))

    def opened(self, url: str, body: Body) -> "contextlib.AbstractAsyncContextManager[ClientResponse]":
        """Send a JSON body; give the response, whose body is still to be read. Raises as `get`."""
        return self._opened("POST", url, _BODIES.encode(body).encode("ascii"))

    @contextlib.asynccontextmanager
    async def _opened(self, method: str, url: str, data: bytes | None) -> "AsyncGenerator[ClientResponse]":
        route = self._routes.get(url) or self._find_route(url)
        async with self._session.request(
            method,
            route.url,
            data=data,
            headers=route.headers,
            proxy=route.proxy.url if route.proxy else None,
            # For a tunnel to a TLS server; without one the proxy reads the request's own headers.
            proxy_headers=route.proxy.headers if route.proxy else None,
            # A redirect would carry the request, and its key, to a host that nobody configured.
            allow_redirects=False,
        ) as response:
            try:
                await raise_refusal(response)
            except RefusedError as error:
                # Some servers repeat the headers of what they refuse; a message is cut, maybe within a key.
                text = self._secrets.out_of_text(error.text)
                raise RefusedError(error.status, error.headers, text) from None
            yield response

    def _find_route(self, url: str) -> "_Route":
        whole = url if url.startswith(("http://", "https://")) else self._base_url + url
        # `metrics_url` and `ready_url` may name another host: it has no business with this one's key.
        headers = self._home_headers if _origin(whole) == self._home else _HEADERS
        proxy = self._proxies.of(whole)
        if proxy is not None and whole.startswith("http://"):
            headers = {**headers, **proxy.headers}
        self._routes[url] = _Route(whole, headers, proxy)
        return self._routes[url]


@dataclass(frozen=True, slots=True)
class _Route:
    """How a URL is asked: with which headers, and through which proxy."""

    url: str
    headers: Mapping[str, str]
    proxy: Proxy | None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _authorities() -> ssl.SSLContext:
    """Whom to believe that a certificate is right: the user's own files, else what the system believes."""
    import truststore

    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
