"""Journal lines as columns, and back."""

from dataclasses import replace

from draftproof.evals.at_rest.attempt_columns import Line, attempts_of, columns_of, columns_schema, read_rows
from draftproof.evals.at_rest.packed_file import PackedWriter, attempts_file
from draftproof.evals.attempt import (
    Attempt,
    Drafts,
    EndpointError,
    ErrorType,
    ReadCall,
    Reading,
    ReadMark,
    Stage,
    Timing,
    Usage,
    read_attempt,
)
from draftproof.evals.plan import Mode
from hypothesis import given, settings
from hypothesis import strategies as st

from ...scripted import tool_call
from ..build import RIGHT, attempt

WORDS = st.text(st.characters(), max_size=8)
TEXTS = st.none() | WORDS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(WORDS, one, max_size=3),
    max_leaves=6,
)
COUNTS = st.integers() | st.integers(-5, 5)
MAYBE = st.none() | COUNTS
FLOATS = st.floats(allow_nan=False)
SPANS = st.tuples(st.integers(0, 9), st.integers(0, 9))
MARKS = st.lists(st.builds(ReadMark, WORDS, SPANS), max_size=2).map(tuple)
READINGS = st.builds(
    Reading,
    calls=st.lists(
        st.builds(ReadCall, WORDS, st.dictionaries(WORDS, WORDS, max_size=2), SPANS), max_size=2
    ).map(tuple),
    defects=MARKS,
    notes=MARKS,
    content=WORDS,
    reasoning=WORDS,
)
ATTEMPTS = st.builds(
    Attempt,
    id=WORDS,
    arm=st.sampled_from(["baseline", "ngram"]),
    max_tokens=COUNTS,
    attempt=COUNTS,
    finish_reason=TEXTS,
    stop_reason=JSON,
    content=TEXTS,
    reasoning=TEXTS,
    tool_calls=JSON,
    usage=st.none() | st.builds(Usage, MAYBE, MAYBE, MAYBE),
    request=st.dictionaries(WORDS, JSON, max_size=3),
    duration_ms=FLOATS,
    ttft_ms=st.none() | FLOATS,
    retries=COUNTS,
    spec=st.none() | st.builds(Drafts, COUNTS, COUNTS, MAYBE),
    system_fingerprint=TEXTS,
    error=st.none() | st.builds(EndpointError, message=WORDS, status=MAYBE),
    started_at=WORDS,
    index=COUNTS,
    chunks=MAYBE,
    first_event_ms=st.none() | FLOATS,
    timing=st.none() | st.builds(Timing, st.none() | FLOATS, st.none() | FLOATS, MAYBE),
    raw_text=TEXTS,
    reading=st.none() | READINGS,
)


@settings(deadline=None)
@given(attempts=st.lists(ATTEMPTS, max_size=4))
def test_every_attempt_comes_back(tmp_path_factory, attempts):
    """Its line byte for byte, and every member with its type, whether columns can hold it or not."""
    directory = tmp_path_factory.mktemp("packed")
    texts = [one.to_line().encode() for one in attempts]
    lines = [
        Line(one.arm, n, 10 * n, text) for n, (one, text) in enumerate(zip(attempts, texts, strict=True))
    ]
    with PackedWriter(attempts_file(directory), columns_schema(), "token") as writer:
        writer.write(columns_of(lines))
    rows = list(read_rows(attempts_of(directory), 0, {"baseline", "ngram"}))
    assert [Line(row.arm, row.number, row.offset, row.text) for row in rows] == lines
    for row, text in zip(rows, texts, strict=True):
        if not isinstance(row.attempt, bytes):
            assert repr(row.attempt) == repr(read_attempt(text))


def test_what_columns_can_hold_stands_in_them():
    """A line as it stands is the exception: most of the file would be such lines otherwise."""
    texts = [
        attempt(RIGHT, tool_calls=[tool_call("get_weather", {"city": "Ålesund \ud800"})], drafts=(3, 1)),
        attempt("naïve 😀", None, reasoning="", tokens=None),
        attempt(error=ErrorType.TIMEOUT),
        replace(attempt(), mode=Mode.RAW, stage=Stage.CONTROL, timing=Timing(1.5), raw_text="x", chunks=2),
        attempt("a lone surrogate \udfff"),
    ]
    table = columns_of(Line("baseline", 1, 0, one.to_line().encode()) for one in texts)
    assert [line is None for line in table.column("line").to_pylist()] == [True] * 4 + [False]
