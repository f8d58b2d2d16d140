"""The asks of samples, stage by stage: first, control, other ways, then larger budgets for what was cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...tasks.sample import Sample
from ..attempt import Ask, Stage
from ..judging.ladder import next_budget, read_answers
from ..reading.answer import Answer
from ..runs.record import Record


@dataclass(frozen=True, slots=True)
class Place:
    """A sample and the arms in which it is to be asked."""

    sample: Sample
    arms: tuple[str, ...]


def plain_ask(
    record: Record, sample_id: str, arm: str, stage: Stage, max_tokens: int, attempt: int = 1
) -> Ask:
    """An ask in the plan's own way."""
    run = record.plan.run
    return Ask(sample_id, arm, run.mode, run.is_streamed, stage, max_tokens, attempt)


def first_round(record: Record, places: Sequence[Place]) -> list[Ask]:
    """Every arm's first answers."""
    budget = record.plan.run.max_tokens
    return [
        plain_ask(record, place.sample.id, arm.name, Stage.FIRST, budget)
        for arm in record.plan.arms
        for place in places
        if arm.name in place.arms
    ]


def control_round(record: Record, places: Sequence[Place]) -> list[Ask]:
    """The baseline's first answers once more."""
    run, baseline = record.plan.run, record.plan.baseline.name
    if not run.control:
        return []
    return [
        plain_ask(record, place.sample.id, baseline, Stage.CONTROL, run.max_tokens)
        for place in places
        if baseline in place.arms
    ]


def beside_round(record: Record, places: Sequence[Place]) -> list[Ask]:
    """The first question once more in the other ways that the plan names, to be compared and never judged."""
    plan = record.plan
    return [
        Ask(place.sample.id, arm.name, mode, stream, Stage.FIRST, plan.run.max_tokens)
        for mode, stream in plan.run.ways_beside
        for arm in plan.arms
        for place in places
        if arm.name in place.arms
    ]


def doubled_rounds(record: Record, places: Sequence[Place]) -> Iterator[list[Ask]]:
    """One round per doubling; each looks at the answers of the one before."""
    plan = record.plan
    budgets = {place.sample.id: plan.run.max_tokens for place in places}
    for _ in range(plan.run.doublings):
        asks: list[Ask] = []
        for place in places:
            sample = place.sample
            budget = budgets.pop(sample.id, None)
            if budget is None or not _is_cut_somewhere(record, place, budget):
                continue
            if (larger := next_budget(record, sample, budget)) is None:
                continue
            budgets[sample.id] = larger
            asks += [plain_ask(record, sample.id, arm, Stage.DOUBLED, larger) for arm in place.arms]
            if plan.run.control and plan.baseline.name in place.arms:
                asks.append(plain_ask(record, sample.id, plan.baseline.name, Stage.CONTROL, larger))
        yield asks


def is_settled(record: Record, place: Place) -> bool:
    """True when nothing of what judges this sample was left unasked; a failed request counts as asked."""
    here = [place]
    rounds = (first_round(record, here), control_round(record, here), *doubled_rounds(record, here))
    return all(ask in record.attempts for asks in rounds for ask in asks)


def _is_cut_somewhere(record: Record, place: Place, budget: int) -> bool:
    """True when an answer at that budget, or the control's, was cut or lost in the server's parser."""
    for arm in place.arms:
        for (stage, max_tokens, _), answer in read_answers(record, place.sample, arm).items():
            if max_tokens == budget and stage is not Stage.CONFIRM and _wants_more(answer):
                return True
    return False


def _wants_more(answer: Answer) -> bool:
    return answer.is_cut or answer.is_server_failure
