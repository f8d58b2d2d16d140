"""Hot paths beside work of the same kind in the same run: a factor of two lost shows on any machine.

    python benchmarks/guard.py [--check]

Only CPU time of one process is compared, each side the better of three. With `--check` the exit code is 1 if
a ratio is above its limit, which is about twice what it is today.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from judging import decoder
from made_run import lines_of, write_run

# What is measured: its ratio to decoding the run's lines may be so much.
LIMITS = {"read": 10.0, "judge": 28.0, "judge again": 10.0}


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the better of three."""
    times: list[float] = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def ratios(attempts: int) -> dict[str, float]:
    """Reading a run, judging it, and judging what is read already, each beside decoding its lines."""
    from draftproof.evals.record import read_run
    from draftproof.evals.summary import summarise

    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        write_run(directory, attempts)
        lines, (_, loads) = lines_of(directory), decoder()
        plain = seconds(lambda: [loads(line) for _ in range(5) for line in lines]) / 5
        record = read_run(directory)
        summarise(record)
        return {
            "read": seconds(lambda: read_run(directory)) / plain,
            "judge": seconds(lambda: summarise(read_run(directory))) / plain,
            "judge again": seconds(lambda: summarise(record)) / plain,
        }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = ratios(1_000)
    for name, ratio in found.items():
        print(f"{name:<12} {ratio:6.1f} times decoding (limit {LIMITS[name]:.0f})")
    return int(options.check and any(ratio > LIMITS[name] for name, ratio in found.items()))


if __name__ == "__main__":
    sys.exit(main())
