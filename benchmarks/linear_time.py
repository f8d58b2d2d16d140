"""Reading time grows with the text, not with its square: no answer of a model can hang a report.

    python benchmarks/linear_time.py [--dialect hermes] [--check]

Every dialect reads one piece of text repeated, after several beginnings, at one size and at eight times it.
The table shows the worst pieces: microseconds a character at the larger size, and how the cost of a character
grew between the two (1 is linear, 8 is square). With `--check` the exit code is 1 if one grew over fourfold.
"""

import argparse
import sys
import time

from draftproof.parsers.dialect import Dialect
from draftproof.parsers.dialects import DIALECTS
from draftproof.parsers.tools import compile_tools

SMALL, TIMES = 8_000, 8
LIMIT = 4.0
TOOLS = compile_tools(
    [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "a": {}},
                },
            },
        }
        for name in ("now", "get_weather")
    ]
)
PIECES = (
    *("<tool_call>", "</tool_call>", "<tool_call></tool_call>", "<tool_call>{", '<tool_call>{"a": "'),
    *('<tool_call>{"name": "now", "arguments": {}}', "<tool_call>x ", "<tool_call>[", '"<tool_call>"'),
    *('<tool_call>{"name": "now", "arguments": {}}</tool_call>', '<tool_call>{"a":1,"a":2}</tool_call>'),
    *("<function=", "<function=now>", "</function>", "<parameter=", "<parameter=a>1</parameter>"),
    *(
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<arg_key>a</arg_key><arg_value>1</arg_value>",
    ),
    *(
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>{",
        "<|tool_call_end|>",
    ),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>{", "<｜tool▁call▁end｜>"),
    *("<minimax:tool_call>", '<invoke name="now">', '<parameter name="a">', "</parameter>", "</invoke>"),
    *('{"name": "now", "parameters": {}}; ', '{"name": "now", "parameters": ', "<|python_tag|>"),
    *(
        "<think>",
        "</think>",
        "`<tool_call>`",
        "```",
        "[TOOL",
        "<",
        "</",
        "<｜",
        "{",
        "}",
        "[",
        "[{",
        '"',
        "'",
    ),
    *("\\", '\\"', "\\u", '{"name":', '{"tool_calls":[', " ", "\n", "a", "0", "9" * 299 + " "),
)
STARTS = (
    *("", "<think>", "<tool_call>", '<tool_call>{"name": "', '<tool_call>{"a": [', '{"name": "'),
    *(
        "<tool_call><function=get_weather><parameter=days>",
        "<tool_call>get_weather<arg_key>days</arg_key><arg_value>",
    ),
    *('<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{"a": "',),
    *('<minimax:tool_call><invoke name="now"><parameter name="a">',),
)


def seconds(dialect: Dialect, text: str) -> float:
    """CPU time of one reading, the better of two."""
    times = []
    for _ in range(2):
        started = time.process_time()
        dialect.parse(text, TOOLS, "auto")
        times.append(time.process_time() - started)
    return min(times)


def measure(dialect: Dialect, start: str, piece: str) -> tuple[float, float]:
    """Microseconds a character at the larger size, and the growth of that cost (from a millisecond on)."""
    small, large = (start + piece * (size // len(piece)) for size in (SMALL, SMALL * TIMES))
    cost = seconds(dialect, large)
    before = max(seconds(dialect, small), 0.001)
    return cost / len(large) * 1e6, cost / before / TIMES


def main() -> int:
    """Print the table; the exit code is the check's."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dialect", choices=list(DIALECTS), action="append")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = [
        (*measure(DIALECTS[name], start, piece), name, start, piece)
        for name in options.dialect or DIALECTS
        for start in STARTS
        for piece in PIECES
    ]
    print(f"{'dialect':<14} {'µs/char':>8} {'growth':>7}  piece (after)")
    for cost, growth, name, start, piece in sorted(rows, reverse=True)[:20]:
        after = f" (after {start!r})" if start else ""
        print(f"{name:<14} {cost:8.2f} {growth:7.2f}  {piece[:40]!r}{after}")
    worst = max(growth for _, growth, *_ in rows)
    print(f"{len(rows)} readings; worst growth {worst:.2f} (1 is linear, {TIMES} is square)")
    return int(options.check and worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
