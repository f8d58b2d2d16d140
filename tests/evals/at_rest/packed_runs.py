"""Runs packed for tests, and what of a run is compared."""

from draftproof.evals.at_rest.packing import pack_run
from draftproof.evals.summing_up.derived import derive


def packed(directory, out=None):
    out = out or directory.with_name(f"{directory.name}-packed")
    pack_run(directory, out)
    return out


def derived_files(run, directory):
    assert derive(run, directory)[1] is None
    return [(directory / name).read_bytes() for name in ("findings.jsonl", "summary.json")]


def kept_files(directory):
    """What a run keeps, byte for byte."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name not in ("findings.jsonl", "summary.json", "run.lock")
    }
