"""Which proxy a request goes through: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY say."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_SCHEMES = ("http", "https")


class Proxies:
    """The proxies of the environment, read once.

    Raises:
        ValueError: One of them cannot be used. The message leaves out its URL, which may hold a password.
    """

    def __init__(self) -> None:
        told = getproxies()
        self._by_scheme = {
            scheme: _checked(told[scheme]) for scheme in (*_SCHEMES, "all") if told.get(scheme)
        }

    def of(self, url: str) -> str | None:
        """The proxy for a URL; None where its server is asked directly."""
        parts = urlsplit(url)
        proxy = self._by_scheme.get(parts.scheme) or self._by_scheme.get("all")
        return None if proxy is None or proxy_bypass(parts.netloc) else proxy


def _checked(proxy: str) -> str:
    url = proxy if "://" in proxy else f"http://{proxy}"
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname or parts.port == 0:
        raise ValueError("no http:// or https:// proxy")
    return url
