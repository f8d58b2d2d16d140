"""What is still to be asked: a pure function of the plan and the attempts so far.

Rounds follow each other: first and control, then other ways of asking the same (streamed or not, raw), then
larger budgets for what was cut, then confirmations. A round is due only when nothing of the rounds before it
is missing, so an interrupted run goes on where it stopped.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from ..attempt import Ask, Attempt, ErrorType, Key, Stage
from ..judging.attribute import attribute
from ..judging.finding import Cause, Transition
from ..judging.ladder import GradedSample, grade_run
from ..plan import RunSection
from ..runs.record import Record
from .early import read_course
from .stages import Place, beside_round, control_round, doubled_rounds, first_round, plain_ask


def due(
    record: Record,
    gave_up: AbstractSet[Key] = frozenset(),
    graded: Sequence[GradedSample] | None = None,
) -> list[Ask]:
    """The asks of the earliest round that is not complete; empty when all are.

    Args:
        record: The run so far.
        gave_up: Keys whose retries ended without an answer in this session; they are due again in the next.
        graded: The record graded, where the caller has it; it is graded here if need be.
    """
    return _first_missing(record, read_course(record).places(record), gave_up, graded)


def _first_missing(
    record: Record,
    places: Sequence[Place],
    gave_up: AbstractSet[Key],
    graded: Sequence[GradedSample] | None,
) -> list[Ask]:
    for asks in _rounds(record, places, graded):
        if missing := [ask for ask in asks if _is_missing(record, ask, gave_up)]:
            return missing
    return []


def is_complete(
    record: Record,
    places: Sequence[Place] | None = None,
    graded: Sequence[GradedSample] | None = None,
) -> bool:
    """True when every ask that is due was made; a run is complete when all its samples are.

    A failed one was: it is `void` and counted, and asked again by the next session, but one lost answer does
    not make a run of a thousand worthless (`[gate] max_failed` says how many do).

    Args:
        record: The run so far, or some samples of it.
        places: The samples in their arms, where the caller knows how far the run came.
        graded: The record graded, where the caller has it.
    """
    failed = {key for key, attempt in record.attempts.items() if not attempt.succeeded}
    due_at = read_course(record).places(record) if places is None else places
    return not _first_missing(record, due_at, failed, graded)


def is_refused_budget(attempt: Attempt, settings: RunSection) -> bool:
    """True when the server refused a larger budget: there is no room for it, however often it is asked."""
    return (
        attempt.max_tokens > settings.max_tokens
        and attempt.error is not None
        and attempt.error.type is ErrorType.UNSUPPORTED_REQUEST
    )


def _rounds(
    record: Record, places: Sequence[Place], graded: Sequence[GradedSample] | None
) -> Iterator[list[Ask]]:
    """Each round is made only when all before it are complete: it looks at their answers.

    A run that may stop early asks its samples batch by batch: every place before the last batch is settled,
    so what is missing there are requests that failed, and the course goes on once this batch is settled too.
    """
    first, control = first_round(record, places), control_round(record, places)
    if record.plan.is_managed:
        # The control is a new start of the baseline's server: what a restart changes is noise as well.
        # Every n-th sample to each start of a server: all starts see the same mix.
        starts = record.plan.run.server_starts
        share = {place.sample.id: n % starts for n, place in enumerate(places)}
        for start in range(starts):
            yield [ask for ask in first if share[ask.id] == start]
        yield control
    else:
        yield first + control
    yield beside_round(record, places)
    yield from doubled_rounds(record, places)
    yield _confirm_round(record, places, graded)


def _confirm_round(
    record: Record, places: Sequence[Place], graded: Sequence[GradedSample] | None
) -> list[Ask]:
    """Both arms again for every regression that is not the cap's; shared baseline asks are made once."""
    plan = record.plan
    if not plan.run.confirm:
        return []
    graded = list(grade_run(record)) if graded is None else graded
    asked = {place.sample.id: place.arms for place in places}
    asks: dict[Ask, None] = {}
    for candidate in plan.candidates:
        graded_here = [one for one in graded if candidate.name in asked.get(one.sample.id, ())]
        for finding in attribute(graded_here, baseline=plan.baseline.name, candidate=candidate.name):
            if finding.transition is Transition.REGRESSION and finding.cause is not Cause.CAP:
                for arm in (finding.baseline, finding.candidate):
                    for number in range(1, plan.run.confirm + 1):
                        again = plain_ask(
                            record, finding.id, arm, Stage.CONFIRM, finding.judged_budget, number
                        )
                        asks[again] = None
    return list(asks)


def _is_missing(record: Record, ask: Ask, gave_up: AbstractSet[Key]) -> bool:
    attempt = record.attempts.get(ask)
    if attempt is not None and (attempt.succeeded or is_refused_budget(attempt, record.plan.run)):
        return False
    return ask not in gave_up
