"""A run split over machines: which samples are whose, and what part of the whole a run directory holds.

Whose a sample is depends on its id, the plan's seed and the number of shards alone, so machines that never
talk to each other split a run the same way.
"""

import hashlib
import re
from dataclasses import dataclass

from ...errors import UserError

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """The share of machine `number` (from 1) of `count`."""

    number: int
    count: int

    def holds(self, sample_id: str, seed: int) -> bool:
        """Whether a sample is of this share; every sample is of exactly one."""
        text = f"shard:{seed}:{sample_id}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.sha256(text).digest()[:16], "big") % self.count == self.number - 1


@dataclass(frozen=True, slots=True)
class Part:
    """What a directory holds of a run that was split: an entry of `run.json`, absent from a whole run.

    `held` are the numbers of its shards, from 1, ascending; `samples` counts those of the whole suite.
    """

    shards: int
    held: tuple[int, ...]
    samples: int

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the shards that stand elsewhere."""
        return tuple(number for number in range(1, self.shards + 1) if number not in self.held)

    @property
    def text(self) -> str:
        """For people."""
        return f"{shards_text(self.held)} of {self.shards}"


def shards_text(numbers: tuple[int, ...]) -> str:
    """`shard 2`, or `shards 1, 3`."""
    return f"shard{'s' if len(numbers) != 1 else ''} {', '.join(map(str, numbers))}"


def read_shard(text: str) -> Shard:
    """Read `I/N`.

    Raises:
        UserError: It is not two whole numbers with 1 ≤ I ≤ N.
    """
    match = _SHARD.fullmatch(text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UserError(f"--shard {text}: expected I/N with I from 1 to N, such as 2/8")
    return Shard(int(match[1]), int(match[2]))
