"""Journal lines, read back as they were written."""

import json
from dataclasses import replace

import pytest
from draftproof.evals.attempt import read_attempt
from hypothesis import given
from hypothesis import strategies as st

from .build import RIGHT, attempt

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
# What servers do send and UTF-8 cannot hold among them.
TEXT = st.text(st.characters(exclude_categories=()))


@given(content=TEXT, tool_calls=JSON, request=st.dictionaries(TEXT, JSON, max_size=3))
def test_a_line_reads_as_the_attempt_that_wrote_it(content, tool_calls, request):
    """Whatever a model, a server or a suite put into it; without its request all the rest is the same."""
    made = replace(attempt(RIGHT), content=content, tool_calls=tool_calls, request=request)
    line = made.to_line().encode("ascii")
    assert read_attempt(line) == made
    left = read_attempt(line, with_request=False)
    assert left.request == {}
    assert left.to_line() == replace(made, request={}).to_line()


@pytest.mark.parametrize("with_request", [True, False])
@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[:-20],
        lambda line: line.replace(b'"request":{', b'"request":{x'),
        lambda line: line.replace(b'"stage":"first"', b'"stage":"zeroth"'),
        lambda line: line.replace(b'"max_tokens":', b'"most_tokens":', 1),
        lambda line: line.replace(b'"retries":0', b'"retries":"0"'),
        lambda line: json.dumps({**json.loads(line), "request": [1]}).encode(),
        lambda line: line.replace(b'"request":{', b'"request":{"a":"\xff",', 1),
        lambda line: line.replace(b'"index":0', b'"index":100000000000000000000'),
        lambda line: line.replace(b'"completion_tokens":50', b'"completion_tokens":1' + b"0" * 400),
        lambda line: line[:-2] + b',"id":"another"}\n',
        lambda line: b'{"id":"another",' + line[1:],
        lambda _: b"[" * 100_000,
        lambda _: b"null",
    ],
)
def test_what_is_no_line_is_refused(damage, with_request):
    """Torn, broken in the request or elsewhere, with two ids or counts beyond any, of another format.

    Whether the request is wanted or not.
    """
    line = damage(attempt(RIGHT).to_line().encode("ascii"))
    with pytest.raises((ValueError, RecursionError)):
        read_attempt(line, with_request=with_request)
