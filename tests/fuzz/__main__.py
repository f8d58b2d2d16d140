"""Search the readers of bytes from outside for inputs that break them, guided by coverage (atheris).

    python -m pip install atheris
    python -m tests.fuzz [--target hermes] [--seconds 60] [--rounds 1] [--keep]

Every target is searched for so many seconds in a process of its own, in so many rounds. What is found on the
way stands in `.fuzz/TARGET`, an input that breaks something in `.fuzz/TARGET.found`; `--keep` puts the
smallest inputs that reach everything reached into `corpus/`, which a test replays. The exit code is 1 after
a finding.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from draftproof.parsers.dialects import DIALECTS

from .corpus import keep, kept
from .mutation import NAMES, mutate_body, mutate_stream, seeded
from .targets import TARGETS, TIMED_TARGETS

WORK = Path(".fuzz")
LONGEST = 3_000
# More of them, or longer ones, are no reading for people.
MOST_KEPT, LONGEST_KEPT = 150, 400
MUTATORS = {"body": mutate_body, "stream": mutate_stream}
WORDS = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<function=", "<parameter=", "[TOOL_CALLS]"),
    *('{"name": "now", "arguments": {}}', '{"name": "', '"arguments": {', '"parameters": {', "```json\n"),
    *("get_weather", "city", "days", "Oslo", "null", "true", "None", "1e999", "\\ud83d", "\\u0041", "; "),
    *("data: ", "data:", "\r\n\r\n", "\n\n", "[DONE]", "<arg_key>", "<arg_value>", "<parameter name="),
)


def write_dictionary(path: Path) -> None:
    """Write the words of every dialect, in the fuzzer's own format."""
    tags = [tag for dialect in DIALECTS.values() for tag in dialect.tags]
    words = dict.fromkeys((*WORDS, *tags, *(f'"{name}":' for name in NAMES)))
    escaped = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in words)
    _ = path.write_text("".join(f'"{word}"\n' for word in escaped), encoding="ascii")


def search(target: str, arguments: list[str]) -> None:
    """Search in this process; never returns."""
    import atheris  # no dependency of the tests: there is no wheel of it for every machine

    for name in [name for name in sys.modules if name.split(".")[0] in ("draftproof", "tests")]:
        del sys.modules[name]
    with atheris.instrument_imports(include=["draftproof"]):
        from .targets import TARGETS, TIMED_TARGETS  # anew, instrumented

    mutate = MUTATORS.get(target)

    def mutated(data: bytes, longest: int, seed: int) -> bytes:
        changed = seeded(mutate, data, seed) if mutate is not None and seed % 4 else None
        return (atheris.Mutate(data, longest) if changed is None else changed)[:longest]

    options = {} if mutate is None else {"custom_mutator": mutated}
    atheris.Setup(["fuzz", *arguments], {**TARGETS, **TIMED_TARGETS}[target], **options)
    atheris.Fuzz()


def child(target: str, *arguments: str) -> tuple[int, int, str]:
    """Search in another process; return its exit code, how many inputs it ran, and what it said."""
    command = [sys.executable, "-m", "tests.fuzz", "--child", target, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    ran = re.search(r"number_of_executed_units: (\d+)", said)
    return done.returncode, int(ran[1]) if ran else 0, said


def fuzz(target: str, seconds: int) -> tuple[int, bool]:
    """Search one target for a while; return how many inputs were run, and whether one of them broke it."""
    folder, found = WORK / target, WORK / f"{target}.found"
    for path in (folder, found):
        path.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(kept(target)):
        _ = (folder / f"kept-{number}").write_bytes(data)
    code, ran, said = child(
        target,
        str(folder),
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        f"-dict={WORK / 'words.txt'}",
        f"-artifact_prefix={found}/",
        *("-timeout=120", "-rss_limit_mb=4000", "-print_final_stats=1", "-len_control=20"),
    )
    if code:
        _ = (found / f"said-{time.time_ns()}.txt").write_text(said, encoding="utf-8")
        print(f"{target}: broken, see {found}\n{said[-1500:]}")
    return ran, bool(code)


def shrink(target: str) -> None:
    """Keep the fewest, smallest inputs that reach what all of them reach."""
    smaller = WORK / f"{target}.smaller"
    smaller.mkdir(exist_ok=True)
    _ = child(target, "-merge=1", str(smaller), str(WORK / target))
    inputs = [data for path in smaller.iterdir() if len(data := path.read_bytes()) <= LONGEST_KEPT]
    keep(target, sorted(inputs, key=len)[:MOST_KEPT])


def main() -> int:
    """Search every target, round by round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _ = parser.add_argument("--target", action="append", choices=[*TARGETS, *TIMED_TARGETS])
    _ = parser.add_argument("--seconds", type=int, default=60, help="for each target, in each round")
    _ = parser.add_argument("--rounds", type=int, default=1)
    _ = parser.add_argument("--keep", action="store_true", help="write corpus/ anew from all that was found")
    options = parser.parse_args()
    targets = options.target or [*TARGETS, *TIMED_TARGETS]
    WORK.mkdir(exist_ok=True)
    write_dictionary(WORK / "words.txt")
    started, total, broken = time.monotonic(), dict.fromkeys(targets, 0), set[str]()
    for number in range(options.rounds):
        for target in targets:
            ran, is_broken = fuzz(target, options.seconds)
            total[target] += ran
            broken |= {target} if is_broken else set()
            print(f"round {number + 1} {target}: {ran:,} inputs{', broken' * is_broken}", flush=True)
    for target in set(targets) - set(TIMED_TARGETS) if options.keep else ():
        shrink(target)
    hours = (time.monotonic() - started) / 3600
    print(f"{hours:.2f} hours, {sum(total.values()):,} inputs, broken: {', '.join(sorted(broken)) or 'none'}")
    return int(bool(broken))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        search(sys.argv[2], sys.argv[3:])
    sys.exit(main())
