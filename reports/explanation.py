"""One code explained, and a group of them."""

from dataclasses import dataclass
from typing import NamedTuple


class Explanation(NamedTuple):
    """A code in plain words: what it says, how it looks, what usually causes it, what to do about it."""

    code: str
    meaning: str
    example: str
    causes: str
    advice: str


@dataclass(frozen=True, slots=True)
class Group:
    """Codes of one kind, with a sentence about the kind."""

    title: str
    about: str
    entries: tuple[Explanation, ...]
