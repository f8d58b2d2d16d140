"""Requests that it takes to call a regression: `--until-decided` beside a run of fixed size.

    python benchmarks/deciding.py [--runs 1000]

Simulated pairs at a churn of 5 %, margin 3 %, alpha 5 %; three requests a sample (baseline, control,
candidate). The fixed run has the smallest size that calls four of five such regressions. The other rule is
given four times that size, or a thousand samples, and stops by itself, looking after every batch; what it
takes in four of five runs stands beside it. Who knows the size of the effect beforehand is better off with
the fixed size; the second line is for who does not, and planned for a small one.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from draftproof.evals.asking.early import BATCH
from draftproof.evals.decision.power import decision_chances
from draftproof.evals.decision.sequential import net_over_margin
from measured import Row, print_table

CHURN, MARGIN, ALPHA, POWER = 0.05, 0.03, 0.05, 0.8
REQUESTS_A_SAMPLE = 3
PLANNED = 1_000
SEED = 20261201


def fixed_size(net: float) -> int:
    """The smallest number of pairs, in tens, that calls such a regression with the wanted chance."""
    size = 10
    while decision_chances(size, churn=CHURN, net=net, margin=MARGIN, alpha=ALPHA).regression < POWER:
        size += 10
    return size


def stops(net: float, runs: int, most: int) -> list[int]:
    """After how many samples each run stopped."""
    source = np.random.default_rng([SEED, round(net * 1000)])
    found: list[int] = []
    for _ in range(runs):
        drawn = source.random(most)
        worse = np.cumsum(drawn < CHURN / 2 + net)
        better = np.cumsum(drawn > 1 - CHURN / 2)
        peak, last = 1.0, most
        for place in np.flatnonzero(drawn < CHURN / 2 + net).tolist():
            peak = max(peak, net_over_margin(int(worse[place]), int(better[place]), place + 1, MARGIN))
            if peak >= 2 / ALPHA:
                last = min(most, -(-(place + 1) // BATCH) * BATCH)
                break
        found.append(last)
    return found


def rows(runs: int) -> Iterator[Row]:
    for net in (0.05, 0.10, 0.20):
        size = fixed_size(net)
        taken = sorted(stops(net, runs, max(PLANNED, 4 * size)))
        mean, late = sum(taken) / runs, taken[int(POWER * runs)]
        yield Row(
            f"call a {net:.0%} regression",
            f"{mean * REQUESTS_A_SAMPLE:,.0f} requests (in 80 %: {late * REQUESTS_A_SAMPLE:,})",
            f"fixed {size * REQUESTS_A_SAMPLE:,}",
            mean / size,
        )
        of_plan = sum(min(one, PLANNED) for one in taken) / runs
        yield Row(
            f"the same in a plan of {PLANNED:,} samples",
            f"{of_plan * REQUESTS_A_SAMPLE:,.0f} requests",
            f"all {PLANNED * REQUESTS_A_SAMPLE:,}",
            of_plan / PLANNED,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    print_table(rows(parser.parse_args().runs))


if __name__ == "__main__":
    main()
