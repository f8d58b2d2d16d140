"""Server-sent events: whatever the pieces, the same events come out."""

import pytest
from draftproof.evals.servers.event_stream import LONGEST_EVENT_CHARACTERS, EventReader, EventTooLongError
from hypothesis import given
from hypothesis import strategies as st

CASES = {
    "one line": (b"data: a\n\n", ["a"]),
    "no blank after the colon": (b"data:a\n\n", ["a"]),
    "only one blank is dropped": (b"data:  a\n\n", [" a"]),
    "carriage returns": (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
    "lone carriage returns": (b"data: a\r\rdata: b\r\r", ["a", "b"]),
    "two lines of data": (b"data: a\ndata: b\n\n", ["a\nb"]),
    "two lines of data, carriage returns": (b"data: a\r\ndata: b\r\n\r\n", ["a\nb"]),
    "keep-alive comments": (b": ping\n\n:\n\ndata: a\n\n: ping\n\n", ["a"]),
    "other fields": (b"event: message\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
    "a field without a colon": (b"data\ndata: a\n\n", ["\na"]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
    "letters of several bytes": ("data: Zürich 東京 🙂\n\n".encode(), ["Zürich 東京 🙂"]),
    "bytes that are no UTF-8": (b"data: a\xffb\n\n", ["a\ufffdb"]),
    "no blank line at the end": (b"data: a\n\ndata: b", ["a", "b"]),
    "blank lines alone": (b"\n\n\n", []),
    "nothing": (b"", []),
}


def events_of(pieces):
    reader = EventReader()
    events = [data for piece in pieces for data in reader.feed(piece)]
    return events + reader.close()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_data_of_each_event_comes_out_however_the_stream_is_split(case):
    """Whole, byte by byte, and split in two at every place, with and without a piece of no bytes there."""
    stream, expected = CASES[case]
    assert events_of([stream]) == expected
    assert events_of([stream[n : n + 1] for n in range(len(stream))]) == expected
    for place in range(len(stream) + 1):
        assert events_of([stream[:place], stream[place:]]) == expected
        assert events_of([stream[:place], b"", stream[place:]]) == expected


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs",)), min_size=1), max_size=4), st.data())
def test_what_a_server_writes_is_what_is_read(texts, data):
    """Any texts, any line endings, any split."""
    lines = [text.replace("\r", " ") for text in texts]
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    written = "".join(
        "".join(f"data: {part}{end}" for part in text.split("\n")) + end for text in lines
    ).encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=6)))
    pieces = [written[a:b] for a, b in zip([0, *places], [*places, len(written)], strict=True)]
    assert events_of(pieces) == lines


def test_an_event_without_end_is_refused():
    """A line that never ends must not fill the memory."""
    reader = EventReader()
    for _ in range(LONGEST_EVENT_CHARACTERS // 2**20):
        reader.feed(b"x" * 2**20)
    with pytest.raises(EventTooLongError, match="an event of more than"):
        reader.feed(b"x")
