"""The suites that come with the package: compact files, expanded to raw samples as a suite file holds them.

A file names toolsets (tools and worked examples of their use) once; every sample of a toolset gets the same
tools and the same examples as earlier turns. Without worked examples a very small model answers in prose.
Larger suites are folders (`tasks.compact`), and one is drawn from a seed (`tasks.speculation`).
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from .compact import TOOLS_FILE, RawSample, read_folder
from .speculation import speculation_samples

_PACKAGE = __name__.rpartition(".")[0]
_SUFFIX = ".json"
_DRAWN = "speculation"


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in suites, sorted."""
    folder = files(_PACKAGE).joinpath("suites")
    entries = list(folder.iterdir())
    compact = [entry.name.removesuffix(_SUFFIX) for entry in entries if entry.name.endswith(_SUFFIX)]
    folders = [entry.name for entry in entries if entry.joinpath(TOOLS_FILE).is_file()]
    return tuple(sorted([*compact, *folders]))


def read_builtin(name: str) -> list[RawSample]:
    """Return the samples of a built-in suite in the order of its file.

    Args:
        name: One of `builtin_names()`.

    Returns:
        New objects, one a sample, with `id` (`NAME/…`), `category`, `messages`, `tools`, `tool_choice` and
        `expected`.

    Raises:
        KeyError: There is no such suite.
    """
    if name not in builtin_names():
        raise KeyError(name)
    folder = files(_PACKAGE).joinpath("suites", name)
    if name == _DRAWN:
        return speculation_samples(folder)
    if folder.is_dir():
        return read_folder(name, folder)
    text = files(_PACKAGE).joinpath("suites", name + _SUFFIX).read_text(encoding="utf-8")
    suite: dict[str, Any] = json.loads(text)
    return [_sample(name, compact, suite["toolsets"]) for compact in suite["samples"]]


def _sample(suite: str, compact: dict[str, Any], toolsets: dict[str, Any]) -> RawSample:
    toolset = toolsets[compact["toolset"]]
    return {
        "id": f"{suite}/{compact['id']}",
        "category": compact["category"],
        "messages": [*_worked_examples(toolset["examples"]), {"role": "user", "content": compact["ask"]}],
        # Through JSON and back: each sample owns its tools, so changing one cannot change another.
        "tools": json.loads(json.dumps(toolset["tools"])),
        "tool_choice": "auto",
        "expected": {"calls": [{"name": call, "arguments": right} for call, right in compact["calls"]]},
    }


def _worked_examples(examples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Expand the examples to earlier turns of the conversation, in the OpenAI form.

    No turn gives the result of a call: with such turns between its examples, a very small model writes
    results instead of calls. Inference servers take a history like this one; a few hosted services do not.
    """
    turns: list[dict[str, Any]] = []
    calls = 0
    for example in examples:
        turns.append({"role": "user", "content": example["ask"]})
        if "reply" in example:
            turns.append({"role": "assistant", "content": example["reply"]})
            continue
        made: list[dict[str, Any]] = []
        for name, arguments in example["calls"]:
            calls += 1
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            made.append({"id": f"call_{calls}", "type": "function", "function": function})
        turns.append({"role": "assistant", "content": None, "tool_calls": made})
    return turns
