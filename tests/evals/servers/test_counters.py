"""A server's own totals: read from real pages, and differences that no restart and no stranger falsifies."""

import json
from pathlib import Path

import pytest
from draftproof.evals.servers.counters import (
    Counters,
    Snapshot,
    counted,
    read_counters,
    read_kv_tokens,
    read_snapshots,
)

RECORDED = json.loads((Path(__file__).parents[1] / "recorded" / "vllm-0.32.json").read_text())
LLAMA = """# HELP llamacpp:tokens_predicted_total Number of generation tokens processed.
# TYPE llamacpp:tokens_predicted_total counter
llamacpp:tokens_predicted_total 96
llamacpp:spec_decode_num_draft_tokens_total 40
llamacpp:spec_decode_num_accepted_tokens_total 12
llamacpp:spec_decode_num_drafts_total 10
"""


def test_a_real_vllm_page_is_read():
    """The `_created` lines beside the totals are no totals."""
    counters = read_counters(RECORDED["metrics"]["body"])
    assert (counters.drafts, counters.draft_tokens, counters.accepted_tokens) == (42, 152, 152)
    assert counters.accepted_per_position == (42, 40, 40, 30)
    assert sum(counters.accepted_per_position) == counters.accepted_tokens
    assert read_kv_tokens(RECORDED["metrics"]["body"]) == 46592


def test_a_server_without_speculation_shows_no_drafts():
    """Absent is not zero."""
    counters = read_counters(RECORDED["metrics_plain"]["body"])
    assert (counters.drafts, counters.draft_tokens, counters.accepted_tokens) == (None, None, None)
    assert counters.generated_tokens > 0
    assert counters.drafted_share is None


def test_llama_cpp_names_are_known():
    """As the embedded server writes them."""
    expected = Counters(drafts=10, draft_tokens=40, accepted_tokens=12, generated_tokens=96)
    assert read_counters(LLAMA) == expected
    assert read_counters(LLAMA).drafted_share == 0.125


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('vllm:generation_tokens_total{engine="0"} 3\nvllm:generation_tokens_total{engine="1"} 4\n', 7),
        ('vllm:generation_tokens_total{model_name="a\\"}b"} 5.0 1700000000\n', 5),
        ("vllm:generation_tokens_total 1e3\n", 1000),
        ("vllm:generation_tokens_total NaN\n", None),
        ("vllm:generation_tokens_total +Inf\n", None),
        ("vllm:generation_tokens_total\n", None),
        ("vllm:generation_tokens_total_created 7\n", None),
        ("<html>vllm:generation_tokens_total 7</html>", None),
        ("", None),
    ],
)
def test_a_total_is_the_sum_over_engines_and_nothing_else(page, expected):
    """Labels may hold any character; what is no number is not told."""
    assert read_counters(page).generated_tokens == expected


def snapshot(session, drafted, accepted=0, positions=()):
    return Snapshot(session, "t", Counters(None, drafted, accepted, positions))


@pytest.mark.parametrize(
    ("snapshots", "drafted"),
    [
        ([], None),
        ([snapshot("a", 5)], None),
        ([snapshot("a", 5), snapshot("a", 9)], 4),
        ([snapshot("a", 5), snapshot("a", 9), snapshot("a", 9)], 4),
        # Between sessions others may have used the server: that is nobody's count.
        ([snapshot("a", 5), snapshot("a", 9), snapshot("b", 50), snapshot("b", 51)], 5),
        # A server that was restarted counts from zero again.
        ([snapshot("a", 5), snapshot("a", 3)], 3),
        ([snapshot("a", 0), snapshot("a", 0)], 0),
        ([snapshot("a", None), snapshot("a", None)], None),
    ],
)
def test_what_counts_is_the_growth_within_a_session(snapshots, drafted):
    """None where it cannot be known, 0 where nothing was drafted."""
    total = counted(snapshots)
    assert (None if total is None else total.draft_tokens) == drafted


def test_positions_are_added_place_by_place():
    """Dynamic speculation drafts longer at times."""
    total = counted(
        [
            snapshot("a", 0, 0, (1,)),
            snapshot("a", 4, 3, (3, 1)),
            snapshot("b", 0, 0, ()),
            snapshot("b", 2, 2, (2,)),
        ]
    )
    assert total.accepted_per_position == (4, 1)


def test_torn_lines_and_a_missing_file_tell_nothing(tmp_path):
    """A kill may tear the last line."""
    path = tmp_path / "ngram.jsonl"
    assert list(read_snapshots(path)) == []
    whole = snapshot("a", 5).to_line()
    path.write_text(whole + whole[:20])
    assert list(read_snapshots(path)) == [snapshot("a", 5)]
