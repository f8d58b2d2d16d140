"""How fast strict reading is beside a lenient reader, and what public parsers find beside it.

    python benchmarks/parsing.py [--megabytes 0.1]

The lenient reader is the one that most harnesses write: a regex and `json.loads`. Every ratio is our speed
over the other's, on the same texts in the same run: CPU time, the best of several rounds. "With tools" names
and schemas are checked too, which the lenient reader never does.

1. Answers of one kind, read one by one as they come, and as one long text of the same.
2. The built-in suites answered in each dialect: prose before every third, and one in 25 lost a character.
3. Parsers that others publish (`public_parsers.py`), as far as they are installed: their speed, and what they
   make of texts with known calls and known defects (`known_texts.py`). Of right calls, how many came back. Of
   broken ones, by syntax or against the tools: whether an error or a defect told of them, whether they passed
   for right (as they stood, or repaired), or were dropped without a word. Alarms are errors where nothing is
   wrong.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from draftproof.parsers.dialects import DIALECTS
from draftproof.parsers.hermes import HERMES
from draftproof.parsers.tools import Tools, compile_tools
from draftproof.tasks.suite import load_suites
from known_texts import BROKEN, CONTRACT, RIGHT, Call, Found, Known
from known_texts import TOOLS as KNOWN_TOOLS
from lenient_readers import READERS
from lenient_readers import read_hermes as read_leniently
from measured import Row
from public_parsers import NAMES, NotInstalledError, load

_PARAMETERS = {
    "get_weather": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    "save": {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
        "required": ["rows"],
    },
}
TOOLS = compile_tools(
    [
        {"type": "function", "function": {"name": name, "parameters": parameters}}
        for name, parameters in _PARAMETERS.items()
    ]
)
_KNOWN = compile_tools(KNOWN_TOOLS)
_SMALL = HERMES.render_calls([("get_weather", {"city": "Oslo", "days": 3})])
_LARGE = HERMES.render_calls([("get_weather", {"city": 'A "long" line.\n' * 200, "days": 3})])
_RECORDS = HERMES.render_calls([("save", {"rows": [{"id": n, "x": n / 7, "tag": "ab"} for n in range(200)]})])
TEXTS = {
    "small calls": _SMALL + "\n",
    "a call after thinking": "<think>\n"
    + "The user wants the weather in Oslo. " * 40
    + "\n</think>\n\n"
    + _SMALL
    + "\n",
    "calls with prose": "Let me look that up for you, one moment please. " * 4 + _SMALL + "\n",
    "colons in strings": _SMALL.replace("Oslo", "https://example.org at 10:30") + "\n",
    "long strings": _LARGE + "\n",
    "many records": _RECORDS + "\n",
    "undeclared function": _SMALL.replace("get_weather", "get_wether") + "\n",
    "closing brace missing": _SMALL.replace("}}", "}") + "\n",
    "single quotes": _SMALL.replace('"', "'") + "\n",
    "name expression": _SMALL.replace("get_weather", "get_weather(city='Oslo')") + "\n",
    "unclosed": _SMALL.replace("</tool_call>", "") + "\n",
}


Read = Callable[[str], object]
Tell = Callable[[str], tuple[Sequence[Call], bool]]


def seconds(work: Callable[[], object], rounds: int) -> float:
    """CPU time of the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        _ = work()
        best = min(best, time.process_time() - start)
    return best


def seconds_a_text(read: Read, texts: Sequence[str], rounds: int) -> float:
    """CPU time of a text, each read alone."""
    return seconds(lambda: [read(text) for text in texts], rounds) / len(texts)


def microseconds(*times: float) -> str:
    return " | ".join(f"{each * 1e6:.1f} µs" for each in times)


def kinds(megabytes: float, rounds: int) -> Iterator[str]:
    """Each kind of text, alone and repeated; thinking stands at the beginning alone."""
    yield "| Hermes | strict | with tools | lenient | ratio | with tools | long: ratio | with tools |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    readers: tuple[Read, ...] = (HERMES.parse, lambda text: HERMES.parse(text, TOOLS), read_leniently)
    for name, unit in TEXTS.items():
        alone, long = [unit] * max(20, 40_000 // len(unit)), [unit * max(1, int(megabytes * 1e6 / len(unit)))]
        one = [seconds_a_text(read, alone, rounds) for read in readers]
        many = [] if "<think>" in unit else [seconds_a_text(read, long, rounds) for read in readers]
        ratios = [f"{times[2] / each:.2f}" for times in (one, many) for each in times[:2]]
        yield f"| {name} | {microseconds(*one)} | {' | '.join([*ratios, '', ''][:4])} |"


def answers(dialect: str) -> list[tuple[str, Tools]]:
    """The built-in suites answered, one in 25 broken, each with the tools of its sample."""
    draw = random.Random(dialect)
    texts: list[tuple[str, Tools]] = []
    for sample in load_suites(("builtin:core", "builtin:starter")).samples:
        due = [] if sample.expected is None else sample.expected.calls
        calls = [(one.name, {key: right[0] for key, right in one.arguments.items()}) for one in due]
        text = DIALECTS[dialect].render_calls(calls[:1] if dialect == "llama3_json" else calls)
        if not calls:
            text = "None of the tools can do that. Could you say what you need it for?"
        elif len(texts) % 3 == 0 and dialect != "llama3_json":
            text = f"I will look that up for you, one moment please.\n{text}"
        if len(texts) % 25 == 24:
            place = draw.randrange(len(text))
            text = text[:place] + text[place + 1 :]
        texts.append((text, sample.tools))
    return texts


def dialects(rounds: int) -> Iterator[str]:
    """Every dialect on the same answers."""
    yield "| answers of the built-in suites | strict | with tools | lenient | ratio | with tools |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, dialect in DIALECTS.items():
        given, parse = answers(name), dialect.parse
        texts, tools = [text for text, _ in given], [each for _, each in given]
        strict, lenient = (seconds_a_text(read, texts, rounds) for read in (parse, READERS[name]))
        read_all = partial(lambda parse, *given: list(map(parse, *given)), parse, texts, tools)
        checked = seconds(read_all, rounds) / len(texts)
        times = microseconds(strict, checked, lenient)
        yield f"| {name} | {times} | {lenient / strict:.2f} | {lenient / checked:.2f} |"


def public(rounds: int) -> Iterator[str]:
    """Ours and the public parsers: speed, and what they find."""
    mixed = [known.text for known in RIGHT * 5 + BROKEN[::9]]
    ours = seconds_a_text(read_strictly, mixed, rounds)
    of_broken, of_contract = f"broken {len(BROKEN)}", f"against tools {len(CONTRACT)}"
    shares = [f"{of}: {share}" for of in (of_broken, of_contract) for share in ("told", "passed", "dropped")]
    head = ["Hermes", "an answer", "ours over its speed", f"right {_due()}", *shares, "alarms"]
    yield f"| {' | '.join(head)} |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    yield f"| draftproof, with tools | {microseconds(ours)} | | {_found(read_strictly)} |"
    for name in NAMES:
        try:
            shown, tell = _telling(name)
        except NotInstalledError as missing:
            yield f"| {name} | {missing} | | | | | | | | | |"
            continue
        taken = seconds_a_text(tell, mixed, rounds)
        yield f"| {shown} | {microseconds(taken)} | {taken / ours:.2f} | {_found(tell)} |"


def read_strictly(text: str) -> tuple[list[Call], bool]:
    """Read with known tools, and say if anything was told."""
    parsed = HERMES.parse(text, _KNOWN)
    return [(call.name, call.arguments) for call in parsed.calls], bool(parsed.defects)


def _telling(name: str) -> tuple[str, Tell]:
    """Return a public parser with its version, and a reader of it that never raises."""
    shown, read = load(name)

    def tell(text: str) -> tuple[Sequence[Call], bool]:
        try:
            return read(text), False
        except Exception:  # noqa: BLE001 - that is how it tells
            return [], True

    return shown, tell


def _due() -> int:
    return sum(len(known.right) for known in (*RIGHT, *BROKEN))


def _found(tell: Tell) -> str:
    """What a reader makes of the known texts, as cells of a table."""
    right, broken, contract = (_find(group, tell) for group in (RIGHT, BROKEN, CONTRACT))
    shares = " | ".join(f"{each.told} | {each.passed} | {each.dropped}" for each in (broken, contract))
    return f"{right.right + broken.right} | {shares} | {right.alarms}"


def _find(group: Sequence[Known], tell: Tell) -> Found:
    found = Found()
    for known in group:
        calls, is_told = tell(known.text)
        found.add(known, calls, is_told=is_told)
    return found


def rows(rounds: int) -> Iterator[Row]:
    """Hermes answers with their tools beside the lenient reader, which checks none: times, not speeds."""
    given = answers("hermes")
    sets = {
        "a right call": [(TEXTS["small calls"], TOOLS)] * 500,
        "a call without its last brace": [(TEXTS["closing brace missing"], TOOLS)] * 200,
        "an answer of the built-in suites": given,
    }
    for name, texts in sets.items():
        own = seconds(lambda texts=texts: [HERMES.parse(text, tools) for text, tools in texts], rounds)
        lenient = seconds(lambda texts=texts: [read_leniently(text) for text, _ in texts], rounds)
        yield Row(
            f"parse {name}",
            microseconds(own / len(texts)),
            f"regex and json.loads {microseconds(lenient / len(texts))}",
            own / lenient,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=0.1, help="size of each long text")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    for table in (
        kinds(options.megabytes, options.rounds),
        dialects(options.rounds),
        public(options.rounds),
    ):
        for line in table:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
