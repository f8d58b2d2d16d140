"""What is still to be asked: a pure function of the plan and the attempts so far.

Rounds follow each other: first and control, then other ways of asking the same (streamed or not, raw), then
larger budgets for what was cut, then confirmations. A round is due only when nothing of the rounds before it
is missing, so an interrupted run goes on where it stopped.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from ..tasks.sample import Sample
from .answer import Answer
from .attempt import Ask, Attempt, ErrorType, Key, Stage
from .attribute import attribute
from .finding import Cause, Transition
from .ladder import grade_run, next_budget, read_answers
from .plan import Mode, RunSection
from .record import Record


def due(record: Record, gave_up: AbstractSet[Key] = frozenset()) -> list[Ask]:
    """The asks of the earliest round that is not complete; empty when all are.

    Args:
        record: The run so far.
        gave_up: Keys whose retries ended without an answer in this session; they are due again in the next.
    """
    for asks in _rounds(record):
        if missing := [ask for ask in asks if _is_missing(record, ask, gave_up)]:
            return missing
    return []


def _rounds(record: Record) -> Iterator[list[Ask]]:
    """Each round is made only when all before it are complete: it looks at their answers."""
    first, control = _first_round(record), _control_round(record)
    if record.plan.is_managed:
        # The control is a new start of the baseline's server: what a restart changes is noise as well.
        yield first
        yield control
    else:
        yield first + control
    yield _beside_round(record)
    yield from _doubled_rounds(record)
    yield _confirm_round(record)


def is_complete(record: Record) -> bool:
    """True when every ask that is due was made.

    A failed one was: it is `void` and counted, and asked again by the next session, but one lost answer does
    not make a run of a thousand worthless (`[gate] max_failed` says how many do).
    """
    return not due(record, {key for key, attempt in record.attempts.items() if not attempt.succeeded})


def is_refused_budget(attempt: Attempt, settings: RunSection) -> bool:
    """True when the server refused a larger budget: there is no room for it, however often it is asked."""
    return (
        attempt.max_tokens > settings.max_tokens
        and attempt.error is not None
        and attempt.error.type is ErrorType.UNSUPPORTED_REQUEST
    )


def _first_round(record: Record) -> list[Ask]:
    plan = record.plan
    budget = plan.run.max_tokens
    return [_ask(record, s.id, arm.name, Stage.FIRST, budget) for arm in plan.arms for s in record.samples]


def _control_round(record: Record) -> list[Ask]:
    plan = record.plan
    if not plan.run.control:
        return []
    budget = plan.run.max_tokens
    return [_ask(record, s.id, plan.baseline.name, Stage.CONTROL, budget) for s in record.samples]


def _beside_round(record: Record) -> list[Ask]:
    """The first question once more in the other ways that the plan names, to be compared and never judged."""
    plan = record.plan
    ways: list[tuple[Mode, bool]] = []
    if plan.run.stream == "both":
        ways.append((plan.run.mode, False))
    if plan.run.compare_raw:
        ways.append((Mode.RAW, plan.run.is_streamed))
    return [
        Ask(sample.id, arm.name, mode, stream, Stage.FIRST, plan.run.max_tokens)
        for mode, stream in ways
        for arm in plan.arms
        for sample in record.samples
    ]


def _ask(record: Record, sample_id: str, arm: str, stage: Stage, max_tokens: int, attempt: int = 1) -> Ask:
    """An ask in the plan's own way."""
    run = record.plan.run
    return Ask(sample_id, arm, run.mode, run.is_streamed, stage, max_tokens, attempt)


def _doubled_rounds(record: Record) -> Iterator[list[Ask]]:
    """One round per doubling; each looks at the answers of the one before."""
    plan = record.plan
    budgets = {sample.id: plan.run.max_tokens for sample in record.samples}
    for _ in range(plan.run.doublings):
        asks: list[Ask] = []
        for sample in record.samples:
            budget = budgets.pop(sample.id, None)
            if budget is None or not _is_cut_somewhere(record, sample, budget):
                continue
            if (larger := next_budget(record, sample, budget)) is None:
                continue
            budgets[sample.id] = larger
            asks += [_ask(record, sample.id, arm.name, Stage.DOUBLED, larger) for arm in plan.arms]
            if plan.run.control:
                asks.append(_ask(record, sample.id, plan.baseline.name, Stage.CONTROL, larger))
        yield asks


def _confirm_round(record: Record) -> list[Ask]:
    """Both arms again for every regression that is not the cap's; shared baseline asks are made once."""
    plan = record.plan
    if not plan.run.confirm:
        return []
    graded = list(grade_run(record))
    asks: dict[Ask, None] = {}
    for candidate in plan.candidates:
        for finding in attribute(graded, baseline=plan.baseline.name, candidate=candidate.name):
            if finding.transition is Transition.REGRESSION and finding.cause is not Cause.CAP:
                for arm in (finding.baseline, finding.candidate):
                    for number in range(1, plan.run.confirm + 1):
                        again = _ask(record, finding.id, arm, Stage.CONFIRM, finding.judged_budget, number)
                        asks[again] = None
    return list(asks)


def _is_cut_somewhere(record: Record, sample: Sample, budget: int) -> bool:
    """True when an answer at that budget, or the control's, was cut or lost in the server's parser."""
    return any(
        _wants_more(answer)
        for arm in record.plan.arms
        for (stage, max_tokens, _), answer in read_answers(record, sample, arm.name).items()
        if max_tokens == budget and stage is not Stage.CONFIRM
    )


def _wants_more(answer: Answer) -> bool:
    return answer.is_cut or answer.is_server_failure


def _is_missing(record: Record, ask: Ask, gave_up: AbstractSet[Key]) -> bool:
    key = ask.key
    attempt = record.attempts.get(key)
    if attempt is not None and (attempt.succeeded or is_refused_budget(attempt, record.plan.run)):
        return False
    return key not in gave_up
