"""A dialect: how one family of models writes calls, and how tools are put to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .reasoning import StartsInReasoning
from .result import JsonObject, Parsed
from .tools import Tools


class Parse(Protocol):
    """Reads what a model wrote; any text at all gives a result and never an exception."""

    def __call__(
        self, text: str, tools: Tools | None = None, starts_in_reasoning: StartsInReasoning = False
    ) -> Parsed:
        """Read a text; without tools neither names nor schemas are checked."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect, whole: reading and writing.

    Attributes:
        name: What the user calls it, as in `--dialect hermes`.
        summary: One line: the form and the models that write it.
        parse: Reads a text strictly.
        render_calls: Writes (name, arguments) pairs as a well-behaved model does.
        describe_tools: Writes the declared tools, and how to call them, for the system prompt.
        render_result: Writes the text of the user turn that carries the result of a tool: (name, content).
        tags: The markup that must not leak into arguments that a server parsed.
    """

    name: str
    summary: str
    parse: Parse
    render_calls: Callable[[Sequence[tuple[str, JsonObject]]], str]
    describe_tools: Callable[[Sequence[JsonObject]], str]
    render_result: Callable[[str, str], str]
    tags: tuple[str, ...]
