"""A line of findings.jsonl: how it is written, and the model that reads it and makes its published schema."""

from contextlib import suppress

import msgspec
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ..runs.journal import json_line
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


def to_line(finding: Finding) -> bytes:
    """A finding's line with its newline; ASCII, so that no text of a model can break it."""
    row = line_of(finding)
    with suppress(ValueError):  # of a lone surrogate
        line = msgspec.json.encode(row)
        if line.isascii():  # as nearly all of them are, and a run has millions
            return line + b"\n"
    return f"{json_line(row)}\n".encode("ascii")


def line_of(finding: Finding) -> dict[str, object]:
    """A finding's line, in the order of `FindingLine`; enums are strings.

    Written out rather than dumped by the model: all of it is ours, and a run has millions.
    """
    return {
        "id": finding.id,
        "category": finding.category,
        "baseline": finding.baseline,
        "candidate": finding.candidate,
        "transition": finding.transition,
        "cause": finding.cause,
        "code": finding.code,
        "baseline_grade": finding.baseline_grade,
        "candidate_grade": finding.candidate_grade,
        "at_cap": {"baseline_grade": finding.at_cap[0], "candidate_grade": finding.at_cap[1]},
        "budgets": finding.budgets,
        "reproduced": None if finding.reproduced is None else "{}/{}".format(*finding.reproduced),
        "evidence": finding.evidence,
    }
