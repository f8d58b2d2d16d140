"""What a suite leaves out, and why: counted in every report, so that no denominator shrinks in silence."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excluded:
    """An entry of a benchmark that is not asked; `reason` continues "is left out: "."""

    id: str
    category: str
    reason: str
