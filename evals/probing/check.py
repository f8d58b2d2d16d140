"""One thing that was asked of a server, and what its behaviour showed."""

from dataclasses import dataclass
from enum import StrEnum

from ..attempt import EndpointError, ErrorType


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


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that brought no answer, and what that says of what it asked for."""

    verdict: Verdict
    words: str

    @classmethod
    def of(cls, error: EndpointError) -> "Failure":
        """Read the error of a server that answers other requests: it refused this one, in these words.

        An answer that is late, or none, shows nothing.
        """
        if error.status is None or error.type in (ErrorType.TIMEOUT, ErrorType.BAD_RESPONSE):
            return cls(Verdict.UNKNOWN, error.message)
        return cls(Verdict.REFUSED, words_of(error))

    def check(self, name: str) -> Check:
        """Return what it means for the check of that name."""
        return Check(name, self.verdict, self.words)


def words_of(error: EndpointError) -> str:
    """Return the server's words, after its status where there is one."""
    return error.message if error.status is None else f"HTTP {error.status}: {error.message}"
