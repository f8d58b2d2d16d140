"""Pass rate by position in the run: some faults grow until a server is restarted."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .attempt import Stage
from .grade import Verdict
from .ladder import GradedSample
from .record import Record

PARTS = 4
FEWEST = 10 * PARTS  # with fewer answers a quarter is too small to show a trend


@dataclass(frozen=True, slots=True)
class PassesByPart:
    """Of each quarter of an arm's first answers, in the order of asking: how many passed, and of how many."""

    arm: str
    parts: tuple[tuple[int, int], ...]


def passes_by_part(record: Record, graded: Sequence[GradedSample]) -> tuple[PassesByPart, ...]:
    """Split every arm's first answers into quarters; arms with too few answers are left out."""
    budget = record.plan.run.max_tokens
    found: list[PassesByPart] = []
    for arm in record.plan.arms:
        asked: list[tuple[int, bool]] = []
        for one in graded:
            attempt = record.attempt(one.sample.id, arm.name, Stage.FIRST, budget)
            grade = one.arms[arm.name].get(budget)
            if attempt is not None and grade is not None and grade.verdict is not Verdict.VOID:
                asked.append((attempt.index, grade.verdict is Verdict.PASS))
        asked.sort()
        if len(asked) >= FEWEST:
            found.append(PassesByPart(arm.name, tuple(_parts([passed for _, passed in asked]))))
    return tuple(found)


def _parts(passed: Sequence[bool]) -> list[tuple[int, int]]:
    edges = [round(len(passed) * n / PARTS) for n in range(PARTS + 1)]
    return [(sum(passed[a:b]), b - a) for a, b in pairwise(edges)]
