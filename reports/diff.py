"""Two arms side by side, or all arms of a run: what a person needs to choose between them."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..evals.arm_summary import ArmSummary
from ..evals.choice import choose_arm
from ..evals.comparison import Comparison
from ..evals.decision.statistics import mcnemar_exact
from ..evals.pairing import Operand, only_one_breaks, operands, pair_arms
from ..evals.summary import Summary
from .table import MISSING, Table
from .terminal import STYLES, open_console, print_table, text_of
from .walk import CHANGED

_LISTED = 50


def render_pair(left: Operand, right: Operand, *, width: int = 100, color: bool = False) -> str:
    """Two arms: their figures, which samples only one breaks, and how far they agree."""
    comparison = pair_arms(left, right)
    console = open_console(width, color=color)
    console.print(Text(f"{left.label} against {right.label}", style="bold"))
    console.print()
    _print_titled(
        console,
        _figures(*((one.label, one.figures, _speeds(one.summary).get(one.arm)) for one in (left, right))),
    )
    _print_titled(console, _breaks(left, right, comparison))
    _print_titled(console, _samples(left, right, comparison))
    for sentence in _agreement(left, right, comparison):
        console.print(Text(sentence))
    return text_of(console)


def render_matrix(summary: Summary, *, width: int = 100, color: bool = False) -> str:
    """All arms of a run: figures, causes, who breaks what whom, and the arm that the policy would choose."""
    console = open_console(width, color=color)
    console.print(Text(f"all arms of {summary.run.directory}", style="bold"))
    console.print()
    speeds = _speeds(summary)
    _print_titled(console, _figures(*((arm.name, arm, speeds.get(arm.name)) for arm in summary.arms)))
    _print_titled(console, _decisions(summary))
    _print_titled(console, _pairs(summary))
    said = {c.candidate: r.decision for c, r in zip(summary.comparisons, summary.rulings, strict=True)}
    choice = choose_arm(summary.comparisons[0].baseline, said, speeds)
    style = "bold" if choice.arm is None else STYLES[said[choice.arm]]
    console.print(Text.assemble(("choice: ", "bold"), (choice.arm or "none", style), f" ({choice.reason})"))
    return text_of(console)


def _print_titled(console: Console, table: Table) -> None:
    console.print(Text(table.title, style="bold"))
    print_table(console, table)
    console.print()


def _speeds(summary: Summary) -> dict[str, float | None]:
    """Tokens per second of the arms, where they were asked one at a time."""
    return {one.name: one.tokens_per_second for one in summary.speeds}


def _figures(*arms: tuple[str, ArmSummary, float | None]) -> Table:
    rows = tuple(
        (
            label,
            str(arm.attempts),
            str(arm.passed),
            str(arm.wrong),
            str(arm.cut),
            str(arm.void),
            arm.speculating.value,
            MISSING if arm.acceptance is None else f"{arm.acceptance:.0%}",
            MISSING if speed is None else f"{speed:.0f}",
        )
        for label, arm, speed in arms
    )
    header = ("arm", "n", "pass", "fail", "cut", "void", "spec.", "accepted", "tok/s")
    return Table("First answers", header, rows, frozenset((1, 2, 3, 4, 5, 7, 8)))


def _breaks(left: Operand, right: Operand, comparison: Comparison) -> Table:
    counts = sorted(only_one_breaks(comparison).items(), key=lambda item: (-sum(item[1]), item[0]))
    rows = [(cause, code, str(ours), str(theirs)) for (cause, code), (ours, theirs) in counts]
    if rows:
        rows.append(("all", "", str(comparison.fixes.total), str(comparison.regressions.total)))
    return Table(
        f"Broken in one only (n = {comparison.compared} of {comparison.samples} compared)",
        ("cause", "code", f"only {left.label}", f"only {right.label}"),
        tuple(rows),
        frozenset((2, 3)),
    )


def _samples(left: Operand, right: Operand, comparison: Comparison) -> Table:
    changed = [finding for finding in comparison.findings if finding.transition in CHANGED]
    rows = tuple(
        (
            finding.id,
            right.label if finding.transition is CHANGED[0] else left.label,
            MISSING if finding.cause is None else finding.cause.value,
            finding.code or MISSING,
        )
        for finding in changed[:_LISTED]
    )
    left_out = len(changed) - len(rows)
    return Table(
        f"Samples that one arm breaks (n = {len(changed)})",
        ("sample", "broken in", "cause", "code"),
        rows,
        note=f"{left_out} more" if left_out else None,
    )


def _agreement(left: Operand, right: Operand, comparison: Comparison) -> Sequence[str]:
    same = comparison.both_pass + comparison.both_fail
    sentences: list[str] = []
    if comparison.compared:
        sentences.append(
            f"agreement: {same} of {comparison.compared} ({same / comparison.compared:.1%}): "
            f"{comparison.both_pass} right in both, {comparison.both_fail} wrong in both"
        )
        p = mcnemar_exact(comparison.regressions.total, comparison.fixes.total).two_sided
        sentences.append(f"that the arms differ at all: p = {p:.2g} (McNemar's exact test, two-sided)")
    if comparison.void:
        sentences.append(f"void: {comparison.void} of {comparison.samples}")
    if left.summary is not right.summary and left.summary.judged.unlabelled:
        sentences.append("nobody labelled some samples: there each run judges by its own baseline's answer")
    return sentences


def _decisions(summary: Summary) -> Table:
    rows = tuple(
        (
            comparison.candidate,
            str(comparison.compared),
            *(
                f"{getattr(comparison.regressions, name)} / {getattr(comparison.fixes, name)}"
                for name in ("cap", "syntax", "contract", "real_change", "unresolved")
            ),
            ruling.decision.value,
        )
        for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True)
    )
    header = ("arm", "n", "cap", "syntax", "contract", "real change", "unresolved", "decision")
    return Table("Regressions / fixes against the baseline", header, rows, frozenset(range(1, 7)))


def _pairs(summary: Summary) -> Table:
    """Every arm against every other: what the row's arm breaks and the column's gets right."""
    names = [arm.name for arm in summary.arms]
    broken: dict[tuple[str, str], str] = {}
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            comparison = pair_arms(*operands(summary, one, summary, other))
            broken[one, other] = str(comparison.fixes.total)
            broken[other, one] = str(comparison.regressions.total)
    rows = tuple((one, *(broken.get((one, other), "·") for other in names)) for one in names)
    return Table(
        f"Broken by the row's arm, right in the column's (n = {summary.judged.samples})",
        ("breaks", *names),
        rows,
        frozenset(range(1, len(names) + 1)),
    )
