"""Which samples of a suite are asked, and in which order: chosen by category and id, drawn by strata."""

import hashlib
import heapq
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UserError
from ..parsers.json_scanner import Decoded
from ..parsers.strict_json import decode
from .excluded import Excluded
from .sample import Sample
from .values import shown

_NAMED_IN_A_MESSAGE = 20


@dataclass(frozen=True, slots=True)
class Selection:
    """What is kept of the samples that some specs name.

    Attributes:
        categories: Keep these only; empty for all.
        sample_ids: Keep these only; empty for all.
        limit: How many to keep, of the order; None for all.
        seed: Decides the order.
    """

    categories: tuple[str, ...] = ()
    sample_ids: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 1


@dataclass(slots=True)
class _Stratum:
    """One category: how many samples it has, and those of them that can still be chosen, as a heap."""

    size: int = 0
    kept: list[tuple[int, str, Sample]] = field(default_factory=list[tuple[int, str, Sample]])


def select(samples: Iterable[Sample], excluded: Sequence[Excluded], selection: Selection) -> list[Sample]:
    """Choose samples, in the order in which they are asked.

    Within a category the order is ascending SHA-256 of `seed:id`. Categories take turns by the divisor method
    of Webster and Sainte-Laguë: the r-th sample (from 0) of a category of n stands at (2 r + 1) / 2 n. So the
    first N of the order hold every category in proportion, whatever N is, and a smaller limit is always the
    beginning of a larger one. The order in which the samples come does not matter.

    Args:
        samples: The samples, of ids that differ. No more than `limit` are held of each category.
        excluded: What the suites leave out; complete only once `samples` is read to its end.
        selection: What to keep.

    Raises:
        UserError: A category or an id is asked for that no sample has.
    """
    strata: dict[str, _Stratum] = {}
    wanted_ids, seen_ids = frozenset(selection.sample_ids), set[str]()
    for sample in samples:
        stratum = strata.setdefault(sample.category, _Stratum())
        if selection.categories and sample.category not in selection.categories:
            continue
        if wanted_ids:
            if sample.id not in wanted_ids:
                continue
            seen_ids.add(sample.id)
        stratum.size += 1
        entry = (-_position(sample.id, selection.seed), sample.id, sample)
        if selection.limit is None or len(stratum.kept) < selection.limit:
            heapq.heappush(stratum.kept, entry)
        else:
            heapq.heappushpop(stratum.kept, entry)
    _refuse_unknown_categories(selection.categories, {*strata, *(one.category for one in excluded)})
    _refuse_missing_ids(selection, seen_ids, excluded)
    placed = [
        ((2 * rank + 1) / (2 * stratum.size), -negated, sample)
        for stratum in strata.values()
        for rank, (negated, _, sample) in enumerate(sorted(stratum.kept, reverse=True))
    ]
    placed.sort(key=lambda one: one[:2])
    return [sample for _, _, sample in placed[: selection.limit]]


def keep_excluded(excluded: Iterable[Excluded], selection: Selection) -> tuple[Excluded, ...]:
    """Return what is left out of that which was asked for."""
    return tuple(
        one
        for one in excluded
        if (not selection.categories or one.category in selection.categories)
        and (not selection.sample_ids or one.id in selection.sample_ids)
    )


def read_sample_ids(tokens: Sequence[str]) -> tuple[str, ...]:
    """Resolve what was given as ids: each an id, or a file of them.

    A file has one id a line, or one JSON object with an `id` a line, as `samples.jsonl` and `findings.jsonl`
    of a run have; blank lines are skipped, and an id may stand twice.

    Raises:
        UserError: A file cannot be read, holds no id, or has a line that names none.
    """
    found: dict[str, None] = {}
    for token in tokens:
        path = Path(token)
        ids = _ids_of_file(path) if _is_file(path) else [token]
        found.update(dict.fromkeys(ids))
    return tuple(found)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _ids_of_file(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{path}: cannot be read: {reason or error}") from error
    ids = [_id_of_line(text, f"{path}:{n}") for n, line in enumerate(lines, 1) if (text := line.strip())]
    if not ids:
        raise UserError(f"{path}: holds no id, expected one a line")
    return ids


def _id_of_line(line: str, place: str) -> str:
    if not line.startswith("{"):
        return line
    match decode(line):
        case Decoded(value={"id": str(sample_id)}):
            return sample_id
        case _:
            raise UserError(f"{place}: expected an id, or a JSON object with one")


def _position(sample_id: str, seed: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{sample_id}".encode()).digest(), "big")


def _refuse_unknown_categories(asked: Sequence[str], known: AbstractSet[str]) -> None:
    if unknown := [one for one in asked if one not in known]:
        tip = f"there are {_listed(sorted(known))}" if known else None
        raise UserError(f"categories: no sample is in {_listed(unknown)}", tip=tip)


def _refuse_missing_ids(selection: Selection, seen: AbstractSet[str], excluded: Sequence[Excluded]) -> None:
    missing = [one for one in selection.sample_ids if one not in seen]
    if not missing:
        return
    left_out = {one.id: one.reason for one in excluded}
    for one in missing:
        if one in left_out:
            raise UserError(f"sample_ids: {shown(one)} is left out: {left_out[one]}")
    where = " of the categories asked for" if selection.categories else ""
    raise UserError(
        f"sample_ids: no sample{where} has the id {_listed(missing)}",
        tip="`draftproof tasks show SPEC` lists the ids of a suite",
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_IN_A_MESSAGE
    texts = [shown(one) for one in names[:_NAMED_IN_A_MESSAGE]]
    return ", ".join([*texts, f"and {more} more"] if more > 0 else texts)
