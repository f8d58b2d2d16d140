"""A run as data frames, for whoever wants to count something else: attempts, grades, findings.

Every column has a nullable type of pandas, and what is missing stays missing (`<NA>`), never 0 or "".
"""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ..errors import UserError
from ..evals.attempt import Attempt
from ..evals.judging.grade import Grade
from ..evals.runs.run import Run
from ..evals.summing_up.summary import Summary

if TYPE_CHECKING:
    from pandas import DataFrame

FrameKind = Literal["csv", "parquet"]

_ATTEMPTS = {
    "id": "string",
    "category": "string",
    "arm": "string",
    "stage": "string",
    "max_tokens": "Int64",
    "attempt": "Int64",
    "status": "string",
    "finish_reason": "string",
    "prompt_tokens": "Int64",
    "completion_tokens": "Int64",
    "reasoning_tokens": "Int64",
    "draft_tokens": "Int64",
    "accepted_tokens": "Int64",
    "duration_ms": "Float64",
    "ttft_ms": "Float64",
    "retries": "Int64",
    "error": "string",
    "content": "string",
    "started_at": "string",
    "index": "Int64",
}
_GRADES = {
    "id": "string",
    "category": "string",
    "arm": "string",
    "stage": "string",
    "max_tokens": "Int64",
    "attempt": "Int64",
    "grade": "string",
    "code": "string",
    "fault": "string",
    "message": "string",
    "ending": "string",
    "calls": "Int64",
    "completion_tokens": "Int64",
}
_FINDINGS = {
    "id": "string",
    "category": "string",
    "baseline": "string",
    "candidate": "string",
    "transition": "string",
    "cause": "string",
    "code": "string",
    "fault": "string",
    "baseline_grade": "string",
    "candidate_grade": "string",
    "baseline_grade_at_cap": "string",
    "candidate_grade_at_cap": "string",
    "judged_budget": "Int64",
    "reproduced": "Int64",
    "repeated": "Int64",
    "message": "string",
}

Cell = str | int | float | None


def attempts_frame(run: Run) -> "DataFrame":
    """One row for each attempt, in the order of the suite, the arms and the sending; texts as they came."""
    places = {sample_id: place for place, sample_id in enumerate(run.ids)}
    arms = {arm.name: place for place, arm in enumerate(run.plan.arms)}
    rows: list[dict[str, Cell]] = []
    for block in run.blocks():
        record = block.read()
        categories = {sample.id: sample.category for sample in record.samples}
        attempts = sorted(
            record.attempts.values(), key=lambda a: (places.get(a.id, -1), arms[a.arm], a.index)
        )
        rows += [_attempt(one, categories.get(one.id)) for one in attempts]
    return _frame(rows, _ATTEMPTS)


def grades_frame(summary: Summary) -> "DataFrame":
    """One row for each graded attempt.

    `stage` is `judged` for the first answer at a budget (stages `first` and `doubled`), else `control` or
    `confirm`.
    """
    rows: list[dict[str, Cell]] = []
    for one in summary.graded():
        graded: list[tuple[str, str, int, int, Grade]] = []
        for arm, ladder in one.arms.items():
            graded += [(arm, "judged", budget, 1, grade) for budget, grade in ladder.items()]
        baseline = summary.run.plan.baseline.name
        graded += [(baseline, "control", budget, 1, grade) for budget, grade in one.control.items()]
        for (arm, budget), repeats in one.confirms.items():
            graded += [(arm, "confirm", budget, number, grade) for number, grade in repeats.items()]
        rows += [{"id": one.sample.id, "category": one.sample.category, **_grade(*entry)} for entry in graded]
    return _frame(rows, _GRADES)


def findings_frame(summary: Summary) -> "DataFrame":
    """One row for each sample and candidate."""
    rows: list[dict[str, Cell]] = []
    for finding in (one for comparison in summary.comparisons for one in comparison.findings):
        message = finding.evidence.get("message")
        shown, repeated = finding.reproduced or (None, None)
        rows.append(
            {
                "id": finding.id,
                "category": finding.category,
                "baseline": finding.baseline,
                "candidate": finding.candidate,
                "transition": finding.transition.value,
                "cause": None if finding.cause is None else finding.cause.value,
                "code": finding.code,
                "fault": None if finding.fault is None else finding.fault.value,
                "baseline_grade": finding.baseline_grade.value,
                "candidate_grade": finding.candidate_grade.value,
                "baseline_grade_at_cap": finding.at_cap[0].value,
                "candidate_grade_at_cap": finding.at_cap[1].value,
                "judged_budget": finding.judged_budget,
                "reproduced": shown,
                "repeated": repeated,
                "message": message if isinstance(message, str) else None,
            }
        )
    return _frame(rows, _FINDINGS)


def render_frames(summary: Summary, kind: FrameKind) -> dict[str, bytes]:
    """The three frames as files of that kind, by name.

    Raises:
        UserError: pandas, or what it needs for Parquet, is not installed.
    """
    _require("pandas")
    if kind == "parquet":
        _require("pyarrow")
    frames = {
        "attempts": attempts_frame(summary.run),
        "grades": grades_frame(summary),
        "findings": findings_frame(summary),
    }
    return {name: _written(frame, kind) for name, frame in frames.items()}


def _written(frame: "DataFrame", kind: FrameKind) -> bytes:
    file = io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(file, index=False)  # pyright: ignore[reportUnknownMemberType]
    else:
        frame.to_csv(file, index=False, lineterminator="\n")  # pyright: ignore[reportUnknownMemberType]
    return file.getvalue()


def _attempt(attempt: Attempt, category: str | None) -> dict[str, Cell]:
    usage, spec = attempt.usage, attempt.spec
    return {
        "id": attempt.id,
        "category": category,
        "arm": attempt.arm,
        "stage": attempt.stage.value,
        "max_tokens": attempt.max_tokens,
        "attempt": attempt.attempt,
        "status": attempt.status,
        "finish_reason": attempt.finish_reason,
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "completion_tokens": attempt.completion_tokens,
        "reasoning_tokens": None if usage is None else usage.reasoning_tokens,
        "draft_tokens": None if spec is None else spec.draft_tokens,
        "accepted_tokens": None if spec is None else spec.accepted_tokens,
        "duration_ms": attempt.duration_ms,
        "ttft_ms": attempt.ttft_ms,
        "retries": attempt.retries,
        "error": None if attempt.error is None else attempt.error.type.value,
        "content": attempt.content,
        "started_at": attempt.started_at,
        "index": attempt.index,
    }


def _grade(arm: str, stage: str, budget: int, number: int, grade: Grade) -> dict[str, Cell]:
    answer, blame = grade.answer, grade.blame
    return {
        "arm": arm,
        "stage": stage,
        "max_tokens": budget,
        "attempt": number,
        "grade": grade.verdict.value,
        "code": grade.code,
        "fault": None if blame is None else blame.fault.value,
        "message": None if blame is None else blame.message,
        "ending": None if answer is None else answer.ending.value,
        "calls": None if answer is None else len(answer.parsed.calls),
        "completion_tokens": None if answer is None else answer.attempt.completion_tokens,
    }


def _frame(rows: Sequence[Mapping[str, Cell]], types: Mapping[str, str]) -> "DataFrame":
    pandas = _require("pandas")
    columns = {
        name: pandas.array([_encodable(row[name]) for row in rows], dtype=kind)
        for name, kind in types.items()
    }
    return pandas.DataFrame(columns)


def _encodable(cell: Cell) -> Cell:
    """Lone surrogates, which servers do send, become their escapes: no file of frames could hold them."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def _require(name: Literal["pandas", "pyarrow"]):  # noqa: ANN202 - a module
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise UserError(
            f"data frames need {name}, which is not installed", tip="pip install 'draftproof[frames]'"
        ) from None
