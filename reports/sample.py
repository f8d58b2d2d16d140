"""One sample taken apart, as text: prompt, what was due, and every attempt of every arm."""

import json
from collections.abc import Iterator, Mapping, Sequence

from ..evals.answer import Answer
from ..evals.attempt import Attempt, Stage
from ..evals.finding import Finding, Transition
from ..evals.grade import Grade
from ..evals.ladder import GradedSample, read_answers
from ..evals.record import Record
from ..evals.summary import Summary
from ..parsers.result import Json
from ..tasks.sample import Sample
from .visible import shortened, visible, visible_line

STAGES = (Stage.FIRST, Stage.CONTROL, Stage.DOUBLED, Stage.CONFIRM)


def render_sample(summary: Summary, sample_id: str) -> str | None:
    """The sample in all arms; None if the run has no sample of that id."""
    graded = next((one for one in summary.graded if one.sample.id == sample_id), None)
    if graded is None:
        return None
    record, sample = summary.record, graded.sample
    lines = [f"{visible_line(sample.id)}  ({visible_line(sample.category)})", ""]
    if record.plan.run.redact:
        lines += ["redacted: texts and values are hashes (hmac:…), the same where the originals were", ""]
    lines += _prompt(sample)
    for comparison in summary.comparisons:
        lines += _finding(next(f for f in comparison.findings if f.id == sample_id))
    for arm in record.plan.arms:
        lines += ["", f"── {arm.name} " + "─" * max(3, 70 - len(arm.name))]
        lines += _arm(record, graded, arm.name)
    lines += _first_differences(record, sample)
    return "\n".join(lines) + "\n"


def _prompt(sample: Sample) -> Iterator[str]:
    yield f"tools: {', '.join(sample.tools.functions) or 'none'}"
    yield f"turns: {len(sample.messages)}, the last one:"
    yield from _indented(_text(sample.messages[-1].get("content")))
    if sample.expected is None:
        yield "due: nobody labelled it; the baseline's first answer is the reference"
    elif not sample.expected.calls:
        yield "due: any call" if sample.expected.is_any_call else "due: no call"
    else:
        yield "due:"
        for call in sample.expected.calls:
            values = {
                name: right[0] if len(right) == 1 else {"any of": list(right)}
                for name, right in call.arguments.items()
            }
            optional = f"   (may be left out: {', '.join(sorted(call.optional))})" if call.optional else ""
            yield f"    {call.name} {_json(values)}{optional}"


def _finding(finding: Finding) -> Iterator[str]:
    yield ""
    what = finding.transition.value
    if finding.cause is not None:
        what += f", cause {finding.cause.value}, code {finding.code}"
    elif finding.code is not None:
        what += f" ({finding.code})"
    if finding.reproduced is not None:
        what += f", reproduced {finding.reproduced[0]} of {finding.reproduced[1]}"
    yield f"{finding.baseline} → {finding.candidate}: {what}, judged at {finding.judged_budget} tokens"
    if (
        isinstance(message := finding.evidence.get("message"), str)
        and finding.transition is not Transition.VOID
    ):
        yield f"    {visible_line(message)}"
    if finding.evidence.get("also_cut"):
        yield "    stood in the text before the place of the cut"


def _arm(record: Record, graded: GradedSample, arm: str) -> Iterator[str]:
    answers = read_answers(record, graded.sample, arm)
    attempts = sorted(
        record.by_sample.get((graded.sample.id, arm), ()),
        key=lambda one: (STAGES.index(one.stage), one.max_tokens, one.attempt),
    )
    seen: list[tuple[Attempt, str]] = []
    for attempt in attempts:
        yield ""
        yield _header(attempt, answers, _grade(graded, attempt))
        if attempt.error is not None:
            yield from _indented(
                f"{attempt.error.type} {attempt.error.status or ''}: {attempt.error.message}"
            )
        text = _answer_text(attempt)
        if (same := next((other for other, known in seen if known == text), None)) is not None:
            yield f"    the same text as {same.stage.value} at {same.max_tokens}"
            continue
        seen.append((attempt, text))
        yield from _indented(text)
        answer = answers.get((attempt.stage, attempt.max_tokens, attempt.attempt))
        if attempt.reading is not None:
            for call in attempt.reading.calls:
                yield f"    call {visible_line(call.name)} {_json(call.arguments)}"
        for defect in () if answer is None else answer.defects:
            yield f"    ! {defect.code.value}: {visible_line(defect.message)}"


def _header(attempt: Attempt, answers: Mapping[tuple[Stage, int, int], Answer], grade: Grade | None) -> str:
    answer = answers.get((attempt.stage, attempt.max_tokens, attempt.attempt))
    tokens = attempt.completion_tokens
    parts = [
        f"{attempt.stage.value} {attempt.attempt}" if attempt.attempt > 1 else attempt.stage.value,
        f"budget {attempt.max_tokens}",
        "tokens not counted" if tokens is None else f"{tokens} tokens",
        f"finish_reason {visible_line(str(attempt.finish_reason or 'null'))}",
    ]
    if answer is not None:
        parts.append(answer.ending.value)
    if grade is not None:
        parts.append(f"grade {grade.verdict.value}" + (f" ({grade.code})" if grade.code else ""))
    if attempt.spec is not None and attempt.spec.draft_tokens:
        parts.append(f"drafted {attempt.spec.draft_tokens}, accepted {attempt.spec.accepted_tokens}")
    parts.append(f"{attempt.duration_ms / 1000:.2f} s")
    return " · ".join(parts)


def _grade(graded: GradedSample, attempt: Attempt) -> Grade | None:
    match attempt.stage:
        case Stage.CONTROL:
            return graded.control.get(attempt.max_tokens)
        case Stage.CONFIRM:
            return graded.confirms.get((attempt.arm, attempt.max_tokens), {}).get(attempt.attempt)
        case _:
            return graded.arms[attempt.arm].get(attempt.max_tokens)


def _first_differences(record: Record, sample: Sample) -> Iterator[str]:
    """Where each candidate's first answer leaves the baseline's."""
    budget = record.plan.run.max_tokens
    first = record.attempt(sample.id, record.plan.baseline.name, Stage.FIRST, budget)
    if first is None:
        return
    for candidate in record.plan.candidates:
        other = record.attempt(sample.id, candidate.name, Stage.FIRST, budget)
        if other is None:
            continue
        one, two = _answer_text(first), _answer_text(other)
        yield ""
        if one == two:
            yield f"first answers of {first.arm} and {candidate.name}: the same text"
            continue
        if record.plan.run.redact:
            yield f"first answers of {first.arm} and {candidate.name} differ; where, no hash can say"
            continue
        start = first_difference(one, two)
        yield f"first answers of {first.arm} and {candidate.name} differ from character {start}:"
        for name, text in ((first.arm, one), (candidate.name, two)):
            around = (
                visible_line(text[max(0, start - 30) : start]) + "▸" + visible_line(text[start : start + 50])
            )
            yield f"    {name:>12}  …{around}"


def first_difference(one: str, two: str) -> int:
    """Position of the first character at which two texts differ (the shorter's length if it is a prefix)."""
    for position, (left, right) in enumerate(zip(one, two, strict=False)):
        if left != right:
            return position
    return min(len(one), len(two))


def _answer_text(attempt: Attempt) -> str:
    """What was generated, as far as the server shows it."""
    parts: list[str] = []
    if attempt.reasoning:
        parts.append(f"[reasoning] {attempt.reasoning}")
    if attempt.content:
        parts.append(attempt.content)
    if attempt.tool_calls:
        parts.append(f"[tool_calls] {_json(attempt.tool_calls)}")
    return "\n".join(parts)


def _indented(text: str, lines_shown: int = 60) -> Sequence[str]:
    lines = visible(text).split("\n")
    shown = [f"    │ {shortened(line, 2000)}" for line in lines[:lines_shown]]
    if len(lines) > lines_shown:
        shown.append(f"    │ … {len(lines) - lines_shown} more lines in the journal")
    return shown


def _text(content: Json) -> str:
    return content if isinstance(content, str) else _json(content)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
