"""Pass rate by position in the run: some faults grow until a server is restarted."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..attempt import Stage
from ..runs.record import Record
from .grade import Verdict
from .ladder import GradedSample

PARTS = 4
FEWEST = 10 * PARTS  # with fewer answers a quarter is too small to show a trend


@dataclass(frozen=True, slots=True)
class PassesByPart:
    """Of each quarter of an arm's first answers, in the order of asking: how many passed, and of how many."""

    arm: str
    parts: tuple[tuple[int, int], ...]


def passes(record: Record, arm: str, graded: Sequence[GradedSample]) -> "array[int]":
    """Where in the order of asking the first answers of an arm stand, and whether they passed.

    Returns:
        Of each answer that could be judged twice its index, and one more if it passed: a run has millions.
    """
    budget = record.plan.run.max_tokens
    found = array("q")
    for one in graded:
        grade = one.arms[arm].get(budget)
        if grade is None or grade.verdict is Verdict.VOID:
            continue
        attempt = None if grade.answer is None else grade.answer.attempt
        if attempt is None or attempt.stage is not Stage.FIRST:  # of a sample without a label
            attempt = record.attempt(one.sample.id, arm, Stage.FIRST, budget)
        if attempt is not None:
            found.append(2 * attempt.index + (grade.verdict is Verdict.PASS))
    return found


def passes_by_part(asked: Mapping[str, Sequence[int]]) -> tuple[PassesByPart, ...]:
    """Split every arm's first answers (see `passes`) into quarters; arms with too few are left out."""
    return tuple(
        PassesByPart(arm, tuple(_parts([one % 2 for one in sorted(found)])))
        for arm, found in asked.items()
        if len(found) >= FEWEST
    )


def _parts(passed: Sequence[int]) -> list[tuple[int, int]]:
    edges = [round(len(passed) * n / PARTS) for n in range(PARTS + 1)]
    return [(sum(passed[a:b]), b - a) for a, b in pairwise(edges)]
