"""`run.json`: how a run was planned, and what the servers said of themselves."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter, ValidationError

from ... import __version__
from ...errors import UserError
from ...tasks.excluded import Excluded
from ..plan import Plan
from ..servers.server import ServerFacts
from .journal import FORMAT, write_json
from .shard import Part

if TYPE_CHECKING:
    from ...parsers.result import Json


# Where the attempts of all arms of a packed run stand, in place of journals.
PACKED_ATTEMPTS = "attempts.parquet"


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


def is_packed(directory: Path) -> bool:
    """Whether a run directory is a packed one."""
    return (directory / PACKED_ATTEMPTS).exists()
