"""The compact form of the larger built-in suites, and how it becomes raw samples as a suite file holds them.

A suite is a folder: `tools.json` describes every tool once, and each other file holds the samples of one
category. A sample names the tools it offers, and may have earlier turns with results of tools.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import Any, TypeAlias

RawSample: TypeAlias = dict[str, Any]
"""One sample as JSON, in the form of a suite line; `tasks.raw_sample` is where it is validated."""

CompactCall: TypeAlias = Sequence[Any]
"""`[name, {parameter: [every right value]}]`, and where some may be left out a list of their names."""

ToolPool: TypeAlias = dict[str, Any]
"""Names of tools with what is declared of them: `{"description": …, "parameters": …}`."""

TOOLS_FILE = "tools.json"


def read_pool(folder: Traversable) -> ToolPool:
    """Return the tools that a suite's folder describes."""
    return read_json(folder, TOOLS_FILE)["tools"]


def read_json(folder: Traversable, name: str) -> dict[str, Any]:
    """Return what a file of a suite's folder holds."""
    return json.loads(folder.joinpath(name).read_text(encoding="utf-8"))


def read_folder(suite: str, folder: Traversable) -> list[RawSample]:
    """Return the samples of a suite that is a folder.

    Args:
        suite: Its name, with which every id begins.
        folder: Where its files lie.

    Returns:
        New objects, one a sample; the categories are in the order of their names.
    """
    pool = read_pool(folder)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    read = [read_json(folder, name) for name in names if name != TOOLS_FILE]
    return [
        expand(
            f"{suite}/{sample['id']}",
            category["category"],
            opening_turns(sample),
            declared(pool, sample["tools"]),
            sample["calls"],
        )
        for category in read
        for sample in category["samples"]
    ]


def expand(
    sample_id: str,
    category: str,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]],
    calls: Sequence[CompactCall],
) -> RawSample:
    """Return a raw sample whose members share nothing with those of another."""
    return {
        "id": sample_id,
        "category": category,
        "messages": messages,
        "tools": tools,
        "tool_choice": "auto",
        "expected": {"calls": [_expected(*call) for call in calls]},
    }


def declared(pool: ToolPool, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return tools of a pool as the OpenAI API declares them, in the given order."""
    tools = [{"type": "function", "function": {"name": name, **pool[name]}} for name in names]
    # Through JSON and back: each sample owns its tools, so changing one cannot change another.
    return json.loads(json.dumps(tools))


def opening_turns(sample: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a compact sample: `system`, `history` and `ask`, each where there is one."""
    turns: list[dict[str, Any]] = []
    if "system" in sample:
        turns.append({"role": "system", "content": sample["system"]})
    turns += earlier_turns(sample.get("history", []))
    if "ask" in sample:
        turns.append({"role": "user", "content": sample["ask"]})
    return turns


def earlier_turns(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Expand earlier turns to the OpenAI form.

    Args:
        history: One of three forms each: `{"ask": text}` of the user, `{"reply": text}` of the model, and
            `{"calls": [[name, arguments], …], "results": […]}`, one result a call; one that is no text is
            sent as JSON.
    """
    turns: list[dict[str, Any]] = []
    calls = 0
    for turn in history:
        match turn:
            case {"ask": text}:
                turns.append({"role": "user", "content": text})
            case {"reply": text}:
                turns.append({"role": "assistant", "content": text})
            case _:
                first = calls + 1
                calls += len(turn["calls"])
                made = [_made_call(f"call_{n}", *call) for n, call in enumerate(turn["calls"], first)]
                turns.append({"role": "assistant", "content": None, "tool_calls": made})
                turns += [
                    {"role": "tool", "tool_call_id": call["id"], "content": _as_text(result)}
                    for call, result in zip(made, turn["results"], strict=True)
                ]
    return turns


def _made_call(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": _as_text(arguments)}}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _expected(name: str, arguments: dict[str, Any], optional: Sequence[str] = ()) -> dict[str, Any]:
    call: dict[str, Any] = {"name": name, "arguments": arguments}
    return call | {"optional": list(optional)} if optional else call
