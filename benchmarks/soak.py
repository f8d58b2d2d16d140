"""Runs killed at random points and gone on with, over and over: nothing is lost, nothing counts twice.

    python benchmarks/soak.py [--rounds 20] [--seed 1] [--attempts 100000]

A round is one run against two scripted servers that reset, fail and answer garbage now and then. Its process
is killed (SIGKILL) at seeded numbers of journal lines and started again, then runs to its end. After each
round every line that was written is still there, each answer stands once, and the findings are those of a run
that nothing disturbed; the exit code is 1 if not. `--attempts` then writes and reads so many attempts through
the journal, and prints what they take.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from draftproof.evals.runs.journal import Journal  # noqa: E402
from draftproof.evals.runs.record import read_run  # noqa: E402
from draftproof.evals.summing_up.summary import summarise  # noqa: E402

from tests.evals.scripted_runs import (  # noqa: E402
    CAP,
    ask,
    cut,
    make_plan,
    number_of,
    raw_plan,
    right,
    write_suite,
    wrong,
)
from tests.scripted import (  # noqa: E402
    MODEL,
    ScriptedServer,
    broken_off,
    delayed,
    error,
    html,
    not_json,
    reset,
)

SAMPLES, KILLS = 24, 3
SETTINGS = {"control": True, "confirm": 1, "doublings": 1, "concurrency": 4, "retries": 5, "timeout": 20.0}
FAULTS = (reset(), broken_off(), html(502), not_json(), error(500, retry_after="0"))
FAULT_SHARE = 0.04


def eventful(request):
    """Some are cut, some are wrong, most are right."""
    number = number_of(request)
    if number % 7 == 0 and request.body["max_tokens"] == CAP:
        return cut(request)
    return wrong(request) if number % 5 == 1 else right(request)


class Flaky:
    """A script with seeded faults before it."""

    def __init__(self, script, seed):
        self.script, self.source, self.faults = script, random.Random(seed), 0

    def __call__(self, request):
        if self.source.random() < FAULT_SHARE:
            self.faults += 1
            return self.source.choice(FAULTS)
        return delayed(self.script(request), 0.01)


def toml(suite, servers):
    plan = raw_plan(suite, servers, **SETTINGS)
    run = "".join(f"{key} = {json.dumps(value)}\n" for key, value in plan["run"].items())
    arms = "".join(
        f'[[arms]]\nname = "{arm["name"]}"\nbase_url = "{arm["base_url"]}"\nmodel = "{MODEL}"\n'
        for arm in plan["arms"]
    )
    return f"[run]\n{run}{arms}"


def whole_lines(directory):
    return [
        line for path in directory.glob("attempts/*.jsonl") for line in path.read_bytes().split(b"\n")[:-1]
    ]


def findings(directory):
    summary = summarise(read_run(directory))
    return [
        (one.id, str(one.transition), str(one.cause), one.code) for one in summary.comparisons[0].findings
    ]


def session(config, directory, until=None):
    """Run, or kill at so many journal lines; the most memory it held, in MiB, and how it ended."""
    command = [sys.executable, "-m", "draftproof", "run", str(config), "--out", str(directory), "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status, peak = Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:
        lines = status.read_text().splitlines() if status.exists() else []
        peak = max([peak, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))])
        if until is not None and len(whole_lines(directory)) >= until:
            process.kill()
        time.sleep(0.005)
    return peak / 1024, process.returncode


def one_round(folder, number, seed, expected):
    """What one round came to: kills, faults, answers lost, answers doubled, other findings, MiB."""
    source = random.Random(f"{seed} {number}")
    flaky = [Flaky(script, f"{seed} {number} {arm}") for arm, script in (("a", right), ("b", eventful))]
    directory = folder / f"round{number}"
    kills = lost = 0
    with ScriptedServer(flaky[0]) as baseline, ScriptedServer(flaky[1]) as mtp:
        config = folder / f"round{number}.toml"
        config.write_text(toml(folder / "suite.jsonl", {"baseline": baseline, "mtp": mtp}))
        for until in sorted(source.sample(range(1, expected["lines"]), KILLS)):
            before = Counter(whole_lines(directory))
            _, code = session(config, directory, until)
            kills += code == -9
            lost += (before - Counter(whole_lines(directory))).total()
        before = Counter(whole_lines(directory))
        peak, _ = session(config, directory)
        lost += (before - Counter(whole_lines(directory))).total()
        # A request that a kill tore in two is no mistake of the script.
        for server in (baseline, mtp):
            server.script_errors[:] = [
                one for one in server.script_errors if not isinstance(one, json.JSONDecodeError)
            ]
    answered = [json.loads(line) for line in whole_lines(directory) if b'"status":"success"' in line]
    keys = Counter(
        (row["id"], row["arm"], row["stage"], row["max_tokens"], row["attempt"]) for row in answered
    )
    lost += len(expected["keys"] - keys.keys())
    doubled = keys.total() - len(keys)
    return (
        kills,
        sum(one.faults for one in flaky),
        lost,
        doubled,
        findings(directory) != expected["findings"],
        peak,
    )


def soak(rounds, seed, folder):
    """Go through the rounds and print a line for each; True if all went well."""
    suite = write_suite(folder / "suite.jsonl", SAMPLES)
    with ScriptedServer(right) as baseline, ScriptedServer(eventful) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}, **SETTINGS), folder / "quiet")
    rows = [json.loads(line) for line in whole_lines(folder / "quiet")]
    expected = {
        "lines": len(rows),
        "keys": {(row["id"], row["arm"], row["stage"], row["max_tokens"], row["attempt"]) for row in rows},
        "findings": findings(folder / "quiet"),
    }
    print(
        f"{'round':>5} {'kills':>5} {'faults':>6} {'lost':>4} {'doubled':>7} "
        f"{'other findings':>14} {'MiB':>5}"
    )
    totals = [0, 0, 0, 0, 0]
    for number in range(rounds):
        *counts, peak = one_round(folder, number, seed, expected)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        kills, faults, lost, doubled, other = counts
        print(
            f"{number:>5} {kills:>5} {faults:>6} {lost:>4} {doubled:>7} {other:>14} {peak:>5.0f}", flush=True
        )
    kills, faults, lost, doubled, other = totals
    print(
        f"{rounds} rounds, {kills} kills, {faults} faults: "
        f"lost {lost}, doubled {doubled}, other findings {other}"
    )
    return not (lost or doubled or other)


def memory_mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def long_run(count, folder):
    """Write so many attempts through the journal, read them back, and print the memory on the way."""
    suite = write_suite(folder / "long.jsonl", 1)
    with ScriptedServer(right) as baseline, ScriptedServer(right) as mtp:
        ask(make_plan(suite, {"baseline": baseline, "mtp": mtp}), folder / "long")
    one = next(iter(read_run(folder / "long").attempts.values()))
    started = time.monotonic()
    with Journal(folder / "long") as journal:
        for number in range(count):
            if number % max(1, count // 5) == 0:
                print(f"{number:>8} written, {memory_mib():.0f} MiB", flush=True)
            journal.append(replace(one, id=f"s/{number + 1}"))
    size = (folder / "long" / "attempts" / f"{one.arm}.jsonl").stat().st_size / 2**20
    print(
        f"{count:>8} written, {memory_mib():.0f} MiB, {size:.0f} MiB on disk, "
        f"{time.monotonic() - started:.0f} s"
    )
    started, before = time.monotonic(), memory_mib()
    record = read_run(folder / "long")
    print(
        f"{len(record.attempts):>8} read,    {memory_mib():.0f} MiB ({memory_mib() - before:.0f} more), "
        f"{time.monotonic() - started:.0f} s, "
        f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--attempts", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        is_well = soak(options.rounds, options.seed, Path(name))
        if options.attempts:
            long_run(options.attempts, Path(name))
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
