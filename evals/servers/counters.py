"""A server's own totals of drafting, read before and after: the proof that speculation ran, and how much.

    vLLM       vllm:spec_decode_num_drafts_total, …num_draft_tokens_total, …num_accepted_tokens_total,
               …num_accepted_tokens_per_pos_total{position}, vllm:generation_tokens_total,
               vllm:prefix_cache_queries_total, vllm:prefix_cache_hits_total
    SGLang     sglang:generation_tokens_total (with --enable-metrics)
    llama.cpp  llamacpp:spec_decode_num_drafts_total, …num_draft_tokens_total, …num_accepted_tokens_total,
               llamacpp:tokens_predicted_total

The pages are in the Prometheus text format 0.0.4. Totals run since the server started, over all its clients
and engines; what counts is the difference over a session, taken between neighbouring snapshots, so that a
server that was restarted in between loses nothing but the part that nobody saw.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from pydantic import TypeAdapter

from ..line_file import read_lines

# name{label="value",…} value [time]; a label's value may hold any character, with \" escaped.
_LINE = re.compile(
    r"^(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    r'(?:\{(?P<labels>(?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]+(?P<value>[^ \t]+)'
)
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')

_DRAFTS = ("vllm:spec_decode_num_drafts_total", "llamacpp:spec_decode_num_drafts_total")
_DRAFT_TOKENS = ("vllm:spec_decode_num_draft_tokens_total", "llamacpp:spec_decode_num_draft_tokens_total")
_ACCEPTED = ("vllm:spec_decode_num_accepted_tokens_total", "llamacpp:spec_decode_num_accepted_tokens_total")
_PER_POSITION = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
_GENERATED = (
    "vllm:generation_tokens_total",
    "llamacpp:tokens_predicted_total",
    "sglang:generation_tokens_total",
)
_PREFIX_QUERIES = ("vllm:prefix_cache_queries_total",)
_PREFIX_HITS = ("vllm:prefix_cache_hits_total",)
_CACHE_CONFIG = "vllm:cache_config_info"


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals in tokens; what a page does not show is None.

    `drafts` are the steps that verified a draft. `accepted_per_position` counts accepted tokens by their
    place in the draft, from the first.
    """

    drafts: int | None = None
    draft_tokens: int | None = None
    accepted_tokens: int | None = None
    accepted_per_position: tuple[int, ...] = ()
    generated_tokens: int | None = None
    prefix_queries: int | None = None
    prefix_hits: int | None = None

    @property
    def drafted_share(self) -> float | None:
        """Share of the generated tokens that came out of drafts; None where it cannot be known."""
        if self.accepted_tokens is None or not self.generated_tokens:
            return None
        return self.accepted_tokens / self.generated_tokens


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Totals at one moment of one session (a line of `counters/ARM.jsonl`)."""

    session: str
    at: str
    counters: Counters

    def to_line(self) -> str:
        """One JSON line with its newline."""
        return json.dumps(asdict(self), separators=(",", ":")) + "\n"


def read_snapshots(path: Path) -> Iterator[Snapshot]:
    """Read the snapshots of one arm; lines that a kill tore, and a file that is not there, tell nothing."""
    return read_lines(path, _adapter())


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)


def read_counters(page: str) -> Counters:
    """Read a metrics page of any kind of server."""
    lines = list(_samples(page))
    positions: dict[int, int] = {}
    for name, labels, value in lines:
        if name == _PER_POSITION and labels.get("position", "").isdecimal():
            place = int(labels["position"])
            positions[place] = positions.get(place, 0) + int(value)
    return Counters(
        drafts=_total(lines, _DRAFTS),
        draft_tokens=_total(lines, _DRAFT_TOKENS),
        accepted_tokens=_total(lines, _ACCEPTED),
        accepted_per_position=tuple(positions[place] for place in sorted(positions)),
        generated_tokens=_total(lines, _GENERATED),
        prefix_queries=_total(lines, _PREFIX_QUERIES),
        prefix_hits=_total(lines, _PREFIX_HITS),
    )


def read_kv_tokens(page: str) -> int | None:
    """Return how many tokens the server's KV cache holds; None where it does not tell."""
    for name, labels, _ in _samples(page):
        if name != _CACHE_CONFIG:
            continue
        if (told := labels.get("kv_cache_size_tokens", "")).isdecimal():
            return int(told)
        blocks, size = labels.get("num_gpu_blocks", ""), labels.get("block_size", "")
        if blocks.isdecimal() and size.isdecimal():
            return int(blocks) * int(size)
    return None


def read_cache_labels(page: str) -> dict[str, str]:
    """Return how vLLM's cache is configured, by the labels of that line; empty where there is none."""
    for name, labels, _ in _samples(page):
        if name == _CACHE_CONFIG:
            return labels
    return {}


def counted(snapshots: Sequence[Snapshot]) -> Counters | None:
    """Return what was counted over all sessions; None without two neighbouring snapshots of one session."""
    differences = [
        _difference(before.counters, after.counters)
        for before, after in pairwise(snapshots)
        if before.session == after.session
    ]
    if not differences:
        return None
    width = max(len(one.accepted_per_position) for one in differences)
    return Counters(
        drafts=_sum(one.drafts for one in differences),
        draft_tokens=_sum(one.draft_tokens for one in differences),
        accepted_tokens=_sum(one.accepted_tokens for one in differences),
        accepted_per_position=tuple(
            sum(one.accepted_per_position[n] for one in differences if n < len(one.accepted_per_position))
            for n in range(width)
        ),
        generated_tokens=_sum(one.generated_tokens for one in differences),
        prefix_queries=_sum(one.prefix_queries for one in differences),
        prefix_hits=_sum(one.prefix_hits for one in differences),
    )


def server_starts(snapshots: Sequence[Snapshot]) -> tuple[str, ...]:
    """Return the times of the snapshots that found the server started anew: a total had fallen."""
    return tuple(after.at for before, after in pairwise(snapshots) if _fell(before.counters, after.counters))


def _fell(before: Counters, after: Counters) -> bool:
    pairs = (
        (before.generated_tokens, after.generated_tokens),
        (before.drafts, after.drafts),
        (before.draft_tokens, after.draft_tokens),
    )
    return any(old is not None and new is not None and new < old for old, new in pairs)


def _difference(before: Counters, after: Counters) -> Counters:
    """What was counted between two snapshots; a total that fell is that of a server started anew."""
    positions = [
        _grown(before.accepted_per_position[n] if n < len(before.accepted_per_position) else 0, total) or 0
        for n, total in enumerate(after.accepted_per_position)
    ]
    return Counters(
        drafts=_grown(before.drafts, after.drafts),
        draft_tokens=_grown(before.draft_tokens, after.draft_tokens),
        accepted_tokens=_grown(before.accepted_tokens, after.accepted_tokens),
        accepted_per_position=tuple(positions),
        generated_tokens=_grown(before.generated_tokens, after.generated_tokens),
        prefix_queries=_grown(before.prefix_queries, after.prefix_queries),
        prefix_hits=_grown(before.prefix_hits, after.prefix_hits),
    )


def _grown(before: int | None, after: int | None) -> int | None:
    if after is None:
        return None
    return after if before is None or after < before else after - before


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _total(lines: Sequence[tuple[str, Mapping[str, str], float]], names: Sequence[str]) -> int | None:
    """The sum over engines and other labels; None if the page has no such line."""
    found = [value for name, _, value in lines if name in names]
    return int(sum(found)) if found else None


def _samples(page: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Each line of a metrics page: name, labels, value. A value that is no finite number is left out."""
    for line in page.splitlines():
        if line.startswith("#") or (match := _LINE.match(line)) is None:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        if value in (float("inf"), float("-inf")) or value != value:
            continue
        yield match["name"], dict(_LABEL.findall(match["labels"] or "")), value
