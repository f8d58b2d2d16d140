"""Where the marks of the HTML pages' pictures stand; a template draws them, in the colours of its theme.

Both pictures are laid out for a telephone's width: a wide screen enlarges them, and no label gets too small.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

from ..evals.judging.finding import Cause, Finding, Transition
from ..evals.judging.grade import Grade
from ..evals.judging.ladder import GradedSample, Ladder
from .rates import Rate
from .visible import visible_line

WIDTH = 360

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 20, 22, 40
_LABEL = 20  # half of the widest label on an axis
_ROW = 40  # height of one interval with its label
_NAME = 40  # characters of an arm's name beside an axis
_OTHERS = {"same": "unchanged", "void": "void"}  # kinds of pairs that did not change, in words
_GRID = 2  # marks of pairs that did not change are merged on a grid of this many units


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and what stands there."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One pair, or several unchanged ones in the same place; `kind` is a class of the style sheet."""

    x: float
    y: float
    kind: str
    is_cut: bool
    title: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """Completion lengths of one candidate against the baseline's.

    `cap` labels the first budget, None where it lies outside the picture. `shown` and `missing` count pairs
    with and without both lengths, `over` those whose answer is longer than the cap, in each arm.
    """

    baseline: str
    candidate: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    ticks_x: tuple[Tick, ...]
    ticks_y: tuple[Tick, ...]
    cap: str | None
    cap_x: float
    cap_y: float
    marks: tuple[Mark, ...]
    shown: int
    missing: int
    over: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bar:
    """One interval of a forest plot; None where there is nothing to draw, or its middle lies outside."""

    y: float
    label: str
    figures: str
    is_whole: bool
    low: float | None
    high: float | None
    middle: float | None
    leaves_left: bool
    leaves_right: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """Intervals of the net rate of one candidate, against zero and the margin.

    `silent` names the categories in which no pair can tell anything: they have no interval.
    """

    width: float
    height: float
    top: float
    zero: float
    margin: float | None
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...]
    silent: tuple[str, ...]


def lengths_plot(graded: Iterable[GradedSample], findings: Sequence[Finding], cap: int) -> Scatter:
    """Lay out how long the answers of a candidate are, beside the baseline's to the same samples.

    A length is that of the first answer that nothing cut, else of the last one: so an answer that the cap
    cut stands where it would have ended.

    Args:
        graded: All samples of the run.
        findings: Of one pair of arms.
        cap: The first budget.
    """
    pairs: list[tuple[int, int, bool, Finding]] = []
    by_id = {finding.id: finding for finding in findings}
    for sample in graded:
        finding = by_id.get(sample.sample.id)
        if finding is None:
            continue
        one = _length(sample.arms.get(finding.baseline, {}))
        two = _length(sample.arms.get(finding.candidate, {}))
        if one is not None and two is not None:
            pairs.append((one[0], two[0], one[1] or two[1], finding))
    most = max((max(one, two) for one, two, *_ in pairs), default=cap)
    step = _step(most)
    # The cap belongs into the picture unless the answers stay far below it.
    end = max(most, cap if cap <= 2 * most else 0) * 1.06
    width, height = float(WIDTH), float(WIDTH)
    left, right, top, bottom = _LEFT, width - _RIGHT, _TOP, height - _BOTTOM

    def x(tokens: float) -> float:
        return round(left + tokens / end * (right - left), 1)

    def y(tokens: float) -> float:
        return round(bottom - tokens / end * (bottom - top), 1)

    steps = range(0, floor(end) + 1, step)
    has_cap = cap <= end
    return Scatter(
        baseline=_name(findings[0].baseline) if findings else "",
        candidate=_name(findings[0].candidate) if findings else "",
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        ticks_x=tuple(Tick(x(at), f"{at:,}") for at in steps),
        ticks_y=tuple(Tick(y(at), f"{at:,}") for at in steps),
        cap=f"cap {cap:,}" if has_cap else None,
        cap_x=x(cap),
        cap_y=y(cap),
        marks=tuple(_marks((x(one), y(two), cut, finding) for one, two, cut, finding in pairs)),
        shown=len(pairs),
        missing=len(findings) - len(pairs),
        over=(sum(one > cap for one, *_ in pairs), sum(two > cap for _, two, *_ in pairs)),
    )


def _length(ladder: Ladder) -> tuple[int, bool] | None:
    """Tokens of the first answer that nothing cut, else of the last one, and whether that one is cut."""
    counted = [(grade, tokens) for grade in ladder.values() if (tokens := _tokens(grade)) is not None]
    for grade, tokens in counted:
        if grade.answer is not None and not grade.answer.is_cut:
            return tokens, False
    return (counted[-1][1], True) if counted else None


def _name(arm: str) -> str:
    """An arm's name as an axis has room for it; of a run and an arm the end tells more."""
    name = visible_line(arm)
    return name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"


def _tokens(grade: Grade) -> int | None:
    return None if grade.answer is None else grade.answer.attempt.completion_tokens


def _marks(points: Iterable[tuple[float, float, bool, Finding]]) -> list[Mark]:
    """Marks, unchanged pairs first and merged where they cover each other, so that changes lie on top."""
    others: dict[tuple[float, float, bool, str], int] = {}
    changed: list[Mark] = []
    for x, y, is_cut, finding in points:
        match finding.transition:
            case Transition.REGRESSION:
                kind = "cap" if finding.cause is Cause.CAP else "regression"
            case Transition.FIX:
                kind = "cap-fix" if finding.cause is Cause.CAP else "fix"
            case other:
                kind = "void" if other is Transition.VOID else "same"
                place = (round(x / _GRID) * _GRID, round(y / _GRID) * _GRID, is_cut, kind)
                others[place] = others.get(place, 0) + 1
                continue
        title = (
            f"{visible_line(finding.id)}: broken in {visible_line(finding.broken_in or '')}, {finding.code}"
        )
        changed.append(Mark(x, y, kind, is_cut, title))
    merged = [
        Mark(x, y, kind, is_cut, f"{_OTHERS[kind]}: {count} pair{'s' if count > 1 else ''}")
        for (x, y, is_cut, kind), count in others.items()
    ]
    return merged + changed


def rates_reach(wholes: Iterable[Rate], margin: float) -> float:
    """How far from zero the pictures of some candidates reach, so that all of them have one scale.

    Args:
        wholes: The rate of all pairs of each candidate. Small categories have huge intervals: they may leave
            the picture, and an arrow says so.
        margin: Of the gate.
    """
    bounds = [abs(bound) for whole in wholes for bound in whole.interval or ()]
    return min(1.0, 2.2 * max([2 * margin, *bounds]))


def rates_plot(rates: Sequence[Rate], margin: float, reach: float) -> Forest:
    """Lay out the intervals of one candidate: all pairs first, then the categories.

    Args:
        rates: Of all pairs, then of each category.
        margin: Of the gate.
        reach: The rate at the edges of the picture (`rates_reach`).
    """
    whole, *categories = rates
    drawn = [whole, *(rate for rate in categories if rate.n)]
    left, right, top = 8.0, WIDTH - 8.0, 26.0

    def x(rate: float) -> float:
        return round(left + (max(-reach, min(reach, rate)) + reach) / (2 * reach) * (right - left), 1)

    bars = tuple(
        Bar(
            y=top + n * _ROW + 26,
            label=rate.label,
            figures=_figures(rate),
            is_whole=n == 0,
            low=None if rate.interval is None else x(rate.interval[0]),
            high=None if rate.interval is None else x(rate.interval[1]),
            middle=None if rate.net is None or abs(rate.net) > reach else x(rate.net),
            leaves_left=rate.interval is not None and rate.interval[0] < -reach,
            leaves_right=rate.interval is not None and rate.interval[1] > reach,
        )
        for n, rate in enumerate(drawn)
    )
    step = _step(reach * 100) / 100
    count = floor(reach / step + 1e-9)
    ticks = [Tick(x(n * step), f"{n * step:+.0%}" if n else "0") for n in range(-count, count + 1)]
    return Forest(
        width=float(WIDTH),
        height=top + _ROW * len(drawn) + 26,
        top=top,
        zero=x(0),
        margin=x(margin) if margin <= reach else None,
        # A label at the very edge would be cut in half.
        ticks=tuple(tick for tick in ticks if _LABEL <= tick.at <= WIDTH - _LABEL),
        bars=bars,
        silent=tuple(rate.label for rate in categories if not rate.n),
    )


def _figures(rate: Rate) -> str:
    if rate.net is None or rate.interval is None:
        return "n = 0"
    low, high = rate.interval
    return f"n = {rate.n}   {rate.net:+.1%} ({low:+.1%} to {high:+.1%})"


def _step(end: float) -> int:
    """A round distance between ticks that makes two to five of them."""
    raw = max(end, 1) / 4
    size = 10 ** floor(log10(raw)) if raw >= 1 else 1
    return next(int(size * n) for n in (1, 2, 5, 10) if size * n >= raw)
