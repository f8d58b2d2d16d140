"""The dialects there are. A new one is a module of its own and a line here."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from .dialect import Dialect

# By the name of their modules: what a text begins a call of theirs with, for `--dialect auto`.
_SIGNATURES = {
    "hermes": r"<tool_call>\s*+\{",
    "qwen3_xml": r"<tool_call>\s*+<function=|<function=[\w.:/-]++>\s*+(?:<parameter=|</function>)",
    "glm": r"<tool_call>\s*+[A-Za-z_][\w.:/-]*+\s*+(?:<arg_key>|</tool_call>)|<arg_key>[^<>\n]*+</arg_key>",
    "kimi_k2": r"<\|tool_calls?_section_begin\|>|<\|tool_call_begin\|>",
    "deepseek_v31": r"<\uff5ctool\u2581calls?\u2581begin\uff5c>",
    "minimax_m2": r"<minimax:tool_call>|<invoke name=\"[^\"\n]*+\">(?=\s*+(?:<parameter name=|</invoke>))",
    "llama3_json": r"<\|python_tag\|>|"
    r"\{\s*+\"name\"\s*+:\s*+\"[^\"]{0,128}+\"\s*+,\s*+\"parameters\"\s*+:",
}


class _Dialects(Mapping[str, Dialect]):
    """All dialects by name; each is imported when it is first looked at."""

    def __getitem__(self, name: str) -> Dialect:
        if name not in _SIGNATURES:
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_SIGNATURES)

    def __len__(self) -> int:
        return len(_SIGNATURES)

    def __contains__(self, name: object) -> bool:
        return name in _SIGNATURES


DIALECTS: Mapping[str, Dialect] = _Dialects()


@cache
def _load(name: str) -> Dialect:
    dialect = getattr(import_module(f".{name}", __package__), name.upper())
    assert isinstance(dialect, Dialect)  # noqa: S101 - the modules are ours
    return dialect


class UnknownDialectError(LookupError):
    """A dialect that does not exist; the message names those that do."""


def get_dialect(name: str) -> Dialect:
    """Return the dialect of this name.

    Raises:
        UnknownDialectError: There is none; the message lists the known names.
    """
    dialect = DIALECTS.get(name)
    if dialect is None:
        msg = f"unknown dialect {name!r}; known: {', '.join(DIALECTS)}"
        raise UnknownDialectError(msg)
    return dialect


def guess_dialect(text: str) -> str | None:
    """Return the name of the dialect whose call comes first in a text, or None if no call does."""
    found = [
        (match.start(), name)
        for name, signature in _SIGNATURES.items()
        if (match := re.search(signature, text)) is not None
    ]
    return min(found)[1] if found else None
