"""The report as one HTML file: what a person wants to know of a run, in the order in which people ask."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..evals.comparing.arm_summary import ArmSummary
from ..evals.comparing.speed import ArmSpeed
from ..evals.summing_up.pairing import run_pairs
from ..evals.summing_up.summary import Summary
from .contents import Contents, build_contents, category_table, cause_table
from .page import PairPlots, draw_page, draw_plots
from .server_tables import speculation_table, speed_tables, ways_table
from .table import MISSING, Table


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template draws."""

    contents: Contents
    causes: Table
    plots: tuple[PairPlots, ...]
    categories: Table
    endings: Table
    speed: Table
    beside_speed: tuple[Table, ...]


def render_html(summary: Summary) -> str:
    """The whole report as one self-contained page."""
    pairs = run_pairs(summary)
    page = _Page(
        contents=build_contents(summary, findings_shown=0),
        causes=cause_table(summary.comparisons),
        plots=draw_plots(pairs),
        categories=category_table(summary.comparisons),
        endings=_endings(summary.arms),
        speed=_speed(summary),
        beside_speed=tuple(_beside_speed(summary)),
    )
    return draw_page("report.html.jinja", page, pairs)


def _endings(arms: Sequence[ArmSummary]) -> Table:
    """How first answers ended: by our reading, and as the server said."""
    endings = sorted({ending for arm in arms for ending in arm.endings})
    reasons = sorted({reason for arm in arms for reason in arm.finish_reasons})
    rows = [("n", *(str(arm.attempts) for arm in arms))]
    rows += [(ending, *(str(arm.endings.get(ending, 0)) for arm in arms)) for ending in endings]
    rows.append(("no answer (void)", *(str(arm.failed) for arm in arms)))
    rows += [
        (f"finish_reason {reason}", *(str(arm.finish_reasons.get(reason, 0)) for arm in arms))
        for reason in reasons
    ]
    header = ("first answers", *(arm.name for arm in arms))
    return Table("Endings", header, tuple(rows), frozenset(range(1, len(header))))


def _speed(summary: Summary) -> Table:
    speeds = {one.name: one for one in summary.speeds}
    rows = tuple(
        (
            arm.name,
            str(arm.attempts),
            arm.speculating.value,
            MISSING if arm.draft_tokens is None else f"{arm.draft_tokens:,}",
            MISSING if arm.accepted_tokens is None else f"{arm.accepted_tokens:,}",
            MISSING if arm.acceptance is None else f"{arm.acceptance:.0%}",
            _speed_cell(speeds.get(arm.name)),
        )
        for arm in summary.arms
    )
    return Table(
        "Speed and acceptance",
        ("arm", "n", "speculating", "drafted", "accepted", "acceptance", "tokens/s"),
        rows,
        frozenset((1, 3, 4, 5, 6)),
        None if speeds else "Speed is shown only for arms that were asked one at a time (in_turn = true).",
    )


def _speed_cell(speed: ArmSpeed | None) -> str:
    if speed is None or speed.tokens_per_second is None:
        return MISSING
    gain = "" if speed.speedup is None else f" ({speed.speedup:.2f}×)"
    return f"{speed.tokens_per_second:.0f}{gain}"


def _beside_speed(summary: Summary) -> Iterator[Table]:
    """What the servers themselves counted, measured and read, where they show it."""
    yield from speed_tables(summary.speeds)
    yield from filter(None, (speculation_table(summary.arms), ways_table(summary.ways)))
