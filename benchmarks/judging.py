"""A run read, graded, attributed and summarised, beside merely decoding its lines as JSON.

    python benchmarks/judging.py [--attempts 1000 10000]

The decoder is the fastest that can be imported: orjson, msgspec, else the one inside pydantic. Each side is a
process of its own; its peak memory includes what it imports.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from made_run import lines_of, size_of, write_run
from measured import Row, child, print_table

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
    lines = lines_of(directory)
    started = time.process_time()
    kept = [loads(line) for line in lines]
    return {"cpu": time.process_time() - started, "lines": len(kept), "decoder": name}


def judge(directory: Path) -> dict[str, object]:
    from draftproof.evals.record import read_run
    from draftproof.evals.summary import summarise, write_derived

    started = time.process_time()
    record = read_run(directory)
    read = time.process_time() - started
    summary = summarise(record)
    write_derived(directory, summary)
    return {"cpu": time.process_time() - started, "read": read, "decision": summary.decision.value}


def rows(sizes: list[int]) -> Iterator[Row]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder) / "run"
            write_run(directory, size)
            plain, own = (child("judging.py", "--child", side, directory) for side in ("decode", "judge"))
            lines, megabytes = int(plain["lines"]), size_of(directory) / 1e6
        yield Row(
            f"judge {lines:,} attempts ({megabytes:.0f} MB; reading is {own['read'] / own['cpu']:.0%})",
            f"{own['cpu'] / lines * 1e6:.0f} µs each",
            f"{plain['decoder']} {plain['cpu'] / lines * 1e6:.0f} µs each",
            own["cpu"] / plain["cpu"],
        )
        yield Row(
            f"peak memory at {lines:,} attempts",
            f"{own['peak_mb']:.0f} MB",
            f"{plain['peak_mb']:.0f} MB",
            own["peak_mb"] / plain["peak_mb"],
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--child", nargs=2, metavar=("SIDE", "RUN"))
    options = parser.parse_args()
    if options.child is None:
        print_table(rows(options.attempts))
        return
    side, directory = options.child
    result = (decode if side == "decode" else judge)(Path(directory))
    scale = 1024**2 if sys.platform == "darwin" else 1024
    print(json.dumps({**result, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale}))


if __name__ == "__main__":
    main()
