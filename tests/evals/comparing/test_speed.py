"""Speed: medians on one clock, per forward pass, by what answers are made of; none for arms side by side."""

from dataclasses import replace

import pytest
from draftproof.evals.attempt import Stage, Timing
from draftproof.evals.comparing.clock import Clock
from draftproof.evals.comparing.speed import ArmSpeed, PassCost, fit_pass_cost
from draftproof.evals.comparing.timed_answer import Kind
from draftproof.evals.servers.counters import Counters, Snapshot, server_starts
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.server_tables import speed_tables

from ..build import RIGHT, attempt, record, sample


def make(ms_of, drafts, *, timing=None, counters=None, in_turn=True, contents=(RIGHT,)):
    """Four samples of 40 tokens; `ms_of` gives milliseconds by arm, `drafts` are the candidate's."""
    attempts = []
    for n in range(4):
        for arm in ("baseline", "ngram"):
            one = attempt(
                contents[n % len(contents)],
                sample_id=f"s{n}",
                arm=arm,
                stage=Stage.FIRST,
                tokens=40,
                drafts=drafts if arm == "ngram" else (0, 0),
            )
            attempts.append(
                replace(
                    one,
                    duration_ms=ms_of[arm][n],
                    index=n,
                    timing=None if timing is None else timing(ms_of[arm][n]),
                )
            )
    made = record([sample(f"s{n}") for n in range(4)], attempts, control=False, confirm=0, in_turn=in_turn)
    return summarise(replace(made, counters=counters or {}))


MS = {"baseline": [9000.0, 800.0, 800.0, 400.0], "ngram": [9000.0, 400.0, 400.0, 200.0]}


def test_a_speed_up_is_a_ratio_of_medians_without_the_warm_up():
    """The first answer of each arm is left out: it paid for loading and compiling."""
    baseline, ngram = make(MS, (30, 20)).speeds
    assert (baseline.n, baseline.source) == (3, Clock.WHOLE)
    assert (baseline.tokens_per_second, ngram.tokens_per_second) == (50.0, 100.0)
    assert (baseline.speedup, ngram.speedup) == (1.0, 2.0)
    assert ngram.latency_ms == 400.0
    assert ngram.ms_per_pass is None  # the prompt is in that time


def test_passes_are_tokens_less_those_that_were_accepted():
    """39 tokens after the first, of which 20 came from drafts, took 19 passes, with 30 draft rows."""
    summary = make(MS, (30, 20), timing=lambda ms: Timing(predicted_ms=ms))
    baseline, ngram = summary.speeds
    assert ngram.source is Clock.SERVER
    assert (baseline.tokens_per_pass, ngram.tokens_per_pass) == (1.0, 39 / 19)
    assert ngram.rows_per_pass == pytest.approx(49 / 19)
    assert ngram.ms_per_pass == pytest.approx((400 + 400 + 200) / 57)


@pytest.mark.parametrize(
    ("drafts", "counters", "tokens_per_pass"),
    [
        ((32, 32, 10), {}, 39 / 10),
        ((32, 32), {"ngram": Counters(drafts=40, draft_tokens=120)}, 39 / 11),
        ((32, 32), {}, 39 / 7),
    ],
    ids=["told with the answer", "three tokens a draft by the server's totals", "not told"],
)
def test_steps_that_verified_a_draft_are_a_floor(drafts, counters, tokens_per_pass):
    """Of 32 accepted tokens some lay behind the end: a pass makes no more than its draft and one."""
    _, draft = make(MS, drafts, timing=lambda ms: Timing(predicted_ms=ms), counters=counters).speeds
    assert draft.tokens_per_pass == pytest.approx(tokens_per_pass)


@pytest.mark.parametrize(
    ("totals", "starts"),
    [
        ([0, 50, 90], 0),
        ([50, 0, 90], 1),
        ([50, 0, 90, 3, 9, 0], 3),
        ([None, 50, None, 20], 0),
        ([0, 0, 0], 0),
    ],
)
def test_a_total_that_fell_is_a_start(totals, starts):
    """What a server counted only grows while it runs; what it does not show proves nothing."""
    seen = [Snapshot("x", f"t{n}", Counters(generated_tokens=total)) for n, total in enumerate(totals)]
    assert len(server_starts(seen)) == starts


def test_speed_over_several_starts_is_the_median_of_their_medians():
    """One bad start of three does not move it, and the first answer after each start is left out."""
    ms = {0: [9000, 1000, 1000], 1: [9000, 4000, 4000], 2: [9000, 800, 800]}
    attempts = [
        replace(
            attempt(RIGHT, sample_id=f"s{start}{n}", arm=arm, tokens=40),
            duration_ms=float(took),
            index=3 * start + n,
            started_at=f"2026-12-01T0{start}:0{n}:00.000+00:00",
        )
        for arm in ("baseline", "ngram")
        for start in ms
        for n, took in enumerate(ms[start])
    ]
    samples = [sample(one.id) for one in attempts if one.arm == "baseline"]
    made = record(samples, attempts, control=False, confirm=0, in_turn=True)
    seen = tuple(f"2026-12-01T0{start}:00:00.000+00:00" for start in (1, 2))
    baseline, ngram = summarise(replace(made, starts={"baseline": seen})).speeds
    assert (baseline.n, baseline.by_start, baseline.tokens_per_second) == (6, (40.0, 10.0, 50.0), 40.0)
    assert (ngram.n, ngram.by_start) == (8, ())
    table, *_ = speed_tables((baseline, ngram))
    assert table.note == "tok/s is the median over starts of the server: baseline 40.0, 10.0, 50.0"


def test_counters_give_positions_and_cache_hits():
    """Shares of drafts accepted that far, from the first place."""
    counters = {"ngram": Counters(10, 40, 17, (9, 5, 2, 1), 100, 50, 10)}
    _, ngram = make(MS, (0, 0), counters=counters).speeds
    assert ngram.accepted_per_position == (0.9, 0.5, 0.2, 0.1)
    assert ngram.prefix_hit_rate == 0.2
    assert ngram.acceptance == 17 / 40


def test_kinds_are_kept_apart():
    """Drafting lives on repetition: calls, code and prose differ."""
    summary = make(MS, (0, 0), contents=(RIGHT, "Just words.", "```python\nx = 1\n```"))
    by_kind = summary.speeds[0].by_kind
    assert {kind: n for kind, (n, _) in by_kind.items()} == {Kind.CALLS: 1, Kind.PROSE: 1, Kind.CODE: 1}


def test_arms_side_by_side_have_no_speed():
    """They slowed each other."""
    summary = make(MS, (0, 0), in_turn=False)
    assert summary.speeds == ()
    assert speed_tables(summary.speeds) == []


def arm(rows, ms):
    return ArmSpeed("x", 1, None, None, None, None, None, None, (), None, ms, rows, None, None, {})


def test_a_straight_line_says_what_a_pass_costs():
    """Fixed + per row, exactly where the points lie on it; nothing with two lengths, or noise."""
    cost = fit_pass_cost([arm(1, 11.0), arm(3, 13.0), arm(5, 15.0)])
    assert (cost.fixed_ms, cost.row_ms) == (pytest.approx(10.0), pytest.approx(1.0))
    assert fit_pass_cost([arm(1, 11.0), arm(3, 13.0)]) is None
    assert fit_pass_cost([arm(1, 11.0), arm(1, 12.0), arm(1, 13.0)]) is None
    assert fit_pass_cost([arm(1, 15.0), arm(3, 13.0), arm(5, 11.0)]) is None
    # Seen on a real vLLM: none, n-gram, and a draft model whose own passes are in the time.
    assert fit_pass_cost([arm(1, 27.5), arm(3.3, 30.6), arm(4.9, 100.8)]) is None
    assert fit_pass_cost([arm(1, 1.0), arm(3, 5.0), arm(5, 9.0)]) is None


@pytest.mark.parametrize(
    ("cost", "shares", "best"),
    [
        (PassCost(10.0, 1.0, 3), (0.9, 0.8, 0.5, 0.05), 3),
        (PassCost(10.0, 1.0, 3), (0.05,), 0),
        (PassCost(0.0, 1.0, 3), (0.9, 0.9), 0),
        (PassCost(100.0, 0.1, 3), (0.5, 0.25, 0.12), 3),
    ],
)
def test_the_best_draft_length_makes_the_most_tokens_per_millisecond(cost, shares, best):
    """Rows that are nearly free pay for long drafts; rows that cost a pass each pay for none."""
    assert cost.best_draft(shares) == best
