"""Which arm to turn on: the fastest of those that pass, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .arm_summary import ArmSummary
from .gate import Decision


@dataclass(frozen=True, slots=True)
class Choice:
    """An arm to turn on, None for none of them, and why."""

    arm: str | None
    reason: str


def choose_arm(
    baseline: ArmSummary, candidates: Sequence[ArmSummary], said: Mapping[str, Decision]
) -> Choice:
    """Choose the fastest candidate that passes and is faster than the baseline.

    A candidate that regresses, or of which nothing is known, is never chosen, however fast. Where speed was
    not measured, only a single passing candidate can be chosen.

    Args:
        baseline: Figures of the arm without speculation.
        candidates: Figures of the others.
        said: What the gate decided on each candidate.
    """
    passing = [arm for arm in candidates if said[arm.name] is Decision.PASS]
    if not passing:
        return Choice(None, "no candidate passes")
    names = ", ".join(arm.name for arm in passing)
    speeds = {arm.name: arm.tokens_per_second for arm in passing if arm.tokens_per_second is not None}
    if len(speeds) < len(passing) or baseline.tokens_per_second is None:
        hint = "speed was not measured; in_turn = true asks one arm at a time and measures it"
        if len(passing) == 1:
            return Choice(passing[0].name, f"the only one that passes; {hint}")
        return Choice(None, f"{names} pass, and which is fastest is not known: {hint}")
    fastest = max(speeds, key=lambda name: speeds[name])
    gain = speeds[fastest] / baseline.tokens_per_second
    if gain <= 1:
        return Choice(None, f"{names} pass, and none is faster than {baseline.name} ({gain:.2f}×)")
    return Choice(fastest, f"the fastest of those that pass ({names}): {gain:.2f}× {baseline.name}")
