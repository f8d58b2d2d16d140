"""Run directories joined into one: the shards of a run, or sessions that asked different arms of it.

Files are joined line by line as they stand, so what a merged run says is what its parts said. Nothing is
asked, and the parts are left as they are.
"""

import heapq
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError

from ...errors import UserError
from ..attempt import Key, read_attempt
from ..runs.divergence import read_divergence
from ..runs.journal import attempts_path, counters_path, divergences_path, write_json, write_text
from ..runs.new_run import DIFFERENT_SUITE, POSITIONS
from ..runs.run_file import RunFile, is_packed, read_run_file
from ..runs.run_settings import differing_setting, fixed_settings
from ..runs.shard import Part, shards_text
from ..servers.server import ServerFacts
from .new_directory import new_directory
from .packing import unpack_run


@dataclass(frozen=True, slots=True)
class _Source:
    """A run to be joined; `files` is the directory where its journals stand, another one if it is packed."""

    directory: Path
    run: RunFile
    files: Path


def merge_runs(
    directories: Sequence[Path], out: Path, *, is_partial: bool = False, tell: Callable[[str], None]
) -> None:
    """Join runs of one plan into a new run directory, which appears whole or not at all.

    Of attempts with the same key the first success stays, else the last failure. The plan's URLs, pace and
    gate are those of the first directory.

    Args:
        directories: The runs to join, packed ones or not.
        out: The directory to make.
        is_partial: Join them even if shards are missing; the result is then not whole, and void to the gate.
        tell: Prints a sentence to the user.

    Raises:
        UserError: The runs differ in what they asked, shards are missing, there is nothing to join, or `out`
            holds something or stands in one of them.
    """
    sources = [_Source(directory, read_run_file(directory), directory) for directory in directories]
    if len(sources) < 2:
        raise UserError(
            "nothing to join; expected two run directories or more",
            tip="a single one is packed by `draftproof pack`, and unpacked by `draftproof unpack`",
        )
    for source in sources[1:]:
        _refuse_unlike(sources[0], source)
    part = _joined_part(sources, is_partial=is_partial, tell=tell)
    with new_directory(out, directories) as made, tempfile.TemporaryDirectory(dir=made.parent) as folder:
        plain = [_unpacked(source, Path(folder, str(place))) for place, source in enumerate(sources)]
        _write_run(plain, part, made, tell)


def _unpacked(source: _Source, there: Path) -> _Source:
    if not is_packed(source.directory):
        return source
    unpack_run(source.directory, there)
    return replace(source, files=there)


def _refuse_unlike(first: _Source, other: _Source) -> None:
    difference = differing_setting(_settings(first.run), _settings(other.run))
    if difference is None and first.run.digest != other.run.digest:
        difference = DIFFERENT_SUITE
    if difference is not None:
        raise UserError(
            f"{first.directory} and {other.directory} cannot be joined: they differ in {difference} "
            "(the first is there, the second here)"
        )
    for arm in first.run.facts.keys() & other.run.facts.keys():
        there, here = (_grading_facts(one.run.facts[arm]) for one in (first, other))
        if difference := differing_setting(there, here):
            raise UserError(
                f"{first.directory} and {other.directory} cannot be joined: the servers of arm {arm} "
                f"differ in {difference}"
            )


def _settings(run: RunFile) -> dict[str, JsonValue]:
    """What runs must share to be one; the suite is compared by its digest."""
    plan = run.plan
    if plan.run.until_decided:
        raise UserError(
            "run.until_decided: where asking stopped depends on the answers of that run alone; "
            "such runs cannot be joined"
        )
    return {
        **fixed_settings(plan),
        "run.control": plan.run.control,
        "run.confirm": plan.run.confirm,
        "run.starts_in_reasoning": plan.run.starts_in_reasoning,
        "gate": plan.gate.model_dump(mode="json"),
        "shards": 0 if run.part is None else run.part.shards,
    }


def _grading_facts(facts: ServerFacts) -> dict[str, JsonValue]:
    """What the judging of an answer takes from the server that gave it."""
    return {"context": facts.context, "models": list(facts.models)}


def _joined_part(sources: Sequence[_Source], *, is_partial: bool, tell: Callable[[str], None]) -> Part | None:
    """What the joined run holds; None where it is whole."""
    parts = [source.run.part for source in sources if source.run.part is not None]
    if not parts:
        return None
    held = [number for part in parts for number in part.held]
    if twice := sorted({number for number in held if held.count(number) > 1}):
        tell(f"note: {shards_text(tuple(twice))} came more than once; each attempt is kept once")
    joined = Part(parts[0].shards, tuple(sorted(set(held))), parts[0].samples)
    if not joined.missing:
        return None
    sentence = f"{shards_text(joined.missing)} of {joined.shards} missing"
    if not is_partial:
        raise UserError(sentence, tip="name those directories too, or give --partial")
    tell(f"note: {sentence}; the joined run is not whole, and void to the gate")
    return joined


def _write_run(
    sources: Sequence[_Source], part: Part | None, made: Path, tell: Callable[[str], None]
) -> None:
    first = sources[0].run
    positions = _write_samples(sources, made / "samples.jsonl")
    if part is not None:
        write_text(made / POSITIONS, json.dumps(positions) + "\n")
    for arm in first.plan.arms:
        _write_attempts(sources, arm.name, made, tell)
        counts = [line for source in sources for line in _lines(counters_path(source.files, arm.name))]
        _write_lines(counters_path(made, arm.name), dict.fromkeys(counts))
    _write_lines(divergences_path(made), _divergences(sources))
    facts = {name: fact for source in reversed(sources) for name, fact in source.run.facts.items()}
    in_order = {arm.name: facts[arm.name] for arm in first.plan.arms if arm.name in facts}
    run = RunFile(first.plan, first.digest, in_order, first.notes, first.excluded, part)
    write_json(made / "run.json", run.to_json())


def _write_samples(sources: Sequence[_Source], path: Path) -> list[int]:
    """Write the samples in the order of the whole suite; return where each stands in it."""
    positions: list[int] = []
    placed = heapq.merge(*(_placed(source) for source in sources))
    with path.open("wb") as file:
        for position, same in groupby(placed, key=lambda one: one[0]):
            lines = {line for _, line in same}
            if len(lines) != 1:
                raise UserError(
                    f"the runs cannot be joined: they differ in sample {position + 1} of the suite"
                )
            file.write(lines.pop())
            positions.append(position)
    return positions


def _placed(source: _Source) -> Iterator[tuple[int, bytes]]:
    """Each sample's line with its place in the whole suite."""
    lines = _lines(source.files / "samples.jsonl")
    if source.run.part is None:
        yield from enumerate(lines)
        return
    path = source.files / POSITIONS
    try:
        positions = TypeAdapter(list[int]).validate_json(path.read_bytes())
        yield from zip(positions, lines, strict=True)
    except (OSError, ValidationError, ValueError) as error:
        raise UserError(f"{path}: does not say where the shard's samples stand: {error}") from error


def _write_attempts(sources: Sequence[_Source], arm: str, made: Path, tell: Callable[[str], None]) -> None:
    """Write one line per key, in the order of the sources."""
    chosen: dict[Key, tuple[int, int, bool]] = {}
    for number, source in enumerate(sources):
        path = attempts_path(source.files, arm)
        for place, line in enumerate(_lines(path)):
            try:
                attempt = read_attempt(line)
            except (ValueError, RecursionError):
                named = attempts_path(source.directory, arm)
                tell(f"note: {named}:{place + 1} cannot be read and is left out")
                continue
            before = chosen.get(attempt.key)
            if before is None or not before[2]:
                chosen[attempt.key] = (number, place, attempt.succeeded)
    kept = {(number, place) for number, place, _ in chosen.values()}
    _write_lines(
        attempts_path(made, arm),
        (
            line
            for number, source in enumerate(sources)
            for place, line in enumerate(_lines(attempts_path(source.files, arm)))
            if (number, place) in kept
        ),
    )


def _divergences(sources: Sequence[_Source]) -> Iterable[bytes]:
    """One line per (sample, candidate, budget), the first."""
    kept: dict[tuple[str, str, int], bytes] = {}
    for source in sources:
        for line in _lines(divergences_path(source.files)):
            if (one := read_divergence(line)) is not None:
                kept.setdefault((one.id, one.candidate, one.budget), line)
    return kept.values()


def _lines(path: Path) -> Iterator[bytes]:
    """Each line with its newline; a file that is not there has none, and a torn last line gets one."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            yield line if line.endswith(b"\n") else line + b"\n"


def _write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Write lines to a file of the directory in the making; none where there is nothing to write."""
    file = None
    try:
        for line in lines:
            if file is None:
                path.parent.mkdir(exist_ok=True)
                file = path.open("wb")
            file.write(line)
    finally:
        if file is not None:
            file.close()
