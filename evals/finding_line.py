"""A line of findings.jsonl, as a model: what writes it is also what its published schema is made from."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from .finding import Cause, Finding, Transition
from .grade import Verdict


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, use_enum_values=True)


class AtCap(_Entry):
    """The grades at the first budget."""

    baseline_grade: Verdict
    candidate_grade: Verdict


class FindingLine(_Entry):
    """One sample in two arms, judged."""

    id: str
    category: str
    baseline: str
    candidate: str
    transition: Transition
    cause: Cause | None
    """Null for anything but a regression or a fix."""
    code: str | None
    baseline_grade: Verdict
    candidate_grade: Verdict
    at_cap: AtCap
    budgets: list[int]
    """All that were asked, ascending."""
    reproduced: str | None = Field(pattern=r"^\d+/\d+$")
    """Repeats that showed the same, of the repeats made; null where none was made."""
    evidence: dict[str, JsonValue]
    """What was seen: the judged budget, the attempts at every budget, and for `malformed` and `real_change`
    the class (syntax, contract or difference) and a sentence."""

    @classmethod
    def of(cls, finding: Finding) -> "FindingLine":
        """The finding's line; nothing of it has to be checked, for all of it is ours."""
        baseline_at_cap, candidate_at_cap = finding.at_cap
        at_cap = AtCap.model_construct(baseline_grade=baseline_at_cap, candidate_grade=candidate_at_cap)
        return cls.model_construct(
            id=finding.id,
            category=finding.category,
            baseline=finding.baseline,
            candidate=finding.candidate,
            transition=finding.transition,
            cause=finding.cause,
            code=finding.code,
            baseline_grade=finding.baseline_grade,
            candidate_grade=finding.candidate_grade,
            at_cap=at_cap,
            budgets=list(finding.budgets),
            reproduced=None if finding.reproduced is None else "{}/{}".format(*finding.reproduced),
            evidence=finding.evidence,
        )

    def to_json(self) -> dict[str, JsonValue]:
        """The line, with the names of the contract; enums are strings."""
        return {**vars(self), "at_cap": vars(self.at_cap)}
