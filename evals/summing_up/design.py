"""A run before it is made: what it will ask at most, and what its gate could see."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from ..attempt import Stage
from ..comparing.arm_summary import median_speed, speeds
from ..decision.gate import alarm_alpha
from ..decision.power import Chances, decision_chances, samples_for_pass
from ..plan import GateSection, Plan
from ..runs.run import Run
from .summary import Summary

ASSUMED_CHURN = 0.05
NET_RATES = (0.0, 0.01, 0.02, 0.05, 0.1)

# A design is hopeless if it seldom passes what is harmless and seldom calls what breaks one call in ten.
_LEAST_PASSING = 0.2
_LEAST_CALLING = 0.5


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is assumed of servers and model, and where each figure comes from.

    `churn` is the share of pairs that differ without any effect, `informative` the share in which an arm is
    right, `tokens_per_second` the speed of one request. What nobody knows is None.
    """

    churn: float = ASSUMED_CHURN
    churn_source: str = "assumed"
    informative: float = 1.0
    tokens_per_second: float | None = None
    mean_tokens: float | None = None


@dataclass(frozen=True, slots=True)
class StageCost:
    """One stage: how many requests, at least and at most, and their budgets together."""

    stage: Stage
    least: int
    most: int
    most_tokens: int


@dataclass(frozen=True, slots=True)
class Design:
    """A run as planned; `pairs` are the informative ones expected, `chances` go by the true net rate.

    `most_seconds` is the time if every answer is as long as its budget, `likely_seconds` that of the first
    and control answers at their usual length; None where no speed, or no length, is known.
    """

    samples: int
    pairs: int
    arms: tuple[str, ...]
    gate: GateSection
    is_sequential: bool
    expectation: Expectation
    stages: tuple[StageCost, ...]
    most_seconds: float | None
    likely_seconds: float | None
    chances: Mapping[float, Chances]
    needed: int

    @property
    def is_hopeless(self) -> bool:
        """True when it can hardly pass anything and hardly detect anything."""
        passing, calling = self.chances[NET_RATES[0]].passing, self.chances[NET_RATES[-1]].regression
        return passing < _LEAST_PASSING and calling < _LEAST_CALLING


def design_run(plan: Plan, samples: int, expectation: Expectation) -> Design:
    """Work out what a plan asks and what it can see.

    The alarm is taken at its smallest level: alpha shared by all candidates, less the part of early looks
    where a run may stop early. What these find on the way comes on top.

    Args:
        plan: The plan.
        samples: How many its suite has.
        expectation: What is assumed.
    """
    gate, run = plan.gate, plan.run
    pairs = max(1, round(samples * expectation.informative))
    level = alarm_alpha(gate, is_sequential=run.until_decided) / len(plan.candidates)
    churn = min(expectation.churn, 1 - NET_RATES[-1])
    stages = _stages(plan, samples)
    return Design(
        samples=samples,
        pairs=pairs,
        arms=tuple(arm.name for arm in plan.arms),
        gate=gate,
        is_sequential=run.until_decided,
        expectation=expectation,
        stages=stages,
        most_seconds=_seconds(plan, stages, expectation.tokens_per_second, None),
        likely_seconds=_seconds(plan, stages[:2], expectation.tokens_per_second, expectation.mean_tokens)
        if expectation.mean_tokens is not None
        else None,
        chances={
            net: decision_chances(
                pairs, churn=churn, net=net, margin=gate.margin, alpha=gate.alpha, alarm_alpha=level
            )
            for net in NET_RATES
        },
        needed=samples_for_pass(churn=churn, margin=gate.margin, alpha=gate.alpha),
    )


def expect_like(summary: Summary) -> Expectation:
    """What an earlier run lets expect: its control's churn, else what its candidates changed.

    Where nothing at all changed, half a pair counts as changed: no run is long enough to show none.
    """
    run, comparisons = summary.run, summary.comparisons
    controls = [one.control for one in comparisons if one.control is not None and one.control.compared]
    if controls:
        changed, compared = controls[0].regressions + controls[0].fixes, controls[0].compared
        source = f"control of {run.directory.name}"
    else:
        changed = sum(one.regressions.total + one.fixes.total for one in comparisons)
        compared = sum(one.compared for one in comparisons)
        source = f"what the candidates of {run.directory.name} changed"
    compared_all = sum(one.compared for one in comparisons)
    informative = sum(one.informative for one in comparisons)
    lengths, rates = _first_answers(run)
    return Expectation(
        churn=max(changed, 0.5) / compared if compared else ASSUMED_CHURN,
        churn_source=source if compared else "assumed",
        informative=informative / compared_all if compared_all else 1.0,
        tokens_per_second=median_speed(rates),
        mean_tokens=fmean(lengths) if lengths else None,
    )


def _first_answers(run: Run) -> tuple[list[int], list[float]]:
    """Tokens, and tokens per second, of all first answers of which they are known."""
    lengths: list[int] = []
    rates: list[float] = []
    for block in run.blocks():
        attempts = block.read().attempts.values()
        firsts = [one for one in attempts if one.stage is Stage.FIRST and one.succeeded]
        lengths += [one.completion_tokens for one in firsts if one.completion_tokens is not None]
        rates += speeds(firsts)
    return lengths, rates


def _stages(plan: Plan, samples: int) -> tuple[StageCost, ...]:
    """First and control are sure; larger budgets and confirmations may be due for no sample or for all."""
    run = plan.run
    arms, control = len(plan.arms), int(run.control)
    larger = sum(run.max_tokens * 2**step for step in range(1, run.doublings + 1))
    last = run.max_tokens * 2**run.doublings
    firsts = samples * arms * (1 + len(run.ways_beside))
    doubled, confirmed = samples * (arms + control), samples * arms * run.confirm
    return (
        StageCost(Stage.FIRST, firsts, firsts, firsts * run.max_tokens),
        StageCost(Stage.CONTROL, samples * control, samples * control, samples * control * run.max_tokens),
        StageCost(Stage.DOUBLED, 0, doubled * run.doublings, doubled * larger),
        StageCost(Stage.CONFIRM, 0, confirmed, confirmed * last),
    )


def _seconds(
    plan: Plan, stages: tuple[StageCost, ...], tokens_per_second: float | None, mean_tokens: float | None
) -> float | None:
    """The time for all arms one after another, or for the baseline alone, which is asked most of all."""
    if tokens_per_second is None:
        return None
    run, arms = plan.run, len(plan.arms)
    total = 0.0
    for cost in stages:
        tokens = cost.most_tokens if mean_tokens is None else cost.most * mean_tokens
        share = tokens
        if not plan.is_in_turn:
            match cost.stage:
                case Stage.CONTROL:
                    pass
                case Stage.DOUBLED:
                    share = tokens * (1 + run.control) / (arms + run.control)
                case Stage.FIRST | Stage.CONFIRM:
                    share = tokens / arms
        total += share
    return total / (tokens_per_second * run.concurrency)
