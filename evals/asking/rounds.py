"""What is still to be asked: a pure function of the plan and the attempts so far.

Rounds follow each other: first and control, then larger budgets for what was cut, then other ways of asking
the same (streamed or not, raw), then confirmations. A round is due only when nothing of the rounds before it
is missing, so an interrupted run goes on where it stopped.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from ..attempt import Ask, Attempt, ErrorType, Key, Stage
from ..judging.attribute import attribute
from ..judging.finding import Cause, Transition
from ..judging.ladder import GradedSample, grade_run
from ..plan import RunSection
from ..runs.record import Record
from .early import Walk, read_course
from .stages import Place, beside_round, control_round, doubled_rounds, first_round, plain_ask


def due(
    record: Record,
    gave_up: AbstractSet[Key] = frozenset(),
    walk: Walk | None = None,
) -> list[Ask]:
    """The asks of the earliest round that is not complete; empty when all are.

    Args:
        record: The run so far.
        gave_up: Keys whose retries ended without an answer in this session; they are due again in the next.
        walk: One through earlier states of this record, which saw what came since, to go on; else a new one.
    """
    walk = walk or Walk(record)
    walk.go_on(record)
    rounds = _rounds(record, walk.open_places(record), lambda: walk.places(record), None)
    return _first_missing(record, rounds, gave_up)


def _first_missing(record: Record, rounds: Iterable[list[Ask]], gave_up: AbstractSet[Key]) -> list[Ask]:
    for asks in rounds:
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
    return not _first_missing(record, _rounds(record, due_at, lambda: due_at, graded), failed)


def is_refused_budget(attempt: Attempt, settings: RunSection) -> bool:
    """True when the server refused a larger budget: there is no room for it, however often it is asked."""
    return (
        attempt.max_tokens > settings.max_tokens
        and attempt.error is not None
        and attempt.error.type is ErrorType.UNSUPPORTED_REQUEST
    )


def _rounds(
    record: Record,
    places: Sequence[Place],
    all_places: Callable[[], Sequence[Place]],
    graded: Sequence[GradedSample] | None,
) -> Iterator[list[Ask]]:
    """Each round is made only when all before it are complete: it looks at their answers.

    A run that may stop early asks its samples batch by batch, and first what settles them: `places` are those
    that may lack some of that. What is asked of `all_places` follows when the last batch is settled.
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
    yield from doubled_rounds(record, places)
    yield beside_round(record, all_places())
    yield _confirm_round(record, all_places(), graded)


def _confirm_round(
    record: Record, places: Sequence[Place], graded: Sequence[GradedSample] | None
) -> list[Ask]:
    """Both arms again for every regression that is not the cap's; shared baseline asks are made once."""
    plan = record.plan
    if not plan.run.confirm:
        return []
    asked = {place.sample.id: place.arms for place in places}
    asks: dict[str, list[Ask]] = {candidate.name: [] for candidate in plan.candidates}
    # Sample by sample: the grades of a whole run weigh more than its attempts.
    for one in grade_run(record) if graded is None else graded:
        for candidate in asks.keys() & asked.get(one.sample.id, ()):
            (finding,) = attribute([one], baseline=plan.baseline.name, candidate=candidate)
            if finding.transition is Transition.REGRESSION and finding.cause is not Cause.CAP:
                asks[candidate] += [
                    plain_ask(record, finding.id, arm, Stage.CONFIRM, finding.judged_budget, number)
                    for arm in (finding.baseline, finding.candidate)
                    for number in range(1, plan.run.confirm + 1)
                ]
    return list(dict.fromkeys(ask for of_candidate in asks.values() for ask in of_candidate))


def _is_missing(record: Record, ask: Ask, gave_up: AbstractSet[Key]) -> bool:
    attempt = record.attempts.get(ask)
    if attempt is not None and (attempt.succeeded or is_refused_budget(attempt, record.plan.run)):
        return False
    return ask not in gave_up
