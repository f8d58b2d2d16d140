"""Which arm to turn on: the fastest of those that pass, or none."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..decision.gate import Decision


@dataclass(frozen=True, slots=True)
class Choice:
    """An arm to turn on, None for none of them, and why."""

    arm: str | None
    reason: str


def choose_arm(baseline: str, said: Mapping[str, Decision], speeds: Mapping[str, float | None]) -> Choice:
    """Choose the fastest candidate that passes and is faster than the baseline.

    A candidate that regresses, or of which nothing is known, is never chosen, however fast. Where speed was
    not measured, only a single passing candidate can be chosen.

    Args:
        baseline: The arm without speculation.
        said: What the gate decided on each candidate.
        speeds: Tokens per second of the arms; absent or None where nobody measured.
    """
    passing = [name for name, decision in said.items() if decision is Decision.PASS]
    if not passing:
        return Choice(None, "no candidate passes")
    names = ", ".join(passing)
    known = {name: speed for name in passing if (speed := speeds.get(name)) is not None}
    if len(known) < len(passing) or not (speed_without := speeds.get(baseline)):
        hint = "speed was not measured; in_turn = true asks one arm at a time and measures it"
        if len(passing) == 1:
            return Choice(passing[0], f"the only one that passes; {hint}")
        return Choice(None, f"{names} pass, and which is fastest is not known: {hint}")
    fastest = max(known, key=lambda name: known[name])
    gain = known[fastest] / speed_without
    if gain <= 1:
        return Choice(None, f"{names} pass, and none is faster than {baseline} ({gain:.2f}×)")
    return Choice(fastest, f"the fastest of those that pass ({names}): {gain:.2f}× {baseline}")
