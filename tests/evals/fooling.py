"""The world of `test_fooled.py`: a suite of 24 calls, servers that answer it well, and the shape of a case.

The first eight samples are "hard": what a script spoils, it spoils there, unless it says otherwise.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from draftproof.evals.plan import build_plan

from ..scripted import Script, ScriptedReply, ScriptedRequest, answer, streamed, tool_call
from .scripted_runs import CAP, raw_plan

SAMPLES = 24
HARD = 8
NEEDED = 150  # tokens: more than the cap, less than its double
CAP_ONLY = {"causes": {"cap": 8}, "codes": {"cap_cut": 8}}
MARGIN = 0.2  # wide, so that 24 samples decide
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "limit": {"type": "number"},
                    "where": {},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }
    for name in ("get_weather", "get_news")
]


@dataclass(frozen=True, slots=True)
class Case:
    """One attempt to fool the product.

    Attributes:
        name: What pytest shows.
        claim: One sentence: what an honest run says of it.
        candidate: The candidate's script.
        baseline: The baseline's, where it is not simply right.
        decision: What the gate must say.
        causes: Regressions by cause, those that are not 0.
        codes: Regressions by code.
        void_codes: Void pairs by code.
        fixes: How many fixes there are.
        reason: A part of the gate's first reason; empty where the decision says it all.
        suite: What `lines_of` takes: "one" call is due, "two", "none", or "unlabelled".
        run: Keys of `[run]`.
        gate: Keys of `[gate]`.
        pages: GET pages of each arm's server, by arm.
    """

    name: str
    claim: str
    candidate: Script
    decision: str = "regression"
    causes: Mapping[str, int] = field(default_factory=dict[str, int])
    codes: Mapping[str, int] = field(default_factory=dict[str, int])
    void_codes: Mapping[str, int] = field(default_factory=dict[str, int])
    fixes: int = 0
    reason: str = ""
    baseline: Script | None = None
    suite: str = "one"
    run: Mapping[str, Any] = field(default_factory=dict[str, Any])
    gate: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def __str__(self) -> str:
        return self.name


def due(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "arguments": {"city": [f"City{number}"], "days": [3]}, "optional": []}


def lines_of(suite: str) -> str:
    """The samples; ids of odd ones differ from the even ones before them in nothing but their case."""
    rows: list[dict[str, Any]] = []
    for number in range(SAMPLES):
        letter = "A" if number % 2 else "a"
        row: dict[str, Any] = {
            "id": f"fool/{letter}{number // 2}",
            "category": "hard" if number < HARD else "easy",
            "messages": [{"role": "user", "content": f"Weather in City{number}?"}],
            "tools": TOOLS,
        }
        match suite:
            case "one":
                row["expected"] = {"calls": [due("get_weather", number)]}
            case "two":
                row["expected"] = {"calls": [due("get_weather", number), due("get_news", number)]}
            case "none":
                row["expected"] = {"calls": []}
            case "unlabelled":
                pass
            case _:
                raise AssertionError(suite)
        rows.append(row)
    return "".join(json.dumps(row) + "\n" for row in rows)


def plan_of(case: Case, suite_path: object, servers: Mapping[str, object]):
    raw = raw_plan(suite_path, servers, **{"concurrency": 4, "retry_seconds": 5.0, **case.run})
    return build_plan({**raw, "gate": {"margin": MARGIN, **case.gate}}, source="test")


def number_of(request: ScriptedRequest) -> int:
    return int(request.body["messages"][-1]["content"].removeprefix("Weather in City").rstrip("?"))


def budget_of(request: ScriptedRequest) -> int:
    return request.body["max_tokens"]


def is_hard(request: ScriptedRequest) -> bool:
    return number_of(request) < HARD


def arguments_of(request: ScriptedRequest, **changes: Any) -> dict[str, Any]:
    return {"city": f"City{number_of(request)}", "days": 3, **changes}


def block(arguments: object, name: str = "get_weather") -> str:
    """A call in the dialect's markup; a string of arguments is written as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f'<tool_call>\n{{"name": {json.dumps(name)}, "arguments": {text}}}\n</tool_call>'


def right(request: ScriptedRequest, **keywords: Any) -> ScriptedReply:
    return answer(block(arguments_of(request)), **keywords)


def right_twice(request: ScriptedRequest) -> ScriptedReply:
    return answer(block(arguments_of(request)) + "\n" + block(arguments_of(request), "get_news"))


def prose(_request: ScriptedRequest) -> ScriptedReply:
    return answer("No tool fits that; here is what I know.")


def right_native(request: ScriptedRequest, **keywords: Any) -> ScriptedReply:
    return native(request, tool_call("get_weather", arguments_of(request)), **keywords)


def native(_request: ScriptedRequest, *calls: Mapping[str, Any], **keywords: Any) -> ScriptedReply:
    """An answer whose calls the server parsed; with `finish_reason`, `content` and so on by name."""
    reason = keywords.pop("finish_reason", "tool_calls")
    return answer(keywords.pop("content", None), reason, tool_calls=list(calls) or None, **keywords)


def call_deltas(
    request: ScriptedRequest, arguments: object = None, index: int = 0, name: str = "get_weather"
):
    """A streamed call: its head, then its arguments in three pieces."""
    text = json.dumps(arguments_of(request)) if arguments is None else str(arguments)
    head = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name}}
    third = len(text) // 3
    pieces = (text[:third], text[third : 2 * third], text[2 * third :])
    return [
        {"tool_calls": [head]},
        *({"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces),
    ]


def right_stream(request: ScriptedRequest) -> ScriptedReply:
    return streamed(call_deltas(request), "tool_calls")


def on_hard(spoiled: Script, otherwise: Script = right) -> Script:
    """`spoiled` where the sample is hard."""
    return lambda request: spoiled(request) if is_hard(request) else otherwise(request)


def saying(text: Callable[[ScriptedRequest], str], **keywords: Any) -> Script:
    """On hard samples this text, with what `answer` takes."""
    return on_hard(lambda request: answer(text(request), **keywords))


def calling(make: Callable[[ScriptedRequest], Any], **keywords: Any) -> Script:
    """On hard samples this call (or these), parsed by the server."""

    def spoiled(request: ScriptedRequest) -> ScriptedReply:
        made = make(request)
        return native(request, *(made if isinstance(made, list) else [made]), **keywords)

    return on_hard(spoiled, right_native)


def seen_so_far(request: ScriptedRequest, needed: int, text: str, **keywords: Any) -> ScriptedReply:
    """What a budget below `needed` shows: the start of the text, with as many tokens as were allowed."""
    share = min(1.0, budget_of(request) / needed)
    tokens = min(budget_of(request), needed)
    return answer(text[: int(len(text) * share)], completion_tokens=tokens, **keywords)


__all__ = [
    "CAP",
    "HARD",
    "SAMPLES",
    "Case",
    "answer",
    "arguments_of",
    "block",
    "budget_of",
    "call_deltas",
    "calling",
    "is_hard",
    "lines_of",
    "native",
    "number_of",
    "on_hard",
    "plan_of",
    "prose",
    "right",
    "right_native",
    "right_stream",
    "right_twice",
    "saying",
    "seen_so_far",
]
