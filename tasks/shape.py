"""The shapes in which others keep prompts and tools, and how one row shows which it is."""

from collections.abc import Mapping
from enum import StrEnum

from ..parsers.result import Json, JsonObject
from .request_fields import PLANNED_FIELDS


class Shape(StrEnum):
    """What a row of a file or of a data set is."""

    SAMPLE = "sample"  # our own: a line of a suite file
    REQUEST = "request"  # a chat-completions body
    LOG = "log"  # a request in a member of its own, a response beside it or not
    QUERY = "query"  # `query`, `tools`, `answers`: xLAM, APIGen
    CONVERSATIONS = "conversations"  # turns with `from` and `value`: Hermes function calling
    CHAT = "chat"  # OpenAI messages and tools that end in an assistant turn: the answers of a data set


SHAPES_IN_WORDS = (
    "a suite's sample (id, messages, tools, expected), a captured request (messages, model), a log (request, "
    "response), query/tools/answers, conversations (from, value), or messages/tools with an answer"
)
# Where a log keeps the request: by its own name, or as a batch of the OpenAI interface does.
REQUEST_MEMBERS = ("request", "body")
# What nothing but a suite file has.
_OWN = frozenset(("expected", "tools_unchecked", "extra_body"))
_BODY = PLANNED_FIELDS - {"messages", "tools", "tool_choice"}


def detect_shape(row: Json, *, is_suite_file: bool = False) -> Shape | None:
    """Say what a row is.

    Args:
        row: A row, its members JSON or text that holds JSON.
        is_suite_file: The row is of a file that is first of all a suite of ours: a row with an id, and
            neither a field that only a request has nor an answer at its end, is then a sample, whatever else
            stands in it.

    Returns:
        Its shape; None if it is no object, or like none of them.
    """
    if not isinstance(row, Mapping):
        return None
    members = {name for name, value in row.items() if value is not None}
    if (
        any(isinstance(row.get(name), Mapping | str) for name in REQUEST_MEMBERS)
        and "messages" not in members
    ):
        return Shape.LOG
    if {"query", "tools", "answers"} <= members:
        return Shape.QUERY
    if "conversations" in members:
        return Shape.CONVERSATIONS
    if "messages" not in members:
        return Shape.SAMPLE if is_suite_file and "id" in members else None
    if members & _OWN:
        return Shape.SAMPLE
    if members & _BODY:
        return Shape.REQUEST
    if _ends_in_answer(row):
        return Shape.CHAT
    return Shape.SAMPLE if is_suite_file and "id" in members else Shape.REQUEST


def _ends_in_answer(row: JsonObject) -> bool:
    messages = row.get("messages")
    if isinstance(messages, str):
        # Rows of tables hold messages as text; what is no JSON is said where it is read.
        return '"assistant"' in messages.rpartition('"role"')[2]
    last = messages[-1] if isinstance(messages, list) and messages else None
    return isinstance(last, Mapping) and last.get("role") == "assistant"
