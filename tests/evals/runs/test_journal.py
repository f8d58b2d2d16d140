"""Nothing that was paid for is lost: one writer, whole lines, and torn ones closed."""

import json
import os
import resource
from dataclasses import replace

import pytest
from draftproof.errors import UserError
from draftproof.evals.attempt import read_attempt
from draftproof.evals.runs.journal import Journal, RunLock, write_json, write_text

from ..build import attempt


def lines_of(directory, arm="baseline"):
    return (directory / "attempts" / f"{arm}.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    "content", [None, "", "a\ud800b\udfff", "a\x00b", "a\nb\r\u2028\x85c", "𐍈" * 10, "\ufeff", '"\\']
)
def test_any_text_of_a_model_comes_back_as_it_was(content):
    """One ASCII line, whatever is in it: lone surrogates, NUL, every kind of line break."""
    one = attempt(content, tool_calls=[float("inf"), {"\ud800": [None, 1.5, 10**30]}])
    line = one.to_line().encode("ascii")
    assert line.count(b"\n") == 1
    assert read_attempt(line) == one


@pytest.mark.parametrize(
    "line", [b"", b"{", b"null", b"[]", b"{}", b"\x00\x00\x00\x00", b"\xff\xfe", b"[" * 100_000, b'{"id": 5}']
)
def test_a_line_that_we_did_not_write_is_a_value_error(line):
    """Torn, corrupted, or of another format: the reader decides what that means."""
    with pytest.raises((ValueError, RecursionError)):
        read_attempt(line)


def test_a_line_with_members_of_a_later_version_is_read():
    """A member more does not make a journal unreadable."""
    row = json.loads(attempt().to_line())
    assert read_attempt(json.dumps({**row, "new_member": 1}).encode()) == attempt()


def test_each_line_is_there_when_append_returns(tmp_path):
    """No buffer stands between an answer and the operating system."""
    with Journal(tmp_path) as journal:
        for number in (1, 2):
            journal.append(attempt(number=number))
            assert len(lines_of(tmp_path)) == number


@pytest.mark.parametrize("torn", [b'{"id": "s', b"\x00", attempt().to_line().encode()[:-1]])
def test_a_torn_last_line_is_closed_and_left(tmp_path, torn):
    """The next line starts on its own; the torn one stays where it was."""
    with Journal(tmp_path) as journal:
        journal.append(attempt(number=1))
    path = tmp_path / "attempts" / "baseline.jsonl"
    path.write_bytes(path.read_bytes() + torn)
    with Journal(tmp_path) as journal:
        journal.append(attempt(number=2))
    first, middle, last = lines_of(tmp_path)
    assert (read_attempt(first).attempt, middle, read_attempt(last).attempt) == (1, torn + b"\n", 2)


def test_a_full_disk_is_said_and_tears_no_line_but_its_own(tmp_path):
    """The write that did not fit is an error with exit code 4; later lines are whole again."""
    big = attempt("x" * 3000, number=2)
    with Journal(tmp_path) as journal:
        journal.append(attempt(number=1))
        size = len(b"".join(lines_of(tmp_path)))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
        try:
            for _ in range(2):
                with pytest.raises(UserError, match="cannot be written") as caught:
                    journal.append(big)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        journal.append(attempt(number=3))
    assert caught.value.exit_code == 4
    lines = lines_of(tmp_path)
    assert [read_attempt(line).attempt for line in (lines[0], lines[-1])] == [1, 3]
    assert sum(map(len, lines[1:-1])) <= 101


def test_closing_after_a_failed_write_is_silent(tmp_path):
    """The one error is the write's: nothing is left over that closing would try again."""
    (tmp_path / "attempts").mkdir()
    (tmp_path / "attempts" / "baseline.jsonl").symlink_to("/dev/full")
    with Journal(tmp_path) as journal, pytest.raises(UserError, match="cannot be written"):
        journal.append(attempt())


def test_a_journal_that_cannot_be_opened_is_said(tmp_path):
    """A file where the folder should be."""
    (tmp_path / "attempts").write_text("")
    with Journal(tmp_path) as journal, pytest.raises(UserError, match=r"baseline\.jsonl: cannot be written"):
        journal.append(attempt())


def test_one_run_has_one_writer(tmp_path):
    """A second writer is refused; the first one's end lets the next in."""
    refused = pytest.raises(UserError, match="another draftproof is writing this run")
    with RunLock(tmp_path), refused, RunLock(tmp_path):
        pass
    with RunLock(tmp_path):
        pass


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    """As under a read-only directory: a clear error with exit code 4."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written") as caught, RunLock(tmp_path / "file" / "run"):
        pass
    assert caught.value.exit_code == 4


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A failed write leaves the old file and no temporary one."""
    path = tmp_path / "summary.json"
    write_json(path, {"a": "\ud800ä"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": "\ud800ä"}
    before = path.read_bytes()

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"summary\.json: cannot be written: No space left") as caught:
        write_text(path, "other")
    assert caught.value.exit_code == 4
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["summary.json"]


def test_a_later_success_is_another_line(tmp_path):
    """The journal only grows: the failed line stays."""
    failed = replace(attempt(), status="failed")
    with Journal(tmp_path) as journal:
        journal.append(failed)
        journal.append(attempt())
    assert [read_attempt(line).status for line in lines_of(tmp_path)] == ["failed", "success"]
