"""The end of a server's log, for the message that says it did not come up."""

from pathlib import Path

_LINES = 12


def last_output(log: Path) -> str:
    """What the server wrote last, indented; says so if it wrote nothing."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "its last output:\n" + ("\n".join(f"    {line}" for line in lines[-_LINES:]) or "    (none)")
