"""Hot paths beside work of the same kind in the same run: a factor of two lost shows on any machine.

    python benchmarks/guard.py [--check]

Only CPU time is compared, each side the best of three. With `--check` the exit code is 1 if
a ratio is above its limit, which is about twice what it is today. A session that may stop early is compared
with a sixth of itself: its work grows with its samples.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from asking import cpu_of
from judging import decoder
from made_run import lines_of, write_run
from parsing import TEXTS, TOOLS, read_leniently
from quick_server import quick_servers
from sessions import cpu_growth

# So many times decoding the run's lines, reading leniently, asking with bare aiohttp, or a request of a small
# session each may cost.
LIMITS = {
    "read": 7.0,
    "judge": 13.5,
    "judge again": 4.0,
    "judge on disk": 11.0,
    "parse": 4.5,
    "ask": 14.0,
    "ask streamed": 14.0,
    "until decided": 2.0,
}


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the better of three."""
    times: list[float] = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def parsing_ratio() -> float:
    """The strict reader, with tools, beside the lenient one, on calls that are right."""
    from draftproof.parsers.hermes import HERMES

    text = TEXTS["small calls"] * 2_000
    return seconds(lambda: HERMES.parse(text, TOOLS)) / seconds(lambda: read_leniently(text))


def asking_ratio(*, stream: bool) -> float:
    """A whole run beside a loop that keeps nothing, a request each."""
    with quick_servers() as url:
        own, bare = (
            min(cpu_of(side, url, 400, 16, stream=stream) for _ in range(3))
            for side in ("draftproof", "aiohttp")
        )
    return own / bare


def ratios(attempts: int) -> dict[str, float]:
    """Reading a run, judging it, what is read already and block by block, each beside decoding its lines."""
    from draftproof.evals.asking.early import read_course
    from draftproof.evals.runs.record import read_run
    from draftproof.evals.runs.stored_run import index_run
    from draftproof.evals.summing_up.judged import judge_record
    from draftproof.evals.summing_up.summary import summarise

    def judge_on_disk() -> None:
        """What the processes that judge a large run do, in this one."""
        run = index_run(directory)
        course = read_course(run)
        for block in run.blocks():
            judge_record(block.read(), course)

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
            "judge on disk": seconds(judge_on_disk) / plain,
        }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = ratios(1_000) | {
        "parse": parsing_ratio(),
        "ask": asking_ratio(stream=False),
        "ask streamed": asking_ratio(stream=True),
        "until decided": cpu_growth("until decided", 500, 3_000),
    }
    for name, ratio in found.items():
        print(f"{name:<13} {ratio:6.1f} times (limit {LIMITS[name]:.0f})")
    return int(options.check and any(ratio > LIMITS[name] for name, ratio in found.items()))


if __name__ == "__main__":
    sys.exit(main())
