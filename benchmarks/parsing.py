"""How fast the strict reader is, beside the lenient one that most harnesses write: a regex and `json.loads`.

    python benchmarks/parsing.py [--megabytes 0.1]

Each row reads one kind of text; the ratio is our throughput over the lenient reader's.
"""

import argparse
import json
import re
import time
from collections.abc import Callable

from draftproof.parsers.hermes import HERMES
from draftproof.parsers.tools import compile_tools

_BLOCK = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
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
_SMALL = HERMES.render_calls([("get_weather", {"city": "Oslo", "days": 3})])
_LARGE = HERMES.render_calls([("get_weather", {"city": 'A "long" line.\n' * 200, "days": 3})])
_RECORDS = HERMES.render_calls([("save", {"rows": [{"id": n, "x": n / 7, "tag": "ab"} for n in range(200)]})])
TEXTS = {
    "small calls": _SMALL + "\n",
    "calls with prose": "Let me look that up for you, one moment please. " * 4 + _SMALL + "\n",
    "long strings": _LARGE + "\n",
    "many records": _RECORDS + "\n",
    "undeclared function": _SMALL.replace("get_weather", "get_wether") + "\n",
    "closing brace missing": _SMALL.replace("}}", "}") + "\n",
    "single quotes": _SMALL.replace('"', "'") + "\n",
    "name expression": _SMALL.replace("get_weather", "get_weather(city='Oslo')") + "\n",
    "unclosed": _SMALL.replace("</tool_call>", "") + "\n",
}


def read_leniently(text: str) -> list[object]:
    """Read calls as most harnesses do: what does not parse is dropped in silence."""
    calls: list[object] = []
    for block in _BLOCK.findall(text):
        try:
            value = json.loads(block)
            calls.append((value["name"], value["arguments"]))
        except (ValueError, KeyError, TypeError):
            continue
    return calls


def megabytes_per_second(read: Callable[[str], object], text: str, rounds: int) -> float:
    """Return the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        _ = read(text)
        best = min(best, time.process_time() - start)
    return len(text.encode()) / 1e6 / best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=0.1, help="size of each text")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"{'text':<24}{'strict':>12}{'with tools':>12}{'lenient':>12}{'ratio':>8}{'with tools':>12}")
    for name, unit in TEXTS.items():
        text = unit * max(1, int(options.megabytes * 1e6 / len(unit)))
        strict = megabytes_per_second(HERMES.parse, text, options.rounds)
        checked = megabytes_per_second(lambda text: HERMES.parse(text, TOOLS), text, options.rounds)
        lenient = megabytes_per_second(read_leniently, text, options.rounds)
        figures = f"{strict:>9.1f} MB{checked:>9.1f} MB{lenient:>9.1f} MB"
        print(f"{name:<24}{figures}{strict / lenient:>8.2f}{checked / lenient:>12.2f}")


if __name__ == "__main__":
    main()
