"""Lines of a run's samples, read at once or not at all."""

import json

import pytest
from draftproof.tasks.raw_sample import SampleError, sample_from_json, sample_to_json
from draftproof.tasks.sample_line import read_as_written
from draftproof.tasks.suite import load_suites
from draftproof.tasks.suite_file import read_checked_line
from hypothesis import given
from hypothesis import strategies as st

from .samples import raw_sample

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def line_of(raw):
    """As a run writes it."""
    return (json.dumps(raw, separators=(",", ":")) + "\n").encode("ascii")


@pytest.mark.parametrize("spec", ["builtin:core", "builtin:starter", "builtin:speculation"])
def test_the_built_in_samples_read_as_by_the_strict_reader(spec):
    """All of them; at once those without text beyond ASCII or a number that is written in several ways."""
    samples = load_suites([spec]).samples
    at_once = 0
    for sample in samples:
        raw = sample_to_json(sample)
        assert sample_to_json(read_checked_line(line_of(raw), is_redacted=False)) == raw
        if (read := read_as_written(line_of(raw))) is not None:
            assert (sample_to_json(read), read.expected) == (raw, sample.expected)
            at_once += 1
    assert at_once > len(samples) / 2


@given(content=st.text(), values=st.lists(VALUES, min_size=1, max_size=2), metadata=VALUES)
def test_what_is_read_at_once_is_what_the_strict_reader_reads(content, values, metadata):
    """Whatever a line holds."""
    raw = raw_sample(
        messages=[{"role": "user", "content": content}],
        expected={"calls": [{"name": "get_weather", "arguments": {"city": values}}]},
        metadata=metadata if isinstance(metadata, dict) else {"any": metadata},
    )
    read = read_as_written(line_of(sample_to_json(sample_from_json(raw, is_checked=True))))
    strict = sample_from_json(raw, is_checked=True)
    assert read is None or (sample_to_json(read), read.expected) == (sample_to_json(strict), strict.expected)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b'{"id":', b'{"id":"other","id":'),
        lambda line: line.replace(b'"properties":{', b'"properties":{"city":{"type":"string"},', 1),
        lambda line: line.replace(b'"id":', b'"id": '),
        lambda line: line.replace(b'"category":"simple"', b'"category":"a\\nb"'),
        lambda line: line.replace(b'"category":"simple"', b'"category":""'),
        lambda line: line.replace(b'"tool_choice":"auto"', b'"tool_choice":"never"'),
        lambda line: line.replace(b'"name":"get_weather","arguments"', b'"name":"get","arguments"'),
        lambda line: line.replace(b'"expected":{', b'"expected":{"match":"bfcl",'),
        lambda line: line.replace(b'"messages":[{', b'"messages":[7,{'),
        lambda line: line.replace(b'"messages":', b'"mesages":'),
        lambda line: line.replace(b'"Oslo"', b"[" * 200 + b"]" * 200, 1),
        lambda line: line.replace(b'"type":"object"', b'"default":' + b"[" * 196 + b"]" * 196, 1),
        lambda line: line[:-9],
        lambda _: b"[" * 100_000,
    ],
)
def test_a_line_that_is_not_as_written_is_left_to_the_strict_reader(change):
    """Which refuses most of these, and says why."""
    line = line_of(sample_to_json(sample_from_json(raw_sample())))
    assert read_as_written(line) is not None
    changed = change(line)
    assert changed != line
    assert read_as_written(changed) is None


def test_a_key_that_stands_twice_is_refused_as_in_any_suite():
    """Though both values are the same."""
    line = line_of(sample_to_json(sample_from_json(raw_sample())))
    with pytest.raises(SampleError, match="twice"):
        read_checked_line(line.replace(b'{"id":', b'{"id":"a","id":'), is_redacted=False)
