"""The tools a call may name, with their compiled parameter schemas (JSON Schema 2020-12, never the network)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .result import JsonObject

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class ToolSchemaError(ValueError):
    """A tool definition that no call could ever be checked against; the suite's fault."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The declared functions of one sample.

    `declared` keeps the OpenAI tool objects exactly as given (they are what is sent); `functions` maps each
    name to its parameter schema; `validators` the same names to the compiled validator.
    """

    declared: tuple[JsonObject, ...]
    functions: dict[str, JsonObject]
    validators: "dict[str, Validator]"
