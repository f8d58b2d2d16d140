"""A report as GitHub's workflow commands: annotations that stand on the job's page.

One line each, `::error title=…::…`; the format and its escapes are those of GitHub's "Workflow commands for
GitHub Actions". A step shows ten of a kind, so the rest is counted rather than sent.
"""

from collections.abc import Iterator

from ..evals.decision.gate import Decision
from ..evals.judging.finding import Cause, Finding, Transition
from ..evals.summing_up.summary import Summary
from .finding_text import details
from .visible import visible_line

SHOWN = 10


def render_annotations(summary: Summary, *, allow_inconclusive: bool = False) -> str:
    """The decisions, then new regressions, those that count for a failed candidate first; then how many more.

    Args:
        summary: The run, judged.
        allow_inconclusive: True when an inconclusive run passes the job.
    """
    decisions = list(_decisions(summary, allow_inconclusive))
    regressions = list(_regressions(summary))
    regressions.sort(key=lambda pair: not pair[1])
    shown = regressions[: max(0, SHOWN - len(decisions))]
    lines = [*decisions, *(_regression(summary, finding, is_error) for finding, is_error in shown)]
    if left_out := len(regressions) - len(shown):
        more = f"{left_out} more regressions: see the report or findings.jsonl"
        lines.append(_command("notice", "draftproof", more))
    return "".join(f"{line}\n" for line in lines)


def _decisions(summary: Summary, allow_inconclusive: bool) -> Iterator[str]:
    for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True):
        match ruling.decision:
            case Decision.PASS:
                kind = "notice"
            case Decision.INCONCLUSIVE if allow_inconclusive:
                kind = "warning"
            case Decision.REGRESSION | Decision.INCONCLUSIVE | Decision.VOID:
                kind = "error"
        reasons = "\n".join(map(visible_line, ruling.reasons))
        yield _command(kind, f"draftproof: {comparison.candidate}: {ruling.decision.value}", reasons)


def _regressions(summary: Summary) -> Iterator[tuple[Finding, bool]]:
    """New regressions, each with whether it counted for the decision of a candidate that failed."""
    for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True):
        for finding in comparison.findings:
            if finding.transition is Transition.REGRESSION and not finding.is_known:
                counts = finding.cause is not Cause.CAP or summary.gate.cap == "fail"
                yield finding, counts and ruling.decision is Decision.REGRESSION


def _regression(summary: Summary, finding: Finding, is_error: bool) -> str:
    cause = finding.transition.value if finding.cause is None else finding.cause.value
    title = f"{finding.candidate}: {visible_line(finding.id)}: {cause}"
    return _command("error" if is_error else "warning", title, "\n".join(details(summary, finding)))


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
