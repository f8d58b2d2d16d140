"""What every report says, as plain tables: the terminal, Markdown and the rest only draw them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..evals.comparing.arm_summary import ArmSummary
from ..evals.comparing.comparison import CauseCounts, ChurnCounts, Comparison
from ..evals.decision.gate import Decision, Ruling
from ..evals.judging.finding import Finding, Transition
from ..evals.judging.position import passes_by_part
from ..evals.summing_up.summary import Summary
from .constraint_table import constraint_table
from .server_tables import position_table, speculation_table, speed_tables, ways_table
from .steps import Step, report_steps
from .table import MISSING, Table
from .visible import visible_line

# Below this share of drafted output an arm speculates in name only.
THIN_DRAFTING = 0.01


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """The decision on one candidate, in words."""

    candidate: str
    decision: Decision
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """A whole report."""

    title: str
    asked: str
    decision: Decision
    verdicts: tuple[CandidateVerdict, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    steps: tuple[Step, ...]


def build_contents(summary: Summary, *, findings_shown: int = 50) -> Contents:
    """Everything a report shows.

    Args:
        summary: The run, judged.
        findings_shown: Rows of the findings table; the rest is counted in its note.
    """
    pairs = list(zip(summary.comparisons, summary.rulings, strict=True))
    return Contents(
        title=f"draftproof: {summary.run.directory.name}",
        asked=asked_line(summary),
        decision=summary.decision,
        verdicts=verdicts_of(summary),
        tables=tuple(_tables(summary, pairs, findings_shown)),
        notes=tuple(_notes(summary)),
        steps=tuple(report_steps(summary)),
    )


def verdicts_of(summary: Summary) -> tuple[CandidateVerdict, ...]:
    """The decision on each candidate, with its reasons."""
    return tuple(
        CandidateVerdict(comparison.candidate, ruling.decision, ruling.reasons)
        for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True)
    )


def asked_line(summary: Summary) -> str:
    """What a run asked, and how, on one line."""
    run = summary.run.plan.run
    return (
        f"{summary.judged.samples} samples of {', '.join(run.tasks)}; mode {run.mode.value}, "
        f"dialect {run.dialect}, max_tokens {run.max_tokens}, doublings {run.doublings}, "
        f"temperature {run.temperature:g}, seed {run.seed}"
    )


def _tables(
    summary: Summary, pairs: Sequence[tuple[Comparison, Ruling]], findings_shown: int
) -> Iterator[Table]:
    yield _arms(summary.arms)
    yield cause_table(summary.comparisons)
    yield category_table(summary.comparisons)
    if (by_constraint := constraint_table(summary)) is not None:
        yield by_constraint
    yield _rates(pairs)
    yield from filter(None, (speculation_table(summary.arms), ways_table(summary.ways)))
    yield from speed_tables(summary.speeds)
    passes = {name: arm.passes for name, arm in summary.judged.arms.items()}
    if (by_position := position_table(passes_by_part(passes))) is not None:
        yield by_position
    yield _findings(summary.comparisons, findings_shown)


def _arms(arms: Sequence[ArmSummary]) -> Table:
    """First attempts only."""
    rows = tuple(
        (
            arm.name,
            str(arm.attempts),
            str(arm.passed),
            str(arm.wrong),
            str(arm.cut),
            str(arm.void),
            ", ".join(f"{reason} {count}" for reason, count in arm.finish_reasons.items()) or MISSING,
            arm.speculating.value,
            MISSING if arm.draft_tokens is None else str(arm.draft_tokens),
            MISSING if arm.accepted_tokens is None else str(arm.accepted_tokens),
            MISSING if arm.tokens_per_second is None else f"{arm.tokens_per_second:.0f}",
        )
        for arm in arms
    )
    header = (
        "arm",
        "n",
        "pass",
        "fail",
        "cut",
        "void",
        "finish_reason",
        "spec.",
        "drafted",
        "accepted",
        "tok/s",
    )
    return Table("First answers, by arm", header, rows, frozenset((1, 2, 3, 4, 5, 8, 9, 10)))


def cause_table(comparisons: Sequence[Comparison]) -> Table:
    """Regressions and fixes of every candidate by cause, beside what the baseline changes against itself."""
    control = next((c.control for c in comparisons if c.control is not None), None)
    header = ("cause", *(c.candidate for c in comparisons), "control (baseline again)")
    lines: list[tuple[str, ...]] = []
    for label, attribute in (
        ("cap", "cap"),
        ("malformed: syntax", "syntax"),
        ("malformed: contract", "contract"),
        ("real change", "real_change"),
        ("unresolved", "unresolved"),
        ("all", "total"),
    ):
        cells = [_pair(c.regressions, c.fixes, attribute) for c in comparisons]
        of_control = f"{control.regressions} / {control.fixes}" if control and attribute == "total" else ""
        lines.append((label, *cells, of_control))
    compared = [f"{c.compared} of {c.samples}" for c in comparisons]
    lines.append(("pairs compared", *compared, MISSING if control is None else str(control.compared)))
    lines.append(("both wrong", *(str(c.both_fail) for c in comparisons), ""))
    lines.append(("void", *(_void(c) for c in comparisons), ""))
    return Table(
        "Regressions / fixes against the baseline, by cause",
        header,
        tuple(lines),
        frozenset(range(1, len(header))),
        None if control is None else _churn_note(control.churn, control.compared),
    )


def category_table(comparisons: Sequence[Comparison]) -> Table:
    """What each category's pairs did, beside what the baseline did against itself there."""
    header = ("category", *(c.candidate for c in comparisons), "control (baseline again)")
    names = sorted({name for comparison in comparisons for name in comparison.by_category})
    rows = tuple(
        (
            visible_line(name),
            *(_churn_cell(c.by_category.get(name)) for c in comparisons),
            _churn_cell(next((c.control_by_category.get(name) for c in comparisons), None)),
        )
        for name in names
    )
    return Table(
        "By category: regressions / fixes of the pairs compared (nothing is decided from it)",
        header,
        rows,
        frozenset(range(1, len(header))),
    )


def _churn_cell(counts: ChurnCounts | None) -> str:
    return MISSING if counts is None else f"{counts.regressions} / {counts.fixes} of {counts.compared}"


def _pair(regressions: CauseCounts, fixes: CauseCounts, attribute: str) -> str:
    return f"{getattr(regressions, attribute)} / {getattr(fixes, attribute)}"


def _void(comparison: Comparison) -> str:
    if not comparison.void:
        return "0"
    codes = ", ".join(f"{code} {count}" for code, count in comparison.void_codes.items())
    return f"{comparison.void} ({codes})"


def _churn_note(churn: float | None, compared: int) -> str:
    if churn is None:
        return "control: nothing could be compared"
    return f"control churn {churn:.1%} of {compared}: what the baseline changes against itself"


def _rates(pairs: Sequence[tuple[Comparison, Ruling]]) -> Table:
    rows = tuple(
        (
            comparison.candidate,
            str(comparison.informative),
            MISSING if ruling.net_rate is None else f"{ruling.net_rate:+.1%}",
            MISSING if ruling.interval is None else f"{ruling.interval[0]:+.1%} to {ruling.interval[1]:+.1%}",
            MISSING if ruling.mcnemar_p is None else f"{ruling.mcnemar_p:.3f}",
            ruling.decision.value,
        )
        for comparison, ruling in pairs
    )
    return Table(
        "Net rate: (regressions − fixes) / pairs in which one arm was right, without the cap's",
        ("candidate", "n", "net rate", "interval", "mid-p", "decision"),
        rows,
        frozenset((1, 2, 3, 4)),
    )


def _findings(comparisons: Sequence[Comparison], shown: int) -> Table:
    found = [
        finding
        for comparison in comparisons
        for finding in comparison.findings
        if finding.transition in (Transition.REGRESSION, Transition.FIX)
    ]
    # What is new first, regressions before fixes; within them in the order of the plan and the suite.
    found.sort(key=lambda finding: (finding.is_known, finding.transition is Transition.FIX))
    rows = tuple(_finding_row(finding) for finding in found[:shown])
    left_out = len(found) - len(rows)
    return Table(
        f"Findings (n = {len(found)})",
        ("candidate", "sample", "what", "cause", "code", "tokens", "again"),
        rows,
        frozenset((5, 6)),
        f"{left_out} more in findings.jsonl" if left_out else None,
    )


def _finding_row(finding: Finding) -> tuple[str, ...]:
    return (
        finding.candidate,
        visible_line(finding.id),
        finding.transition.value + (", known" if finding.is_known else ""),
        MISSING if finding.cause is None else finding.cause.value,
        finding.code or MISSING,
        tokens_of(finding),
        MISSING if finding.reproduced is None else f"{finding.reproduced[0]}/{finding.reproduced[1]}",
    )


def tokens_of(finding: Finding) -> str:
    """Completion tokens of baseline and candidate at the judged budget."""
    attempts = finding.evidence.get("attempts")
    seen = attempts.get(str(finding.judged_budget)) if isinstance(attempts, dict) else None
    if not isinstance(seen, dict):
        return MISSING

    def of(arm: str) -> str:
        one = seen.get(arm)
        tokens = one.get("completion_tokens") if isinstance(one, dict) else None
        return MISSING if tokens is None else str(tokens)

    return f"{of('baseline')} → {of('candidate')}"


def _notes(summary: Summary) -> list[str]:
    notes: list[str] = []
    notes += _thin_drafting(summary)
    if summary.run.plan.run.redact:
        notes.append(
            "Redacted: prompts, values and answers stand in the run as hashes; answers were read first."
        )
    asked_baseline = summary.run.plan.baseline.name
    if (chosen := summary.comparisons[0].baseline) != asked_baseline:
        notes.append(
            f"Compared with {chosen}, as asked for. The control was made of {asked_baseline} only: "
            f"what {chosen} changes against itself is not known."
        )
    if summary.requests_saved:
        notes.append(
            f"Stopped early: {summary.requests_saved:,} first and control requests were not made, because a "
            "candidate had been called a regression."
        )
    notes += summary.history
    budget = summary.run.plan.run.max_tokens
    needed = max((c.needed_max_tokens or 0 for c in summary.comparisons), default=0)
    if needed:
        notes.append(
            f"The longest answer that was cut at {budget} tokens and later finished needed {needed}: with "
            f"max_tokens {needed} or more the cap would have broken none of these."
        )
    notes += [f"Suite: {note}" for note in summary.run.notes]
    if retried := sum(arm.retried for arm in summary.arms):
        notes.append(f"{retried} sends were repeated after an endpoint failure.")
    if summary.judged.damaged:
        places = ", ".join(summary.judged.damaged[:5])
        notes.append(
            f"{len(summary.judged.damaged)} unreadable journal lines ({places}): torn by a kill or edited; "
            "their samples are asked again on the next run."
        )
    return notes


def _thin_drafting(summary: Summary) -> list[str]:
    """Candidates that speculate in name: dynamic speculation falls to nearly nothing under load."""
    baseline = summary.run.plan.baseline.name
    return [
        f"Only {share:.2%} of {arm.name}'s output came out of drafts: this says little about speculation."
        for arm in summary.arms
        if arm.name != baseline
        and arm.counted is not None
        and (share := arm.counted.drafted_share) is not None
        and 0 < share < THIN_DRAFTING
    ]
