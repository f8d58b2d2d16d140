"""Where the lines of each sample stand."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.evals.runs.line_index import LineIndex, id_of, scan_lines
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.tuples(st.none() | st.integers(0, 3), st.integers(1, 50)), max_size=30))
def test_each_line_is_found_where_it_stands(lines):
    """In order, whatever stands between; lines of nobody are not found."""
    index = LineIndex.of(4)
    wanted = {sample: [] for sample in range(4)}
    offset = 0
    for number, (sample, length) in enumerate(lines, start=1):
        index.add(sample, length)
        if sample is not None:
            wanted[sample].append((number, offset, length))
        offset += length
    assert {sample: index.places(sample) for sample in range(4)} == wanted


@given(st.text(st.characters(), max_size=8), st.text(max_size=8))
def test_the_id_of_a_line_is_what_its_json_says(sample_id, rest):
    """Quotation marks, escapes and lone surrogates in it or after it change nothing."""
    for row in ({"id": sample_id, "rest": rest}, {"rest": rest, "id": sample_id}):
        for text in (json.dumps(row), json.dumps(row, separators=(",", ":"))):
            assert id_of(text.encode("ascii") + b"\n") == sample_id


@pytest.mark.parametrize(
    "line", [b"\n", b"", b'{"id":', b'{"id":7}', b"[]", b'{"id":"\xff"}', b'{"ID":"a"}', b"[" * 100_000]
)
def test_a_line_without_an_id_has_none(line):
    """However it is broken."""
    assert id_of(line) is None


def test_a_file_that_cannot_be_read_is_said(tmp_path):
    """With its path."""
    with pytest.raises(UserError, match="cannot be read"):
        list(scan_lines(tmp_path))
