"""Data sets with answers as samples: query/tools/answers, Hermes conversations, OpenAI messages with tools.

One row gives one sample: what comes before the first assistant turn is the prompt, and that turn is the
answer. What cannot be a sample (a call that its own schema refuses, markup that is broken) is left out and
counted, since nobody can mend a published data set.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from ..parsers.hermes import HERMES
from ..parsers.result import Call, Json, JsonObject
from ..parsers.tools import ToolSchemaError, compile_tools
from .declared_tools import openai_tools
from .excluded import Excluded
from .json_lines import json_value
from .problems import SampleError
from .raw_sample import DEFAULT_CATEGORY, sample_from_json
from .row import Ids, Row, objects, read_text
from .sample import Sample
from .shape import Shape
from .values import equal, shown

# The names of a speaker in published conversations, in the words of the OpenAI interface.
_SPEAKERS = {
    **dict.fromkeys(("system",), "system"),
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "model"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation"), "tool"),
}
_TOOLS_BLOCK = re.compile(r"<tools>(.*?)</tools>", re.DOTALL)
_CALL_TAG = "<tool_call>"


def read_answered(row: Row, shape: Shape, ids: Ids) -> Sample | Excluded:
    """Read a row of a data set that has answers.

    Returns:
        The sample, or why there is none.
    """
    sample_id, category = ids.of_row(row), row.category or DEFAULT_CATEGORY
    try:
        if shape is Shape.QUERY:
            messages: list[JsonObject] = [{"role": "user", "content": _query(row)}]
            tools = openai_tools(row.json("tools"))
            calls = _calls(row.json("answers"), "answers")
        else:
            turns = (
                _spoken(row) if shape is Shape.CONVERSATIONS else objects(row.json("messages"), "messages")
            )
            messages, answer = _split(turns)
            declared, messages = _declared(row, messages)
            tools = openai_tools(declared)
            calls = _answer_calls(answer, tools)
        return _labelled(sample_id, category, messages, tools, calls)
    except SampleError as error:
        return Excluded(sample_id, category, str(error))


def _labelled(
    sample_id: str,
    category: str,
    messages: Sequence[JsonObject],
    tools: Sequence[JsonObject],
    calls: Sequence[tuple[str, JsonObject]],
) -> Sample:
    """Make the sample; a parameter with a declared default may be left out, or be given that default."""

    def sample(*, with_defaults: bool) -> Sample:
        due = [_due(name, arguments, tools if with_defaults else ()) for name, arguments in calls]
        return sample_from_json(
            {
                "id": sample_id,
                "category": category,
                "messages": list(messages),
                "tools": list(tools),
                "expected": {"calls": due},
            }
        )

    try:
        return sample(with_defaults=True)
    except SampleError:
        # A default that its own schema refuses, or the fault of the row itself.
        return sample(with_defaults=False)


def _due(name: str, arguments: JsonObject, tools: Sequence[JsonObject]) -> dict[str, Json]:
    right: dict[str, Json] = {parameter: [value] for parameter, value in arguments.items()}
    optional: list[Json] = []
    for parameter, default in _defaults(name, tools):
        if parameter not in arguments:
            right[parameter] = [default]
            optional.append(parameter)
        elif equal(arguments[parameter], default):
            optional.append(parameter)
    return {"name": name, "arguments": right, "optional": optional}


def _defaults(name: str, tools: Sequence[JsonObject]) -> Iterator[tuple[str, Json]]:
    """Yield the parameters of a tool that are not required and have a default."""
    for tool in tools:
        match tool:
            case {"function": {"name": str(found), "parameters": {"properties": Mapping() as properties}}}:
                if found != name:
                    continue
            case _:
                continue
        function = tool["function"]
        parameters = function["parameters"] if isinstance(function, Mapping) else None
        required = parameters.get("required") if isinstance(parameters, Mapping) else None
        for parameter, schema in properties.items():
            is_required = isinstance(required, list) and parameter in required
            if isinstance(schema, Mapping) and "default" in schema and not is_required:
                yield str(parameter), schema["default"]


def _query(row: Row) -> str:
    query = row.members.get("query")
    if not isinstance(query, str):
        raise SampleError("query", f"is {shown(query)}, expected a text")
    return query


def _calls(answers: Json, field: str) -> list[tuple[str, JsonObject]]:
    return [
        _named_call(one.get("name"), one.get("arguments"), f"{field}[{number}]")
        for number, one in enumerate(objects(answers, field))
    ]


def _named_call(name: Json, arguments: Json, field: str) -> tuple[str, JsonObject]:
    arguments = read_text(arguments, f"{field}.arguments") if arguments not in (None, "") else {}
    if not isinstance(name, str):
        raise SampleError(f"{field}.name", f"is {shown(name)}, expected a text")
    if not isinstance(arguments, Mapping):
        raise SampleError(f"{field}.arguments", f"is {shown(arguments)}, expected an object")
    return name, arguments


def _spoken(row: Row) -> list[JsonObject]:
    """Conversations as chat messages."""
    turns: list[JsonObject] = []
    for number, turn in enumerate(objects(row.json("conversations"), "conversations")):
        speaker, text = turn.get("from", turn.get("role")), turn.get("value", turn.get("content"))
        if not isinstance(speaker, str) or speaker not in _SPEAKERS:
            known = ", ".join(_SPEAKERS)
            raise SampleError(
                f"conversations[{number}].from", f"is {shown(speaker)}, expected one of {known}"
            )
        turns.append({"role": _SPEAKERS[speaker], "content": text})
    return turns


def _split(turns: Sequence[JsonObject]) -> tuple[list[JsonObject], JsonObject]:
    """What comes before the first assistant turn, and that turn."""
    for number, turn in enumerate(turns):
        if turn.get("role") == "assistant":
            if not number:
                raise SampleError("", "begins with an answer, expected a user turn before it")
            return list(turns[:number]), turn
    raise SampleError("", "has no assistant turn, so there is no answer")


def _declared(row: Row, messages: list[JsonObject]) -> tuple[Json, list[JsonObject]]:
    """The tools, and the messages without the system turn that describes them.

    That turn tells the model how to call in one dialect; the mode of the run says how it is told.
    """
    block, kept = None, list[JsonObject]()
    for turn in messages:
        content = turn.get("content")
        found = _TOOLS_BLOCK.findall(content) if isinstance(content, str) else []
        if turn.get("role") == "system" and found:
            # Prose before it may name the tag too: the last block is the one that holds them.
            block = found[-1].strip()
        else:
            kept.append(turn)
    if row.members.get("tools") is not None:
        return row.json("tools"), kept
    if block is None:
        raise SampleError("tools", "is missing, and no system turn has a <tools> block")
    return _tools_of_block(block), kept


def _tools_of_block(block: str) -> Json:
    """Read the block as a list, or as one JSON object a line."""
    if block.startswith("["):
        return read_text(block, "<tools>")
    try:
        return [json_value(line.strip()) for line in block.splitlines() if line.strip()]
    except SampleError as error:
        raise SampleError("<tools>", error.problem) from None


def _answer_calls(answer: JsonObject, tools: Sequence[JsonObject]) -> list[tuple[str, JsonObject]]:
    """The calls of an assistant turn: its `tool_calls`, or the Hermes markup in its text."""
    made = answer.get("tool_calls")
    if made:
        calls: list[tuple[str, JsonObject]] = []
        for number, call in enumerate(objects(read_text(made, "tool_calls"), "tool_calls")):
            function = call.get("function", call)
            if not isinstance(function, Mapping):
                raise SampleError(f"tool_calls[{number}].function", "is no object")
            found = _named_call(function.get("name"), function.get("arguments"), f"tool_calls[{number}]")
            calls.append(found)
        return calls
    content = answer.get("content")
    if not isinstance(content, str):
        raise SampleError("", "its answer holds no call and no text")
    return [(call.name, call.arguments) for call in _written_calls(content, tools)]


def _written_calls(text: str, tools: Sequence[JsonObject]) -> tuple[Call, ...]:
    if _CALL_TAG not in text:
        return ()
    try:
        parsed = HERMES.parse(text, compile_tools(list(tools)))
    except ToolSchemaError as error:
        raise SampleError("tools", str(error)) from None
    if parsed.defects:
        first = parsed.defects[0]
        raise SampleError("", f"its answer is malformed: {first.code.value}: {first.message}")
    return parsed.calls
