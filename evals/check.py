"""One thing that was asked of a server, and what its behaviour showed."""

from dataclasses import dataclass
from enum import StrEnum

from .attempt import EndpointError, ErrorType


class Verdict(StrEnum):
    """What a check showed; `unknown` is not `ok`."""

    OK = "ok"
    APPLIED = "applied"
    IGNORED = "ignored"  # accepted, and without the effect it must have
    REFUSED = "refused"
    UNKNOWN = "unknown"  # the effect cannot be shown here
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    """A check by name; `detail` is the same whenever the same was seen, so that two servers compare."""

    name: str
    verdict: Verdict
    detail: str


def failed(name: str, error: EndpointError) -> Check:
    """Return what it means that a request brought no answer: the server's refusal, or an outage."""
    if error.type is ErrorType.TIMEOUT:
        return Check(name, Verdict.UNKNOWN, error.message)
    if error.status is None or error.type is ErrorType.BAD_RESPONSE:
        return Check(name, Verdict.UNKNOWN, f"no answer: {error.message}")
    return Check(name, Verdict.REFUSED, f"HTTP {error.status}: {error.message}")
