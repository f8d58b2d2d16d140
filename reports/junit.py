"""A report as JUnit XML: a test suite per candidate, a test case per sample, and one for the decision.

What a CI server should make of each: a regression is a failure; a fix passes. Skipped, with the reason, are a
void sample, one that both arms get wrong (it says nothing of the candidate), and a regression that is known
from an accepted run. The case `decision` is the gate's word, in the colour of its exit code: a failure for a
regression and for an inconclusive run (skipped where that is allowed), an error for void. A gate can pass
while single regressions fail here (as many fixes stand against them, or the cap broke them): the job's result
is the exit code, this file says where to look.
"""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..evals.comparing.comparison import Comparison
from ..evals.decision.gate import Decision, Ruling
from ..evals.judging.finding import Finding, Transition
from ..evals.summing_up.summary import Summary
from .finding_text import details, headline
from .visible import visible_line

if TYPE_CHECKING:
    from junitparser import TestCase, TestSuite
    from junitparser.junitparser import FinalResult


def render_junit(summary: Summary, *, allow_inconclusive: bool = False) -> str:
    """The whole report; control characters, lone surrogates and whatever else XML refuses become escapes.

    Args:
        summary: The run, judged.
        allow_inconclusive: Skip the decision of an inconclusive candidate instead of failing it.
    """
    from junitparser import JUnitXml

    durations = _durations(summary)
    suites = [
        _suite(summary, comparison, ruling, durations, allow_inconclusive)
        for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True)
    ]
    report = JUnitXml(f"draftproof {visible_line(summary.run.directory.name)}")
    for suite in suites:
        report.add_testsuite(suite)
    # Not `update_statistics`: it adds `skipped`, which Jenkins' schema does not know at this place.
    report.tests = sum(suite.tests or 0 for suite in suites)
    report.failures = sum(suite.failures or 0 for suite in suites)
    report.errors = sum(suite.errors or 0 for suite in suites)
    text = io.BytesIO()
    report.write(text, pretty=True)  # pyright: ignore[reportUnknownMemberType]
    return text.getvalue().decode("utf-8")


def _suite(
    summary: Summary,
    comparison: Comparison,
    ruling: Ruling,
    durations: Mapping[tuple[str, str], float],
    allow_inconclusive: bool,
) -> "TestSuite":
    from junitparser import TestSuite

    suite = TestSuite(comparison.candidate)
    suite.add_property("baseline", comparison.baseline)
    suite.add_property("decision", ruling.decision.value)
    cases = [_decision(comparison, ruling, allow_inconclusive)]
    cases += [
        _sample(summary, finding, durations.get((finding.id, finding.candidate), 0.0))
        for finding in comparison.findings
    ]
    suite.add_testcases(cases)
    return suite


def _decision(comparison: Comparison, ruling: Ruling, allow_inconclusive: bool) -> "TestCase":
    from junitparser import Error, Failure, Skipped, TestCase

    case = TestCase("decision", comparison.candidate)
    reasons = [visible_line(reason) for reason in ruling.reasons]
    message = f"{ruling.decision.value}: {'; '.join(reasons)}"
    match ruling.decision:
        case Decision.PASS:
            case.system_out = "\n".join(reasons)
        case Decision.INCONCLUSIVE if allow_inconclusive:
            case.result = Skipped(f"{message} (allowed)")
        case Decision.VOID:
            case.result = _with_text(Error(message, ruling.decision.value), "\n".join(reasons))
        case Decision.REGRESSION | Decision.INCONCLUSIVE:
            case.result = _with_text(Failure(message, ruling.decision.value), "\n".join(reasons))
    return case


def _sample(summary: Summary, finding: Finding, seconds: float) -> "TestCase":
    from junitparser import Failure, Skipped, TestCase

    case = TestCase(
        visible_line(finding.id) or "(no id)",
        visible_line(f"{finding.candidate}.{finding.category}"),
        seconds,
    )
    text = "\n".join(details(summary, finding))
    match finding.transition:
        case Transition.REGRESSION if finding.is_known:
            case.result = _with_text(Skipped(f"known regression: {headline(finding)}"), text)
        case Transition.REGRESSION:
            kind = finding.transition if finding.cause is None else finding.cause
            case.result = _with_text(Failure(headline(finding), kind.value), text)
        case Transition.VOID:
            case.result = _with_text(Skipped(headline(finding)), text)
        case Transition.BOTH_FAIL:
            case.result = Skipped(f"both wrong: says nothing of {finding.candidate}")
        case Transition.FIX:
            case.system_out = f"fix: {text}"
        case Transition.BOTH_PASS:
            pass
    return case


def _durations(summary: Summary) -> dict[tuple[str, str], float]:
    """Seconds that each arm took over each sample, all its attempts together."""
    return {
        key: round(sum(attempt.duration_ms for attempt in attempts) / 1000, 3)
        for block in summary.run.blocks()
        for key, attempts in block.read().by_sample.items()
    }


def _with_text(result: "FinalResult", text: str) -> "FinalResult":
    result.text = text
    return result
