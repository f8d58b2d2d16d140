"""A run read, graded, attributed, summarised and written, beside merely decoding its lines as JSON.

    python benchmarks/judging.py [--attempts 1000 10000 | --run DIRECTORY] [--packed]

With --packed the same run is packed too, and judged from Parquet; both runs must say the same byte by byte.
The decoder is the fastest that can be imported: orjson, msgspec, else the one inside pydantic; it reads the
journals line by line on one core and keeps nothing. Each side is a process of its own, with those that it
starts; memory is what all of them hold together at the worst moment, what they import included.
"""

import argparse
import filecmp
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from made_run import journals, size_of, write_run
from measured import Row, child, print_table

# Bytes of a journal that are read at once.
READ_AT_ONCE = 256 * 1024
DECODERS = (
    ("orjson", "loads"),
    ("msgspec.json", "decode"),
    ("pydantic_core", "from_json"),
    ("json", "loads"),
)


def decoder() -> tuple[str, Callable[[bytes], object]]:
    """The fastest JSON decoder on this machine."""
    for module, name in DECODERS:
        try:
            return module, getattr(import_module(module), name)
        except ImportError:
            continue
    raise AssertionError("the standard library has one")


def decode(directory: Path) -> dict[str, object]:
    name, loads = decoder()
    count = 0
    for path in journals(directory):
        with path.open("rb", buffering=READ_AT_ONCE) as file:
            for line in file:
                loads(line)
                count += 1
    return {"lines": count, "decoder": name}


def judge(directory: Path) -> dict[str, object]:
    from draftproof.evals.at_rest.open_run import open_run
    from draftproof.evals.summing_up.derived import derive

    summary, problem = derive(open_run(directory))
    assert problem is None, problem
    return {"decision": summary.decision.value, "samples": summary.judged.samples}


def seconds_of_all() -> float:
    """CPU time of this process and of those that it started and that have ended."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def pack(directory: Path, out: Path) -> dict[str, object]:
    from draftproof.evals.at_rest.packing import pack_run

    pack_run(directory, out)
    return {"bytes": sum(path.stat().st_size for path in out.glob("*.parquet"))}


def rows_of(directory: Path, *, is_packed: bool) -> Iterator[Row]:
    plain, own = (child("judging.py", "--child", side, directory) for side in ("decode", "judge"))
    yield from beside_decoding("judge", plain, own, size_of(directory))
    if is_packed:
        with tempfile.TemporaryDirectory(dir=directory.parent) as folder:
            yield from packed_rows(directory, Path(folder) / "packed", plain, own)


def packed_rows(
    directory: Path, packed: Path, plain: dict[str, Any], of_journals: dict[str, Any]
) -> Iterator[Row]:
    lines, size = int(plain["lines"]), size_of(directory)
    made = child("judging.py", "--child", "pack", directory, packed)
    yield Row(
        f"bytes on disk of {lines:,} attempts and their samples",
        f"packed {made['bytes'] / 1e6:,.1f} MB, {made['bytes'] / lines:.0f} an attempt",
        f"JSON {size / 1e6:,.0f} MB, {size / lines:.0f} an attempt",
        made["bytes"] / size,
    )
    yield from beside_decoding("pack", plain, made, size)
    own = child("judging.py", "--child", "judge", packed)
    yield from beside_decoding("judge packed", plain, own, made["bytes"])
    for what, key in (("wall clock", "wall"), ("CPU of all processes", "cpu")):
        yield Row(
            f"judge packed {lines:,} attempts, {what}",
            f"{own[key] / lines * 1e6:.0f} µs each, {own[key]:.1f} s",
            f"from JSON {of_journals[key] / lines * 1e6:.0f} µs each",
            own[key] / of_journals[key],
        )
    for name in ("findings.jsonl", "summary.json"):
        assert filecmp.cmp(directory / name, packed / name, shallow=False), name


def beside_decoding(verb: str, plain: dict[str, Any], own: dict[str, Any], size: int) -> Iterator[Row]:
    lines = int(plain["lines"])
    for what, key in (("wall clock", "wall"), ("CPU of all processes", "cpu")):
        yield Row(
            f"{verb} {lines:,} attempts ({size / 1e6:,.0f} MB), {what}",
            f"{own[key] / lines * 1e6:.0f} µs each, {own[key]:.1f} s",
            f"{plain['decoder']} {plain[key] / lines * 1e6:.1f} µs each",
            own[key] / plain[key],
        )
    yield Row(
        f"peak memory of all processes, {verb} {lines:,} attempts",
        f"{own['peak_mb']:.0f} MB",
        f"{plain['peak_mb']:.0f} MB",
        own["peak_mb"] / plain["peak_mb"],
    )


def rows(sizes: list[int], *, is_packed: bool = False) -> Iterator[Row]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_run(Path(folder) / "run", size)
            yield from rows_of(Path(folder) / "run", is_packed=is_packed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--run", type=Path, help="judge this one, which made_run.py made")
    parser.add_argument("--packed", action="store_true", help="also pack it, and judge it packed")
    parser.add_argument("--child", nargs="+", metavar=("SIDE", "DIRECTORY"))
    options = parser.parse_args()
    if options.child is None:
        print_table(
            rows(options.attempts, is_packed=options.packed)
            if options.run is None
            else rows_of(options.run, is_packed=options.packed)
        )
        return
    side, *directories = options.child
    cpu, wall = seconds_of_all(), time.perf_counter()
    result = {"decode": decode, "judge": judge, "pack": pack}[side](*map(Path, directories))
    print(json.dumps({**result, "cpu": seconds_of_all() - cpu, "wall": time.perf_counter() - wall}))


if __name__ == "__main__":
    main()
