"""The rule that stops early beside other rules that could stand in its place.

    python benchmarks/rules.py

Exact, over every course that the pairs of a plan could take; margin 3 %, alpha 5 %. The first columns are the
pairs asked on average in a plan of 1,000 without the rest of a batch (group looks ask in batches); then the
calls in per cent: on the way with a net rate at the margin, at the worst of several churns; in all, with the
test at the end, of a plan of 200 without effect (again at the worst churn) and of one with a net rate of 5 %,
where the rule says how much of alpha is left for that test.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import exp, log1p

import numpy as np
from draftproof.evals.asking.early import BATCH
from draftproof.evals.decision.sequential import SHARE_ON_THE_WAY, net_over_margin
from draftproof.evals.decision.statistics import mcnemar_midp, tango_interval
from walked import Looks, Rule

MARGIN, ALPHA = 0.03, 0.05
LONG, SHORT = 1_000, 200
CHURNS = (0.0, 0.02, 0.05, 0.1)
# Net rate and churn: what a rule is to call soon.
TRUTHS = ((0.02, 0.05), (0.05, 0.05), (0.1, 0.02), (0.1, 0.05), (0.1, 0.1), (0.2, 0.05))
# The share that grows fastest at a net rate of 10 % and a churn of 5 %: nobody knows both beforehand.
BEST_SHARE = 0.53
EVEN = tuple((number + 0.5) / 20 for number in range(20))


@dataclass(frozen=True)
class Alternative:
    """A rule on the way, and the part of alpha that it leaves for the tests at the end, if it says so."""

    title: str
    rule: Rule
    share_at_the_end: float | None = None
    every: int = 1


def bet(shares: tuple[float, ...], b: int, c: int, n: int, margin: float) -> float:
    """The e-value of a bet that weighs these shares alike."""
    stakes = [share / (1 + margin) for share in shares]
    logs = [
        b * log1p(s * (1 - margin)) + c * log1p(-s * (1 + margin)) + (n - b - c) * log1p(-s * margin)
        for s in stakes
    ]
    return sum(map(exp, logs)) / len(logs)


def guarded(b: int, c: int, n: int, *, share: float) -> bool:
    """The rule itself, with another part of alpha for the way."""
    least = min(net_over_margin(b, c, n, MARGIN), share * net_over_margin(b, c, n, 0.0))
    return least >= 1 / ALPHA


def plain(b: int, c: int, n: int, *, shares: tuple[float, ...], level: float) -> bool:
    return bet(shares, b, c, n, MARGIN) >= 1 / level


def score(b: int, c: int, n: int, *, level: float) -> bool:
    interval = tango_interval(b, c, n, 1 - 2 * level)
    return interval is not None and interval.low > MARGIN


def worst_at_margin(looks: Looks) -> float:
    return max(float(looks.chances(MARGIN, churn).called.sum()) for churn in CHURNS)


def looks_of(plan: int) -> Rule:
    """Pocock's looks: Tango's test at one level each time, so that all together stay within alpha."""
    low, high = 0.0, ALPHA
    for _ in range(8):
        level = (low + high) / 2
        looks = Looks(partial(score, level=level), plan, max(CHURNS), every=BATCH)
        low, high = (level, high) if worst_at_margin(looks) <= ALPHA else (low, level)
    return partial(score, level=low)


def all_calls(looks: Looks, net: float, churn: float, level: float) -> float:
    """How often such a candidate is called, on the way or at the end."""
    chances = looks.chances(net, churn)
    in_the_end = sum(
        float(chances.not_called[b, c])
        for b, c in np.ndindex(chances.not_called.shape)
        if b - c > MARGIN * looks.most and mcnemar_midp(b, c) < level
    )
    return float(chances.called.sum()) + in_the_end


def line(one: Alternative) -> str:
    long = Looks(one.rule, LONG, max(CHURNS), every=one.every)
    cells = [f"{long.chances(*truth).mean_asked(LONG):.0f}" for truth in TRUTHS]
    cells.append(f"{worst_at_margin(long):.1%}")
    if one.share_at_the_end is None:
        cells += ["", ""]
    else:
        short, level = Looks(one.rule, SHORT, max(CHURNS)), ALPHA * one.share_at_the_end
        cells.append(f"{max(all_calls(short, 0.0, churn, level) for churn in CHURNS):.1%}")
        cells.append(f"{all_calls(short, 0.05, 0.05, level):.1%}")
    return f"| {one.title} | {' | '.join(cells)} |"


def alternatives() -> Iterator[Alternative]:
    yield Alternative("this rule", partial(guarded, share=SHARE_ON_THE_WAY), 1 - SHARE_ON_THE_WAY)
    for share in (0.1, 0.5):
        title = f"the same, {share:.0%} of alpha for the way"
        yield Alternative(title, partial(guarded, share=share), 1 - share)
    half = partial(plain, level=ALPHA / 2)
    yield Alternative(
        "one bet at alpha / 2", lambda *counts: net_over_margin(*counts, MARGIN) >= 2 / ALPHA, 0.5
    )
    yield Alternative("the same, all shares alike", partial(half, shares=EVEN), 0.5)
    yield Alternative(f"one share, {BEST_SHARE}, at alpha", partial(plain, shares=(BEST_SHARE,), level=ALPHA))
    yield Alternative(f"Pocock's looks every {BATCH}, at alpha", looks_of(LONG), every=BATCH)


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    heads = [f"net {100 * net:g} %, churn {100 * churn:g} %" for net, churn in TRUTHS]
    heads += ["called at the margin", "called without effect", "called at net 5 %"]
    print("| rule | " + " | ".join(heads) + " |\n|---|" + "---:|" * len(heads))
    for one in alternatives():
        print(line(one), flush=True)


if __name__ == "__main__":
    main()
