"""The kept inputs: `corpus/TARGET.jsonl`, one input a line, as a JSON string that a person can read.

Bytes that are no UTF-8 stand as lone surrogates (`surrogateescape`), so every input comes back as it was.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"


def kept(target: str) -> list[bytes]:
    """Return the kept inputs of a target."""
    path = FOLDER / f"{target}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line).encode("utf-8", "surrogateescape") for line in lines]


def keep(target: str, inputs: list[bytes]) -> None:
    """Write the inputs of a target, the shortest first."""
    texts = [one.decode("utf-8", "surrogateescape") for one in sorted(set(inputs), key=lambda o: (len(o), o))]
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    _ = (FOLDER / f"{target}.jsonl").write_text(lines, encoding="utf-8")
