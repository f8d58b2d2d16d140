"""The edge of samples: what is read comes back unchanged, and what is wrong is named."""

import json

import pytest
from draftproof.parsers.contract import schema_defects
from draftproof.parsers.result import Span
from draftproof.tasks.raw_sample import SampleError, sample_from_json, sample_to_json
from draftproof.tasks.sample import Expected, ExpectedCall
from hypothesis import given
from hypothesis import strategies as st

from .samples import EXPECTED_CALL, WEATHER, raw_sample


def test_a_sample_reads_as_it_is_written():
    sample = sample_from_json(raw_sample(metadata={"source": "mine"}))
    assert (sample.id, sample.category, sample.tool_choice) == ("core/weather-3", "simple", "auto")
    assert sample.messages == ({"role": "user", "content": "Weather in Oslo?"},)
    assert list(sample.tools.functions) == ["get_weather"]
    assert sample.expected == Expected(
        (
            ExpectedCall(
                "get_weather", {"city": ["Oslo", "Oslo, Norway"], "unit": ["celsius"]}, frozenset({"unit"})
            ),
        )
    )
    assert sample.metadata == {"source": "mine"}


@pytest.mark.parametrize("expected", [..., None])
def test_a_sample_without_expected_calls_is_unlabelled(expected):
    assert sample_from_json(raw_sample(expected=expected)).expected is None


def test_no_call_due_is_a_label():
    assert sample_from_json(raw_sample(expected={"calls": []})).expected == Expected(())


@pytest.mark.parametrize(
    "choice",
    ["auto", "required", "none", {"type": "function", "function": {"name": "get_weather"}}],
)
def test_every_tool_choice_of_the_interface_is_kept(choice):
    assert sample_from_json(raw_sample(tool_choice=choice)).tool_choice == choice


def expected_call(**changes):
    return {"calls": [{**EXPECTED_CALL, **changes}]}


NO_SUCH_CHOICE = 'expected "auto", "required", "none" or {"type": "function", "function": {"name": "…"}}'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": ...}, "id: is missing"),
        ({"id": 7}, "id: is 7, expected a valid string"),
        ({"id": ""}, 'id: is "", expected 1 to 200 characters, no control character among them'),
        ({"id": "a\nb"}, 'id: is "a\\nb", expected 1 to 200 characters, no control character among them'),
        ({"ids": 1}, "ids: is no known member"),
        ({"messages": []}, "messages: is empty, expected at least one"),
        (
            {"messages": [{"role": "bot"}]},
            "messages[0].role: is \"bot\", expected 'system', 'developer', 'user', 'assistant' or 'tool'",
        ),
        (
            {"messages": [{"role": "user", "content": 1}]},
            "messages[0].content: is 1, expected a string, a list of parts or null",
        ),
        ({"messages": ["hello"]}, 'messages[0]: is "hello", expected a JSON object'),
        ({"tools": []}, "tools: is empty, expected at least one"),
        ({"tools": {"a": 1}}, 'tools: is {"a": 1}, expected a valid list'),
        ({"tool_choice": "any"}, f'tool_choice: is "any", {NO_SUCH_CHOICE}'),
        (
            {"tool_choice": {"type": "function", "name": "get_weather"}},
            f'tool_choice: is {{"type": "function", "name": "get_weather"}}, {NO_SUCH_CHOICE}',
        ),
        (
            {"tool_choice": {"type": "function", "function": {"name": "get_time"}}},
            'tool_choice.function.name: is "get_time", expected a declared tool (get_weather)',
        ),
        ({"expected": []}, "expected: is [], expected a JSON object"),
        (
            {"expected": {"calls": [], "match": "loose"}},
            'expected.match: is "loose", expected "exact" or "bfcl"',
        ),
        ({"expected": {"calls": [], "bfcl": {}}}, 'expected.bfcl: goes with "match": "bfcl" only'),
        (
            {"expected": expected_call(name="get_time")},
            'expected.calls[0].name: is "get_time", expected a declared tool (get_weather)',
        ),
        (
            {"expected": expected_call(arguments={"city": "Oslo"}, optional=[])},
            'expected.calls[0].arguments.city: is "Oslo", expected a valid list',
        ),
        (
            {"expected": expected_call(arguments={"city": []}, optional=[])},
            "expected.calls[0].arguments.city: is empty, expected at least one",
        ),
        (
            {"expected": expected_call(optional=["day"])},
            'expected.calls[0].optional: names "day", expected a parameter of `arguments`',
        ),
        (
            {"expected": expected_call(optional=["city"])},
            "expected.calls[0].arguments: is refused by the tool's own schema: ",
        ),
        (
            {"expected": expected_call(arguments={"city": ["Oslo", 5]}, optional=[])},
            "expected.calls[0].arguments.city[1]: is refused by the tool's own schema: ",
        ),
        (
            {"expected": expected_call(arguments={"city": ["Oslo"], "unit": ["celsius", "kelvin"]})},
            "expected.calls[0].arguments.unit[1]: is refused by the tool's own schema: ",
        ),
        (
            {"expected": expected_call(arguments={"city": ["Oslo"], "day": [1]}, optional=["day"])},
            "expected.calls[0].arguments.day[0]: is refused by the tool's own schema: ",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(changes, message):
    with pytest.raises(SampleError) as caught:
        sample_from_json(raw_sample(**changes))
    # What the schema has to say is worded, and tested, where schemas are read.
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function"},
        {"type": "function", "function": {"name": "f", "parameters": {"type": "nothing"}}},
    ],
)
def test_a_tool_that_no_call_could_be_checked_against_is_refused(tool):
    with pytest.raises(SampleError, match=r"^tools"):
        sample_from_json(raw_sample(tools=[tool], expected=None))


@pytest.mark.parametrize("raw", [None, 5, "text", [raw_sample()]])
def test_a_sample_is_an_object(raw):
    with pytest.raises(SampleError, match="expected a JSON object"):
        sample_from_json(raw)


def test_an_optional_parameter_may_demand_another():
    parameters = {**WEATHER["function"]["parameters"], "dependentRequired": {"unit": ["days"]}}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}
    arguments = {"city": ["Oslo"], "unit": ["celsius"], "days": [1]}
    expected = {"calls": [{"name": "get_weather", "arguments": arguments, "optional": ["unit", "days"]}]}
    assert sample_from_json(raw_sample(tools=[tool], expected=expected)).expected is not None


TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=20
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=5,
)
CITIES = st.lists(TEXT, min_size=1, max_size=3)
DUE = st.fixed_dictionaries(
    {"name": st.just("get_weather"), "arguments": st.fixed_dictionaries({"city": CITIES})}
) | st.fixed_dictionaries(
    {
        "name": st.just("get_weather"),
        "arguments": st.fixed_dictionaries({"days": st.lists(st.integers(), min_size=1), "city": CITIES}),
        "optional": st.just(["days"]),
    }
)
RAW = st.fixed_dictionaries(
    {
        "id": NAMES,
        "category": NAMES,
        "messages": st.lists(
            st.fixed_dictionaries({"content": TEXT, "role": st.just("user"), "name": ANY_JSON}), min_size=1
        ),
        "tools": st.just([WEATHER]),
        "tool_choice": st.sampled_from(["auto", "required", "none"]),
        "expected": st.none() | st.fixed_dictionaries({"calls": st.lists(DUE, max_size=2)}),
    },
    optional={"metadata": st.dictionaries(TEXT, ANY_JSON, min_size=1, max_size=2)},
)


@given(RAW)
def test_what_was_read_is_written_again_exactly(raw):
    written = sample_to_json(sample_from_json(raw))
    assert written == raw
    # As text too: the order of members and the spelling of numbers are what a server is sent.
    assert json.dumps([written["messages"], written["tools"]]) == json.dumps([raw["messages"], raw["tools"]])


@given(RAW)
def test_every_right_call_of_a_suite_can_be_dispatched(raw):
    sample = sample_from_json(raw)
    for call in sample.expected.calls if sample.expected else ():
        for name, values in call.arguments.items():
            for value in values:
                arguments = {other: right[0] for other, right in call.arguments.items()} | {name: value}
                assert not schema_defects(sample.tools, call.name, arguments, Span(0, 0))
