"""The published data: every single-turn category loads, and its ground truth passes its own checker.

Needs the `bfcl-eval` package (`pip install --no-deps bfcl-eval`), or its unpacked wheel named by the variable
`DRAFTPROOF_BFCL`; no data of the benchmark lives here.
"""

import os
from collections import Counter
from importlib.util import find_spec

import pytest
from draftproof.tasks.bfcl_reading import read_bfcl_answer
from draftproof.tasks.bfcl_reference import reference_calls
from draftproof.tasks.match import compare
from draftproof.tasks.raw_sample import sample_from_json, sample_to_json
from draftproof.tasks.suite import load_suites

FOLDER = os.environ.get("DRAFTPROOF_BFCL")

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        FOLDER is None and find_spec("bfcl_eval") is None,
        reason="bfcl-eval is not installed and DRAFTPROOF_BFCL names no folder",
    ),
]

# Entries of each category in the wheel of 2026.3.23.
ENTRIES = {
    "simple_python": 400,
    "multiple": 200,
    "parallel": 200,
    "parallel_multiple": 200,
    "simple_java": 100,
    "simple_javascript": 50,
    "irrelevance": 240,
    "live_simple": 258,
    "live_multiple": 1053,
    "live_parallel": 16,
    "live_parallel_multiple": 24,
    "live_irrelevance": 884,
    "live_relevance": 16,
}
NO_ANSWER_CAN_PASS = {
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
    # Required lists whose right values are the empty list of values.
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    # Lists of `any`, whose items stay text, with numbers and booleans in the ground truth.
    "simple_java_36",
    "simple_java_65",
}


@pytest.fixture(scope="module")
def suite():
    place = "" if FOLDER is None else f"{FOLDER}#"
    return load_suites([f"bfcl:{place}all-single-turn"])


def test_every_category_loads_with_its_published_count(suite):
    counts = Counter(one.category for one in [*suite.samples, *suite.excluded])
    assert counts == ENTRIES


def test_exactly_the_known_entries_are_left_out(suite):
    unpassable = {one.id for one in suite.excluded if one.reason.startswith("no answer can pass")}
    without_tools = {one.id for one in suite.excluded} - unpassable
    assert unpassable == NO_ANSWER_CAN_PASS
    assert without_tools == {f"live_irrelevance_{120 + i}-9-{i}" for i in range(4)}


def test_the_ground_truth_fed_back_passes(suite):
    for sample in suite.samples:
        if sample.expected.calls:
            calls = reference_calls(sample.expected)
            assert compare(sample.expected, calls) is None, sample.id
            assert read_bfcl_answer(sample.expected, calls, is_broken=False).bipartite, sample.id


def test_a_changed_name_never_passes(suite):
    for sample in suite.samples:
        if sample.expected.calls:
            first, *rest = reference_calls(sample.expected)
            assert compare(sample.expected, [type(first)("no_such", first.arguments, first.span), *rest])


def test_every_sample_is_read_back_as_it_was_written(suite):
    for sample in suite.samples[::10]:
        again = sample_from_json(sample_to_json(sample))
        assert again.expected == sample.expected
        assert sample_to_json(again) == sample_to_json(sample)
