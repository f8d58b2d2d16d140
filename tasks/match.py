"""Calls compared with the calls that are due: in any order, as a bipartite matching, by JSON equality."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from ..parsers.result import Call, Json
from .assignment import cheapest_assignment
from .bfcl_match import compare_bfcl
from .differences import Difference, DifferenceCode
from .sample import Expected, ExpectedCall, MatchRule
from .values import differing_paths, identity, member_path, shown

_ORDER = {code: position for position, code in enumerate(DifferenceCode)}
_NAMED_IN_A_MESSAGE = 6
_VALUES_IN_A_MESSAGE = 3


@dataclass(frozen=True, slots=True)
class _Due:
    """An expected call, with the identities of the values that are right for each parameter."""

    call: ExpectedCall
    right: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that was made, with the identities of its arguments."""

    call: Call
    arguments: dict[str, str]

    @property
    def identity(self) -> str:
        """A text that two calls share exactly when they are equal."""
        return identity([self.call.name, self.call.arguments])


@dataclass(frozen=True, slots=True)
class _Clause:
    """One thing that differs: a part of the message."""

    code: DifferenceCode
    text: str
    paths: tuple[str, ...] = ()


def compare(expected: Expected, calls: Sequence[Call]) -> Difference | None:
    """Judge calls against what is due.

    Args:
        expected: The calls that are due, in any order; no call means that none is right.
        calls: The calls of one answer, in any order.

    Returns:
        None if every due call was made with right values and nothing else was called. Otherwise the
        difference under the pairing that leaves the fewest calls wrong, then the fewest functions, then the
        fewest arguments; it does not depend on the order of the calls or of their arguments.
        By the match rule "bfcl" all this is that benchmark's business, where order does matter.
    """
    if expected.match is MatchRule.BFCL:
        return compare_bfcl(expected, calls)
    if len(expected.calls) == len(calls) and all(map(_is_surely_right, expected.calls, calls)):
        return None  # right in the very order in which they are due, as mostly
    due = [_due(call) for call in expected.calls]
    made = _sorted([_made(call) for call in calls], due)
    if not due and made:
        return Difference(DifferenceCode.CALL_NOT_DUE, f"no call was due, but {_names(made)} came")
    if not made:
        if not due:
            return None
        return Difference(DifferenceCode.NO_CALL, f"no call came, but {_names_due(due)} was due")
    pairs = cheapest_assignment(_costs(due, made))
    clauses = [*_unpaired(due, made, pairs)]
    for row, column in pairs:
        clauses += _pair_clauses(due[row], made[column])
    if not clauses:
        return None
    clauses.sort(key=lambda clause: _ORDER[clause.code])
    paths = dict.fromkeys(path for clause in clauses for path in clause.paths)
    return Difference(clauses[0].code, _listed([clause.text for clause in clauses], "; "), tuple(paths))


def same_calls(reference: Sequence[Call], calls: Sequence[Call]) -> Difference | None:
    """Judge calls against those of a reference answer: the same multiset, by exact JSON equality.

    Args:
        reference: The calls of the answer that serves as reference for a sample that nobody labelled.
        calls: The calls of the answer to judge.

    Returns:
        None if both made the same calls, in whatever order; otherwise what `compare` says of it.
    """
    due = [
        ExpectedCall(one.name, {name: [value] for name, value in one.arguments.items()}) for one in reference
    ]
    return compare(Expected(tuple(due)), calls)


def _is_surely_right(due: ExpectedCall, call: Call) -> bool:
    """Return True if a call is the one that was due, as can be seen without any identity."""
    if due.name != call.name:
        return False
    for name, value in call.arguments.items():
        right = due.arguments.get(name)
        if right is None or not _is_listed(value, right):
            return False
    return all(name in call.arguments or name in due.optional for name in due.arguments)


def _is_listed(value: Json, right: Sequence[Json]) -> bool:
    """Return True if a value surely stands in the list: what Python writes alike is equal as JSON."""
    if isinstance(value, str):
        return value in right
    try:
        text = repr(value)
        return any(repr(one) == text for one in right)
    except RecursionError:
        return False


def _due(call: ExpectedCall) -> _Due:
    return _Due(call, {name: frozenset(map(identity, values)) for name, values in call.arguments.items()})


def _made(call: Call) -> _Made:
    return _Made(call, {name: identity(value) for name, value in call.arguments.items()})


def _sorted(made: Sequence[_Made], due: Sequence[_Due]) -> list[_Made]:
    """Sort calls, so that ties between pairings fall the same way whatever order the model chose.

    First by how each stands to every due call, then by its values: so the code that is said depends on which
    values are equal, never on what they are, and is the same where they are hashes (see `tasks.redaction`).
    """
    count = Counter(one.identity for one in made)

    def standing(came: _Made) -> tuple[int, list[tuple[bool, int, int, int]], str]:
        to_due = [
            (wanted.call.name != came.call.name, *map(len, _wrong_arguments(wanted, came))) for wanted in due
        ]
        return count[came.identity], cast("list[tuple[bool, int, int, int]]", to_due), came.identity

    return sorted(made, key=standing)


def _costs(due: Sequence[_Due], made: Sequence[_Made]) -> list[list[int]]:
    """Return what each pair costs: nothing if right, else the call, then its name, then its arguments."""
    most_arguments = max(len(one.right) for one in due) + max(len(one.arguments) for one in made)
    # One unit must outweigh everything below it, summed over all pairs.
    one_name = min(len(due), len(made)) * most_arguments + 1
    one_call = min(len(due), len(made)) * one_name + one_name

    def cost(wanted: _Due, came: _Made) -> int:
        if wanted.call.name != came.call.name:
            return one_call + one_name
        wrong = sum(len(names) for names in _wrong_arguments(wanted, came))
        return one_call + wrong if wrong else 0

    return [[cost(wanted, came) for came in made] for wanted in due]


def _wrong_arguments(wanted: _Due, came: _Made) -> tuple[list[str], list[str], list[str]]:
    """Return the parameters that are missing, extra, and of a wrong value."""
    right, arguments = wanted.right, came.arguments
    missing = [name for name in right if name not in arguments and name not in wanted.call.optional]
    # Sorted, because the order in which a model writes its arguments must not show.
    extra = sorted(name for name in arguments if name not in right)
    wrong = [name for name in right if name in arguments and arguments[name] not in right[name]]
    return missing, extra, wrong


def _unpaired(due: Sequence[_Due], made: Sequence[_Made], pairs: Sequence[tuple[int, int]]) -> list[_Clause]:
    """Return what is said of the calls that the pairing leaves over, on either side."""
    rows, columns = {row for row, _ in pairs}, {column for _, column in pairs}
    missing = [one for row, one in enumerate(due) if row not in rows]
    extra = [one for column, one in enumerate(made) if column not in columns]
    count = Counter(one.identity for one in made)
    clauses: list[_Clause] = []
    if missing:
        clauses.append(_Clause(DifferenceCode.MISSING_CALL, f"{_names_due(missing)} was not called"))
    if unlike := [one for one in extra if count[one.identity] == 1]:
        clauses.append(_Clause(DifferenceCode.EXTRA_CALL, f"{_names(unlike)} was called beside what was due"))
    if repeated := [one for one in extra if count[one.identity] > 1]:
        clauses.append(
            _Clause(
                DifferenceCode.DUPLICATE_CALL, f"{_names(repeated)} was called again with equal arguments"
            )
        )
    return clauses


def _pair_clauses(wanted: _Due, came: _Made) -> Iterator[_Clause]:
    """Yield what differs between a due call and the call that was paired with it."""
    name = wanted.call.name
    if name != came.call.name:
        yield _Clause(DifferenceCode.WRONG_FUNCTION, f"{came.call.name} was called instead of {name}")
        return
    missing, extra, wrong = _wrong_arguments(wanted, came)
    for parameter in missing:
        path = member_path("$", parameter)
        yield _Clause(DifferenceCode.MISSING_ARGUMENT, f"{name}: {path} is missing", (path,))
    for parameter in extra:
        path = member_path("$", parameter)
        value = shown(came.call.arguments[parameter])
        yield _Clause(DifferenceCode.EXTRA_ARGUMENT, f"{name}: {path} is {value}, but none was due", (path,))
    for parameter in wrong:
        path = member_path("$", parameter)
        right, value = wanted.call.arguments[parameter], came.call.arguments[parameter]
        paths = differing_paths(right[0], value, path) if len(right) == 1 else (path,)
        where = path if paths == (path,) else f"{path} (at {_listed(paths, ', ')})"
        text = f"{name}: {where} is {shown(value)}, expected {_values(right)}"
        yield _Clause(DifferenceCode.WRONG_ARGUMENTS, text, paths)


def _names(made: Sequence[_Made]) -> str:
    return _listed([one.call.name for one in made], ", ")


def _names_due(due: Sequence[_Due]) -> str:
    return _listed([one.call.name for one in due], ", ")


def _values(right: Sequence[Json]) -> str:
    texts = [shown(value) for value in right[:_VALUES_IN_A_MESSAGE]]
    more = len(right) - len(texts)
    return " or ".join([*texts, f"{more} other values"] if more else texts)


def _listed(texts: Sequence[str], separator: str) -> str:
    """Join texts for a message, leaving out what would be too many to read."""
    more = len(texts) - _NAMED_IN_A_MESSAGE
    kept = [*texts[:_NAMED_IN_A_MESSAGE], f"and {more} more"] if more > 0 else texts
    return separator.join(kept)
