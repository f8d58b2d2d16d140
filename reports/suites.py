"""Suites as text: the built-in ones, the samples of one, one sample as JSON, a whole one as a suite file."""

import json
from collections.abc import Iterable, Iterator, Sequence

from ..errors import UserError
from ..tasks.excluded import Excluded
from ..tasks.notes import NoteCounter
from ..tasks.raw_sample import sample_to_json
from ..tasks.sample import Sample
from ..tasks.suite import Suite, describe_suites
from .visible import visible_line

_SHOWN_LEFT_OUT = 20


def render_suites() -> str:
    """The built-in suites with their sizes and categories."""
    lines: list[str] = []
    for suite in describe_suites():
        lines.append(f"{suite.spec}  {suite.samples} samples")
        lines += [f"    {category:<20} {count:>4}" for category, count in suite.categories.items()]
    return "\n".join(lines) + "\n"


def render_suite(suite: Suite) -> str:
    """The samples of a suite, one a line, by category and id; then what is left out of it."""
    lines = [_line(sample) for sample in sorted(suite.samples, key=lambda one: (one.category, one.id))]
    lines += _left_out(suite.excluded)
    return "".join(f"{line}\n" for line in lines)


def render_raw_sample(suite: Suite, sample_id: str) -> str:
    """One sample whole, as JSON.

    Raises:
        UserError: The suite has no such sample.
    """
    for sample in suite.samples:
        if sample.id == sample_id:
            return json.dumps(sample_to_json(sample), ensure_ascii=False, indent=2) + "\n"
    specs = " ".join(suite.specs)
    raise UserError(
        f"{specs}: no sample has the id {sample_id!r}", tip=f"`draftproof tasks show {specs}` lists them"
    )


def render_lines(suite: Suite) -> str:
    """A suite as a suite file: one sample a line, in the order in which they are asked."""
    return "".join(
        json.dumps(sample_to_json(sample), ensure_ascii=False, separators=(",", ":")) + "\n"
        for sample in suite.samples
    )


def render_check(spec: str, read: Iterable[tuple[str, Sample | Excluded]]) -> str:
    """Say that a suite is valid, and what of it is not as usual; it is read to its end, and not held.

    Raises:
        UserError: The suite is not valid.
    """
    notes, excluded, count = NoteCounter(), list[Excluded](), 0
    for _, one in read:
        if isinstance(one, Excluded):
            excluded.append(one)
            continue
        count += 1
        notes.add(one)
    lines = [f"{spec}: {count} samples, all valid", *(f"note: {note}" for note in notes.sentences())]
    return "".join(f"{visible_line(line)}\n" for line in [*lines, *_left_out(excluded)])


def _left_out(excluded: Sequence[Excluded]) -> Iterator[str]:
    if excluded:
        yield f"{len(excluded)} left out:"
    for one in excluded[:_SHOWN_LEFT_OUT]:
        yield visible_line(f"  {one.id}: {one.reason}")
    if (more := len(excluded) - _SHOWN_LEFT_OUT) > 0:
        yield f"  and {more} more"


def _line(sample: Sample) -> str:
    if sample.expected is None:
        due = "unlabelled"
    elif sample.expected.is_any_call:
        due = "any call"
    else:
        due = ", ".join(call.name for call in sample.expected.calls) or "no call"
    return visible_line(f"{sample.category:<16} {sample.id:<32} {due}")
