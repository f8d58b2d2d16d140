"""A run directory in the making: it appears whole or not at all."""

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...errors import UserError


@contextmanager
def new_directory(out: Path, sources: Sequence[Path]) -> Generator[Path]:
    """An empty directory to write into, which becomes `out` at the end; after an error nothing is left of it.

    Args:
        out: The directory to make.
        sources: The runs that it is made from; they stay as they are, so it is made outside of them.

    Raises:
        UserError: `out` holds something or stands in a source, or something cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out}: is there already", tip="give another -o")
    for source in sources:
        if out.resolve().is_relative_to(source.resolve()):
            raise UserError(f"{out}: stands in {source}, which is read", tip="give another -o")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
            made = Path(folder) / "run"
            made.mkdir()
            yield made
            made.rename(out)
    except OSError as error:
        raise UserError(f"{out}: cannot be written: {error}") from error
