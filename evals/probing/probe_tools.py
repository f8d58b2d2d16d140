"""Tools: are they taken, do they reach the prompt, and does a call come back as a call?"""

import json

from pydantic import JsonValue

from ..servers.rendered import fingerprint
from ..servers.response import Completion
from ..servers.server import RenderedPrompt
from .check import Check, Failure, Verdict
from .probe_client import ProbeClient, text_of

TOOL: dict[str, JsonValue] = {
    "type": "function",
    "function": {
        "name": "set_light",
        "description": "Turn the light on or off.",
        "parameters": {
            "type": "object",
            "properties": {"on": {"type": "boolean"}},
            "required": ["on"],
            "additionalProperties": False,
        },
    },
}
_NAME = "set_light"
_QUESTION = "Turn on the light, please."
_CALL_BUDGET = 96


async def check_tools(client: ProbeClient) -> tuple[RenderedPrompt | None, tuple[Check, ...]]:
    """Ask with a tool, render the same prompt, and force a call; the rendered prompt is returned too."""
    tools: dict[str, JsonValue] = {"tools": [TOOL], "tool_choice": "auto"}
    asked = await client.ask(_QUESTION, budget=1, fields=tools)
    without = await client.ask(_QUESTION, budget=1)
    accepted = (
        asked.check("tools")
        if isinstance(asked, Failure)
        else Check("tools", Verdict.OK, "a request with tools is answered")
    )
    rendered = fingerprint(await client.endpoint.render(client.body(_QUESTION, fields=tools)))
    bare = fingerprint(await client.endpoint.render(client.body(_QUESTION)))
    return rendered, (
        accepted,
        _prompt_check(rendered, asked),
        _reach_check(rendered, bare, asked, without),
        await _forced_check(client),
    )


def _prompt_check(rendered: RenderedPrompt | None, asked: Completion | Failure) -> Check:
    """What the prompt with tools is, in a form that two servers can be compared by."""
    name = "prompt with tools"
    if rendered is not None:
        return Check(name, Verdict.OK, rendered.text)
    if (tokens := _prompt_tokens(asked)) is not None:
        return Check(name, Verdict.OK, f"{tokens} tokens (by usage; the server shows no rendered prompt)")
    return Check(name, Verdict.UNKNOWN, "the server shows no rendered prompt and counts no prompt tokens")


def _reach_check(
    rendered: RenderedPrompt | None,
    bare: RenderedPrompt | None,
    asked: Completion | Failure,
    without: Completion | Failure,
) -> Check:
    name = "tools in the prompt"
    sizes: tuple[object, object] = (rendered, bare)
    if rendered is None or bare is None:
        sizes = (_prompt_tokens(asked), _prompt_tokens(without))
    if None in sizes:
        return Check(name, Verdict.UNKNOWN, "the server shows no rendered prompt and counts no prompt tokens")
    if sizes[0] == sizes[1]:
        return Check(name, Verdict.IGNORED, "the prompt is the same with tools as without")
    return Check(name, Verdict.APPLIED, "the prompt is another with tools than without")


def _prompt_tokens(answer: Completion | Failure) -> int | None:
    return answer.usage.prompt_tokens if isinstance(answer, Completion) and answer.usage else None


async def _forced_check(client: ProbeClient) -> Check:
    name = "forced call"
    choice: JsonValue = {"type": "function", "function": {"name": _NAME}}
    fields: dict[str, JsonValue] = {"tools": [TOOL], "tool_choice": choice}
    answer = await client.ask(_QUESTION, budget=_CALL_BUDGET, fields=fields)
    if isinstance(answer, Failure):
        return answer.check(name)
    check = _call_check(name, answer.tool_calls) if answer.tool_calls else None
    if check is not None and check.verdict is Verdict.OK:
        return check
    # By the count as well: older vLLM says `tool_calls` or `stop` of a forced call that was cut.
    tokens = None if answer.usage is None else answer.usage.completion_tokens
    if answer.finish_reason == "length" or (tokens is not None and tokens >= _CALL_BUDGET):
        return Check(name, Verdict.UNKNOWN, f"cut at {_CALL_BUDGET} tokens before its call was whole")
    if check is not None:
        return check
    if _NAME in text_of(answer):
        return Check(name, Verdict.WRONG, "the call stands in the text, not in tool_calls")
    return Check(name, Verdict.IGNORED, "an answer without the call")


def _call_check(name: str, calls: JsonValue) -> Check:
    first = calls[0] if isinstance(calls, list) else None
    function = first.get("function") if isinstance(first, dict) else None
    if not isinstance(function, dict) or function.get("name") != _NAME:
        return Check(name, Verdict.WRONG, "tool_calls holds no call of the forced function")
    arguments = function.get("arguments")
    try:
        read: JsonValue = json.loads(arguments) if isinstance(arguments, str) else None
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        return Check(name, Verdict.WRONG, "its arguments are no JSON object")
    if not isinstance(read.get("on"), bool) or len(read) != 1:
        return Check(name, Verdict.WRONG, "comes back in tool_calls, with arguments that its schema refuses")
    return Check(name, Verdict.OK, "comes back in tool_calls, with arguments of its schema")
