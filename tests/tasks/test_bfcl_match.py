"""Matching by BFCL's rules: what its own checker was seen to answer, case by case, quirks included."""

import itertools

import pytest
from draftproof.parsers.result import Call, Span
from draftproof.tasks.bfcl_match import refuse
from draftproof.tasks.bfcl_terms import BfclRule, BfclTerms, Language, rule_of_category, terms_of_description
from draftproof.tasks.bfcl_values import normalised
from draftproof.tasks.match import compare
from draftproof.tasks.sample import Expected, ExpectedCall, MatchRule
from hypothesis import given
from hypothesis import strategies as st

OMIT = object()


def array(item, word="array"):
    return {"type": word, "items": {"type": item}}


def call(name="f", **arguments):
    return Call(name, arguments, Span(0, 0))


def due(name="f", **arguments):
    return ExpectedCall(name, arguments)


def expect(*calls, rule=BfclRule.SIMPLE, properties=None, required=(), language=Language.PYTHON):
    description = {"type": "dict", "properties": properties or {}, "required": list(required)}
    functions = {one.name: terms_of_description(description) for one in calls}
    return Expected(tuple(calls), MatchRule.BFCL, BfclTerms(rule, functions, language))


def error_of(expected, *calls):
    refusal = refuse(expected, calls)
    return refusal and refusal.error_type


def judge(declared, right, value, required=(), language=Language.PYTHON):
    """The error type of one argument; None if it passes."""
    declared = {"type": declared} if isinstance(declared, str) else declared
    expected = expect(due(x=right), properties={"x": declared}, required=required, language=language)
    return error_of(expected, call() if value is OMIT else call(x=value))


MISSING_REQUIRED = "simple_function_checker:missing_required"
MISSING_OPTIONAL = "simple_function_checker:missing_optional"
UNEXPECTED = "simple_function_checker:unexpected_param"
CRASH = "checker_crash"


@pytest.mark.parametrize(
    ("declared", "right", "value", "error_type"),
    [
        # Types are exact: a boolean is no integer, an integer no float, save at the top.
        ("integer", [1], 1, None),
        ("integer", [1], True, "type_error:simple"),
        ("integer", [1], 1.0, "type_error:simple"),
        ("integer", [1], "1", "type_error:simple"),
        ("integer", [1], 2, "value_error:others"),
        ("float", [5.0], 5, None),
        ("float", [5], 5.0, None),
        ("float", [5.0], True, "type_error:simple"),
        ("float", [1.0], 10**400, CRASH),
        (array("float"), [[1.5, 2.5]], [1, 2], "type_error:nested"),
        (array("float"), [[1, 2]], [1, 2], None),
        # A type word that the checker does not know ends in an exception.
        ("number", [1], 1, CRASH),
        ("object", [{}], {}, CRASH),
        ("array", [[1]], [1], CRASH),
        (array("number"), [[1]], [1], CRASH),
        # Strings are compared without spaces and ,./-_*^, in lower case, with ' as ".
        ("string", ["April 1, 2024"], "april 1 2024", None),
        ("string", ["A_b-c/d.e*f^g"], "abcdefg", None),
        ("string", ["it's"], 'it"s', None),
        ("string", ["a\nb"], "ab", "value_error:string"),
        ("string", ["f(x)"], "fx", "value_error:string"),
        ("string", ["a:b"], "ab", "value_error:string"),
        # "" may be given for an optional string, not for an optional integer.
        ("string", ["x", ""], "", None),
        ("integer", [1, ""], "", "type_error:simple"),
        # Null passes only where it is listed first.
        ("string", [None, "abc"], None, None),
        ("string", ["abc", None], None, "type_error:simple"),
        ("string", ["", None, "abc"], "ABC", "value_error:others"),
        ("string", ["", None, "abc"], "abc", None),
        # A right value of another type is a variable, compared literally.
        ("any", [1], 1, None),
        ("any", [1], "1", "value_error:others"),
        ("any", ["x"], 1, "type_error:simple"),
        ("string", ["dontcare", ""], "DontCare", None),
        (array("string"), ["variable"], "variable", None),
        (array("string"), ["variable"], "Variable", "value_error:others"),
        # Lists in order, strings at their top normalised; a "" counts as the empty list.
        (array("string"), [["A b", "c"]], ["a_b", "C"], None),
        (array("string"), [["a", "b"]], ["b", "a"], "value_error:list/tuple"),
        (array("string"), [["a"], ""], [], None),
        (array("array"), [[["A"]]], [["a"]], "value_error:list/tuple"),
        (array("string", "tuple"), [["a"]], ["a"], None),
        (array("string"), [["a"]], [1], "type_error:nested"),
        (array("string"), ["", ["a"]], [1], "value_error:list/tuple"),
        (array("string"), [], [], "type_error:simple"),
        # Objects by their members, each with its own right values.
        ("dict", [{"a": [1], "b": ["X y", ""]}], {"a": 1}, None),
        ("dict", [{"a": [1], "b": ["X y", ""]}], {"a": 1, "b": "xY"}, None),
        ("dict", [{"a": [1]}], {"a": True}, None),
        ("dict", [{"a": [1]}], {"a": 1.0}, None),
        ("dict", [{"a": [1]}], {}, "value_error:dict_key"),
        ("dict", [{"a": [1]}], {"a": 1, "b": 2}, "value_error:dict_key"),
        ("dict", [{"a": [1]}], {"a": 2}, "value_error:dict_value"),
        ("dict", [{"a": [{"j": ["v"]}]}], {"a": {"j": "v"}}, "value_error:dict_value"),
        ("dict", [{"a": [{"j": "V"}]}], {"a": {"j": "v"}}, "value_error:dict_value"),
        ("dict", [{"a": [{"j": "v"}]}], {"a": {"j": "v"}}, None),
        ("dict", [""], {}, "dict_checker:unclear"),
        ("dict", [{"a": "word"}], {}, None),
        (array("dict"), [[{"a": [1]}, {"a": [2]}]], [{"a": 1}, {"a": 2}], None),
        (array("dict"), [[{"a": [1]}, {"a": [2]}]], [{"a": 2}, {"a": 1}], "value_error:dict_value"),
        (array("dict"), [[{"a": [1]}]], [], "value_error:list_dict_count"),
        (array("dict"), ["", [{"a": [1]}]], [], None),
        (array("dict"), ["", [{"a": [1]}]], ["a"], CRASH),
        # Left out.
        ("integer", [1, ""], OMIT, None),
        ("integer", [1], OMIT, MISSING_OPTIONAL),
    ],
)
def test_an_argument_is_judged_as_the_benchmark_judges_it(declared, right, value, error_type):
    assert judge(declared, right, value) == error_type


@pytest.mark.parametrize(
    ("language", "declared", "right", "value", "error_type"),
    [
        (Language.JAVA, "integer", [5], "5", None),
        (Language.JAVA, "integer", [5], 5, "type_error:java"),
        (Language.JAVASCRIPT, "Boolean", [True], True, "type_error:js"),
        (Language.JAVA, "long", [5], "5L", None),
        (Language.JAVA, "long", [5], "5", "type_error:simple"),
        (Language.JAVA, "float", [5.0], "5.0f", None),
        (Language.JAVA, "boolean", [True], "true", None),
        (Language.JAVA, "String", ["abc"], "abc", None),
        (Language.JAVA, "String", ["abc"], '"abc"', "value_error:string"),
        (Language.JAVA, "HashMap", ["variable"], "variable", None),
        (Language.JAVA, "HashMap", [{"a": [1]}], 'new HashMap<>() {{ put("a", 1); }}', None),
        (Language.JAVA, array("integer", "Array"), [[1, 2]], "new int[]{1, 2}", None),
        (Language.JAVA, array("integer", "Array"), [[1]], "new int[]{a}", "type_error:nested"),
        (Language.JAVA, "Queue", ["x"], "x", CRASH),
        (Language.JAVASCRIPT, "String", ["abc"], '"abc"', None),
        (Language.JAVASCRIPT, array("float"), [[1.0]], "[1]", None),
        (Language.JAVASCRIPT, array("float"), [[1.0]], "[a]", "type_error:nested"),
        (Language.JAVASCRIPT, "boolean", [True], "true", CRASH),
    ],
)
def test_source_text_is_judged_by_what_it_stands_for(language, declared, right, value, error_type):
    assert judge(declared, right, value, language=language) == error_type


def test_a_required_parameter_must_be_given_even_where_the_ground_truth_lets_it_out():
    assert judge("string", ["x", ""], OMIT, required=["x"]) == MISSING_REQUIRED


def test_an_argument_that_the_ground_truth_does_not_list_fails_though_the_schema_declares_it():
    expected = expect(due(x=[1]), properties={"x": {"type": "integer"}, "y": {"type": "integer"}})
    assert error_of(expected, call(x=1, y=0)) == UNEXPECTED


def test_an_argument_that_the_schema_does_not_declare_fails_though_the_ground_truth_lists_it():
    assert error_of(expect(due(x=[1])), call(x=1)) == UNEXPECTED


def test_arguments_are_judged_in_the_order_in_which_they_came():
    expected = expect(due(x=[1]), properties={"x": {"type": "integer"}})
    assert error_of(expected, call(x=2, y=0)) == "value_error:others"
    assert error_of(expected, call(y=0, x=2)) == UNEXPECTED


@pytest.mark.parametrize(
    ("rule", "calls", "error_type"),
    [
        (BfclRule.SIMPLE, [], "simple_function_checker:wrong_count"),
        (BfclRule.SIMPLE, [call(), call()], "simple_function_checker:wrong_count"),
        (BfclRule.SIMPLE, [call("g")], "simple_function_checker:wrong_func_name"),
        (BfclRule.MULTIPLE, [], "multiple_function_checker:wrong_count"),
        (BfclRule.MULTIPLE, [call()], None),
        (BfclRule.PARALLEL, [], "parallel_function_checker_no_order:wrong_count"),
        (BfclRule.PARALLEL, [call("g")], "parallel_function_checker_no_order:cannot_find_match"),
    ],
)
def test_calls_are_counted_before_they_are_read(rule, calls, error_type):
    assert error_of(expect(due(), rule=rule), *calls) == error_type


def test_parallel_calls_are_matched_greedily_so_that_their_order_can_decide():
    properties = {"x": {"type": "integer"}, "y": {"type": "integer"}}
    expected = expect(
        due(x=[1], y=[2, ""]),
        due(x=[1], y=[2]),
        rule=BfclRule.PARALLEL,
        properties=properties,
        required=["x"],
    )
    whole, short = call(x=1, y=2), call(x=1)
    assert error_of(expected, whole, short) == "parallel_function_checker_no_order:cannot_find_match"
    assert error_of(expected, short, whole) is None


def test_no_call_is_right_exactly_where_none_is_due():
    assert error_of(expect(rule=BfclRule.IRRELEVANCE)) is None
    assert error_of(expect(rule=BfclRule.IRRELEVANCE), call()) == "irrelevance:called"


def test_any_call_at_all_is_right_where_only_relevance_is_asked():
    assert error_of(expect(rule=BfclRule.RELEVANCE), call("anything", x=1)) is None
    assert error_of(expect(rule=BfclRule.RELEVANCE)) == "relevance:no_call"


@pytest.mark.parametrize(
    ("calls", "code", "message"),
    [
        ([], "no_call", "no call came, but f was due (simple_function_checker:wrong_count)"),
        (
            [call(x=1), call(x=1)],
            "duplicate_call",
            "2 calls came (f, f), 1 due (f) (simple_function_checker:wrong_count)",
        ),
        (
            [call(x=1), call("g")],
            "extra_call",
            "2 calls came (f, g), 1 due (f) (simple_function_checker:wrong_count)",
        ),
        (
            [call("g")],
            "wrong_function",
            "g was called instead of f (simple_function_checker:wrong_func_name)",
        ),
        ([call()], "missing_argument", "f: $.x is missing (simple_function_checker:missing_optional)"),
        (
            [call(y=1)],
            "extra_argument",
            "f: $.y is 1, but none was due (simple_function_checker:unexpected_param)",
        ),
        ([call(x=3)], "wrong_arguments", "f: $.x is 3, expected 1 or 2 (value_error:others)"),
    ],
)
def test_a_refusal_is_said_in_the_words_of_this_house_with_the_benchmarks_beside(calls, code, message):
    expected = expect(due(x=[1, 2]), properties={"x": {"type": "integer"}})
    difference = compare(expected, calls)
    assert difference is not None
    assert (difference.code, difference.message) == (code, message)


def test_a_parallel_call_that_nothing_fits_is_told_by_the_call_that_comes_nearest():
    expected = expect(due(x=[1]), due("g"), rule=BfclRule.PARALLEL, properties={"x": {"type": "integer"}})
    difference = compare(expected, [call("g"), call(x=2)])
    assert difference is not None
    assert difference.code == "wrong_arguments"
    assert difference.paths == ("$.x",)


@pytest.mark.parametrize(
    ("category", "rule"),
    [
        ("simple_python", "simple"),
        ("live_simple", "simple"),
        ("java", "simple"),
        ("live_multiple", "multiple"),
        ("parallel_multiple", "parallel"),
        ("live_irrelevance", "irrelevance"),
        ("live_relevance", "relevance"),
    ],
)
def test_the_name_of_a_category_tells_its_rule(category, rule):
    assert rule_of_category(category) == rule


def test_nesting_a_thousand_deep_is_only_wrong():
    value = 1
    for _ in range(100_000):
        value = [value]
    assert judge(array("array"), [[[1]]], value) in {CRASH, "value_error:list/tuple"}


TEXT = st.text(max_size=12)


@given(TEXT)
def test_normalising_twice_changes_nothing_for_plain_text(text):
    plain = text.encode("ascii", "ignore").decode()
    assert normalised(normalised(plain)) == normalised(plain)


VALUES = st.sampled_from([0, 1, True, 1.0, "", "a", "A.", None, [], ["a"], [1], {}, {"a": 1}])
WORDS = st.sampled_from(["string", "integer", "float", "boolean", "dict", "any"]).map(lambda w: {"type": w})


@given(WORDS | st.just(array("string")), st.lists(VALUES, max_size=3), VALUES)
def test_any_argument_is_right_or_wrong_and_never_an_exception(declared, right, value):
    assert judge(declared, right, value) is None or compare(
        expect(due(x=right), properties={"x": declared}), [call(x=value)]
    )


@given(st.lists(st.sampled_from("fgh"), max_size=4), st.randoms(use_true_random=False))
def test_where_calls_differ_by_name_their_order_does_not_matter(names, random):
    expected = expect(*map(due, names), rule=BfclRule.PARALLEL)
    shuffled = random.sample(names, len(names))
    assert error_of(expected, *map(call, shuffled)) is None
    for shorter in itertools.islice(
        itertools.combinations(shuffled, max(0, len(names) - 1)), 2 * bool(names)
    ):
        assert error_of(expected, *map(call, shorter)) == "parallel_function_checker_no_order:wrong_count"
