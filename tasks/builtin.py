"""Built-in suites (being written)."""


def builtin_names() -> tuple[str, ...]:
    return ()


def read_builtin(name: str) -> list[dict]:
    raise KeyError(name)
