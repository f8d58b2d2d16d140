"""A run directory opened to be judged, in whichever form it stands."""

from pathlib import Path

from ..runs.record import read_run
from ..runs.run import Run
from ..runs.run_file import is_packed
from ..runs.stored_run import index_run
from .packed_run import open_packed

# Bytes of journal that are read whole: about three times as much memory.
SMALL = 32 * 1024 * 1024


def open_run(directory: Path) -> Run:
    """Open a run directory to judge it; it may be incomplete, being written, or read-only.

    Raises:
        UserError: No run there, or its plan or samples cannot be read.
    """
    if is_packed(directory):
        return open_packed(directory)
    journals = directory.glob("attempts/*.jsonl")
    if sum(path.stat().st_size for path in journals if path.is_file()) <= SMALL:
        return read_run(directory)
    return index_run(directory)
