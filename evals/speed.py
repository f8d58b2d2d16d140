"""Speed beside correctness: what speculation is turned on for, measured on the answers that are judged.

Only of arms that are asked one at a time: arms side by side on one machine slow each other. The first answer
of an arm warms its server up and is left out. Without drafts every forward pass makes one token; with drafts
it makes one token and those that it accepted, so passes = tokens - accepted.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .arm_summary import ArmSummary
from .attempt import Drafts, Stage
from .ladder import GradedSample
from .record import Record
from .run import Run


class SpeedSource(StrEnum):
    """Whose clock measured the generation."""

    SERVER = "server"  # the server's own time for the tokens
    STREAM = "client, after the first token"  # ours, from the first piece of a stream to its end
    WHOLE = "client, prompt included"  # ours, from sending to the end


class Kind(StrEnum):
    """What an answer is made of: drafting lives on repetition, and calls repeat more than prose."""

    CALLS = "calls"
    CODE = "code"
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class ArmSpeed:
    """Medians over the answers of one arm; None where nothing tells.

    `tokens_per_second` of generation, `latency_ms` and `ttft_ms` of a request. `speedup` is the ratio of
    tokens per second to the baseline's. `tokens_per_pass`, `ms_per_pass` and `rows_per_pass` (tokens that one
    forward pass verified or made) are means over all passes. `by_kind` are tokens per second.
    `accepted_per_position` is, for each place of a draft, the share of drafts accepted that far.
    """

    name: str
    n: int
    source: SpeedSource | None
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


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """What is measured of one first answer; `predicted_ms` is the server's own time for its tokens."""

    index: int
    tokens: int
    duration_ms: float
    ttft_ms: float | None
    predicted_ms: float | None
    spec: Drafts | None
    kind: Kind | None


def timed_answers(record: Record, arm: str, graded: Sequence[GradedSample]) -> list[TimedAnswer]:
    """The first answers of an arm whose tokens are counted; none where arms were asked side by side."""
    if not record.plan.is_in_turn:
        return []
    return [
        TimedAnswer(
            attempt.index,
            tokens,
            attempt.duration_ms,
            attempt.ttft_ms,
            None if attempt.timing is None else attempt.timing.predicted_ms,
            attempt.spec,
            _kind(record, one, arm),
        )
        for one in graded
        for attempt in record.by_sample.get((one.sample.id, arm), ())
        if attempt.stage is Stage.FIRST and attempt.succeeded and (tokens := attempt.completion_tokens)
    ]


def measure_speed(
    run: Run, timed: Mapping[str, Sequence[TimedAnswer]], arms: Sequence[ArmSummary]
) -> tuple[ArmSpeed, ...]:
    """Measure every arm of a run; empty where arms were asked side by side."""
    if not run.plan.is_in_turn:
        return ()
    baseline = run.plan.baseline.name
    measured = {arm.name: _measure(run, timed[arm.name], arm) for arm in arms}
    reference = measured[baseline].tokens_per_second
    return tuple(_with_speedup(one, reference) for one in measured.values())


def fit_pass_cost(speeds: Sequence[ArmSpeed]) -> PassCost | None:
    """Fit the straight line of forward time over rows; None with fewer than three different lengths."""
    points = [
        (one.rows_per_pass, one.ms_per_pass)
        for one in speeds
        if one.rows_per_pass is not None and one.ms_per_pass is not None
    ]
    if len({round(rows, 2) for rows, _ in points}) < 3:
        return None
    line = statistics.linear_regression([rows for rows, _ in points], [ms for _, ms in points])
    if line.slope <= 0 or line.intercept + line.slope <= 0:
        return None  # more rows cannot be cheaper: the measurement is too noisy to say anything
    return PassCost(line.intercept, line.slope, len(points))


def _measure(run: Run, timed: Sequence[TimedAnswer], arm: ArmSummary) -> ArmSpeed:
    answers = sorted(timed, key=lambda one: one.index)[1:]
    source = _source(answers)
    rates = [(one.kind, rate) for one in answers if (rate := _rate(one, source)) is not None]
    passes, rows, tokens, ms = _passes(answers, source)
    counted, facts = arm.counted, run.facts.get(arm.name)
    return ArmSpeed(
        name=arm.name,
        n=len(answers),
        source=source,
        tokens_per_second=_median([rate for _, rate in rates]),
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
            if (of_kind := [rate for made, rate in rates if made is kind])
        },
    )


def _source(answers: Sequence[TimedAnswer]) -> SpeedSource | None:
    """One clock for a whole arm: a median over two clocks would mean nothing."""
    if not answers:
        return None
    if all(one.predicted_ms for one in answers):
        return SpeedSource.SERVER
    if all(one.ttft_ms is not None for one in answers):
        return SpeedSource.STREAM
    return SpeedSource.WHOLE


def _generation_ms(answer: TimedAnswer, source: SpeedSource | None) -> float | None:
    match source:
        case SpeedSource.SERVER:
            return answer.predicted_ms
        case SpeedSource.STREAM:
            return None if answer.ttft_ms is None else answer.duration_ms - answer.ttft_ms
        case _:
            return answer.duration_ms


def _rate(answer: TimedAnswer, source: SpeedSource | None) -> float | None:
    """Tokens per second; the first token of a stream came with the prompt."""
    tokens, ms = answer.tokens, _generation_ms(answer, source)
    if source is SpeedSource.STREAM:
        tokens -= 1
    return tokens / ms * 1000 if ms and ms > 0 and tokens > 0 else None


def _passes(answers: Sequence[TimedAnswer], source: SpeedSource | None) -> tuple[int, int, int, float]:
    """Passes, rows, tokens and milliseconds, over the answers whose drafts are counted."""
    passes = rows = tokens = 0
    total_ms = 0.0
    for answer in answers:
        ms = _generation_ms(answer, source)
        if answer.spec is None or ms is None:
            continue
        own = max(answer.tokens - answer.spec.accepted_tokens, 1)
        passes += own
        rows += own + answer.spec.draft_tokens
        tokens += answer.tokens
        total_ms += ms
    # With the prompt in it, the time says nothing about a pass.
    return passes, rows, tokens, 0.0 if source is SpeedSource.WHOLE else total_ms


def _kind(record: Record, graded: GradedSample, arm: str) -> Kind | None:
    grade = graded.arms[arm].get(record.plan.run.max_tokens)
    if grade is None or grade.answer is None:
        return None
    parsed = grade.answer.parsed
    if parsed.calls or parsed.open:
        return Kind.CALLS
    return Kind.CODE if "```" in parsed.content else Kind.PROSE


def _with_speedup(one: ArmSpeed, reference: float | None) -> ArmSpeed:
    if not reference or one.tokens_per_second is None:
        return one
    return replace(one, speedup=one.tokens_per_second / reference)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
