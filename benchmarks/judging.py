"""A run read, graded, attributed, summarised and written, beside merely decoding its lines as JSON.

    python benchmarks/judging.py [--attempts 1000 10000 | --run DIRECTORY]

The decoder is the fastest that can be imported: orjson, msgspec, else the one inside pydantic; it reads the
journals line by line on one core and keeps nothing. Each side is a process of its own, with those that it
starts; memory is what all of them hold together at the worst moment, what they import included.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

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
    from draftproof.evals.judging.derived import derive
    from draftproof.evals.runs.stored_run import open_run

    summary, problem = derive(open_run(directory))
    assert problem is None, problem
    return {"decision": summary.decision.value, "samples": summary.judged.samples}


def seconds_of_all() -> float:
    """CPU time of this process and of those that it started and that have ended."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def rows_of(directory: Path) -> Iterator[Row]:
    plain, own = (child("judging.py", "--child", side, directory) for side in ("decode", "judge"))
    lines, megabytes = int(plain["lines"]), size_of(directory) / 1e6
    for what, key in (("wall clock", "wall"), ("CPU of all processes", "cpu")):
        yield Row(
            f"judge {lines:,} attempts ({megabytes:,.0f} MB), {what}",
            f"{own[key] / lines * 1e6:.0f} µs each, {own[key]:.1f} s",
            f"{plain['decoder']} {plain[key] / lines * 1e6:.1f} µs each",
            own[key] / plain[key],
        )
    yield Row(
        f"peak memory of all processes at {lines:,} attempts",
        f"{own['peak_mb']:.0f} MB",
        f"{plain['peak_mb']:.0f} MB",
        own["peak_mb"] / plain["peak_mb"],
    )


def rows(sizes: list[int]) -> Iterator[Row]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_run(Path(folder) / "run", size)
            yield from rows_of(Path(folder) / "run")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--run", type=Path, help="judge this one, which made_run.py made")
    parser.add_argument("--child", nargs=2, metavar=("SIDE", "RUN"))
    options = parser.parse_args()
    if options.child is None:
        print_table(rows(options.attempts) if options.run is None else rows_of(options.run))
        return
    side, directory = options.child
    cpu, wall = seconds_of_all(), time.perf_counter()
    result = (decode if side == "decode" else judge)(Path(directory))
    print(json.dumps({**result, "cpu": seconds_of_all() - cpu, "wall": time.perf_counter() - wall}))


if __name__ == "__main__":
    main()
