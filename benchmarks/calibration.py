"""How often the gate says what, when the truth is known: simulated runs through the rule of real ones.

    python benchmarks/calibration.py [--runs 2000] [--output docs/calibration.md]

Every run is drawn as counts of what its pairs did, and judged by `decide` itself. The table that it writes is
part of the documentation; the exit code is 1 if a harmless candidate is called a regression more often than
alpha and the error of the simulation allow.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path

import numpy as np
from draftproof.evals.comparing.arm_summary import ArmSummary
from draftproof.evals.comparing.comparison import CauseCounts, ChurnCounts, Comparison
from draftproof.evals.decision.gate import Decision, alarm_p_values, decide
from draftproof.evals.decision.sequential import EarlyLook, evidence_of_regression
from draftproof.evals.plan import GateSection
from draftproof.evals.servers.server import Speculating

SIZES = (50, 100, 200, 500, 1000, 2000)
SEED = 20261201
# Of every hundred samples both arms get ten wrong, whatever else happens.
BOTH_WRONG = 0.1
ANSWERS = (Decision.PASS, Decision.REGRESSION, Decision.INCONCLUSIVE)
EARLY_SIZES = (200, 500, 1000)
EARLY_TITLES = (
    "no effect, churn 5 %",
    "no effect, churn 10 %",
    *(f"net regression {net} %, churn 5 %" for net in (2, 5, 10)),
)
EVERY_NOISE = {"churn": 0.1, "syntax": 0.5, "failures_of_both": 0.02}
INTRODUCTION = """# How often the gate says what

Simulated runs whose truth is known, judged by the rule that decides real ones: margin {margin:g}, alpha
{alpha:g}, {runs:,} runs a cell, seed {seed}. Written by

```sh
python benchmarks/calibration.py --output docs/calibration.md
```

n counts samples; one in ten is wrong in both arms and carries no information. Churn is noise, as often fixed
as broken; a net regression comes on top of it. Broken syntax that is noise shows again in half of the
confirmations, and always on a server that repeats itself. Cells are per cent
**pass / regression / inconclusive**; what is missing to 100 is void. The rows "no effect" and "unlabelled,
churn" must stay at alpha; a cell near it is off by up to a point, and the test of the net rate alone, over
every outcome instead of a simulation, never exceeds 5.0 % (`evals/decision/power.py`).

The alarms of a run (net rate, broken syntax, endpoint failures, for each candidate) share one alpha by Holm's
procedure, and those that could not have reached it, however their pairs had fallen, take no share. Each at
alpha of its own would call 10 % of harmless candidates regressions where all three kinds of noise meet.
Sharing costs nothing where only the net rate has something to test, and about two points in a hundred (a true
5 % regression at n = 200) where a fifth of the noise is broken syntax.

"""
EARLY_INTRODUCTION = """## Stopping early

The same candidates under `run --until-decided`, {runs:,} runs a cell: per cent **called on the way / called
at the end / samples asked**. Both calls together must stay at alpha where there is no effect. The rule, why
they do, and what it takes beside a run of fixed size: [deciding.md](deciding.md).
"""


@dataclass(frozen=True)
class Truth:
    """What a candidate really does: shares of samples, and how the server behaves.

    `churn` is noise, half of it regressions; `syntax` is the share of the noise that is broken syntax, which
    shows again in half of the confirmations, or always on a server that repeats itself.
    """

    title: str
    churn: float = 0.05
    syntax: float = 0.0
    net: float = 0.0
    malformed: float = 0.0
    cap: float = 0.0
    failures: float = 0.0
    failures_of_both: float = 0.0
    repeats_itself: bool = False
    is_unlabelled: bool = False
    candidates: int = 1

    @property
    def is_harmless(self) -> bool:
        return not (self.net or self.malformed or self.failures or self.is_blind)

    @property
    def is_blind(self) -> bool:
        """Unlabelled on a server that repeats itself: whatever changes counts as a regression."""
        return self.is_unlabelled and self.repeats_itself

    def shares(self) -> dict[str, float]:
        """How probable each outcome of one sample is; the rest is right in both arms."""
        half = self.churn / 2
        again = 1.0 if self.repeats_itself else 0.5
        broken = half * self.syntax
        return {
            "worse": half * (1 - self.syntax) + self.net,
            "better": 0.0 if self.is_blind else half * (1 - self.syntax),
            "broken_again": broken * again + self.malformed,
            "broken_once": broken * (1 - again),
            "mended": 0.0 if self.is_blind else broken,
            "cut": self.cap,
            "failed_baseline": self.failures_of_both,
            "failed_candidate": self.failures_of_both + self.failures,
            "both_wrong": BOTH_WRONG,
        }


TRUTHS = (
    *(Truth(f"no effect, churn {100 * churn:g} %", churn=churn) for churn in (0.02, 0.05, 0.1)),
    Truth("no effect, churn 5 %, server repeats itself", repeats_itself=True),
    Truth("no effect, churn 5 %, a fifth broken syntax", syntax=0.2),
    Truth("no effect, churn 5 %, all broken syntax", syntax=1.0),
    Truth("no effect, churn 5 %, 2 % failures in both arms", failures_of_both=0.02),
    Truth("no effect, churn 10 %, half broken syntax, 2 % failures", **EVERY_NOISE),
    Truth("no effect, the same, any of 3 candidates", **EVERY_NOISE, candidates=3),
    Truth("no effect, churn 5 %, any of 3 candidates", candidates=3),
    *(Truth(f"net regression {100 * net:g} %, churn 5 %", net=net) for net in (0.005, 0.01, 0.02, 0.05, 0.1)),
    Truth("net regression 5 %, churn 5 %, a fifth broken syntax", net=0.05, syntax=0.2),
    *(
        Truth(f"malformed only, {100 * share:g} %", churn=0.0, malformed=share)
        for share in (0.005, 0.01, 0.03)
    ),
    Truth("cap only, 10 %", churn=0.0, cap=0.1),
    *(Truth(f"failures only, {100 * share:g} %", churn=0.0, failures=share) for share in (0.01, 0.03)),
    Truth("unlabelled, churn 5 %", is_unlabelled=True),
    Truth("unlabelled, 5 % changed, server repeats itself", is_unlabelled=True, repeats_itself=True),
)


def causes(real: int, syntax: int, cap: int) -> CauseCounts:
    return CauseCounts(
        total=real + syntax + cap,
        cap=cap,
        malformed=syntax,
        real_change=real,
        unresolved=0,
        syntax=syntax,
        contract=0,
    )


def comparison_of(counts: Counter[str], n: int, truth: Truth) -> Comparison:
    syntax = counts["broken_again"] + counts["broken_once"]
    void = counts["failed_baseline"] + counts["failed_candidate"]
    changed = 0 if truth.repeats_itself else round(n * truth.churn)
    regressions = causes(counts["worse"], syntax, counts["cut"])
    fixes = causes(counts["better"], counts["mended"], 0)
    return Comparison(
        baseline="baseline",
        candidate="candidate",
        findings=(),
        samples=n,
        compared=n - void,
        both_pass=n - void - counts["both_wrong"] - regressions.total - fixes.total,
        both_fail=counts["both_wrong"],
        void=void,
        regressions=regressions,
        fixes=fixes,
        control=ChurnCounts(n, changed - changed // 2, changed // 2),
        codes={},
        void_codes={},
        candidate_only_failures=counts["failed_candidate"],
        reproduced_syntax=counts["broken_again"],
        needed_max_tokens=None,
    )


def arm_of(name: str, n: int, right: int, failed: int) -> ArmSummary:
    drafted = 0 if name == "baseline" else 1000
    return ArmSummary(
        name=name,
        model="m",
        attempts=n,
        failed=failed,
        retried=0,
        finish_reasons={},
        endings={},
        cut=0,
        passed=right,
        wrong=n - right - failed,
        void=failed,
        tokens_per_second=None,
        draft_tokens=drafted,
        accepted_tokens=drafted,
        speculating=Speculating.ON if drafted else Speculating.OFF,
    )


class Judge:
    """The rule under one truth at one size: what is drawn twice is judged once."""

    def __init__(self, truth: Truth, n: int, gate: GateSection) -> None:
        self.truth, self.n, self.gate = truth, n, gate
        self.names = (*truth.shares(), "both_right")
        self.seen: dict[tuple[int, ...], Decision] = {}

    def decide(
        self, row: tuple[int, ...], others: Sequence[float] = (), early: EarlyLook | None = None
    ) -> Decision:
        is_alone = not others and early is None
        if is_alone and row in self.seen:
            return self.seen[row]
        compared, baseline, candidate = self.judged(row)
        made = decide(
            compared,
            baseline,
            candidate,
            self.gate,
            is_complete=True,
            dialect="hermes",
            is_unlabelled=self.truth.is_unlabelled,
            others=others,
            early=early,
        ).decision
        if is_alone:
            self.seen[row] = made
        return made

    def p_values(self, row: tuple[int, ...]) -> tuple[float, ...]:
        return alarm_p_values(
            *self.judged(row), self.gate, alpha=self.gate.alpha, is_unlabelled=self.truth.is_unlabelled
        )

    def judged(self, row: tuple[int, ...]) -> tuple[Comparison, ArmSummary, ArmSummary]:
        counts = Counter(dict(zip(self.names, row, strict=True)))
        compared = comparison_of(counts, self.n, self.truth)
        right = compared.both_pass
        return (
            compared,
            arm_of("baseline", self.n, right + compared.regressions.total, counts["failed_baseline"]),
            arm_of("candidate", self.n, right + compared.fixes.total, counts["failed_candidate"]),
        )


def simulate(truth: Truth, n: int, runs: int, gate: GateSection) -> Counter[Decision]:
    """How many of the runs ended in each decision; with several candidates, the worst of them."""
    source = np.random.default_rng([SEED, TRUTHS.index(truth), n])
    judge = Judge(truth, n, gate)
    shares = [*truth.shares().values()]
    shares.append(1 - sum(shares))
    draws = source.multinomial(n, shares, size=(runs, truth.candidates))
    decisions: Counter[Decision] = Counter()
    if truth.candidates == 1:
        rows, times = np.unique(draws[:, 0], axis=0, return_counts=True)
        for row, count in zip(rows.tolist(), times.tolist(), strict=True):
            decisions[judge.decide(tuple(row))] += count
        return decisions
    for several in draws.tolist():
        rows = [tuple(row) for row in several]
        p_values = [judge.p_values(row) for row in rows]
        found = {
            judge.decide(row, [p for other in p_values[:index] + p_values[index + 1 :] for p in other])
            for index, row in enumerate(rows)
        }
        worst = (Decision.REGRESSION, Decision.VOID, Decision.INCONCLUSIVE, Decision.PASS)
        decisions[next(one for one in worst if one in found)] += 1
    return decisions


def simulate_early(truth: Truth, n: int, runs: int, gate: GateSection) -> tuple[float, float, float]:
    """Shares of runs called on the way and at the end, and the mean share of samples that were asked."""
    source = np.random.default_rng([SEED, TRUTHS.index(truth), n, 1])
    judge = Judge(truth, n, gate)
    shares = [*truth.shares().values()]
    kinds = np.cumsum([*shares, 1 - sum(shares)])
    worse, better, wrong = (judge.names.index(name) for name in ("worse", "better", "both_wrong"))
    on_the_way = at_the_end = asked = 0
    for _ in range(runs):
        drawn = np.minimum(np.searchsorted(kinds, source.random(n), side="right"), len(kinds) - 1)
        regressions, fixes = np.cumsum(drawn == worse), np.cumsum(drawn == better)
        pairs = np.cumsum(drawn != wrong)
        peak, last = 1.0, n
        # Between two regressions the evidence only falls.
        for place in np.flatnonzero(drawn == worse).tolist():
            counts = int(regressions[place]), int(fixes[place]), int(pairs[place])
            peak = max(peak, evidence_of_regression(*counts, gate.margin))
            if peak >= 1 / gate.alpha:
                last = place + 1
                break
        asked += last
        row = tuple(np.bincount(drawn[:last], minlength=len(kinds)).tolist())
        look = EarlyLook(asked=last, planned=n, pairs=int(pairs[last - 1]), peak=peak, needed=1 / gate.alpha)
        if judge.decide(row, early=look) is Decision.REGRESSION:
            on_the_way += look.is_called
            at_the_end += not look.is_called
    return on_the_way / runs, at_the_end / runs, asked / (n * runs)


def most_false_alarms(runs: int, alpha: float) -> float:
    """Alpha and three standard errors of the simulation."""
    return alpha + 3 * sqrt(alpha * (1 - alpha) / runs)


def render_early(runs: int, gate: GateSection) -> str:
    head = "| truth | " + " | ".join(f"n = {n:,}" for n in EARLY_SIZES) + " |"
    lines = [EARLY_INTRODUCTION.format(runs=runs), head, "|---|" + "---:|" * len(EARLY_SIZES)]
    for truth in TRUTHS:
        if truth.title not in EARLY_TITLES:
            continue
        cells = [simulate_early(truth, n, runs, gate) for n in EARLY_SIZES]
        texts = [" / ".join(f"{100 * part:.1f}" for part in cell) for cell in cells]
        lines.append(f"| {truth.title} | {' | '.join(texts)} |")
    return "\n".join([*lines, ""])


def render(
    results: dict[tuple[str, int], Counter[Decision]], runs: int, gate: GateSection, worst: str
) -> str:
    text = INTRODUCTION.format(margin=gate.margin, alpha=gate.alpha, runs=runs, seed=SEED)
    lines = ["| truth | " + " | ".join(f"n = {n:,}" for n in SIZES) + " |", "|---|" + "---:|" * len(SIZES)]
    for truth in TRUTHS:
        cells = [results[truth.title, n] for n in SIZES]
        texts = [" / ".join(f"{100 * cell[one] / runs:.1f}" for one in ANSWERS) for cell in cells]
        lines.append(f"| {truth.title} | {' | '.join(texts)} |")
    return text + "\n".join([*lines, "", worst, ""])


def main() -> int:
    """Simulate, write the table, and check the false alarms."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    gate = GateSection()
    judge = partial(simulate, runs=options.runs, gate=gate)
    results = {(truth.title, n): judge(truth, n) for truth in TRUTHS for n in SIZES}
    alarms = {
        (truth.title, n): results[truth.title, n][Decision.REGRESSION] / options.runs
        for truth in TRUTHS
        for n in SIZES
        if truth.is_harmless
    }
    (title, n), most = max(alarms.items(), key=lambda item: item[1])
    worst = f"Most false alarms without effect: {most:.1%} ({title}, n = {n:,}); alpha is {gate.alpha:.0%}."
    text = render(results, options.runs, gate, worst) + "\n" + render_early(options.runs // 4, gate)
    if options.output is None:
        print(text, end="")
    else:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
        print(worst)
    return int(most > most_false_alarms(options.runs, gate.alpha))


if __name__ == "__main__":
    sys.exit(main())
