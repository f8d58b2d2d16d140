"""A comparison of arms as one HTML file, in the look of the report: of two arms, or of all of a run."""

from dataclasses import dataclass

from ..evals.summing_up.choice import Choice
from ..evals.summing_up.pairing import Pair, run_pairs
from ..evals.summing_up.summary import Summary
from .contents import CandidateVerdict
from .diff import Diff, build_diff, pair_speeds
from .page import PairPlots, draw_page, draw_plots
from .server_tables import speed_tables
from .steps import closer_step
from .table import Table

_MATRIX_FROM = 3  # arms: of two the pair says it all


@dataclass(frozen=True, slots=True)
class _Two:
    """Two arms, how many samples only one of them breaks, and why."""

    left: str
    right: str
    only_left: int
    only_right: int
    breaks: Table


@dataclass(frozen=True, slots=True)
class _Matrix:
    """All arms of a run, the one that the policy would turn on, and a command that looks closer at two."""

    tables: tuple[Table, ...]
    verdicts: tuple[CandidateVerdict, ...]
    choice: Choice | None
    closer: str | None


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template draws: `pair` where two arms are compared, `matrix` where there are more."""

    title: str
    asked: str
    sentences: tuple[str, ...]
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
    diff, run = build_diff(pair), pair.left.summary
    figures, breaks, _ = diff.tables  # the page's own table of findings lists the samples
    has_matrix = pair.is_of_one_run and len(run.arms) >= _MATRIX_FROM
    return _Page(
        title=diff.title,
        asked=diff.asked,
        sentences=diff.sentences,
        figures=figures,
        speeds=tuple(speed_tables(pair_speeds(pair))),
        plots=draw_plots([pair]),
        pair=_Two(
            left=pair.left.label,
            right=pair.right.label,
            only_left=pair.comparison.fixes.total,
            only_right=pair.comparison.regressions.total,
            breaks=breaks,
        ),
        matrix=_matrix(build_diff(run), closer=None) if has_matrix else None,
    )


def _run_page(summary: Summary) -> _Page:
    diff, closer = build_diff(summary), closer_step(summary)
    return _Page(
        title=diff.title,
        asked=diff.asked,
        sentences=diff.sentences,
        figures=diff.tables[0],
        speeds=tuple(speed_tables(summary.speeds)),
        plots=draw_plots(run_pairs(summary)),
        pair=None,
        matrix=_matrix(diff, closer=None if closer is None else closer.command),
    )


def _matrix(diff: Diff, *, closer: str | None) -> _Matrix:
    _, *tables = diff.tables  # the figures stand apart
    return _Matrix(tuple(tables), diff.verdicts, diff.choice, closer)
