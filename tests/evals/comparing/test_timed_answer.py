"""Timed answers, kept as numbers."""

import pickle

from draftproof.evals.attempt import Drafts
from draftproof.evals.comparing.timed_answer import Kind, TimedAnswer, TimedAnswers
from hypothesis import given
from hypothesis import strategies as st

COUNTS = st.integers(0, 2**40)
TIMES = st.floats(0, 1e9)
ANSWERS = st.builds(
    TimedAnswer,
    position=COUNTS,
    start=COUNTS,
    tokens=COUNTS,
    duration_ms=TIMES,
    ttft_ms=st.none() | TIMES,
    began_ms=st.none() | TIMES,
    predicted_ms=st.none() | TIMES,
    chunks=st.none() | COUNTS,
    drafts=st.none() | st.builds(Drafts, COUNTS, COUNTS, st.none() | COUNTS),
    kind=st.none() | st.sampled_from(Kind),
)


@given(st.lists(ANSWERS, max_size=5), st.lists(ANSWERS, max_size=5))
def test_what_was_put_in_comes_out(earlier, later):
    """In order, each value as it was, also those that nobody measured; from another process too."""
    kept, added = TimedAnswers(), TimedAnswers()
    for one in earlier:
        kept.append(one)
    for one in later:
        added.append(one)
    kept.add(pickle.loads(pickle.dumps(added)))
    assert list(kept) == earlier + later
    assert len(kept) == len(earlier + later)
