"""From a sample to the request body: how tools reach the model in each mode."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue

from ...errors import UserError
from ...parsers.dialect import Dialect
from ...parsers.result import Json, JsonObject
from ...tasks.request_fields import TOOL_FIELDS
from ...tasks.sample import Sample
from ..attempt import Ask, derived_seed
from ..plan import TOOL_PLACES, Arm, Mode, RunSection

# Samples whose prompts are held: arms that are asked side by side are not far apart.
HELD_PROMPTS = 1024


class Prompts:
    """What is sent of each sample, rendered once for its arms and stages as long as it is held.

    Bodies share the parts that are the sample's own: whoever changes a body changes a copy of it.
    """

    def __init__(self, samples: Mapping[str, Sample], settings: RunSection, dialect: Dialect) -> None:
        self._samples, self._settings, self._dialect = samples, settings, dialect
        self._parts = lru_cache(maxsize=HELD_PROMPTS)(self._render)

    def body(self, ask: Ask, arm: Arm) -> dict[str, JsonValue]:
        """The whole chat-completions body; sampling parameters are always explicit.

        Servers take defaults from a checkpoint's generation_config, so what is not sent is not known.

        Raises:
            UserError: An earlier call among the messages cannot be written in the dialect.
        """
        settings = self._settings
        messages, fields = self._parts(ask.id, ask.mode)
        body: dict[str, JsonValue] = {
            "model": arm.model,
            "messages": messages,
            "max_tokens": ask.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": derived_seed(settings.seed, ask.id, ask.stage, ask.attempt),
            "stream": ask.stream,
        }
        if ask.stream:
            body["stream_options"] = {"include_usage": True}
        return body | fields | arm.extra_body

    def _render(self, sample_id: str, mode: Mode) -> tuple[JsonValue, dict[str, JsonValue]]:
        """The messages of a sample, and the fields that come with it: what no arm and no stage changes."""
        sample = self._samples[sample_id]
        try:
            messages = _messages(sample, mode, self._dialect, self._settings.system_prompt)
        except UserError as error:
            raise UserError(f"sample {sample.id}: {error.what}") from None
        tools: dict[str, JsonValue] = {}
        if mode is not Mode.PROMPTED and sample.tools.declared:
            tools["tools"] = _plain(list(sample.tools.declared))
            tools["tool_choice"] = _plain(sample.tool_choice)
        return _plain(messages), tools | _extra_body(sample, is_with_tools=bool(tools))


def _extra_body(sample: Sample, *, is_with_tools: bool) -> dict[str, JsonValue]:
    """The request fields that come with a sample; those about tools only where tools are sent."""
    return {
        name: _plain(value)
        for name, value in sample.extra_body.items()
        if is_with_tools or name not in TOOL_FIELDS
    }


def _messages(sample: Sample, mode: Mode, dialect: Dialect, system_prompt: str | None) -> list[Json]:
    match mode:
        case Mode.NATIVE | Mode.RAW:
            return list(sample.messages)
        case Mode.PROMPTED:
            return list(prompted_messages(sample.messages, sample.tools.declared, dialect, system_prompt))


def prompted_messages(
    messages: Sequence[JsonObject],
    tools: Sequence[JsonObject],
    dialect: Dialect,
    system_prompt: str | None = None,
) -> list[JsonObject]:
    """Chat messages that carry tools as text only: no `tools`, no `tool_calls`, no `tool` role.

    The tools go into the system turn (after the sample's own system text), calls of earlier turns are written
    in the dialect, and results of tools become user turns; neighbouring results share one turn, since many
    chat templates demand that user and assistant alternate.
    """
    turns: list[dict[str, Json]] = []
    names: dict[str, str] = {}
    for message in messages:
        match message.get("role"):
            case "assistant":
                calls = _calls_of(message, names)
                text = _text(message.get("content"))
                written = dialect.render_calls(calls) if calls else ""
                turns.append(
                    {"role": "assistant", "content": "\n".join(part for part in (text, written) if part)}
                )
            case "tool":
                name = _text(message.get("name")) or names.get(_text(message.get("tool_call_id")), "")
                result = dialect.render_result(name, _text(message.get("content")))
                if turns and turns[-1].get("from_tool"):
                    turns[-1]["content"] = f"{turns[-1]['content']}\n{result}"
                else:
                    turns.append({"role": "user", "content": result, "from_tool": True})
            case _:
                turns.append(dict(message))
    if tools:
        described = describe_tools(tools, dialect, system_prompt)
        if turns and turns[0].get("role") in ("system", "developer"):
            turns[0] = {**turns[0], "content": f"{_text(turns[0].get('content'))}\n\n{described}"}
        else:
            turns.insert(0, {"role": "system", "content": described})
    return [{key: value for key, value in turn.items() if key != "from_tool"} for turn in turns]


def describe_tools(tools: Sequence[JsonObject], dialect: Dialect, system_prompt: str | None) -> str:
    """The text that puts tools to the model: the dialect's own, or the user's.

    Args:
        tools: As declared.
        dialect: Describes them, and how to call them.
        system_prompt: A text in which `{tools}` stands for the dialect's own text, and `{tools_json}` for the
            declared tools, one in JSON a line. Other braces are left as they are.
    """
    described = dialect.describe_tools(tools)
    if system_prompt is None:
        return described
    as_json = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    places: dict[str, str] = dict(zip(TOOL_PLACES, (described, as_json), strict=True))
    # In one pass: the description of a tool may hold such a word too.
    return re.sub("|".join(map(re.escape, places)), lambda found: places[found.group()], system_prompt)


def read_system_prompt(path: Path) -> str:
    """Read a system prompt of the user's own; the plan checks what it says.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{path}: cannot be read: {reason or error}") from error


def _calls_of(message: JsonObject, names: dict[str, str]) -> list[tuple[str, JsonObject]]:
    """Calls of an earlier assistant turn; `names` learns which id belongs to which function."""
    calls: list[tuple[str, JsonObject]] = []
    tool_calls = message.get("tool_calls")
    for call in tool_calls if isinstance(tool_calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(call, Mapping) or not isinstance(function, Mapping):
            continue
        name, arguments = _text(function.get("name")), function.get("arguments")
        names[_text(call.get("id"))] = name
        calls.append((name, _arguments(name, arguments)))
    return calls


def _arguments(name: str, arguments: Json) -> JsonObject:
    """Arguments of an earlier call, as an object; none that we could write for the model is an error."""
    if arguments is None or arguments == "":
        return {}
    try:
        parsed: Json = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, Mapping):
        raise UserError(f"messages: the arguments of an earlier call of {name!r} are no JSON object")
    return parsed


def _text(content: Json) -> str:
    """Message content as text: a string, or the text parts of a list."""
    match content:
        case str():
            return content
        case list():
            parts = [part.get("text") for part in content if isinstance(part, Mapping)]
            return "\n".join(part for part in parts if isinstance(part, str))
        case _:
            return ""


def _plain(value: Json) -> JsonValue:
    """The same JSON in plain dicts and lists, as the journal and the client take it."""
    match value:
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value
