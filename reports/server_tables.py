"""Tables about the servers: did they speculate, how fast were they, what did their own reading do."""

from collections.abc import Sequence

from ..evals.comparing.arm_summary import ArmSummary
from ..evals.comparing.speed import ArmSpeed, fit_pass_cost
from ..evals.comparing.timed_answer import Kind
from ..evals.judging.position import PARTS, PassesByPart
from ..evals.judging.ways import WayCode, WaySummary
from .table import MISSING, Table


def speculation_table(arms: Sequence[ArmSummary]) -> Table | None:
    """What the servers' own counters say of the whole run; None where no server shows them."""
    rows = tuple(
        (
            arm.name,
            _whole(arm.counted.drafts),
            _whole(arm.counted.draft_tokens),
            _whole(arm.counted.accepted_tokens),
            _whole(arm.counted.generated_tokens),
            _percent(arm.counted.drafted_share),
            " ".join(str(count) for count in arm.counted.accepted_per_position) or MISSING,
        )
        for arm in arms
        if arm.counted is not None
    )
    if not rows:
        return None
    header = ("arm", "drafts", "drafted", "accepted", "generated", "from drafts", "accepted by position")
    return Table(
        "Tokens by the servers' own counters, all stages",
        header,
        rows,
        frozenset((1, 2, 3, 4, 5)),
        "other clients of a server are counted as well",
    )


def speed_tables(speeds: Sequence[ArmSpeed]) -> list[Table]:
    """Speed per arm and by what the answers are made of; none where arms were asked side by side."""
    if not speeds:
        return []
    return [_speed(speeds), _passes(speeds), _by_kind(speeds)]


def _speed(speeds: Sequence[ArmSpeed]) -> Table:
    rows = tuple(
        (
            one.name,
            str(one.n),
            _number(one.tokens_per_second, 1),
            MISSING if one.speedup is None else f"{one.speedup:.2f}x",
            _number(one.latency_ms),
            _number(one.ttft_ms),
            MISSING if one.source is None else one.source.value,
        )
        for one in speeds
    )
    header = ("arm", "n", "tok/s", "speed-up", "ms", "first ms", "whose clock")
    return Table(
        "Speed, medians over first answers (each arm's first one left out)",
        header,
        rows,
        frozenset((1, 2, 3, 4, 5)),
        _starts(speeds),
    )


def _starts(speeds: Sequence[ArmSpeed]) -> str | None:
    """The tokens per second of each start, where a server was started more than once."""
    several = [
        f"{one.name} {', '.join(_number(rate, 1) for rate in one.by_start)}" for one in speeds if one.by_start
    ]
    return f"tok/s is the median over starts of the server: {'; '.join(several)}" if several else None


def _passes(speeds: Sequence[ArmSpeed]) -> Table:
    rows = tuple(
        (
            one.name,
            _percent(one.acceptance),
            " ".join(f"{share:.0%}" for share in one.accepted_per_position) or MISSING,
            _number(one.tokens_per_pass, 2),
            _number(one.ms_per_pass, 1),
            _percent(one.prefix_hit_rate),
            _whole(one.kv_tokens),
        )
        for one in speeds
    )
    header = ("arm", "accepted", "by position", "tok/pass", "ms/pass", "cache hits", "KV tokens")
    return Table("Forward passes and caches", header, rows, frozenset((1, 3, 4, 5, 6)), _best_draft(speeds))


def _by_kind(speeds: Sequence[ArmSpeed]) -> Table:
    kinds = [kind for kind in Kind if any(kind in one.by_kind for one in speeds)]
    rows = tuple(
        (
            one.name,
            *(
                f"{one.by_kind[kind][1]:.0f} (n = {one.by_kind[kind][0]})" if kind in one.by_kind else MISSING
                for kind in kinds
            ),
        )
        for one in speeds
    )
    header = ("arm", *(kind.value for kind in kinds))
    return Table(
        "Tokens per second by what the answer is made of", header, rows, frozenset(range(1, len(header)))
    )


def _best_draft(speeds: Sequence[ArmSpeed]) -> str | None:
    cost = fit_pass_cost(speeds)
    longest = max((one.accepted_per_position for one in speeds), key=len, default=())
    if cost is None or not longest:
        return None
    return (
        f"a pass takes {cost.fixed_ms:.1f} ms + {cost.row_ms:.1f} ms a row ({cost.arms} arms): best draft "
        f"length {cost.best_draft(longest)} of {len(longest)} seen"
    )


def position_table(positions: Sequence[PassesByPart]) -> Table | None:
    """Pass rate by quarter of the run; None where arms have too few answers to split."""
    if not positions:
        return None
    rows = tuple((one.arm, *(f"{passed}/{n}" for passed, n in one.parts)) for one in positions)
    header = ("arm", *(f"quarter {n + 1}" for n in range(PARTS)))
    return Table("Passes by position in the run", header, rows, frozenset(range(1, PARTS + 1)))


def ways_table(ways: WaySummary) -> Table | None:
    """What asking, or reading, in two ways came to; None where nothing was compared."""
    if not ways.compared:
        return None
    codes = {
        "stream": (WayCode.STREAM_MISMATCH, WayCode.STREAM_LOSS),
        "raw": (WayCode.RAW_DIFFERS,),
        "server parser": (
            WayCode.SERVER_PARSE_DROP,
            WayCode.SERVER_PARSE_REPAIR,
            WayCode.SERVER_PARSE_PHANTOM,
        ),
    }
    rows = tuple(
        (
            arm,
            kind,
            str(count),
            ", ".join(f"{code.value} {n}" for code in codes[kind] if (n := ways.count(arm, code))) or "none",
        )
        for (arm, kind), count in ways.compared.items()
    )
    return Table(
        "Asked or read in two ways (changes no grade)",
        ("arm", "what", "n", "differences"),
        rows,
        frozenset((2,)),
    )


def _whole(value: int | None) -> str:
    return MISSING if value is None else str(value)


def _number(value: float | None, digits: int = 0) -> str:
    return MISSING if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1%}"
