"""The findings as JSON for the HTML pages: what their table lists, and what a row opens to."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from ..evals.judging.finding import Finding, Transition
from ..evals.judging.parting import first_difference
from ..evals.summing_up.pairing import Operand, Pair
from .case import (
    Case,
    Try,
    call_lines,
    differing,
    divergence,
    due_lines,
    locus,
    message_text,
    read_pair,
    show_command,
    sufficed,
    telling_budget,
)
from .contents import tokens_of
from .explained import explanation
from .repeat import body_text, curl_frame, python_frame
from .visible import shortened, visible, visible_line

LISTED = (Transition.REGRESSION, Transition.FIX, Transition.VOID)
OPENED = 2000  # findings that open to both outputs; the rest are listed and name the command that shows them
TEXT_SHOWN = 20_000  # characters of one output
PROMPT_SHOWN = 4_000
BODY_SHOWN = 200_000
DRAWING_WIDTH = 64  # of a defect under carets: half a page on a screen

# Beside `<`, `>` and `&`, which could end the element, the two line ends that old readers take in a string.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

Row = dict[str, JsonValue]


def findings_json(pairs: Sequence[Pair], *, names_arms: bool = False) -> str:
    """Everything the table needs, as JSON that can stand in a script element whatever a model wrote.

    Args:
        pairs: What was compared.
        names_arms: Whether a row says which arm alone broke its sample, instead of regression or fix: between
            two candidates neither is the baseline.
    """
    bodies: dict[str, int] = {}
    rows = _rows(pairs, bodies, names_arms=names_arms)
    content: Row = {
        "arms": {visible_line(one.label): _arm(one) for pair in pairs for one in (pair.left, pair.right)},
        "rows": list(rows),
        "bodies": list(bodies),
    }
    return json_for_html(content)


def json_for_html(value: JsonValue) -> str:
    """JSON without any sign that HTML could read."""
    return json.dumps(value, ensure_ascii=True).translate(_ESCAPED)


def _rows(pairs: Sequence[Pair], bodies: dict[str, int], *, names_arms: bool) -> Sequence[Row]:
    """Regressions, then fixes, then void samples; within them in the order of the suite."""
    found = [(pair, one) for pair in pairs for one in pair.comparison.findings if one.transition in LISTED]
    found.sort(key=lambda item: (LISTED.index(item[1].transition), item[1].is_known))
    rows: list[Row] = []
    for number, (pair, finding) in enumerate(found):
        row = _listed(finding)
        row["what"] = _what(finding) if names_arms else finding.transition.value
        row["commands"] = _commands(pair, finding)
        if number < OPENED:
            case = read_pair(pair, pair.graded_sample(finding.id))
            row |= _opened(case, finding, bodies, is_redacted=pair.left.summary.run.plan.run.redact)
        rows.append(row)
    return rows


def _what(finding: Finding) -> str:
    broken = finding.broken_in
    return finding.transition.value if broken is None else f"only {visible_line(broken)}"


def _commands(pair: Pair, finding: Finding) -> list[JsonValue]:
    """What shows the sample in a terminal: a command for each run."""
    directories = dict.fromkeys(one.summary.run.directory for one in (pair.left, pair.right))
    return [show_command(directory, finding.id) for directory in directories]


def _listed(finding: Finding) -> Row:
    message = finding.evidence.get("message")
    return {
        "id": visible_line(finding.id),
        "category": visible_line(finding.category),
        "candidate": visible_line(finding.candidate),
        "baseline": visible_line(finding.baseline),
        "tone": finding.transition.value,
        "cause": None if finding.cause is None else finding.cause.value,
        "code": finding.code,
        "tokens": tokens_of(finding),
        "again": None if finding.reproduced is None else f"{finding.reproduced[0]}/{finding.reproduced[1]}",
        "known": finding.is_known,
        "message": visible_line(message) if isinstance(message, str) else None,
    }


def _opened(case: Case, finding: Finding, bodies: dict[str, int], *, is_redacted: bool) -> Row:
    budget = telling_budget(finding)
    pair = [case.judged(arm, budget) for arm in (finding.baseline, finding.candidate)]
    texts = [one.text if one is not None else "" for one in pair]
    is_told = texts[0] != texts[1] and None not in pair and not is_redacted
    difference = first_difference(*texts) if is_told else None
    sample = case.sample
    entry = None if finding.code is None else explanation(finding.code)
    return {
        "budget": budget,
        "judged": finding.judged_budget,
        "also_cut": bool(finding.evidence.get("also_cut")),
        "meaning": None if entry is None else entry.meaning,
        "advice": None if entry is None else entry.advice,
        "sufficed": sufficed(case, finding) if finding.cause is not None else None,
        "divergence": divergence(finding),
        "locus": locus(finding),
        "paths": [visible_line(path) for path in differing(finding)],
        "prompt": _cut(message_text(sample.messages[-1].get("content")), PROMPT_SHOWN),
        "turns": len(sample.messages),
        "tools": [visible_line(name) for name in sample.tools.functions],
        "due": [visible_line(line) for line in due_lines(sample)],
        "difference": difference,
        "sides": [
            _side(case, arm, one, difference, bodies)
            for arm, one in zip((finding.baseline, finding.candidate), pair, strict=True)
        ],
    }


def _side(
    case: Case, arm: str, one: Try | None, difference: int | None, bodies: dict[str, int]
) -> dict[str, JsonValue]:
    tries: list[JsonValue] = [_try(each) for each in case.tries.get(arm, ())]
    if one is None:
        return {
            "arm": visible_line(arm),
            "tries": tries,
            "before": None,
            "after": None,
            "calls": [],
            "defects": [],
        }
    text = one.text
    # Both halves are made visible apart, since an escape is longer than what it stands for.
    at = len(text) if difference is None else difference
    body = body_text(one.attempt.request) if one.attempt.request and one.attempt.reading is None else None
    if body is not None and len(body) > BODY_SHOWN:
        body = None
    return {
        "arm": visible_line(arm),
        "tries": tries,
        "tokens": one.attempt.completion_tokens,
        "before": _before(text[:at], TEXT_SHOWN // 2 if difference is not None else TEXT_SHOWN),
        "after": None if difference is None else _cut(text[at:], TEXT_SHOWN // 2),
        "calls": [visible_line(line) for line in map(_short, call_lines(one))],
        "defects": [*one.drawn_defects(DRAWING_WIDTH)],
        "body": None if body is None else bodies.setdefault(body, len(bodies)),
    }


def _try(one: Try) -> Row:
    attempt = one.attempt
    drafted = attempt.spec
    return {
        "stage": f"{attempt.stage.value} {attempt.attempt}" if attempt.attempt > 1 else attempt.stage.value,
        "budget": attempt.max_tokens,
        "tokens": attempt.completion_tokens,
        "finish": visible_line(str(attempt.finish_reason or "null")) if one.answer is not None else None,
        "ending": None if one.answer is None else one.answer.ending.value,
        "grade": None if one.grade is None else one.grade.verdict.value,
        "code": None if one.grade is None else one.grade.code,
        "seconds": round(attempt.duration_ms / 1000, 2),
        "accepted": None if drafted is None else f"{drafted.accepted_tokens}/{drafted.draft_tokens}",
        "error": None
        if attempt.error is None
        else visible_line(
            _short(f"{attempt.error.type} {attempt.error.status or ''}: {attempt.error.message}")
        ),
    }


def _arm(operand: Operand) -> Row:
    arm, mode = operand.plan_arm, operand.summary.run.plan.run.mode
    return {"curl": list(curl_frame(arm, mode)), "python": list(python_frame(arm, mode))}


def _before(text: str, size: int) -> str:
    """The end of what both arms share, or the beginning of a text that is shown alone."""
    if len(text) <= size:
        return visible(text)
    return f"… {len(text) - size:,} characters earlier …\n{visible(text[-size:])}"


def _cut(text: str, size: int) -> str:
    if len(text) <= size:
        return visible(text)
    return f"{visible(text[:size])}\n… {len(text) - size:,} more characters in the journal"


def _short(text: str) -> str:
    return shortened(text, PROMPT_SHOWN)
