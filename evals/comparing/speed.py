"""Speed beside correctness: what speculation is turned on for, measured on the answers that are judged.

Only of arms that are asked one at a time: arms side by side on one machine slow each other. The first answer
after a start of a server warms it up and is left out; where a server was started several times, a rate is
the median over its starts of the medians over samples. The pass that reads the prompt makes the first token;
after it every pass makes one token, and those of a draft that it accepted.
"""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ..attempt import Drafts, Stage
from ..judging.ladder import GradedSample
from ..runs.record import Record
from ..runs.run import Run
from ..servers.counters import Counters
from ..servers.server import Speculating
from .arm_summary import ArmSummary
from .clock import Clock, choose_clock
from .timed_answer import Kind, TimedAnswer, TimedAnswers, time_answer

# Of rows and times, for a line to be worth drawing a conclusion from: nine tenths of the variance explained.
_LEAST_CORRELATION = 0.95


@dataclass(frozen=True, slots=True)
class ArmSpeed:
    """Medians over the answers of one arm; None where nothing tells.

    `tokens_per_second` of generation, `latency_ms` and `ttft_ms` of a request. `by_start` are the tokens per
    second of each start of the server, where there were several. `speedup` is the ratio of tokens per second
    to the baseline's. `tokens_per_pass`, `ms_per_pass` and `rows_per_pass` (tokens that one forward pass
    verified or made) are means over all passes but those that read a prompt. `by_kind` are tokens per second.
    `accepted_per_position` is, for each place of a draft, the share of drafts accepted that far.
    """

    name: str
    n: int
    source: Clock | None
    tokens_per_second: float | None
    speedup: float | None
    latency_ms: float | None
    ttft_ms: float | None
    acceptance: float | None
    accepted_per_position: tuple[float, ...]
    tokens_per_pass: float | None
    ms_per_pass: float | None
    rows_per_pass: float | None
    prefix_hit_rate: float | None
    kv_tokens: int | None
    by_kind: dict[Kind, tuple[int, float]]
    by_start: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class PassCost:
    """What a forward pass costs by the rows it verifies, fitted as fixed_ms + row_ms · rows."""

    fixed_ms: float
    row_ms: float
    arms: int

    def best_draft(self, accepted_per_position: Sequence[float]) -> int:
        """The draft length with the most tokens per millisecond, given how often each place is accepted."""
        best, best_rate = 0, 1 / (self.fixed_ms + self.row_ms)
        tokens = 1.0
        for length, share in enumerate(accepted_per_position, start=1):
            tokens += share
            rate = tokens / (self.fixed_ms + self.row_ms * (1 + length))
            if rate > best_rate:
                best, best_rate = length, rate
        return best


def timed_answers(record: Record, arm: str, graded: Sequence[GradedSample]) -> TimedAnswers:
    """The first answers of an arm whose tokens are counted; none where arms were asked side by side."""
    timed = TimedAnswers()
    if not record.plan.is_in_turn:
        return timed
    budget, starts = record.plan.run.max_tokens, record.starts.get(arm, ())
    for one in graded:
        grade = one.arms[arm].get(budget)
        parsed = None if grade is None or grade.answer is None else grade.answer.parsed
        for attempt in record.by_sample.get((one.sample.id, arm), ()):
            if attempt.stage is Stage.FIRST and attempt.succeeded and attempt.completion_tokens:
                # Both are UTC in one ISO format: text order is the order of time.
                timed.append(time_answer(attempt, bisect_right(starts, attempt.started_at), parsed))
    return timed


def measure_speed(
    run: Run, timed: Mapping[str, TimedAnswers], arms: Sequence[ArmSummary]
) -> tuple[ArmSpeed, ...]:
    """Measure every arm of a run; empty where arms were asked side by side."""
    if not run.plan.is_in_turn:
        return ()
    baseline = run.plan.baseline.name
    warm = {arm.name: _warm_by_start(timed[arm.name]) for arm in arms}
    clock = choose_clock([list(chain.from_iterable(starts)) for starts in warm.values()])
    measured = {arm.name: _measure(run, arm, warm[arm.name], clock) for arm in arms}
    reference = measured[baseline].tokens_per_second
    return tuple(_with_speedup(one, reference) for one in measured.values())


def fit_pass_cost(speeds: Sequence[ArmSpeed]) -> PassCost | None:
    """Fit the straight line of forward time over rows.

    None with fewer than three different lengths, and where the arms lie on no line: a draft model's own
    passes are in its time, so arms of several methods need not share one.
    """
    points = [
        (one.rows_per_pass, one.ms_per_pass)
        for one in speeds
        if one.rows_per_pass is not None and one.ms_per_pass is not None
    ]
    if len({round(rows, 2) for rows, _ in points}) < 3:
        return None
    rows, times = [rows for rows, _ in points], [ms for _, ms in points]
    line = statistics.linear_regression(rows, times)
    # More rows cannot be cheaper, and no pass is free.
    if line.slope <= 0 or line.intercept < 0 or statistics.correlation(rows, times) < _LEAST_CORRELATION:
        return None
    return PassCost(line.intercept, line.slope, len(points))


def _measure(
    run: Run, arm: ArmSummary, starts: Sequence[Sequence[TimedAnswer]], clock: Clock | None
) -> ArmSpeed:
    answers = list(chain.from_iterable(starts))
    by_start = [median for one in starts if (median := _median(_rates(one, clock))) is not None]
    counted, facts = arm.counted, run.facts.get(arm.name)
    passes, rows, tokens, ms = _passes(answers, clock, arm)
    return ArmSpeed(
        name=arm.name,
        n=len(answers),
        source=clock if answers else None,
        tokens_per_second=_median(by_start),
        speedup=None,
        latency_ms=_median([one.duration_ms for one in answers]),
        ttft_ms=_median([one.ttft_ms for one in answers if one.ttft_ms is not None]),
        acceptance=arm.acceptance,
        accepted_per_position=()
        if counted is None or not counted.drafts
        else tuple(accepted / counted.drafts for accepted in counted.accepted_per_position),
        tokens_per_pass=tokens / passes if passes else None,
        ms_per_pass=ms / passes if passes and ms else None,
        rows_per_pass=rows / passes if passes else None,
        prefix_hit_rate=None
        if counted is None or not counted.prefix_queries or counted.prefix_hits is None
        else counted.prefix_hits / counted.prefix_queries,
        kv_tokens=None if facts is None else facts.kv_tokens,
        by_kind={
            kind: (len(of_kind), statistics.median(of_kind))
            for kind in Kind
            if (of_kind := _rates((one for one in answers if one.kind is kind), clock))
        },
        by_start=tuple(by_start) if len(by_start) > 1 else (),
    )


def _warm_by_start(timed: TimedAnswers) -> list[list[TimedAnswer]]:
    """An arm's first answers after each start of its server, in order, without the first of each start."""
    by_start: dict[int, list[TimedAnswer]] = {}
    for answer in sorted(timed, key=lambda one: one.position):
        by_start.setdefault(answer.start, []).append(answer)
    return [answers[1:] for answers in by_start.values()]


def _rates(answers: Iterable[TimedAnswer], clock: Clock | None) -> list[float]:
    return [] if clock is None else [rate for one in answers if (rate := clock.rate(one)) is not None]


def _passes(
    answers: Sequence[TimedAnswer], clock: Clock | None, arm: ArmSummary
) -> tuple[int, int, int, float]:
    """Passes, rows, tokens and milliseconds after the first token, over the answers whose drafts are counted.

    What was accepted behind the end of an answer is counted as accepted and never delivered, so tokens less
    accepted can fall short of the passes. The steps that verified a draft are a floor: as the server tells
    them with the answer, else by the mean length of a draft in its own totals.
    """
    passes = rows = tokens = 0
    total_ms = 0.0
    for answer in answers:
        ms = clock.generation_ms(answer) if clock else None
        drafts = answer.drafts or (Drafts(0, 0, 0) if arm.speculating is Speculating.OFF else None)
        later = answer.tokens - 1
        if drafts is None or ms is None or later < 1:
            continue
        own = max(later - drafts.accepted_tokens, _steps(drafts, arm.counted), 1)
        passes += own
        rows += own + drafts.draft_tokens
        tokens += later
        total_ms += ms
    # With the prompt in it, the time says nothing about a pass.
    return passes, rows, tokens, 0.0 if clock is Clock.WHOLE else total_ms


def _steps(drafts: Drafts, counted: Counters | None) -> int:
    if drafts.steps is not None:
        return drafts.steps
    if counted is None or not counted.drafts or not counted.draft_tokens:
        return 0
    return round(drafts.draft_tokens * counted.drafts / counted.draft_tokens)


def _with_speedup(one: ArmSpeed, reference: float | None) -> ArmSpeed:
    if not reference or one.tokens_per_second is None:
        return one
    return replace(one, speedup=one.tokens_per_second / reference)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
