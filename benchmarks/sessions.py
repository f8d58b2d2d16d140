"""What an attempt costs a session that asks, and what it holds of it, in a small run and in a large one.

    python benchmarks/sessions.py [--samples 2000 8000]

A session of two arms and a control against scripted answers, in this process and without a network: all that
is measured is its own. One is of fixed size, one may stop early, one resumes a run that is complete. Of a
hundred answers of each arm four are wrong, as in `made_run.py`, and one is cut.
"""

import argparse
import asyncio
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from made_run import BUDGET, SUITES, answer_text, write_suite
from measured import Row, child, print_table

KINDS = ("fixed", "until decided", "resumed")


def _answer(samples: dict[str, Any], arm: str, body: dict[str, Any]) -> str:
    """What this arm says to this body, drawn from its seed."""
    draw = random.Random(f"{body['seed']} {arm}")
    is_cut = body["max_tokens"] == BUDGET and draw.random() < 0.01
    text = answer_text(samples[_question(body["messages"])], draw)
    tokens = BUDGET if is_cut else max(1, len(text) // 4)
    message = {"role": "assistant", "content": text[: len(text) // 2] if is_cut else text}
    choice = {"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop"}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 700, "completion_tokens": tokens}})


def _question(messages: Any) -> str:
    return next(json.dumps(one["content"]) for one in messages if one["role"] == "user")


def session(suite: Path, directory: Path, *, until_decided: bool = False) -> None:
    """One session: everything is asked, or nothing where the directory is complete."""
    from draftproof.evals.asking.session import ask_plan
    from draftproof.evals.plan import build_plan
    from draftproof.evals.servers.client import Client
    from draftproof.reports.progress import SilentProgress
    from draftproof.tasks.suite import load_suites

    samples = {_question(sample.messages): sample for sample in load_suites(SUITES).samples}

    async def post(client: Any, url: str, body: dict[str, Any]) -> str:
        if url != "/chat/completions":
            raise OSError("no such page")
        await asyncio.sleep(0)
        return _answer(samples, client.arm, body)

    async def get(_: Any, url: str) -> str:
        if url != "/models":
            raise OSError("no such page")
        return '{"data": [{"id": "made"}]}'

    def begin(client: Any, arm: Any, *_: object) -> None:
        client.arm = arm.name

    async def close(_: Any) -> None: ...

    arms = [{"name": n, "base_url": "http://127.0.0.1:9/v1", "model": "made"} for n in ("baseline", "mtp")]
    settings = {"tasks": [str(suite)], "max_tokens": BUDGET, "confirm": 1, "margins": False}
    plan = build_plan(
        {"run": {**settings, "concurrency": 16, "until_decided": until_decided}, "arms": arms},
        source="benchmark",
    )
    with mock.patch.multiple(Client, __init__=begin, post=post, get=get, close=close):
        ask_plan(plan, directory, progress=SilentProgress(), tell=lambda _: None)


def measured(kind: str, samples: int) -> dict[str, float]:
    """Milliseconds of CPU and kilobytes of memory of an attempt, in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few, suite = (write_suite(folder / f"{n}.jsonl", n) for n in (4, samples))
        session(few, folder / "warm")
        if kind == "resumed":
            child("sessions.py", "--child", "kept", samples, folder)
        before, started = _peak_kb(), time.process_time()
        session(suite, folder / "run", until_decided=kind == "until decided")
        used, held = time.process_time() - started, _peak_kb() - before
        attempts = sum(len(path.read_bytes().splitlines()) for path in folder.glob("run/attempts/*.jsonl"))
    return {"attempts": attempts, "cpu_ms": used / attempts * 1e3, "kb": held / attempts}


def _peak_kb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def cpu_growth(kind: str, small: int, large: int) -> float:
    """How many times as much an attempt costs in the larger run: 1 is linear."""
    costs = [
        min(child("sessions.py", "--child", kind, samples, "-")["cpu_ms"] for _ in range(2))
        for samples in (small, large)
    ]
    return costs[1] / costs[0]


def rows(sizes: list[int]) -> Iterator[Row]:
    for kind in KINDS:
        smallest: dict[str, Any] = {}
        for samples in sizes:
            found = child("sessions.py", "--child", kind, samples, "-")
            smallest = smallest or found
            yield Row(
                f"session {kind}, {found['attempts']:,} attempts",
                f"{found['cpu_ms']:.2f} ms CPU, {found['kb']:.1f} kB",
                f"{smallest['attempts']:,} attempts {smallest['cpu_ms']:.2f} ms CPU, {smallest['kb']:.1f} kB",
                found["cpu_ms"] / smallest["cpu_ms"],
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="+", default=[2000, 8000])
    parser.add_argument("--child", nargs=3, metavar=("KIND", "SAMPLES", "FOLDER"))
    options = parser.parse_args()
    if options.child is None:
        print_table(rows(options.samples))
        return
    kind, samples, folder = options.child
    if kind == "kept":
        session(Path(folder) / f"{samples}.jsonl", Path(folder) / "run")
        print("{}")
        return
    print(json.dumps(measured(kind, int(samples))))


if __name__ == "__main__":
    main()
