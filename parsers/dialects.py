"""The dialects there are. A new one is a module of its own and a line here."""

from .deepseek_v31 import DEEPSEEK_V31
from .dialect import Dialect
from .glm import GLM
from .hermes import HERMES
from .kimi_k2 import KIMI_K2
from .llama3_json import LLAMA3_JSON
from .minimax_m2 import MINIMAX_M2
from .qwen3_xml import QWEN3_XML

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        HERMES,
        QWEN3_XML,
        GLM,
        KIMI_K2,
        DEEPSEEK_V31,
        MINIMAX_M2,
        LLAMA3_JSON,
    )
}


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
        for name, dialect in DIALECTS.items()
        if (match := dialect.signature.search(text)) is not None
    ]
    return min(found)[1] if found else None
