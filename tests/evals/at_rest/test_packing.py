"""Packing and unpacking: what comes along, what comes back, and what is refused."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.at_rest.packing import pack_run, unpack_run

from ...reports.test_reports import make_run
from ..runs.test_stored_run import written
from .packed_runs import kept_files, packed

pytestmark = pytest.mark.usefixtures("in_small_groups")


def test_what_else_stands_in_the_directory_comes_along_and_back(tmp_path):
    """Left out by its exact place is what is written in another form or derived anew, and our locks."""
    directory = written(tmp_path / "run", make_run())
    others = ("servers/mtp.log", "report.html", ".part", "attempts/old.jsonl", "attempts/.note")
    others += ("notes/.keep", "notes/own.lock", "notes/findings.jsonl", "notes/run.json", "own.lock")
    left_out = ("findings.jsonl", "run.lock", "mirror.lock")
    for name in (*others, *left_out):
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(name)
    for folder in (directory, directory / "attempts"):
        folder.chmod(0o555)
    there = packed(directory)
    assert all(one.stat().st_mode & 0o200 for one in (there, there / "attempts"))
    names = {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}
    assert names == {"run.json", "samples.parquet", "attempts.parquet", *others}
    unpack_run(there, tmp_path / "back")
    directory.chmod(0o755)
    (directory / "mirror.lock").unlink()
    assert kept_files(tmp_path / "back") == kept_files(directory)


def test_a_run_packs_without_a_folder_for_journals(tmp_path):
    """It would be empty; what looks for journals finds none there."""
    assert not (packed(written(tmp_path / "run", make_run())) / "attempts").exists()


def test_samples_come_back_line_by_line(tmp_path):
    """What a hand put around them says nothing, and stays behind."""
    directory = written(tmp_path / "run", make_run())
    path = directory / "samples.jsonl"
    lines = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n\r\n"))
    unpack_run(packed(directory), tmp_path / "back")
    assert (tmp_path / "back" / "samples.jsonl").read_bytes() == lines


@pytest.mark.parametrize(
    ("act", "name", "says"),
    [
        (pack_run, "run-packed", "run-packed: is packed already"),
        (unpack_run, "run", "run: is not packed"),
        (pack_run, "nowhere", "not a run directory"),
        (unpack_run, "nowhere", "not a run directory"),
    ],
)
def test_what_there_is_nothing_to_do_with_is_refused(tmp_path, act, name, says):
    """With what to do in its place, and no directory is made."""
    packed(written(tmp_path / "run", make_run()))
    with pytest.raises(UserError, match=says) as caught:
        act(tmp_path / name, tmp_path / "new" / "out")
    assert caught.value.tip
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("act", "name"), [(pack_run, "run"), (unpack_run, "run-packed")])
def test_a_place_that_is_taken_is_refused(tmp_path, act, name):
    """And what stands there stays."""
    directory = written(tmp_path / "run", make_run())
    packed(directory)
    before = kept_files(directory)
    with pytest.raises(UserError, match="is there already"):
        act(tmp_path / name, directory)
    with pytest.raises(UserError, match=r"stands in .*, which is read"):
        act(tmp_path / name, tmp_path / name / "deep" / "new")
    assert not (tmp_path / name / "deep").exists()
    assert kept_files(directory) == before
