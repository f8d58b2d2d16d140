"""One finding in words, for reports that have room for a few: JUnit, annotations."""

from collections.abc import Iterator

from pydantic import JsonValue

from ..evals.judging.finding import Finding
from ..evals.summing_up.summary import Summary
from .visible import shortened, visible_line

_MESSAGE = 500  # characters of a sentence that may quote a model


def headline(finding: Finding) -> str:
    """Cause, code and what was seen, on one line: `real_change: wrong_arguments: city is "Bergen", …`."""
    parts = [finding.transition.value if finding.cause is None else finding.cause.value]
    if finding.code is not None:
        parts.append(visible_line(finding.code))
    if isinstance(message := finding.evidence.get("message"), str):
        parts.append(shortened(visible_line(message), _MESSAGE))
    return ": ".join(parts)


def details(summary: Summary, finding: Finding) -> Iterator[str]:
    """Lines for whoever has to act: the budgets, what both arms did at each, repeats, the command to type."""
    yield headline(finding)
    budgets = ", ".join(map(str, finding.budgets)) or "none"
    yield f"budgets asked: {budgets}; judged at {finding.judged_budget} tokens"
    attempts = finding.evidence.get("attempts")
    for budget, arms in attempts.items() if isinstance(attempts, dict) else ():
        for name, role in ((finding.baseline, "baseline"), (finding.candidate, "candidate")):
            yield f"at {budget}: {name} {_seen(arms.get(role) if isinstance(arms, dict) else None)}"
    if finding.evidence.get("also_cut"):
        yield "the break stands in the text before the place of a cut"
    if finding.reproduced is not None:
        yield f"reproduced: {finding.reproduced[0]} of {finding.reproduced[1]} repeats"
    if finding.is_known:
        yield "known: the accepted run had it too"
    yield f"look at it: draftproof show {visible_line(f'{summary.run.directory} {finding.id}')}"


def _seen(attempt: JsonValue) -> str:
    """`fail (wrong_arguments), 50 tokens, finish_reason stop`; what the server did not count is not said."""
    if not isinstance(attempt, dict):
        return "not asked"
    code, tokens = attempt.get("code"), attempt.get("completion_tokens")
    parts = [str(attempt.get("grade")) + (f" ({code})" if code is not None else "")]
    if tokens is not None:
        parts.append(f"{tokens} tokens")
    if "finish_reason" in attempt:
        reason = attempt["finish_reason"]
        parts.append(f"finish_reason {'null' if reason is None else reason}")
    return visible_line(", ".join(parts))
