"""What is wrong with a suite: a raw sample that is none, and all such of one file in one error."""

from collections.abc import Iterator

from ..errors import UserError

_SHOWN = 20


class SampleError(ValueError):
    """A raw sample that is none.

    Args:
        field: The member that is wrong, as `messages[0].role`; empty for the sample as a whole.
        problem: What is wrong with it, and what was expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


class Problems:
    """The first problems of a file, and how many there are: false while there is none."""

    def __init__(self, what: str = "line") -> None:
        self._what = what
        self._shown: list[str] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, place: str, error: SampleError) -> None:
        """Add what is wrong at a place."""
        self._count += 1
        if len(self._shown) < _SHOWN:
            self._shown.append(f"{place}: {error}")

    def refuse(self) -> None:
        """Raise them as one UserError, if there are any."""
        if self._count:
            raise UserError("\n".join([*self._shown, *self._total()]))

    def _total(self) -> Iterator[str]:
        if self._count > 1:
            more = "" if self._count == len(self._shown) else f", the first {len(self._shown)} of them shown"
            yield f"{self._count} {self._what}s are wrong{more}"
