"""One sample taken apart, as text: prompt, what was due, both outputs, and every attempt of every arm."""

from collections.abc import Iterator, Sequence

from ..errors import UserError
from ..evals.judging.finding import Finding, Transition
from ..evals.judging.parting import first_difference
from ..evals.runs.run import Run
from ..evals.summing_up.summary import Summary
from ..tasks.sample import Sample
from .case import (
    Case,
    Try,
    as_json,
    call_lines,
    differing,
    divergence,
    due_lines,
    locus,
    message_text,
    read_case,
    show_command,
    sufficed,
    telling_budget,
)
from .layout import joined
from .repeat import curl_line, python_snippet
from .visible import shortened, visible, visible_line


def render_sample(summary: Summary, sample_id: str, *, width: int = 100) -> str | None:
    """The sample in all arms; None if the run has no sample of that id.

    Args:
        summary: The run, judged.
        sample_id: Which sample.
        width: Characters of a line; outputs of a model stand as they are, however long.
    """
    graded = summary.graded_sample(sample_id)
    if graded is None:
        return None
    run, sample = summary.run, graded.sample
    case = read_case(summary, graded)
    lines = [f"{visible_line(sample.id)}  ({visible_line(sample.category)})", ""]
    if run.plan.run.redact:
        lines += ["redacted: texts and values are hashes (hmac:…), the same where the originals were", ""]
    lines += _prompt(sample)
    for finding in _findings(summary, sample_id):
        lines += _finding(case, finding)
        if finding.transition in (Transition.REGRESSION, Transition.FIX):
            lines += _difference(run, case, finding)
    for arm in run.plan.arms:
        lines += ["", f"── {arm.name} " + "─" * max(3, min(width, 74) - 4 - len(arm.name))]
        lines += _arm(case.tries[arm.name], width)
    lines += _first_differences(run, case)
    if not run.plan.run.redact:
        command = show_command(run.directory, sample.id, "--repeat", "curl")
        lines += ["", f"ask it again by hand:  {command}   (or: --repeat python)"]
    return "\n".join(lines) + "\n"


def render_repeat(summary: Summary, sample_id: str, kind: str) -> str | None:
    """The requests of a sample at the budget that tells, one per arm, as `curl` lines or as `python`.

    Raises:
        UserError: The run is redacted, or nothing was asked: no body is there.
    """
    graded = summary.graded_sample(sample_id)
    if graded is None:
        return None
    run = summary.run
    if run.plan.run.redact:
        raise UserError(f"{run.directory}: is redacted; its requests are hashes and cannot be repeated")
    case = read_case(summary, graded)
    findings = _findings(summary, sample_id)
    broken = next((f for f in findings if f.transition in (Transition.REGRESSION, Transition.FIX)), None)
    budget = run.plan.run.max_tokens if broken is None else telling_budget(broken)
    write = curl_line if kind == "curl" else python_snippet
    parts: list[str] = []
    for arm in run.plan.arms:
        one = case.judged(arm.name, budget)
        if one is not None and one.attempt.request:
            written = write(arm, one.attempt.mode, one.attempt.request)
            parts.append(f"# {arm.name}: {visible_line(sample_id)}, max_tokens {budget}\n{written}")
    if not parts:
        raise UserError(f"{run.directory}: nothing was asked of {sample_id!r}, so nothing can be repeated")
    return "\n".join(parts)


def _findings(summary: Summary, sample_id: str) -> list[Finding]:
    """What became of the sample in each candidate that was asked it."""
    return [f for comparison in summary.comparisons for f in comparison.findings if f.id == sample_id]


def _prompt(sample: Sample) -> Iterator[str]:
    yield f"tools: {', '.join(map(visible_line, sample.tools.functions)) or 'none'}"
    yield f"turns: {len(sample.messages)}, the last one:"
    yield from _indented(message_text(sample.messages[-1].get("content")))
    due = list(due_lines(sample))
    if sample.expected is None or not sample.expected.calls:
        yield f"due: {due[0]}"
    else:
        yield "due:"
        yield from (f"    {visible_line(line)}" for line in due)


def _finding(case: Case, finding: Finding) -> Iterator[str]:
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
    facts = (
        ("differs at", ", ".join(map(visible_line, differing(finding)))),
        ("would have sufficed", None if finding.cause is None else sufficed(case, finding)),
        ("first difference", divergence(finding)),
        ("went wrong in", locus(finding)),
        ("what it means", None if finding.code is None else f"draftproof explain {finding.code}"),
    )
    yield from (f"    {name}: {fact}" for name, fact in facts if fact)


def _difference(run: Run, case: Case, finding: Finding) -> Iterator[str]:
    """Due beside what each arm called, where the finding shows."""
    budget = telling_budget(finding)
    for arm in (finding.baseline, finding.candidate):
        one = case.judged(arm, budget)
        if one is None:
            continue
        calls = call_lines(one)
        yield f"    {arm} at {budget}: {'no call' if not calls else visible_line(calls[0])}"
        yield from (f"    {' ' * len(f'{arm} at {budget}:')} {visible_line(line)}" for line in calls[1:])
    if (due := list(due_lines(case.sample))) and run.plan.run.redact is False:
        yield f"    due: {visible_line('; '.join(due))}"


def _arm(tries: Sequence[Try], width: int) -> Iterator[str]:
    seen: list[Try] = []
    for one in tries:
        attempt, text = one.attempt, one.text
        yield ""
        yield from joined(_header(one), width)
        if attempt.error is not None:
            yield from _indented(
                f"{attempt.error.type} {attempt.error.status or ''}: {attempt.error.message}"
            )
        if (same := next((other for other in seen if other.text == text), None)) is not None:
            yield f"    the same text as {same.attempt.stage.value} at {same.attempt.max_tokens}"
            continue
        seen.append(one)
        yield from _indented(text)
        if attempt.reading is not None:
            yield from (
                f"    call {visible_line(call.name)} {visible_line(as_json(call.arguments))}"
                for call in attempt.reading.calls
            )
        else:
            yield from (f"    call {visible_line(line)}" for line in call_lines(one))
        for drawing in one.drawn_defects(width - 6):
            first, *rest = drawing.split("\n")
            yield f"    ! {first}"
            yield from (f"      {line}" for line in rest)


def _header(one: Try) -> list[str]:
    attempt = one.attempt
    tokens = attempt.completion_tokens
    parts = [
        f"{attempt.stage.value} {attempt.attempt}" if attempt.attempt > 1 else attempt.stage.value,
        f"budget {attempt.max_tokens}",
        "tokens not counted" if tokens is None else f"{tokens} tokens",
        f"finish_reason {visible_line(str(attempt.finish_reason or 'null'))}",
    ]
    if one.answer is not None:
        parts.append(one.answer.ending.value)
    if one.grade is not None:
        parts.append(f"grade {one.grade.verdict.value}" + (f" ({one.grade.code})" if one.grade.code else ""))
    if attempt.spec is not None and attempt.spec.draft_tokens:
        parts.append(f"drafted {attempt.spec.draft_tokens}, accepted {attempt.spec.accepted_tokens}")
    parts.append(f"{attempt.duration_ms / 1000:.2f} s")
    return parts


def _first_differences(run: Run, case: Case) -> Iterator[str]:
    """Where each candidate's first answer leaves the baseline's."""
    budget = run.plan.run.max_tokens
    first = case.judged(run.plan.baseline.name, budget)
    if first is None:
        return
    for candidate in run.plan.candidates:
        other = case.judged(candidate.name, budget)
        if other is None:
            continue
        names = f"first answers of {first.attempt.arm} and {candidate.name}"
        yield ""
        if first.text == other.text:
            yield f"{names}: the same text"
            continue
        if run.plan.run.redact:
            yield f"{names} differ; where, no hash can say"
            continue
        start = first_difference(first.text, other.text)
        yield f"{names} differ from character {start}:"
        for name, text in ((first.attempt.arm, first.text), (candidate.name, other.text)):
            around = (
                visible_line(text[max(0, start - 30) : start]) + "▸" + visible_line(text[start : start + 50])
            )
            yield f"    {name:>12}  …{around}"


def _indented(text: str, lines_shown: int = 60) -> Sequence[str]:
    lines = visible(text).split("\n")
    shown = [f"    │ {shortened(line, 2000)}" for line in lines[:lines_shown]]
    if len(lines) > lines_shown:
        shown.append(f"    │ … {len(lines) - lines_shown} more lines in the journal")
    return shown
