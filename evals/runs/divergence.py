"""Where the outputs of a discordant pair part, and how near a tie that was: evidence, never a grade.

Numerics flip near-ties: two tokens that the baseline finds about equally likely. A candidate that leaves the
baseline where it had a clear choice, again and again under greedy decoding, has a fault in its speculation.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

from ..line_file import read_line, read_lines

# From about one nat the better token is e times as likely as the other: no rounding makes up for that.
WIDE_NATS = 1.0


class DivergenceLabel(StrEnum):
    """How clear the baseline's choice was at the first token that differs."""

    NEAR_TIE = "near_tie"
    WIDE = "wide"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Divergence:
    """A line of `divergences.jsonl`.

    `margin_nats` is the baseline's log-probability of its own token less that of the candidate's, at the
    first token that differs (`token_index`, from 0 in the answer); a lower bound where the candidate's token
    was not among the likeliest that the server lists. `reason` says why nothing is known.
    """

    id: str
    candidate: str
    budget: int
    label: DivergenceLabel
    margin_nats: float | None = None
    is_lower_bound: bool = False
    token_index: int | None = None
    reason: str | None = None

    def to_line(self) -> str:
        """One JSON line with its newline."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"

    def to_evidence(self) -> dict[str, JsonValue]:
        """The finding's evidence."""
        evidence: dict[str, JsonValue] = {"label": self.label.value, "margin_nats": self.margin_nats}
        if self.is_lower_bound:
            evidence["is_lower_bound"] = True
        if self.token_index is not None:
            evidence["token_index"] = self.token_index
        if self.reason is not None:
            evidence["reason"] = self.reason
        return evidence


def label_of(margin_nats: float, *, is_lower_bound: bool) -> DivergenceLabel:
    """Name a margin; a lower bound below the threshold tells nothing."""
    if margin_nats >= WIDE_NATS:
        return DivergenceLabel.WIDE
    return DivergenceLabel.UNKNOWN if is_lower_bound else DivergenceLabel.NEAR_TIE


def read_divergences(path: Path) -> Mapping[tuple[str, str], tuple[Divergence, ...]]:
    """Read `divergences.jsonl` by (sample, candidate); torn lines and a missing file tell nothing."""
    found: dict[tuple[str, str], tuple[Divergence, ...]] = {}
    for one in read_lines(path, _adapter()):
        found[one.id, one.candidate] = (*found.get((one.id, one.candidate), ()), one)
    return found


def read_divergence(line: bytes) -> Divergence | None:
    """One line of the file; None for a torn one."""
    return read_line(line, _adapter())


@cache
def _adapter() -> TypeAdapter[Divergence]:
    return TypeAdapter(Divergence)
