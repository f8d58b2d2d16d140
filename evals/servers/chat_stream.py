"""One streamed answer put together: the deltas of a chat or text completion, in whatever pieces they come.

Sans I/O: it is fed the data of server-sent events and makes the same `Completion` as an answer that came
whole. It joins as the contract of the OpenAI API says, and mends nothing: text by concatenation, tool calls
by `index` (where a server leaves it out: by id, else the call in progress), name and arguments by
concatenation. What is not sent stays absent: `finish_reason`, `usage`, ids.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from ...parsers.native import CUT_REASONS
from ...parsers.result import Json, JsonObject
from .response import BadResponseError, Completion, completion_from_json, error_message, glimpse

DONE = "[DONE]"


class StreamedError(Exception):
    """An error event inside HTTP 200; `status` is what the server says it would have been."""

    def __init__(self, status: int | None, text: str) -> None:
        super().__init__(error_message(text))
        self.status = status
        self.text = text


@dataclass(slots=True)
class _Call:
    """A tool call in the making; `arguments` that are no strings are kept as they came."""

    id: Json = None
    type: Json = None
    name: Json = None
    arguments: Json = None

    def to_json(self) -> JsonObject:
        function = _present({"name": self.name, "arguments": self.arguments})
        return _present({"id": self.id, "type": self.type, "function": function})


@dataclass(slots=True)
class _Message:
    """What the deltas have said so far; the order of `calls` is that of their indexes."""

    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])
    token_ids: list[Json] = field(default_factory=list[Json])
    has_token_ids: bool = False
    last_call: int | None = None


class ChatStream:
    """Put the events of one stream together.

    Attributes:
        chunks: Events that held a piece of the answer; never a count of tokens.
        is_done: Whether the closing `[DONE]` has come.
    """

    def __init__(self) -> None:
        self.chunks = 0
        self.is_done = False
        self._message = _Message()
        self._choice: dict[str, Json] = {}
        self._top: dict[str, Json] = {}
        self._is_text = False
        self._has_choice = False

    def feed(self, data: str) -> bool:
        """Take the data of one event; True if it held a piece of the answer.

        Raises:
            StreamedError: The server says in the stream that it failed.
            BadResponseError: The event is no chunk of a completion.
        """
        said = data.strip()
        if not said or self.is_done:
            return False
        if said == DONE:
            self.is_done = True
            return False
        try:
            chunk: Json = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadResponseError(
                f"an event of the stream is not JSON ({error}): {glimpse(data)}"
            ) from error
        if not isinstance(chunk, dict):
            raise BadResponseError(f"an event of the stream is no JSON object: {glimpse(data)}")
        if error := _error_of(chunk):
            raise StreamedError(_status(error), data)
        for name in ("usage", "timings", "metrics", "system_fingerprint"):
            if chunk.get(name) is not None:
                self._top[name] = chunk[name]
        has_output = False
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                has_output = self._take_choice(choice) or has_output
        self.chunks += has_output
        return has_output

    @property
    def has_begun(self) -> bool:
        """Whether an event of the answer has come, be it an empty one."""
        return self._has_choice

    def completion(self, *, first_event_ms: float | None = None, ttft_ms: float | None = None) -> Completion:
        """Return the answer once the stream has ended.

        Raises:
            BadResponseError: The stream broke off: it has neither a `finish_reason` nor the closing `[DONE]`.
        """
        if not self._has_choice:
            raise BadResponseError("the stream ended without a choice")
        if not self.is_done and self._choice.get("finish_reason") is None:
            raise BadResponseError("the stream broke off: no finish_reason and no [DONE]")
        texts = {name: "".join(parts) for name, parts in self._message.texts.items()}
        choice = dict(self._choice)
        if self._message.has_token_ids:
            choice["token_ids"] = self._message.token_ids
        if self._is_text:
            choice["text"] = texts.get("text", "")
        else:
            calls: list[Json] = [self._message.calls[n].to_json() for n in sorted(self._message.calls)]
            choice["message"] = {**texts, "tool_calls": calls or None}
        raw: dict[str, Json] = {**self._top, "choices": [choice]}
        completion = completion_from_json(raw)
        return replace(completion, first_event_ms=first_event_ms, ttft_ms=ttft_ms, chunks=self.chunks)

    def _take_choice(self, choice: JsonObject) -> bool:
        self._has_choice = True
        # A cut that was said once stays one: proxies close every stream with a reason of their own.
        reason = self._choice.get("finish_reason")
        has_ended_cut = isinstance(reason, str) and reason in CUT_REASONS
        for name in ("finish_reason", "stop_reason", "error"):
            if choice.get(name) is not None and not (name == "finish_reason" and has_ended_cut):
                self._choice[name] = choice[name]
        if isinstance(ids := choice.get("token_ids"), list):
            self._message.has_token_ids = True
            self._message.token_ids.extend(ids)
        if "text" in choice:
            self._is_text = True
            return self._take_text("text", choice["text"])
        # Some servers close with a whole `message` in place of a delta: it repeats what came.
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return False
        has_text = False
        for name in ("content", "reasoning", "reasoning_content"):
            if (value := delta.get(name)) is not None:
                has_text = self._take_text(name, value) or has_text
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for entry in calls:
                self._take_call(entry)
        return has_text or bool(calls)

    def _take_text(self, name: str, value: Json) -> bool:
        if isinstance(value, list):
            parts = [part.get("text") for part in value if isinstance(part, Mapping)]
            value = "".join(part for part in parts if isinstance(part, str))
        if not isinstance(value, str):
            return False
        self._message.texts.setdefault(name, []).append(value)
        return bool(value)

    def _take_call(self, entry: Json) -> None:
        if not isinstance(entry, Mapping):
            raise BadResponseError(
                f"a tool call in the stream is no JSON object: {glimpse(json.dumps(entry))}"
            )
        call = self._message.calls.setdefault(self._index_of(entry), _Call())
        if call.id is None and entry.get("id"):
            call.id = entry["id"]
        if entry.get("type") is not None:
            call.type = entry["type"]
        function = entry.get("function")
        if isinstance(function, Mapping):
            call.name = _joined(call.name, function.get("name"))
            call.arguments = _joined(call.arguments, function.get("arguments"))

    def _index_of(self, entry: JsonObject) -> int:
        """Say which call an entry belongs to."""
        calls, last = self._message.calls, self._message.last_call
        index = entry.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            function = entry.get("function")
            name = function.get("name") if isinstance(function, Mapping) else None
            known = next((n for n, call in calls.items() if entry.get("id") and call.id == entry["id"]), None)
            if known is not None:
                index = known
            elif last is None or entry.get("id") or (name and calls[last].arguments):
                index = max(calls, default=-1) + 1
            else:
                index = last
        self._message.last_call = index
        return index


def _error_of(chunk: JsonObject) -> Json:
    """Return what an event says that went wrong; nothing of an event that is a piece of an answer.

    Older vLLM sends the error itself, not wrapped, and then `[DONE]`, as if all were well.
    """
    return chunk.get("error") or (chunk if chunk.get("object") == "error" else None)


def _joined(before: Json, piece: Json) -> Json:
    """Join two pieces of a name or of arguments; what is no text cannot be joined and stays as it came."""
    if piece is None:
        return before
    if before is None or not isinstance(before, str) or not isinstance(piece, str):
        return piece
    return before + piece


def _status(error: Json) -> int | None:
    """Return the HTTP status that an error event names: vLLM's `code` is an int, others write a string."""
    code = error.get("code", error.get("status")) if isinstance(error, Mapping) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    is_status = isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600
    return cast("int", code) if is_status else None


def _present(members: dict[str, Json]) -> JsonObject:
    """Leave out what was never sent."""
    return {name: value for name, value in members.items() if value is not None}
