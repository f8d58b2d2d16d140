"""A run as everything after asking sees it, wherever its attempts are held."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..plan import Plan
from ..servers.counters import Counters
from ..servers.server import ServerFacts
from .divergence import Divergence
from .shard import Part

if TYPE_CHECKING:
    from .record import Record


class Block(Protocol):
    """Some samples of a run; it can be sent to another process and read there."""

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the samples."""
        ...

    def read(self) -> "Record":
        """The samples with all their attempts, maybe without the requests that were sent.

        Raises:
            UserError: They cannot be read.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Run(ABC):
    """What a run directory says whichever of its samples are looked at, and the way to the samples.

    A pair is judged from the lines of its own sample, so a run is judged block by block: `Record` holds its
    samples and attempts in memory and is one block, `StoredRun` and `PackedRun` leave them on disk.

    `damaged` names journal lines that could not be read (`attempts/ngram.jsonl:17`) and belong to no block;
    `notes` is what the suite said when it was loaded (what it leaves out, what it could not check).
    `counters` are the totals that the servers counted over the run, for the arms whose servers show them;
    `starts` are the times (ISO 8601, UTC) from which a server was seen to be started anew. `divergences`, by
    (sample, candidate), say how clear the baseline's choice was where a candidate left it.
    `part` says which shards of a run stand here, None where all do; `digest` is that of the whole suite.
    """

    directory: Path
    plan: Plan
    digest: str
    facts: Mapping[str, ServerFacts]
    damaged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counters: Mapping[str, Counters] = field(default_factory=dict[str, Counters])
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    divergences: Mapping[tuple[str, str], tuple[Divergence, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[Divergence, ...]]
    )
    part: Part | None = None

    @property
    @abstractmethod
    def ids(self) -> Sequence[str]:
        """The ids of all samples, in the order of the suite."""

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """All samples with their attempts, in the order of the suite, a few at a time."""

    @abstractmethod
    def record_of(self, sample_id: str) -> "Record | None":
        """A record that holds this sample whole, and maybe others; None if the run has no such sample."""


def facts_of(run: Run) -> dict[str, Any]:
    """What a run says whichever of its samples are looked at, by name: to make it a run of another form."""
    return {member.name: getattr(run, member.name) for member in fields(Run)}
