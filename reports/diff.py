"""What a comparison of arms says, as plain tables: of two of them, or of all arms of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..evals.comparing.arm_summary import ArmSummary
from ..evals.comparing.speed import ArmSpeed
from ..evals.decision.statistics import mcnemar_exact
from ..evals.judging.attribute import MISSING_ATTEMPT
from ..evals.summing_up.choice import Choice, choose_arm
from ..evals.summing_up.pairing import Pair, only_one_breaks, operands, pair_arms
from ..evals.summing_up.summary import Summary
from .contents import CandidateVerdict, asked_line, verdicts_of
from .steps import Step, diff_steps
from .table import MISSING, Table
from .visible import visible_line
from .walk import CHANGED

_LISTED = 50


@dataclass(frozen=True, slots=True)
class Diff:
    """A whole comparison; the first table has the arms' own figures.

    `verdicts` on the candidates and `choice`, the arm to turn on, are said of all arms of a run.
    """

    title: str
    asked: str
    tables: tuple[Table, ...]
    steps: tuple[Step, ...]
    sentences: tuple[str, ...] = ()
    verdicts: tuple[CandidateVerdict, ...] = ()
    choice: Choice | None = None


def build_diff(compared: Pair | Summary) -> Diff:
    """Everything that a comparison shows at a terminal and in Markdown: of two arms, or of all of a run."""
    if isinstance(compared, Summary):
        return Diff(
            title=f"all arms of {compared.run.directory}",
            asked=asked_line(compared),
            tables=(_figures(compared.arms, compared.speeds), _decisions(compared), _matrix(compared)),
            steps=tuple(diff_steps(compared)),
            verdicts=verdicts_of(compared),
            choice=_choice(compared),
        )
    arms = [replace(one.figures, name=one.label) for one in (compared.left, compared.right)]
    return Diff(
        title=f"{compared.left.label} against {compared.right.label}",
        asked=asked_line(compared.left.summary),
        tables=(_figures(arms, pair_speeds(compared)), _breaks(compared), _samples(compared)),
        steps=tuple(diff_steps(compared)),
        sentences=tuple(_agreement(compared)),
    )


def pair_speeds(pair: Pair) -> list[ArmSpeed]:
    """How fast two arms were, under their labels; the speed-up is against the left one."""
    speeds = [
        replace(speed, name=one.label)
        for one in (pair.left, pair.right)
        for speed in one.summary.speeds
        if speed.name == one.arm
    ]
    left = next((one.tokens_per_second for one in speeds if one.name == pair.left.label), None)
    return [
        replace(one, speedup=one.tokens_per_second / left if one.tokens_per_second and left else None)
        for one in speeds
    ]


def _figures(arms: Sequence[ArmSummary], speeds: Sequence[ArmSpeed]) -> Table:
    """First answers and speed, a row for each arm."""
    speed_of = {one.name: one for one in speeds}
    rows = tuple(
        (
            visible_line(arm.name),
            str(arm.attempts),
            str(arm.passed),
            str(arm.wrong),
            str(arm.cut),
            str(arm.void),
            arm.speculating.value,
            MISSING if arm.acceptance is None else f"{arm.acceptance:.0%}",
            *_speed_cells(speed_of.get(arm.name)),
        )
        for arm in arms
    )
    header = ("arm", "n", "pass", "fail", "cut", "void", "spec.", "accepted", "tok/s", "speed-up")
    return Table("First answers", header, rows, frozenset((1, 2, 3, 4, 5, 7, 8, 9)))


def _speed_cells(speed: ArmSpeed | None) -> tuple[str, str]:
    if speed is None or speed.tokens_per_second is None:
        return MISSING, MISSING
    return f"{speed.tokens_per_second:.0f}", MISSING if speed.speedup is None else f"{speed.speedup:.2f}x"


def _breaks(pair: Pair) -> Table:
    """What only one of two arms breaks, by cause and code."""
    comparison = pair.comparison
    counts = sorted(only_one_breaks(comparison).items(), key=lambda item: (-sum(item[1]), item[0]))
    rows = [(cause, code, str(ours), str(theirs)) for (cause, code), (ours, theirs) in counts]
    if rows:
        rows.append(("all", "", str(comparison.fixes.total), str(comparison.regressions.total)))
    return Table(
        f"Broken in one only (n = {comparison.compared} of {comparison.samples} compared)",
        ("cause", "code", f"only {pair.left.label}", f"only {pair.right.label}"),
        tuple(rows),
        frozenset((2, 3)),
    )


def _samples(pair: Pair) -> Table:
    changed = [finding for finding in pair.comparison.findings if finding.transition in CHANGED]
    rows = tuple(
        (
            visible_line(finding.id),
            finding.broken_in or MISSING,
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


def _agreement(pair: Pair) -> Sequence[str]:
    """How far two arms agree, and what keeps them from being compared, in sentences."""
    comparison = pair.comparison
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
        codes = ", ".join(f"{code} {count}" for code, count in comparison.void_codes.items())
        sentences.append(f"void: {comparison.void} of {comparison.samples} ({codes})")
    if not pair.is_of_one_run and comparison.void_codes.get(MISSING_ATTEMPT):
        sentences.append(
            f"{MISSING_ATTEMPT}: a run asks again at a larger budget what its own arms were cut in, so these "
            "were not asked at the same budgets in both; one run of both arms judges them"
        )
    if not pair.is_of_one_run and pair.left.summary.judged.unlabelled:
        sentences.append("nobody labelled some samples: there each run judges by its own baseline's answer")
    return sentences


def _decisions(summary: Summary) -> Table:
    """What each candidate of a run breaks and fixes, by cause, and what the gate says of it."""
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


def _matrix(summary: Summary) -> Table:
    """Every arm against every other: what the row's arm breaks and the column's gets right."""
    names = [arm.name for arm in summary.arms]
    broken: dict[tuple[str, str], str] = {}
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            comparison = pair_arms(*operands(summary, one, summary, other)).comparison
            broken[one, other] = str(comparison.fixes.total)
            broken[other, one] = str(comparison.regressions.total)
    rows = tuple((one, *(broken.get((one, other), "·") for other in names)) for one in names)
    return Table(
        f"Broken by the row's arm, right in the column's (n = {summary.judged.samples})",
        ("breaks", *names),
        rows,
        frozenset(range(1, len(names) + 1)),
    )


def _choice(summary: Summary) -> Choice:
    """The arm of a run that the policy would turn on."""
    said = {c.candidate: r.decision for c, r in zip(summary.comparisons, summary.rulings, strict=True)}
    speeds = {one.name: one.tokens_per_second for one in summary.speeds}
    return choose_arm(summary.comparisons[0].baseline, said, speeds)
