"""One sample in two arms, judged: a transition and, for a regression or a fix, its cause."""

from enum import StrEnum

import msgspec
from pydantic import JsonValue

from .grade import Fault, Verdict


class Transition(StrEnum):
    """What became of the sample from the baseline to the candidate."""

    REGRESSION = "regression"
    FIX = "fix"
    BOTH_PASS = "both_pass"
    BOTH_FAIL = "both_fail"
    VOID = "void"


class Cause(StrEnum):
    """Why a regression (or a fix) is one."""

    CAP = "cap"
    MALFORMED = "malformed"
    REAL_CHANGE = "real_change"
    UNRESOLVED = "unresolved"


class Finding(msgspec.Struct, frozen=True):
    """A line of `findings.jsonl`.

    `budgets` are all that were asked, ascending; `judged_budget` is the one whose grades decide. `fault`
    keeps the classes of `malformed` apart. `reproduced` counts (repeats that showed the same, repeats made).
    `is_…_failure` says that this arm's endpoint brought no answer at the judged budget. `is_known`: an
    accepted earlier run had the same (`history.py`); it is no property of the run and stands in no file.
    """

    id: str
    category: str
    baseline: str
    candidate: str
    transition: Transition
    cause: Cause | None
    code: str | None
    fault: Fault | None
    baseline_grade: Verdict
    candidate_grade: Verdict
    at_cap: tuple[Verdict, Verdict]
    budgets: tuple[int, ...]
    judged_budget: int
    reproduced: tuple[int, int] | None
    is_baseline_failure: bool
    is_candidate_failure: bool
    evidence: dict[str, JsonValue]
    is_known: bool = False

    @property
    def broken_in(self) -> str | None:
        """The one arm that broke the sample; None where both did, neither did, or nobody can tell."""
        match self.transition:
            case Transition.REGRESSION:
                return self.candidate
            case Transition.FIX:
                return self.baseline
            case _:
                return None

    def without_idle_evidence(self) -> "Finding":
        """The same finding; of a pair that both arms got right, or both wrong, what was seen is left out.

        A run has as many of those as samples, and nothing but their lines shows it.
        """
        if self.transition in (Transition.BOTH_PASS, Transition.BOTH_FAIL):
            return msgspec.structs.replace(self, evidence={})
        return self
