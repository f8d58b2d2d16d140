"""Suites: where samples come from, the one order in which they are asked, and the digest that names them."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from .bfcl import read_bfcl
from .builtin import builtin_names, read_builtin
from .data_rows import read_file
from .excluded import Excluded
from .hub import read_hub
from .notes import notes_of
from .raw_sample import DEFAULT_CATEGORY, sample_from_json, sample_to_json
from .sample import Sample
from .selection import Selection, keep_excluded, read_sample_ids, select
from .shots import WorkedExamples
from .spec_options import split_options
from .values import shown

# At least two letters, so that a Windows drive is a path.
_PREFIX = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9_-]+):(?P<name>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Suite:
    """The samples of a run, in the order in which they are asked.

    `digest` is a SHA-256 in hexadecimal over the samples, whatever their order; `specs` says where they came
    from. `excluded` are entries of those specs that are not asked, whatever the limit; the digest does not
    cover them. `notes` are sentences for the user: nothing that stops a run, and nothing to keep silent.
    """

    samples: tuple[Sample, ...]
    digest: str
    specs: tuple[str, ...]
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteDescription:
    """A built-in suite as `tasks list` shows it: its spec, and how many samples each category holds."""

    spec: str
    samples: int
    categories: dict[str, int]


def load_suites(
    specs: Sequence[str],
    *,
    limit: int | None = None,
    seed: int = 1,
    categories: Sequence[str] = (),
    sample_ids: Sequence[str] = (),
    shots: int = 0,
) -> Suite:
    """Load the samples that some specs name.

    Args:
        specs: `builtin:NAME`, `bfcl:CATEGORY` (see `tasks.bfcl_spec`), `hub:OWNER/NAME` (see `tasks.hub`), or
            the path of a file (see `tasks.data_rows`), each with options behind a `?`. All ids must differ,
            over all specs.
        limit: How many samples to keep, of the order; None for all.
        seed: Decides the order (see `tasks.selection.select`), in which a limit takes every category in
            proportion, and which samples serve as worked examples.
        categories: Keep these only; empty for all.
        sample_ids: Keep these only: ids, or files of them; empty for all.
        shots: How many worked examples come before each sample (see `tasks.shots`), where a spec does not
            say `?shots=N`.

    Returns:
        The samples in that order, with their digest.

    Raises:
        UserError: A spec names nothing that can be loaded, a file is wrong, two samples share an id, or a
            category or an id is asked for that no sample has.
    """
    if not specs:
        raise UserError("no suite is named, expected at least one", tip=f"for example {_known_suites()}")
    if limit is not None and limit < 1:
        raise UserError(f"limit: is {limit}, expected at least 1")
    selection = Selection(tuple(categories), read_sample_ids(sample_ids), limit, seed)
    excluded: list[Excluded] = []
    examples = WorkedExamples(seed)
    samples = select(_with_unique_ids(specs, excluded, examples, shots), excluded, selection)
    samples = [examples.before(sample) for sample in samples]
    left_out = keep_excluded(excluded, selection)
    notes = (*_left_out(left_out), *notes_of(samples), *examples.notes(samples))
    return Suite(tuple(samples), suite_digest(samples), tuple(specs), left_out, notes)


def _left_out(excluded: Sequence[Excluded]) -> Iterator[str]:
    if excluded:
        first, count = excluded[0], len(excluded)
        are = "1 entry is" if count == 1 else f"{count} entries are"
        yield f"{are} left out (the first: {shown(first.id)}: {first.reason})"


def read_suite(spec: str) -> Iterator[tuple[str, Sample | Excluded]]:
    """Read what one spec names, as a stream: whether it is valid shows at the end.

    Yields:
        Each with its place in words: a sample, or an entry that is left out.

    Raises:
        UserError: As `load_suites` does.
    """
    place_of: dict[str, str] = {}
    for place, one in _read(split_options(spec).without("shots")):
        if isinstance(one, Sample):
            _refuse_known_id(one.id, place, place_of)
        yield place, one


def suite_digest(samples: Iterable[Sample]) -> str:
    """Return the SHA-256, in hexadecimal, of samples as canonical JSON lines in the order of their ids."""
    digest = hashlib.sha256()
    for line in canonical_lines(samples):
        digest.update(line)
    return digest.hexdigest()


def canonical_lines(samples: Iterable[Sample]) -> Iterator[bytes]:
    """Yield each sample as one line of canonical JSON, in the order of ids."""
    for sample in sorted(samples, key=lambda one: one.id):
        line = json.dumps(
            sample_to_json(sample), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        yield line.encode() + b"\n"


def describe_suites() -> tuple[SuiteDescription, ...]:
    """Describe the built-in suites, for `tasks list`."""
    described: list[SuiteDescription] = []
    for name in builtin_names():
        raw = read_builtin(name)
        categories = Counter(str(one.get("category", DEFAULT_CATEGORY)) for one in raw)
        described.append(SuiteDescription(f"builtin:{name}", len(raw), dict(sorted(categories.items()))))
    return tuple(described)


def _with_unique_ids(
    specs: Sequence[str], excluded: list[Excluded], examples: WorkedExamples, shots: int
) -> Iterator[Sample]:
    """Yield the samples of all specs; what is left out is appended to `excluded`."""
    place_of: dict[str, str] = {}
    for spec in specs:
        options = split_options(spec)
        wanted_shots = options.count("shots", shots) or 0
        for place, sample in _read(options.without("shots")):
            if isinstance(sample, Excluded):
                excluded.append(sample)
                continue
            _refuse_known_id(sample.id, place, place_of)
            if wanted_shots:
                examples.learn(spec, sample, wanted_shots)
            yield sample


def _refuse_known_id(sample_id: str, place: str, place_of: dict[str, str]) -> None:
    if sample_id in place_of:
        raise UserError(
            f"{place}: id: is {shown(sample_id)}, which {place_of[sample_id]} has already",
            tip="ids must differ over all suites of a run",
        )
    place_of[sample_id] = place


def _read(spec: str) -> Iterator[tuple[str, Sample | Excluded]]:
    """Yield the samples of one spec, and what is left out of it, each with its place in words."""
    path = Path(spec)
    prefixed = _PREFIX.fullmatch(spec)
    match prefixed and prefixed["prefix"]:
        case "builtin":
            yield from _read_builtin(spec)
        case "bfcl" if not path.exists():
            yield from read_bfcl(spec)
        case "hub" if not path.exists():
            yield from read_hub(spec)
        case str(prefix) if not path.exists():
            raise UserError(
                f"tasks: {shown(spec)}: suites of the kind {prefix}: are not in this version",
                tip=f"there are {_known_suites()}, bfcl:CATEGORY, hub:OWNER/NAME, and paths of files",
            )
        case _:
            yield from read_file(path)


def _read_builtin(spec: str) -> Iterator[tuple[str, Sample]]:
    name = spec.removeprefix("builtin:")
    if name not in builtin_names():
        raise UserError(
            f"tasks: {shown(spec)}: no built-in suite has this name", tip=f"there are {_known_suites()}"
        )
    for number, raw in enumerate(read_builtin(name), 1):
        yield f"{spec}, sample {number}", sample_from_json(raw)


def _known_suites() -> str:
    return ", ".join(f"builtin:{name}" for name in builtin_names())
