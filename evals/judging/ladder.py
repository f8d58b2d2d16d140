"""All attempts of one sample, graded, each arm's as a ladder of budgets."""

from collections.abc import Iterator, Mapping

import msgspec

from ...parsers.dialects import DIALECTS
from ...parsers.result import Call
from ...tasks.sample import Sample
from ..attempt import Stage
from ..reading.answer import Answer
from ..reading.answers import Rung
from ..runs.divergence import Divergence
from ..runs.record import Record
from .grade import Grade, Reference, Verdict, grade_answer, grade_failed

# Grades of one sample in one arm by budget, ascending.
Ladder = Mapping[int, Grade]

NO_REFERENCE = Grade(Verdict.VOID, "no_reference")


class GradedSample(msgspec.Struct, frozen=True):
    """One sample in every arm.

    Attributes:
        arms: For each arm the grades of `first` (at the first budget) and `doubled` (above it). For an
            unlabelled sample the baseline's are those of its `control` answers: its first answer is the
            reference and cannot be judged by itself.
        control: The baseline asked again, graded.
        confirms: Per (arm, budget) the grades of the `confirm` attempts, by their number.
        is_context_limited: True when a larger budget was due and no server had room for one.
        divergences: What is known of where each candidate left the baseline, by candidate.
        beside: Answers of each arm to the same question asked in other ways: compared, never judged.
        concurrency: How many requests were in flight per arm.
    """

    sample: Sample
    arms: Mapping[str, Ladder]
    control: Ladder
    confirms: Mapping[tuple[str, int], Mapping[int, Grade]]
    is_context_limited: bool
    beside: Mapping[str, tuple[Answer, ...]] = {}
    divergences: Mapping[str, tuple[Divergence, ...]] = {}
    concurrency: int = 1


def grade_run(record: Record) -> Iterator[GradedSample]:
    """Grade every attempt of a run, sample by sample in the order of asking."""
    for sample in record.samples:
        yield grade_sample(record, sample)


def read_answers(record: Record, sample: Sample, arm: str) -> Mapping[Rung, Answer]:
    """Every answer of one sample in one arm, read, by (stage, budget, number)."""
    return record.answers.of_sample(
        record.by_sample.get((sample.id, arm), ()),
        arm,
        sample,
        DIALECTS[record.plan.run.dialect],
        record.plan.run,
        _context(record, arm),
    )


def asked_budgets(record: Record, sample: Sample) -> list[int]:
    """Budgets at which this sample was asked in any arm, ascending, the first one always."""
    budgets = {record.plan.run.max_tokens}
    for arm in record.plan.arms:
        for attempt in record.by_sample.get((sample.id, arm.name), ()):
            if attempt.stage is Stage.DOUBLED:
                budgets.add(attempt.max_tokens)
    return sorted(budgets)


def free_context(record: Record, sample: Sample) -> int | None:
    """Tokens that every server has left for an answer to this sample; None where no server tells."""
    free: list[int] = []
    for arm in record.plan.arms:
        facts = record.facts.get(arm.name)
        if facts is None or facts.context is None:
            continue
        prompts = [
            attempt.usage.prompt_tokens
            for attempt in record.by_sample.get((sample.id, arm.name), ())
            if attempt.usage is not None and attempt.usage.prompt_tokens is not None
        ]
        if prompts:
            free.append(facts.context - max(prompts))
    return min(free, default=None)


def next_budget(record: Record, sample: Sample, budget: int) -> int | None:
    """The budget after `budget` for this sample: what was asked already, else double, clamped to the context.

    None when the doublings are used up, or no server has room for more.
    """
    budgets = asked_budgets(record, sample)
    if (asked := next((b for b in budgets if b > budget), None)) is not None:
        return asked
    # A clamp makes rungs that are no power of two; count rungs, not tokens.
    if len(budgets) > record.plan.run.doublings:
        return None
    free = free_context(record, sample)
    larger = budget * 2 if free is None else min(budget * 2, free)
    return larger if larger > budget else None


def grade_sample(record: Record, sample: Sample) -> GradedSample:
    """Grade every attempt of one sample."""
    plan = record.plan
    baseline, first_budget = plan.baseline.name, plan.run.max_tokens
    answers = {arm.name: read_answers(record, sample, arm.name) for arm in plan.arms}
    first = answers[baseline].get((Stage.FIRST, first_budget, 1))
    right = sample.expected if sample.expected is not None else _reference(first)
    reference = None if right is None else Reference(right)
    arms: dict[str, dict[int, Grade]] = {}
    control: dict[int, Grade] = {}
    confirms: dict[tuple[str, int], dict[int, Grade]] = {}
    for arm, read in answers.items():
        ladder = arms[arm] = dict[int, Grade]()
        for (stage, budget, number), grade in _grades(record, sample, arm, read, reference):
            match stage:
                case Stage.FIRST | Stage.DOUBLED:
                    ladder[budget] = grade
                case Stage.CONTROL:
                    # Of another arm, where somebody chose another baseline than was asked twice.
                    if arm == baseline:
                        control[budget] = grade
                case Stage.CONFIRM:
                    confirms.setdefault((arm, budget), {})[number] = grade
    budgets = {first_budget}.union(*arms.values())
    if sample.expected is None:
        arms[baseline] = dict(control)
    return GradedSample(
        sample=sample,
        arms={name: _sorted(ladder) for name, ladder in arms.items()},
        control=_sorted(control),
        confirms=confirms,
        is_context_limited=len(budgets) <= plan.run.doublings and _is_full(record, sample, max(budgets)),
        beside={name: found for name in arms if (found := _answers_beside(record, sample, name))},
        divergences={name: found for name in arms if (found := record.divergences.get((sample.id, name)))},
        concurrency=plan.run.concurrency,
    )


def _grades(
    record: Record, sample: Sample, arm: str, answers: Mapping[Rung, Answer], reference: Reference | None
) -> Iterator[tuple[Rung, Grade]]:
    """Every attempt of one sample in one arm, graded."""
    for rung, answer in answers.items():
        yield rung, NO_REFERENCE if reference is None else grade_answer(answer, reference)
    attempts = record.by_sample.get((sample.id, arm), ())
    if len(answers) < len(attempts):
        for attempt in attempts:
            if not attempt.succeeded:
                yield (attempt.stage, attempt.max_tokens, attempt.attempt), grade_failed(attempt)


def _is_full(record: Record, sample: Sample, budget: int) -> bool:
    """Whether some server has no room for more than this budget."""
    free = free_context(record, sample)
    return free is not None and free <= budget


def _answers_beside(record: Record, sample: Sample, arm: str) -> tuple[Answer, ...]:
    run = record.plan.run
    return tuple(
        record.answers.read(attempt, sample.tools, DIALECTS[run.dialect], run, _context(record, arm))
        for attempt in record.beside.get((sample.id, arm), ())
        if attempt.succeeded
    )


def _context(record: Record, arm: str) -> int | None:
    facts = record.facts.get(arm)
    return None if facts is None else facts.context


def _reference(first: Answer | None) -> tuple[Call, ...] | None:
    """The baseline's first answer as the reference of an unlabelled sample; None if it cannot serve."""
    if first is None or first.is_cut or first.is_server_failure or first.parsed.defects:
        return None
    return first.parsed.calls


def _sorted(grades: dict[int, Grade]) -> dict[int, Grade]:
    return {budget: grades[budget] for budget in sorted(grades)} if len(grades) > 1 else grades
