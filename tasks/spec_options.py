"""Options behind a spec: `SPEC?name=value&other=value`."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl

from ..errors import UserError
from .values import shown


@dataclass(frozen=True, slots=True)
class SpecOptions:
    """A spec without its options, and those; a name stands once."""

    spec: str
    base: str
    options: dict[str, str]

    def without(self, name: str) -> str:
        """The spec with one option taken out, as it is handed on to the suite's own reader."""
        pairs = [
            pair
            for pair in self.spec.removeprefix(self.base)[1:].split("&")
            if pair.partition("=")[0] != name
        ]
        return f"{self.base}?{'&'.join(pairs)}" if any(pairs) else self.base

    def refuse_others(self, *known: str) -> None:
        """Raise a UserError for an option that is none of these."""
        if unknown := [name for name in self.options if name not in known]:
            expected = ", ".join(known)
            raise UserError(
                f"tasks: {shown(self.spec)}: {shown(unknown[0])} is no option here, expected {expected}"
            )

    def count(self, name: str, default: int | None) -> int | None:
        """The value of an option that is a whole number, 0 or more."""
        value = self.options.get(name)
        if value is None:
            return default
        if not (value.isascii() and value.isdecimal()):
            raise UserError(
                f"tasks: {shown(self.spec)}: {name} is {shown(value)}, expected a whole number, 0 or more"
            )
        return int(value)

    def flag(self, name: str) -> bool:
        """The value of an option that is `true` or `false`; false where it is not named."""
        value = self.options.get(name, "false")
        if value not in ("true", "false"):
            raise UserError(f"tasks: {shown(self.spec)}: {name} is {shown(value)}, expected true or false")
        return value == "true"


def split_options(spec: str) -> SpecOptions:
    """Split a spec at its last `?`; a file of the whole name has none.

    Raises:
        UserError: An option stands twice.
    """
    base, mark, query = spec.rpartition("?")
    if not mark or Path(spec).exists():
        return SpecOptions(spec, spec, {})
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) != len(pairs):
        raise UserError(f"tasks: {shown(spec)}: an option stands twice, expected each once")
    return SpecOptions(spec, base, options)
