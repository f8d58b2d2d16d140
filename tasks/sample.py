"""One sample: a prompt with its tools, and what a right answer is (or nothing: then nobody labelled it)."""

from dataclasses import dataclass, field
from enum import StrEnum

from ..parsers.result import Json, JsonObject
from ..parsers.tools import Tools
from .bfcl_terms import BfclRule, BfclTerms


class MatchRule(StrEnum):
    """How an expected value is compared with an actual one."""

    EXACT = "exact"  # JSON equality: 1 = 1.0, true is not 1, strings as they are, key order of no matter
    BFCL = "bfcl"  # the rules of the Berkeley Function-Calling Leaderboard, quirks included


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """One call that is due: for each parameter every value that is right.

    A parameter named in `optional` may be left out.
    """

    name: str
    arguments: dict[str, list[Json]]
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Expected:
    """The calls that are due, in any order; none means that no call is right.

    `bfcl` holds the terms of the match rule "bfcl", and only of it; its rule `relevance` wants any call.
    """

    calls: tuple[ExpectedCall, ...]
    match: MatchRule = MatchRule.EXACT
    bfcl: BfclTerms | None = None

    @property
    def is_any_call(self) -> bool:
        """Whether any call is right, so that none is named."""
        return self.bfcl is not None and self.bfcl.rule is BfclRule.RELEVANCE


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a suite file.

    `messages` are OpenAI chat messages as they are; `tools` are the same objects compiled, with the original
    JSON kept in `tools.declared`; only a sample that nobody labelled (`expected` is None) may have none.
    `extra_body` are request fields that are sent beside those of the plan; an arm's own win.
    """

    id: str
    category: str
    messages: tuple[JsonObject, ...]
    tools: Tools
    expected: Expected | None = None
    tool_choice: Json = "auto"
    metadata: JsonObject = field(default_factory=dict[str, Json])
    extra_body: JsonObject = field(default_factory=dict[str, Json])
