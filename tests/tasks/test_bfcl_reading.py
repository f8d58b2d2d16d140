"""The stricter view: a matching instead of a greedy walk, and a broken call is no abstention."""

import pytest
from draftproof.tasks.bfcl_reading import read_bfcl_answer
from draftproof.tasks.bfcl_terms import BfclRule, Language

from .test_bfcl_match import array, call, due, expect

IRRELEVANT = expect(rule=BfclRule.IRRELEVANCE)
PROPERTIES = {
    "x": {"type": "integer"},
    "y": {"type": "integer"},
    "s": {"type": "string"},
    "o": {"type": "dict"},
    "l": array("dict"),
}


@pytest.mark.parametrize(
    ("calls", "is_broken", "reading"),
    [
        ([], False, (True, True, "abstained")),
        ([], True, (True, False, "tried_and_unparsable")),
        ([call()], False, (False, False, "called")),
        ([call()], True, (False, False, "called")),
    ],
)
def test_a_broken_call_is_credited_by_the_benchmark_and_not_here(calls, is_broken, reading):
    read = read_bfcl_answer(IRRELEVANT, calls, is_broken=is_broken)
    assert (read.compatible, read.exact, read.abstention) == reading
    assert read.bipartite == read.exact


def test_parallel_calls_that_fit_in_some_pairing_are_right_in_any_order():
    expected = expect(due(x=[1], y=[2, ""]), due(x=[1], y=[2]), rule=BfclRule.PARALLEL, properties=PROPERTIES)
    read = read_bfcl_answer(expected, [call(x=1, y=2), call(x=1)], is_broken=False)
    assert read.to_json() == {
        "compatible": False,
        "error_type": "parallel_function_checker_no_order:cannot_find_match",
        "bipartite": True,
        "exact": True,
    }


@pytest.mark.parametrize(
    ("right", "arguments", "is_exact"),
    [
        ({"s": ["Oslo"]}, {"s": "Oslo"}, True),
        ({"s": ["Oslo"]}, {"s": "oslo."}, False),
        ({"s": ["Oslo", ""]}, {"s": ""}, False),
        ({"s": ["Oslo", ""]}, {}, True),
        ({"o": [{"a": ["A", "b"], "c": [1, ""]}]}, {"o": {"a": "b"}}, True),
        ({"o": [{"a": ["A", "b"], "c": [1, ""]}]}, {"o": {"a": "B"}}, False),
        ({"o": [{"a": [1]}]}, {"o": {"a": True}}, False),
        ({"l": [[{"a": [1]}]]}, {"l": [{"a": 1}]}, True),
        ({"l": [[{"a": [1]}]]}, {"l": [{"a": 1.0}]}, True),
        ({"l": [[{"a": [1]}]]}, {"l": [{"a": True}]}, False),
    ],
)
def test_exact_means_json_equality_of_what_the_benchmark_takes(right, arguments, is_exact):
    read = read_bfcl_answer(expect(due(**right), properties=PROPERTIES), [call(**arguments)], is_broken=False)
    assert (read.compatible, read.exact) == (True, is_exact)


def test_source_text_is_exact_in_what_it_stands_for():
    expected = expect(due(x=[5]), properties={"x": {"type": "long"}}, language=Language.JAVA)
    assert read_bfcl_answer(expected, [call(x="5L")], is_broken=False).exact
    assert not read_bfcl_answer(expected, [call(x="5")], is_broken=False).exact


@pytest.mark.parametrize("rule", [BfclRule.SIMPLE, BfclRule.RELEVANCE])
def test_an_answer_with_a_broken_call_is_right_nowhere_else(rule):
    expected = expect(*([due()] if rule is BfclRule.SIMPLE else []), rule=rule)
    read = read_bfcl_answer(expected, [call()], is_broken=True)
    assert (read.compatible, read.error_type, read.exact) == (False, "ast_decoder:decoder_failed", False)


def test_any_call_is_exact_where_only_relevance_is_asked():
    expected = expect(rule=BfclRule.RELEVANCE)
    assert read_bfcl_answer(expected, [call()], is_broken=False).exact
    assert read_bfcl_answer(expected, [], is_broken=False).error_type == "relevance:no_call"
