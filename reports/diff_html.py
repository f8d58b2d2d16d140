"""A comparison of arms as one HTML file, in the look of the report: of two arms, or of all of a run."""

from dataclasses import dataclass

from ..evals.choice import Choice
from ..evals.pairing import Pair, run_pairs
from ..evals.summary import Summary
from .contents import CandidateVerdict, verdicts_of
from .diff import (
    arm_figures,
    breaks_table,
    build_diff,
    choice_of,
    decisions_table,
    figures_table,
    matrix_table,
    pair_figures,
)
from .page import PairPlots, draw_page, draw_plots
from .server_tables import speed_tables
from .table import Table

_MATRIX_FROM = 3  # arms: of two the pair says it all


@dataclass(frozen=True, slots=True)
class _Matrix:
    """All arms of a run, and the one that the policy would turn on."""

    tables: tuple[Table, ...]
    choice: Choice


@dataclass(frozen=True, slots=True)
class _Two:
    """Two arms, how many samples only one of them breaks, and why."""

    left: str
    right: str
    only_left: int
    only_right: int
    breaks: Table


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template draws: `pair` where two arms are compared, `matrix` where there are more."""

    title: str
    asked: str
    sentences: tuple[str, ...]
    verdicts: tuple[CandidateVerdict, ...]
    figures: Table
    speeds: tuple[Table, ...]
    plots: tuple[PairPlots, ...]
    pair: _Two | None
    matrix: _Matrix | None


def render_diff_html(compared: Pair | Summary) -> str:
    """The comparison as one self-contained page.

    Two arms of a run of three or more stand beside the matrix of all its arms. Where all arms are compared,
    the pictures and the findings are those of each candidate against the baseline.
    """
    if isinstance(compared, Summary):
        return draw_page("diff.html.jinja", _run_page(compared), run_pairs(compared))
    return draw_page("diff.html.jinja", _pair_page(compared), [compared], names_arms=True)


def _pair_page(pair: Pair) -> _Page:
    diff, arms, run = build_diff(pair), pair_figures(pair), pair.left.summary
    has_matrix = pair.is_of_one_run and len(run.arms) >= _MATRIX_FROM
    return _Page(
        title=diff.title,
        asked=diff.asked,
        sentences=diff.sentences,
        verdicts=verdicts_of(run) if has_matrix else (),
        figures=figures_table(arms),
        speeds=tuple(speed_tables([one.speed for one in arms if one.speed is not None])),
        plots=draw_plots([pair]),
        pair=_Two(
            left=pair.left.label,
            right=pair.right.label,
            only_left=pair.comparison.fixes.total,
            only_right=pair.comparison.regressions.total,
            breaks=breaks_table(pair),
        ),
        matrix=_matrix(run) if has_matrix else None,
    )


def _run_page(summary: Summary) -> _Page:
    diff = build_diff(summary)
    return _Page(
        title=diff.title,
        asked=diff.asked,
        sentences=diff.sentences,
        verdicts=diff.verdicts,
        figures=figures_table(arm_figures(summary)),
        speeds=tuple(speed_tables(summary.speeds)),
        plots=draw_plots(run_pairs(summary)),
        pair=None,
        matrix=_matrix(summary),
    )


def _matrix(summary: Summary) -> _Matrix:
    return _Matrix((decisions_table(summary), matrix_table(summary)), choice_of(summary))
