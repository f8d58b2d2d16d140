"""A way through the findings of a run: which there are, which is next."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UserError
from ..evals.judging.finding import Cause, Finding, Transition
from ..evals.summing_up.summary import Summary
from .case import show_command
from .table import MISSING, Table
from .visible import visible_line

CHANGED = (Transition.REGRESSION, Transition.FIX)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which findings to walk through; None is all. Without both, regressions and fixes."""

    code: str | None = None
    cause: Cause | None = None

    @property
    def flags(self) -> list[str]:
        """The same as command-line flags."""
        code = [] if self.code is None else ["--code", self.code]
        return code + ([] if self.cause is None else ["--cause", self.cause.value])

    def takes(self, finding: Finding) -> bool:
        """Whether this finding is one of them; a void sample only by its code."""
        if self.code is None and finding.transition not in CHANGED:
            return False
        return self.code in (None, finding.code) and self.cause in (None, finding.cause)


def wanted_findings(summary: Summary, wanted: Wanted) -> list[Finding]:
    """The findings in the order of the suite, those of one sample together.

    Raises:
        UserError: A code or a cause was named that no finding has.
    """
    order = {sample_id: place for place, sample_id in enumerate(summary.run.ids)}
    found = [f for comparison in summary.comparisons for f in comparison.findings if wanted.takes(f)]
    found.sort(key=lambda finding: order[finding.id])
    if not found and wanted != Wanted():
        raise UserError(
            f"{summary.run.directory}: no finding has {' '.join(wanted.flags).replace('--', '')}",
            tip=f"this run has: {_what_there_is(summary)}",
        )
    return found


def chosen_sample(summary: Summary, wanted: Wanted, after: str | None) -> tuple[str, str]:
    """The sample to take apart, and a line that says where on the way it stands.

    Args:
        summary: The run, judged.
        wanted: Which findings to walk through.
        after: The id after which to go on; None starts at the first.

    Raises:
        UserError: Nothing is wanted, or the id is unknown, or it was the last one.
    """
    ids = list(dict.fromkeys(finding.id for finding in wanted_findings(summary, wanted)))
    if after is None:
        position = 0
    else:
        order = summary.run.ids
        if after not in order:
            raise UserError(f"{summary.run.directory}: no sample has the id {after!r}")
        rank = {sample_id: place for place, sample_id in enumerate(order)}
        position = next((n for n, one in enumerate(ids) if rank[one] > rank[after]), len(ids))
    if position == len(ids):
        raise UserError(
            "no finding is left to show", tip=f"`{show_command(summary.run.directory)}` lists all of them"
        )
    chosen = ids[position]
    place = f"{position + 1} of {len(ids)}"
    if position + 1 < len(ids):
        command = show_command(summary.run.directory, *wanted.flags, "--next", chosen)
        place += f"; next: {command}"
    return chosen, place


def findings_table(findings: Sequence[Finding]) -> Table:
    """Findings as a table."""
    rows = tuple(
        (
            visible_line(finding.id),
            finding.candidate,
            finding.transition.value,
            MISSING if finding.cause is None else finding.cause.value,
            finding.code or MISSING,
            MISSING if finding.reproduced is None else f"{finding.reproduced[0]}/{finding.reproduced[1]}",
        )
        for finding in findings
    )
    return Table(
        f"Findings (n = {len(rows)})",
        ("sample", "candidate", "what", "cause", "code", "again"),
        rows,
        frozenset((5,)),
    )


def _what_there_is(summary: Summary) -> str:
    counts = Counter(
        name
        for comparison in summary.comparisons
        for finding in comparison.findings
        for name in (finding.cause, finding.code)
        if name is not None
    )
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
