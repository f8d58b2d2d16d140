"""A run directory as read back: everything after asking is a pure function of this."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter, ValidationError

from .. import __version__
from ..errors import UserError
from ..tasks.excluded import Excluded
from ..tasks.raw_sample import sample_to_json
from ..tasks.redaction import Hashes, redact_sample
from ..tasks.sample import Sample
from ..tasks.suite import Suite
from ..tasks.suite_file import read_suite_file
from .answers import Answers
from .attempt import Attempt, Key, Stage, read_attempt
from .divergence import Divergence, read_divergences
from .journal import (
    FORMAT,
    attempts_path,
    counters_path,
    divergences_path,
    write_json,
    write_json_lines,
    write_text,
)
from .plan import Plan
from .servers.counters import Counters, counted, read_snapshots, server_starts
from .servers.server import ServerFacts
from .shard import Part, Shard

if TYPE_CHECKING:
    from ..parsers.result import Json

# What may stand in a directory before a run starts there: logs of servers we started, the lock of its mirror.
OWN_NAMES = frozenset(("servers", "mirror.lock"))

# Of a shard: where each of its samples stands in the whole suite, counted from 0.
POSITIONS = "positions.json"

DIFFERENT_SUITE = "suite (its samples differ: tasks, a task file, or what is chosen of them changed)"

_SHOWN_VALUE = 200


@dataclass(frozen=True)
class Record:
    """Plan, samples and attempts of one run.

    `attempts` holds one line per key: the success where there is one, else the last failure. `damaged` names
    journal lines that could not be read (`attempts/ngram.jsonl:17`); `notes` is what the suite said when
    it was loaded (what it leaves out, what it could not check). `counters` are the totals that the servers
    counted over the run, for the arms whose servers show them; `starts` are the times (ISO 8601, UTC) from
    which a server was seen to be started anew. `divergences`, by (sample, candidate), say how clear the
    baseline's choice was where a candidate left it. `part` says which shards of a run stand here, None where
    all do; `digest` is that of the whole suite.
    """

    directory: Path
    plan: Plan
    digest: str
    samples: tuple[Sample, ...]
    facts: Mapping[str, ServerFacts]
    attempts: Mapping[Key, Attempt]
    damaged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counters: Mapping[str, Counters] = field(default_factory=dict[str, Counters])
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    divergences: Mapping[tuple[str, str], tuple[Divergence, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[Divergence, ...]]
    )
    part: Part | None = None
    answers: Answers = field(default_factory=Answers, repr=False, compare=False)

    def attempt(
        self, sample_id: str, arm: str, stage: Stage, max_tokens: int, number: int = 1
    ) -> Attempt | None:
        """The attempt of that key, or None where it was never made."""
        run = self.plan.run
        return self.attempts.get(Key(sample_id, arm, run.mode, run.is_streamed, stage, max_tokens, number))

    @cached_property
    def by_sample(self) -> Mapping[tuple[str, str], tuple[Attempt, ...]]:
        """Attempts of each (sample, arm) in the plan's own way of asking, in no particular order."""
        return self._rows(is_beside=False)

    @cached_property
    def beside(self) -> Mapping[tuple[str, str], tuple[Attempt, ...]]:
        """Attempts of each (sample, arm) in another mode, or not streamed: compared, never judged."""
        return self._rows(is_beside=True)

    def _rows(self, *, is_beside: bool) -> Mapping[tuple[str, str], tuple[Attempt, ...]]:
        way = (self.plan.run.mode, self.plan.run.is_streamed)
        rows: dict[tuple[str, str], list[Attempt]] = {}
        for attempt in self.attempts.values():
            if ((attempt.mode, attempt.stream) != way) is is_beside:
                rows.setdefault((attempt.id, attempt.arm), []).append(attempt)
        return {key: tuple(value) for key, value in rows.items()}


@dataclass(frozen=True, slots=True)
class RunFile:
    """`run.json`: how the run was planned, and what the servers said of themselves."""

    plan: Plan
    digest: str
    facts: dict[str, ServerFacts] = field(default_factory=dict[str, ServerFacts])
    notes: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    part: Part | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The file's content."""
        return {
            "format": FORMAT,
            "draftproof": __version__,
            "plan": self.plan.model_dump(mode="json"),
            "suite": {
                "digest": self.digest,
                "tasks": list(self.plan.run.tasks),
                "notes": list(self.notes),
                "excluded": [asdict(entry) for entry in self.excluded],
                **({} if self.part is None else {"part": asdict(self.part)}),
            },
            "arms": {name: asdict(facts) for name, facts in self.facts.items()},
        }


def refuse_foreign(directory: Path) -> None:
    """Check that nothing but a run stands in a directory, before anything is written there.

    A directory with a `run.lock` is a run's, even if it was killed before it wrote `run.json`.

    Raises:
        UserError: The directory holds something else, is a file, or cannot be read.
    """
    try:
        names = {path.name for path in directory.iterdir()} if directory.exists() else set[str]()
    except OSError as error:
        raise UserError(f"{directory}: cannot be read: {error.strerror or error}") from error
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


def save_facts(directory: Path, facts: Mapping[str, ServerFacts]) -> None:
    """Add what servers said of themselves to `run.json`."""
    before = read_run_file(directory)
    write_json(directory / "run.json", replace(before, facts={**before.facts, **facts}).to_json())


def read_run_file(directory: Path) -> RunFile:
    """Read `run.json`.

    Raises:
        UserError: No run there, or one that this version cannot read.
    """
    path = directory / "run.json"
    try:
        raw: Json = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(
            f"{directory}: not a run directory (no run.json)", tip="name the directory that `run --out` wrote"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        found = raw.get("format") if isinstance(raw, dict) else None
        is_newer = isinstance(found, int) and found > FORMAT
        raise UserError(
            f"{path}: format {found!r}; this version of draftproof reads format {FORMAT}",
            tip="a newer draftproof wrote it; upgrade this one" if is_newer else None,
        )
    try:
        suite = TypeAdapter(_SuiteEntry).validate_python(raw["suite"])
        return RunFile(
            # Strictness is for people's TOML; what we wrote ourselves comes back through JSON.
            Plan.model_validate(raw["plan"]),
            facts=TypeAdapter(dict[str, ServerFacts]).validate_python(raw["arms"]),
            digest=suite.digest,
            notes=suite.notes,
            excluded=suite.excluded,
            part=suite.part,
        )
    except (ValidationError, KeyError) as error:
        raise UserError(f"{path}: not as draftproof writes it: {error}") from error


@dataclass(frozen=True, slots=True)
class _SuiteEntry:
    """The suite's entry of `run.json`."""

    digest: str
    tasks: list[str]
    notes: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    part: Part | None = None


def read_run(directory: Path) -> Record:
    """Read a whole run directory; it may be incomplete, being written, or read-only.

    Raises:
        UserError: No run there, or its plan or samples cannot be read.
    """
    run_file = read_run_file(directory)
    samples = _read_samples(directory, run_file)
    attempts: dict[Key, Attempt] = {}
    damaged: list[str] = []
    for arm in run_file.plan.arms:
        path = attempts_path(directory, arm.name)
        if path.exists():
            damaged.extend(_read_attempts(path, attempts))
    snapshots = {
        arm.name: list(read_snapshots(counters_path(directory, arm.name))) for arm in run_file.plan.arms
    }
    return Record(
        directory=directory,
        plan=run_file.plan,
        digest=run_file.digest,
        samples=samples,
        facts=run_file.facts,
        attempts=attempts,
        damaged=tuple(damaged),
        notes=run_file.notes,
        counters={arm: total for arm, seen in snapshots.items() if (total := counted(seen)) is not None},
        starts={arm: times for arm, seen in snapshots.items() if (times := server_starts(seen))},
        divergences=read_divergences(divergences_path(directory)),
        part=run_file.part,
    )


def _read_samples(directory: Path, run_file: RunFile) -> tuple[Sample, ...]:
    path = directory / "samples.jsonl"
    try:
        if run_file.part is not None and path.stat().st_size == 0:
            return ()  # a shard that no sample fell to
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    file = read_suite_file(path, is_redacted=run_file.plan.run.redact, is_checked=True)
    return tuple(sample for _, sample in file)


def _read_attempts(path: Path, attempts: dict[Key, Attempt]) -> Iterable[str]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip() and not _read_line(line, attempts):
                    yield f"attempts/{path.name}:{number}"
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error


def _read_line(line: bytes, attempts: dict[Key, Attempt]) -> bool:
    try:
        keep_attempt(attempts, read_attempt(line))
    except (ValueError, RecursionError):
        return False
    return True


def keep_attempt(attempts: dict[Key, Attempt], attempt: Attempt) -> None:
    """Keep one line per key: the first success stays, a failure gives way to whatever comes later."""
    before = attempts.get(attempt.key)
    if before is None or not before.succeeded:
        attempts[attempt.key] = attempt


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


def differing_setting(there: Mapping[str, JsonValue], here: Mapping[str, JsonValue]) -> str | None:
    """The first key of two settings whose values differ, with both; None where all are equal."""
    for key in {**there, **here}:
        old, new = there.get(key, "absent"), here.get(key, "absent")
        if old != new:
            return f"{key} ({_shown(old)} there, {_shown(new)} here)"
    return None


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_VALUE else f"{text[:_SHOWN_VALUE]}…"


def fixed_settings(plan: Plan) -> dict[str, JsonValue]:
    """What a resumed run must share with its beginning; the rest (URLs, keys, pace, gate) may change."""
    fixed: dict[str, JsonValue] = {
        "arms": [arm.name for arm in plan.arms],
        "run.redact": plan.run.redact,
        **asked_settings(plan),
    }
    if plan.run.until_decided:
        # They say where asking stops.
        fixed |= {"gate.margin": plan.gate.margin, "gate.alpha": plan.gate.alpha, "gate.cap": plan.gate.cap}
    return fixed


def asked_settings(plan: Plan) -> dict[str, JsonValue]:
    """How the arms are asked, by the plan's keys: answers under other settings are not comparable."""
    run = plan.run
    settings: dict[str, JsonValue] = {
        "run.mode": run.mode.value,
        "run.dialect": run.dialect,
        "run.max_tokens": run.max_tokens,
        "run.doublings": run.doublings,
        "run.temperature": run.temperature,
        "run.top_p": run.top_p,
        "run.seed": run.seed,
        "run.stream": run.stream,
        "run.compare_raw": run.compare_raw,
        "run.system_prompt": run.system_prompt,
        "run.until_decided": run.until_decided,
        "baseline": plan.baseline.name,
    }
    for arm in plan.arms:
        settings[f"arms.{arm.name}.model"] = arm.model
        settings[f"arms.{arm.name}.extra_body"] = arm.extra_body
    return settings
