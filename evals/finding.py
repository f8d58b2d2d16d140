"""One sample in two arms, judged: a transition and, for a regression or a fix, its cause."""

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of `findings.jsonl`.

    `budgets` are all that were asked, ascending; `judged_budget` is the one whose grades decide. `fault`
    keeps the classes of `malformed` apart. `reproduced` counts (repeats that showed the same, repeats made).
    `is_…_failure` says that this arm's endpoint brought no answer at the judged budget.
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

    def to_json(self) -> dict[str, JsonValue]:
        """The line, with the names of the contract."""
        baseline_at_cap, candidate_at_cap = self.at_cap
        return {
            "id": self.id,
            "category": self.category,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "transition": self.transition.value,
            "cause": None if self.cause is None else self.cause.value,
            "code": self.code,
            "baseline_grade": self.baseline_grade.value,
            "candidate_grade": self.candidate_grade.value,
            "at_cap": {"baseline_grade": baseline_at_cap.value, "candidate_grade": candidate_at_cap.value},
            "budgets": list(self.budgets),
            "reproduced": None if self.reproduced is None else f"{self.reproduced[0]}/{self.reproduced[1]}",
            "evidence": self.evidence,
        }
