"""Seeded picks, the same on every version of Python: `random` promises that for few of its methods."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
_DIGITS = "0123456789"


class Draw:
    """A stream of picks: SHA-256 of the seed, the name of the stream and a counter.

    Args:
        seed: The seed of the whole.
        name: The name of this stream; streams of different names have nothing to do with each other.
    """

    def __init__(self, seed: int, name: str) -> None:
        self._key = f"{seed}:{name}"
        self._count = 0

    def below(self, bound: int) -> int:
        """Return a whole number from 0 up to `bound`, without it."""
        self._count += 1
        digest = hashlib.sha256(f"{self._key}:{self._count}".encode()).digest()
        # 128 bits against bounds below a million: what the remainder favours, nobody will ever see.
        return int.from_bytes(digest[:16], "big") % bound

    def between(self, least: int, most: int) -> int:
        """Return a whole number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def pick(self, items: Sequence[_Item]) -> _Item:
        """Return one of some items."""
        return items[self.below(len(items))]

    def several(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """Return `count` different items, in the order in which they were drawn."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """Return all the items in another order (or, seldom, in the same)."""
        return self.several(items, len(items))

    def characters(self, count: int, alphabet: str = _DIGITS) -> str:
        """Return `count` characters; the first is never a zero."""
        first = self.pick([one for one in alphabet if one != "0"])
        return first + "".join(self.pick(alphabet) for _ in range(count - 1))
