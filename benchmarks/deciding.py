"""Requests that it takes to call a regression: `--until-decided` beside a run of fixed size.

    python benchmarks/deciding.py

Exact, over every course that the pairs could take: churn 5 %, margin 3 %, alpha 5 %; three requests a sample
(baseline, control, candidate). What was in flight when the call came counts. Beside it stands

- with "like errors": a run of fixed size that tests the same claim (net rate within the margin, Tango's score
  test) at the same level, just large enough for the power named; the plan that may stop early is just large
  enough to be called as often on the way;
- with "known effect": a run made for that very effect, which tests only whether there is one (the gate's
  mid-p McNemar, power 80 %), beside a plan of 1,000 that may stop early. Who knows the effect beforehand is
  better off with it;
- with "in a plan": all requests of somebody's plan who does not know the effect.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from draftproof.evals.asking.early import BATCH
from draftproof.evals.decision.power import decision_chances
from draftproof.evals.decision.sequential import evidence_of_regression
from measured import Row, print_table
from walked import Looks

CHURN, MARGIN, ALPHA = 0.05, 0.03, 0.05
REQUESTS_A_SAMPLE = 3
# The longest plan: long enough to call 99 of 100 such regressions on the way.
LONGEST = {0.05: 7_500, 0.1: 1_000, 0.2: 1_000}
PLANS = (500, 1_000)
POWERS = (0.8, 0.95, 0.99)
KNOWN_EFFECT_POWER = 0.8


def calls(b: int, c: int, n: int) -> bool:
    """The rule of a run with one candidate."""
    return evidence_of_regression(b, c, n, MARGIN) >= 1 / ALPHA


def finds_above_zero(n: int, net: float) -> float:
    """How often the gate calls such a regression after n pairs."""
    return decision_chances(n, churn=CHURN, net=net, margin=MARGIN, alpha=ALPHA).regression


def finds_above_margin(n: int, net: float) -> float:
    """How often Tango's test at level alpha finds n pairs to be worse than the margin.

    His lower bound at that level is his upper one at level 1 - alpha; that it is within the margin is a pass.
    """
    return (
        1 - decision_chances(n, churn=CHURN, net=net, margin=MARGIN, alpha=1 - ALPHA, alarm_alpha=0).passing
    )


def fixed_size(finds: Callable[[int, float], float], net: float, power: float) -> int:
    """The number of pairs from which on a run of fixed size finds such a net rate that often."""
    low, high = 0, 32
    while finds(high, net) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if finds(middle, net) >= power else (middle, high)
    return high


def rows() -> Iterator[Row]:
    for net, longest in LONGEST.items():
        chances = Looks(calls, longest, CHURN).chances(net, CHURN)
        what = f"call a {net:.0%} regression"

        def row(note: str, plan: int, beside: str, pairs: int, chances=chances, what=what) -> Row:
            mean = chances.mean_asked(plan, BATCH)
            return Row(
                f"{what}, {note}",
                f"{mean * REQUESTS_A_SAMPLE:,.0f} requests",
                f"{beside} {pairs * REQUESTS_A_SAMPLE:,}",
                mean / pairs,
            )

        for power in POWERS:
            plan = int(np.searchsorted(np.cumsum(chances.called), power))
            pairs = fixed_size(finds_above_margin, net, power)
            yield row(f"like errors, power {power:.0%}", plan, "fixed", pairs)
        size = fixed_size(finds_above_zero, net, KNOWN_EFFECT_POWER)
        yield row(f"known effect, power {KNOWN_EFFECT_POWER:.0%}", PLANS[-1], "fixed", size)
        for plan in PLANS:
            share = chances.called[: plan + 1].sum()
            yield row(f"in a plan of {plan:,} ({share:.0%} on the way)", plan, "all", plan)


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    print_table(rows())


if __name__ == "__main__":
    main()
