"""What the categories of `builtin:speculation` are made from, and what each of them yields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .compact import CompactCall, ToolPool, declared


@dataclass(frozen=True, slots=True)
class Task:
    """One sample before it has an id.

    `tools` are in the OpenAI form, `calls` and `history` in the compact one; `label` replaces the number in
    the id where it says more.
    """

    ask: str
    tools: list[dict[str, Any]]
    calls: list[CompactCall]
    history: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    label: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """The texts and word lists of the suite, and its pool of tools, as their files hold them."""

    texts: Mapping[str, Any]
    pool: ToolPool

    def tools(self, *names: str) -> list[dict[str, Any]]:
        """Return tools of the pool as the OpenAI API declares them."""
        return declared(self.pool, names)


def due(name: str, **arguments: object) -> CompactCall:
    """Return a call that is due, with one right value for each parameter."""
    return [name, {parameter: [value] for parameter, value in arguments.items()}]


def listed(words: Sequence[str]) -> str:
    """Return words as English lists them: `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
