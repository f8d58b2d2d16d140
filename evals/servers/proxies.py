"""Which proxy a request goes through: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say."""

from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy: its URL without user and password, so that no error can repeat them, and what proves them."""

    url: str
    headers: dict[str, str]


class Proxies:
    """The proxies of the environment, read once.

    Raises:
        ValueError: One of them cannot be used. The message leaves out its URL, which may hold a password.
    """

    def __init__(self) -> None:
        told = getproxies()
        self._by_scheme = {scheme: _proxy(told[scheme]) for scheme in (*_SCHEMES, "all") if told.get(scheme)}

    def of(self, url: str) -> Proxy | None:
        """The proxy for a URL; None where its server is asked directly."""
        parts = urlsplit(url)
        proxy = self._by_scheme.get(parts.scheme) or self._by_scheme.get("all")
        return None if proxy is None or proxy_bypass(parts.netloc) else proxy


def _proxy(text: str) -> Proxy:
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme not in _SCHEMES or not parts.hostname or parts.port == 0:
        raise ValueError("no http:// or https:// proxy")
    user, _, place = parts.netloc.rpartition("@")
    url = urlunsplit((parts.scheme, place, "", "", ""))
    return Proxy(url, {"Proxy-Authorization": _basic(user)} if user else {})


def _basic(user: str) -> str:
    """The credentials of RFC 7617 for `user:password`, each percent-encoded as in a URL."""
    name, _, password = user.partition(":")
    return "Basic " + b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode("ascii")
