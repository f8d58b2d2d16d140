"""Matching calls with what is due: a matching, not a greedy walk, and a message that names what differs."""

import itertools
import json

import pytest
from draftproof.parsers.result import Call, Span
from draftproof.tasks.differences import DifferenceCode
from draftproof.tasks.match import compare, same_calls
from draftproof.tasks.sample import Expected, ExpectedCall
from hypothesis import given
from hypothesis import strategies as st


def call(name, **arguments):
    return Call(name, arguments, Span(0, 0))


def due(name, optional=(), **arguments):
    return ExpectedCall(name, arguments, frozenset(optional))


OSLO = due("get_weather", city=["Oslo", "Oslo, Norway"], unit=["celsius"], optional=["unit"])
TIME = due("get_time", zone=["CET"])


@pytest.mark.parametrize(
    ("expected", "calls"),
    [
        pytest.param([], [], id="no call due and none made"),
        pytest.param([OSLO], [call("get_weather", city="Oslo")], id="an optional parameter left out"),
        pytest.param([OSLO], [call("get_weather", unit="celsius", city="Oslo, Norway")], id="another value"),
        pytest.param(
            [OSLO, TIME], [call("get_time", zone="CET"), call("get_weather", city="Oslo")], id="order"
        ),
        pytest.param(
            [due("f", x=[1, 2]), due("f", x=[1])], [call("f", x=1), call("f", x=2)], id="greedy would fail"
        ),
        pytest.param([due("f", x=[1])], [call("f", x=1.0)], id="1 equals 1.0"),
        pytest.param(
            [due("f", x=[{"a": [1, {"b": None}]}])], [call("f", x={"a": [1.0, {"b": None}]})], id="deep"
        ),
        pytest.param(
            [due("f", x=[{"a": 1, "b": 2}])], [call("f", x={"b": 2, "a": 1})], id="nested key order"
        ),
        pytest.param([due("f", x=[2**53 + 1])], [call("f", x=2**53 + 1)], id="integers beyond doubles"),
        pytest.param([due("f", x=[0])], [call("f", x=-0.0)], id="negative zero"),
        pytest.param([due("f"), due("f")], [call("f"), call("f")], id="the same call due twice"),
    ],
)
def test_a_right_answer_has_no_difference(expected, calls):
    assert compare(Expected(tuple(expected)), calls) is None


@pytest.mark.parametrize(
    ("wanted", "came"),
    [
        (1, True),
        (0, False),
        (1, "1"),
        ("Oslo", "oslo"),
        ("Oslo", "Oslo "),
        (None, ""),
        (None, False),
        ([], {}),
        (2**53 + 1, float(2**53 + 1)),
        ([1, 2], [2, 1]),
        ({"a": 1}, {}),
        ({}, {"a": None}),
        (0.1 + 0.2, 0.3),
    ],
)
def test_values_that_only_look_alike_differ(wanted, came):
    for right, made in ((wanted, came), (came, wanted)):
        difference = compare(Expected((due("f", x=[right]),)), [call("f", x=made)])
        assert difference is not None
        assert difference.code is DifferenceCode.WRONG_ARGUMENTS


@pytest.mark.parametrize(
    ("expected", "calls", "code", "message", "paths"),
    [
        ([], [call("f", x=1)], "call_not_due", "no call was due, but f came", ()),
        ([OSLO], [], "no_call", "no call came, but get_weather was due", ()),
        (
            [OSLO],
            [call("get_weather", city="Bergen")],
            "wrong_arguments",
            'get_weather: $.city is "Bergen", expected "Oslo" or "Oslo, Norway"',
            ("$.city",),
        ),
        (
            [OSLO],
            [call("get_weather", city="Oslo", unit="kelvin")],
            "wrong_arguments",
            'get_weather: $.unit is "kelvin", expected "celsius"',
            ("$.unit",),
        ),
        ([OSLO], [call("get_time")], "wrong_function", "get_time was called instead of get_weather", ()),
        (
            [TIME],
            [call("get_time", day=1)],
            "missing_argument",
            "get_time: $.zone is missing; get_time: $.day is 1, but none was due",
            ("$.zone", "$.day"),
        ),
        (
            [TIME],
            [call("get_time", zone="CET", day=1)],
            "extra_argument",
            "get_time: $.day is 1, but none was due",
            ("$.day",),
        ),
        ([OSLO, TIME], [call("get_time", zone="CET")], "missing_call", "get_weather was not called", ()),
        (
            [TIME],
            [call("f"), call("get_time", zone="CET")],
            "extra_call",
            "f was called beside what was due",
            (),
        ),
        (
            [TIME],
            [call("get_time", zone="CET"), call("get_time", zone="CET")],
            "duplicate_call",
            "get_time was called again with equal arguments",
            (),
        ),
        (
            [due("f", x=[{"a": [1, 2], "b": {"k": 1}}])],
            [call("f", x={"a": [1, 3], "b": {}})],
            "wrong_arguments",
            'f: $.x (at $.x.a[1], $.x.b.k) is {"a": [1, 3], "b": {}}, expected {"a": [1, 2], "b": {"k": 1}}',
            ("$.x.a[1]", "$.x.b.k"),
        ),
    ],
)
def test_a_difference_names_what_differs(expected, calls, code, message, paths):
    difference = compare(Expected(tuple(expected)), calls)
    assert difference is not None
    assert (difference.code, difference.message, difference.paths) == (code, message, paths)


def test_a_wrong_argument_is_said_of_the_call_it_belongs_to():
    expected = Expected((due("f", x=[1], y=[1]), due("f", x=[2], y=[2])))
    difference = compare(expected, [call("f", x=2, y=9), call("f", x=1, y=1)])
    assert difference is not None
    assert difference.message == "f: $.y is 9, expected 2"


def test_an_exact_call_is_never_given_up_for_a_nearer_pairing():
    # Pairing each with its neighbour would leave two small differences instead of one large one.
    expected = Expected((due("f", x=[1], y=[1], z=[1]), due("f", x=[1, 2], y=[1, 2], z=[1, 3])))
    difference = compare(expected, [call("f", x=1, y=1, z=1), call("f", x=9, y=9, z=9)])
    assert difference is not None
    assert difference.paths == ("$.x", "$.y", "$.z")


def test_nesting_a_thousand_deep_is_only_wrong():
    value = 1
    for _ in range(5000):
        value = [value]
    difference = compare(Expected((due("f", x=[1]),)), [call("f", x=value)])
    assert difference is not None
    assert difference.code is DifferenceCode.WRONG_ARGUMENTS


def test_a_message_can_always_be_written():
    difference = compare(Expected((due("f", x=["a"]),)), [call("f", x="\ud83d", **{"\ud83d": 1})])
    assert difference is not None
    json.dumps(difference.message, ensure_ascii=False).encode()
    "".join(difference.paths).encode()


@pytest.mark.parametrize(
    ("reference", "calls", "code"),
    [
        ([], [], None),
        ([call("f", x=1)], [call("f", x=1.0)], None),
        ([call("f"), call("g"), call("f")], [call("g"), call("f"), call("f")], None),
        ([call("f"), call("f")], [call("f")], "missing_call"),
        ([call("f")], [call("f"), call("f")], "duplicate_call"),
        ([call("f", x=1)], [call("f")], "missing_argument"),
        ([], [call("f")], "call_not_due"),
        ([call("f")], [], "no_call"),
    ],
)
def test_an_unlabelled_answer_is_compared_as_a_multiset(reference, calls, code):
    difference = same_calls(reference, calls)
    assert (difference and difference.code) == code


# Few names, parameters and values, so that equal and nearly equal calls are common.
SCALARS = st.sampled_from([0, 1, True, 1.0, "1", None])
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from("ab"), SCALARS))
PARAMETERS = st.sampled_from(["x", "y"])
CALLS = st.builds(call, st.sampled_from(["f", "g"])) | st.builds(
    lambda name, arguments: call(name, **arguments),
    st.sampled_from(["f", "g"]),
    st.dictionaries(PARAMETERS, SCALARS, max_size=2),
)


@st.composite
def due_calls(draw):
    arguments = draw(st.dictionaries(PARAMETERS, st.lists(VALUES, min_size=1, max_size=3), max_size=2))
    optional = [name for name in arguments if draw(st.booleans())]
    return ExpectedCall(draw(st.sampled_from(["f", "g"])), arguments, frozenset(optional))


EXPECTED = st.lists(due_calls(), max_size=4).map(lambda calls: Expected(tuple(calls)))


def one_right(expected, made):
    """The rule of one call in its plainest words, to judge the matching by."""

    def alike(left, right):
        if isinstance(left, bool) or isinstance(right, bool):
            return left is right
        if isinstance(left, list) and isinstance(right, list):
            return len(left) == len(right) and all(map(alike, left, right))
        if isinstance(left, dict) and isinstance(right, dict):
            return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
        return left == right

    return (
        expected.name == made.name
        and all(name in expected.arguments for name in made.arguments)
        and all(name in made.arguments or name in expected.optional for name in expected.arguments)
        and all(
            any(alike(one, value) for one in expected.arguments[n]) for n, value in made.arguments.items()
        )
    )


@given(EXPECTED, st.lists(CALLS, max_size=4))
def test_matching_agrees_with_trying_every_order(expected, calls):
    right = len(calls) == len(expected.calls) and any(
        all(map(one_right, expected.calls, order)) for order in itertools.permutations(calls)
    )
    assert (compare(expected, calls) is None) == right


@given(EXPECTED, st.lists(CALLS, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_calls_and_of_keys_does_not_matter(expected, calls, random):
    shuffled = []
    for one in random.sample(calls, len(calls)):
        keys = random.sample(list(one.arguments), len(one.arguments))
        shuffled.append(call(one.name, **{key: one.arguments[key] for key in keys}))
    one, other = compare(expected, shuffled), compare(expected, calls)
    # Its sentence quotes one of several equal values, 1 or 1.0, whichever comes first.
    assert (one and (one.code, one.paths)) == (other and (other.code, other.paths))


@st.composite
def right_answers(draw):
    expected = draw(EXPECTED)
    calls = []
    for one in draw(st.permutations(expected.calls)):
        left_out = [name for name in one.optional if draw(st.booleans())]
        chosen = {name: draw(st.sampled_from(v)) for name, v in one.arguments.items() if name not in left_out}
        calls.append(call(one.name, **chosen))
    return expected, calls


@given(right_answers())
def test_any_choice_of_right_values_passes(answer):
    expected, calls = answer
    assert compare(expected, calls) is None


@given(right_answers(), st.data())
def test_one_changed_value_fails_and_is_named(answer, data):
    expected, calls = answer
    places = [(position, name) for position, one in enumerate(calls) for name in one.arguments]
    if not places:
        return
    position, name = data.draw(st.sampled_from(places))
    changed = list(calls)
    changed[position] = call(calls[position].name, **{**calls[position].arguments, name: "changed"})
    difference = compare(expected, changed)
    assert difference is not None
    # Beside a call that had left the parameter out, the changed one may be taken for that one with a surplus.
    assert difference.code in {DifferenceCode.WRONG_ARGUMENTS, DifferenceCode.EXTRA_ARGUMENT}
    assert f"$.{name}" in difference.paths


@given(st.lists(CALLS, max_size=5))
def test_comparing_calls_with_themselves_finds_nothing(calls):
    assert same_calls(calls, calls[::-1]) is None


@pytest.mark.parametrize("values", [(1, 1, 2), (1, 2, 2), ("b", "a", "b"), ("a", "a", "b")])
def test_what_the_values_are_does_not_choose_between_equal_pairings(values):
    """One call stands alone and two are equal: which of them is larger changes nothing in the code."""
    made = [call("f", x=value) for value in values]
    difference = compare(Expected((due("f", x=[9]),)), made)
    assert difference.code is DifferenceCode.DUPLICATE_CALL
