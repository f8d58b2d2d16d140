"""Suite files: every wrong line is named, with its number, in one error."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.tasks import json_lines
from draftproof.tasks.suite_file import read_suite_file

from .samples import raw_sample


@pytest.fixture
def write(tmp_path):
    def write(*lines):
        path = tmp_path / "suite.jsonl"
        texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        path.write_bytes(b"\n".join(texts))
        return path

    return write


def problem(path):
    with pytest.raises(UserError) as caught:
        list(read_suite_file(path))
    return str(caught.value).replace(f"{path}", "FILE")


def test_lines_are_numbered_as_an_editor_numbers_them(write):
    path = write(raw_sample(id="a"), b"", b"  \r", raw_sample(id="b"), b"")
    assert [(line, sample.id) for line, sample in read_suite_file(path)] == [(1, "a"), (4, "b")]


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(write):
    path = write(b"\xef\xbb\xbf" + json.dumps(raw_sample(id="a")).encode() + b"\r", raw_sample(id="b"))
    assert [sample.id for _, sample in read_suite_file(path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "FILE: holds no sample, expected one JSON object a line"),
        ([b"", b" "], "FILE: holds no sample, expected one JSON object a line"),
        ([b'{"id": "\xff"}'], "FILE:1: not UTF-8: byte 0xff at byte 9 of the line"),
        ([b'{"id": 1, "id": 2}'], 'FILE:1: holds the key "id" twice in one object, again at column 11'),
        (
            [b'{"metadata": {"a": 1, "a": 1}}'],
            'FILE:1: holds the key "a" twice in one object, again at column 23',
        ),
        ([b"{} x"], "FILE:1: not JSON: something follows the value, at column 4"),
        ([b"[]"], "FILE:1: is [], expected a JSON object"),
        ([raw_sample(messages=[])], "FILE:1: messages: is empty, expected at least one"),
        (
            [raw_sample(), raw_sample(id="b"), raw_sample()],
            'FILE:3: id: is "core/weather-3", which line 1 has already',
        ),
        (
            [raw_sample(id=1), raw_sample(), b"{} x"],
            (
                "FILE:1: id: is 1, expected a valid string\n"
                "FILE:3: not JSON: something follows the value, at column 4\n"
                "2 lines are wrong"
            ),
        ),
    ],
)
def test_a_wrong_line_is_named(write, lines, message):
    assert problem(write(*lines)) == message


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (b"{", 2),
        (b"{'id': 1}", 2),
        (b'{"id": NaN}', 8),
        (b'{"metadata": {"a": 1e999}}', 20),
        (b'{"id": "\\ud83d"}', 9),
        (b"[" * 100_000, 201),
    ],
)
def test_what_could_not_be_sent_again_is_no_json(write, line, column):
    message = problem(write(line))
    assert message.startswith("FILE:1: not JSON: ")
    assert message.endswith(f", at column {column}")


@pytest.mark.parametrize("member", ["messages", "tools", "expected", "metadata"])
def test_the_deepest_json_that_reads_is_no_crash(write, member):
    nested = b'{"a":' * 195 + b"1" + b"}" * 195
    raw = json.dumps({**raw_sample(), member: [0]}).encode().replace(b"[0]", b"[" + nested + b"]")
    assert problem(write(raw)).startswith(f"FILE:1: {member}")


def test_only_the_first_wrong_lines_are_shown_and_all_are_counted(write):
    lines = problem(write(*[b"x"] * 50)).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "50 lines are wrong, the first 20 of them shown"


def test_a_line_too_long_to_hold_is_passed_over(write, monkeypatch):
    monkeypatch.setattr(json_lines, "LONGEST_LINE_BYTES", 2**20)
    path = write(raw_sample(id="a"), b"x" * (5 * 2**20), b"[]")
    assert problem(path) == (
        "FILE:2: the line is too long, expected at most 1 MiB\n"
        "FILE:3: is [], expected a JSON object\n"
        "2 lines are wrong"
    )


@pytest.mark.parametrize("last", [b"", b"\n"])
def test_the_longest_line_allowed_is_read(tmp_path, monkeypatch, last):
    line = json.dumps(raw_sample()).encode()
    monkeypatch.setattr(json_lines, "LONGEST_LINE_BYTES", len(line))
    path = tmp_path / "suite.jsonl"
    path.write_bytes(line + last)
    assert len(list(read_suite_file(path))) == 1


def test_a_file_that_cannot_be_read_is_one_error(tmp_path):
    assert problem(tmp_path / "none.jsonl") == "FILE: cannot be read: No such file or directory"
    assert problem(tmp_path) == "FILE: cannot be read: Is a directory"


def test_samples_come_before_the_file_is_read_to_its_end(write):
    reader = read_suite_file(write(raw_sample(), b"x"))
    assert next(reader)[1].id == "core/weather-3"
    reader.close()
