"""The one error a user sees: what is wrong, where, what was expected, and what to do."""


class UserError(Exception):
    """Bad input or a refused action; the command prints it and exits with `exit_code`.

    Args:
        what: What is wrong, with the place (file, line, key) in front where there is one.
        tip: What to do about it; printed on a line of its own.
        exit_code: 2 for usage and bad input, 4 for a run that was refused (DESIGN: exit codes).
    """

    def __init__(self, what: str, *, tip: str | None = None, exit_code: int = 2) -> None:
        super().__init__(what)
        self.what = what
        self.tip = tip
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.what if self.tip is None else f"{self.what}\n  tip: {self.tip}"


def first_error(group: BaseExceptionGroup[UserError]) -> UserError:
    """Return the first error of those that tasks side by side have raised: several may have one reason."""
    first = group.exceptions[0]
    return first_error(first) if isinstance(first, BaseExceptionGroup) else first
