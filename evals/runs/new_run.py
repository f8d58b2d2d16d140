"""A run directory begun, or found to belong to the same plan."""

import json
from dataclasses import replace
from pathlib import Path

from ...errors import UserError
from ...tasks.raw_sample import sample_to_json
from ...tasks.redaction import Hashes, redact_sample
from ...tasks.suite import Suite
from ..plan import Plan
from .journal import write_json, write_json_lines, write_text
from .run_file import RunFile, is_packed, read_run_file
from .run_settings import differing_setting, fixed_settings
from .shard import Part, Shard

# What may stand in a directory before a run starts there: logs of servers we started, the lock of its mirror.
OWN_NAMES = frozenset(("servers", "mirror.lock"))

# Of a shard: where each of its samples stands in the whole suite, counted from 0.
POSITIONS = "positions.json"

DIFFERENT_SUITE = "suite (its samples differ: tasks, a task file, or what is chosen of them changed)"


def refuse_foreign(directory: Path) -> None:
    """Check that nothing but a run stands in a directory, before anything is written there.

    A directory with a `run.lock` is a run's, even if it was killed before it wrote `run.json`.

    Raises:
        UserError: The directory holds something else or a packed run, is a file, or cannot be read.
    """
    try:
        names = {path.name for path in directory.iterdir()} if directory.exists() else set[str]()
    except OSError as error:
        raise UserError(f"{directory}: cannot be read: {error.strerror or error}") from error
    if is_packed(directory):
        raise UserError(
            f"{directory}: is packed, and nothing can be asked there",
            tip=f"`draftproof unpack {directory} -o NEW`, and resume that one",
        )
    if names - OWN_NAMES and not names & {"run.json", "run.lock"}:
        raise UserError(f"{directory}: is not empty and not a run (no run.json)", tip="give another --out")


def create_run(directory: Path, plan: Plan, suite: Suite, shard: Shard | None = None) -> None:
    """Start a run directory, or check that this one belongs to the same plan.

    Args:
        directory: Where the run stands, or will.
        plan: What is asked of whom.
        suite: The whole suite.
        shard: The share of it to ask here; without one all of it, or what the directory has of it already.

    Raises:
        UserError: The directory holds another run (the differing key is named) or something else.
    """
    refuse_foreign(directory)
    run_file = directory / "run.json"
    if run_file.exists():
        before = read_run_file(directory)
        if difference := _difference(before, plan, suite.digest, shard):
            raise UserError(
                f"{directory}: holds a run with another {difference}",
                tip="resume with the plan it was started with, or give another --out",
            )
        write_json(run_file, replace(before, plan=plan).to_json())
        return
    samples, part = suite.samples, None
    if shard is not None:
        mine = [n for n, sample in enumerate(samples) if shard.holds(sample.id, plan.run.seed)]
        part = Part(shard.count, (shard.number,), len(samples))
        samples = tuple(samples[n] for n in mine)
        write_text(directory / POSITIONS, json.dumps(mine) + "\n")
    if plan.run.redact:
        # Of the whole suite: shards share their hashes.
        hashes = Hashes.of(suite.samples)
        samples = tuple(redact_sample(sample, hashes) for sample in samples)
    write_json_lines(directory / "samples.jsonl", (sample_to_json(sample) for sample in samples))
    # Last: a directory with run.json is a whole one.
    run = RunFile(plan, suite.digest, notes=suite.notes, excluded=suite.excluded, part=part)
    write_json(run_file, run.to_json())


def _difference(before: RunFile, plan: Plan, digest: str, shard: Shard | None) -> str | None:
    """The first key that may not change between two sessions of one run, with both values."""
    if key := differing_setting(fixed_settings(before.plan), fixed_settings(plan)):
        return key
    if before.digest != digest:
        return DIFFERENT_SUITE
    held = None if before.part is None else (before.part.shards, before.part.held)
    if shard is None or held == (shard.count, (shard.number,)):
        return None
    there = "all samples" if before.part is None else before.part.text
    return f"shard ({there} there, shard {shard.number} of {shard.count} here)"
