"""A row of a file or data set that is not ours: its members read, its id given or derived."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..parsers.result import Json, JsonObject
from .json_lines import json_value
from .problems import SampleError
from .values import identity, shown

_DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Row:
    """A row with what its source knows of it.

    Attributes:
        members: As they came: JSON, or text that holds JSON.
        source: A short name of the source, which makes ids unlike those of other sources.
    """

    members: JsonObject
    source: str

    def json(self, name: str) -> Json:
        """A member that is JSON; text is read as JSON if it is an object or an array.

        Raises:
            SampleError: It is missing, or text that is no JSON.
        """
        value = self.members.get(name)
        if value is None:
            raise SampleError(name, "is missing")
        return read_text(value, name)

    @property
    def category(self) -> str | None:
        """The row's own category, if it has one."""
        category = self.members.get("category")
        return category if isinstance(category, str) and category else None


def read_text(value: Json, field_name: str) -> Json:
    """Return a value; text that begins as an object or an array is read as JSON.

    Raises:
        SampleError: Such text is no JSON.
    """
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json_value(value.strip())
    except SampleError as error:
        raise SampleError(field_name, error.problem) from None


def objects(value: Json, field_name: str) -> list[JsonObject]:
    """Return a value that is a list of objects.

    Raises:
        SampleError: It is none.
    """
    found = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    if not isinstance(value, list) or len(found) != len(value):
        raise SampleError(field_name, f"is {shown(value)}, expected a list of objects")
    return found


@dataclass(slots=True)
class Ids:
    """Ids of the rows of one source: given, or a digest of what a row says, counted where rows are equal."""

    source: str
    _seen: Counter[str] = field(default_factory=Counter[str])

    def given(self, value: Json) -> str | None:
        """The id that a row gives itself, as text; None where it gives none."""
        match value:
            case bool() | None:
                return None
            case str() | int():
                return str(value) or None
            case _:
                return None

    def derived(self, content: Json) -> str:
        """An id from the content: the same wherever the row stands; equal rows are told apart by a count."""
        digest = hashlib.sha256(identity(content).encode()).hexdigest()[:_DIGEST_LENGTH]
        self._seen[digest] += 1
        again = f"-{self._seen[digest]}" if self._seen[digest] > 1 else ""
        return f"{self.source}/{digest}{again}"

    def of_row(self, row: Row) -> str:
        """The id of a row of a data set: its own under the name of the source, or derived."""
        own = self.given(row.members.get("id"))
        return self.derived(dict(row.members)) if own is None else f"{self.source}/{own}"
