"""Worked examples: right calls of other samples, never the sample's own answer."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.parsers.contract import schema_defects
from draftproof.parsers.result import Span
from draftproof.tasks.raw_sample import sample_to_json
from draftproof.tasks.suite import load_suites

from .bfcl_data import entry, function, truth, write
from .samples import WEATHER, raw_sample

OTHER = {"type": "function", "function": {"name": "get_news", "parameters": {"type": "object"}}}


def asked(sample_id, city, **changes):
    call = {"name": "get_weather", "arguments": {"city": [city], "unit": ["celsius"]}, "optional": ["unit"]}
    return raw_sample(
        id=sample_id,
        messages=[{"role": "user", "content": f"Weather in {city}?"}],
        **{"expected": {"calls": [call]}, **changes},
    )


@pytest.fixture
def load(tmp_path):
    def load(*raw, **settings):
        path = tmp_path / "suite.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in raw))
        loaded = load_suites([str(path) + settings.pop("options", "")], **settings)
        return {one.id: one for one in loaded.samples}, loaded

    return load


FOUR = [asked("a", "Oslo"), asked("b", "Bergen"), asked("c", "Hamar"), asked("d", "Moss")]


def test_an_example_is_two_earlier_turns_with_a_right_call(load):
    """What may be left out is left out; the ids stand in the sample's metadata."""
    samples, loaded = load(*FOUR, shots=2)
    sample = samples["a"]
    assert [turn["role"] for turn in sample.messages] == ["user", "assistant"] * 2 + ["user"]
    assert sample.messages[-1]["content"] == "Weather in Oslo?"
    shots = sample.metadata["shots"]
    assert len(shots) == 2
    calls = [call for turn in sample.messages for call in turn.get("tool_calls", ())]
    assert [call["id"] for call in calls] == ["call_shot_1", "call_shot_2"]
    cities = {"b": "Bergen", "c": "Hamar", "d": "Moss"}
    assert [json.loads(one["function"]["arguments"]) for one in calls] == [{"city": cities[i]} for i in shots]
    assert not schema_defects(sample.tools, "get_weather", {"city": "Moss"}, Span(0, 0))
    assert loaded.notes == ()


def test_a_spec_says_its_own_number(load):
    """`?shots=1` wins over `[run] shots`, and 0 means none."""
    assert len(load(*FOUR, options="?shots=1", shots=3)[0]["a"].messages) == 3
    assert load(*FOUR, options="?shots=0", shots=3)[0]["a"].messages == tuple(FOUR[0]["messages"])


def test_examples_do_not_depend_on_the_limit_or_the_order(load):
    """A sample is the same sample in every run of one seed."""
    whole, _ = load(*FOUR, shots=2)
    part, _ = load(*reversed(FOUR), shots=2, limit=2)
    for sample_id, sample in part.items():
        assert sample_to_json(sample) == sample_to_json(whole[sample_id])


@pytest.mark.parametrize(
    "other",
    [
        asked("b", "Oslo"),
        asked("b", "Bergen", expected={"calls": []}),
        asked("b", "Bergen", expected=None),
        asked("b", "Bergen", tools=[WEATHER | {"x": 1}]),
        {**asked("b", "Bergen"), "messages": [*FOUR[1]["messages"], {"role": "assistant", "content": "Hm"}]},
        {**asked("b", "Bergen"), "messages": [{"role": "system", "content": "Now"}, *FOUR[1]["messages"]]},
        {**asked("b", "Bergen"), "messages": FOUR[0]["messages"]},
        {**asked("b", "Bergen"), "expected": FOUR[0]["expected"]},
    ],
    ids=["same", "no call", "unlabelled", "other tools", "turns", "system", "same question", "same answer"],
)
def test_what_would_mislead_or_give_the_answer_away_is_no_example(load, other):
    samples, loaded = load(FOUR[0], other, shots=1)
    assert samples["a"].messages == tuple(FOUR[0]["messages"])
    assert samples["a"].metadata == {"shots": []}
    assert "of 2 samples have fewer worked examples than asked for" in loaded.notes[0]


def test_tools_that_are_not_called_may_differ_but_come_later(load):
    """The calls are right wherever their tools are declared alike; the same tools are better."""
    wider = asked("b", "Bergen", tools=[WEATHER, OTHER])
    assert load(FOUR[0], wider, shots=1)[0]["a"].metadata == {"shots": ["b"]}
    for same in (FOUR[2], asked("e", "Moss")):
        samples, _ = load(FOUR[0], wider, same, shots=2)
        assert samples["a"].metadata == {"shots": [same["id"], "b"]}


def test_examples_follow_the_system_turn(load):
    system = {"role": "system", "content": "Be brief."}
    first = {**FOUR[0], "messages": [system, *FOUR[0]["messages"]]}
    second = {**FOUR[1], "messages": [system, *FOUR[1]["messages"]]}
    roles = [turn["role"] for turn in load(first, second, shots=1)[0]["a"].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_examples_never_come_from_another_suite(tmp_path):
    specs = []
    for one in FOUR[:2]:
        path = tmp_path / f"{one['id']}.jsonl"
        path.write_text(json.dumps(one))
        specs.append(str(path))
    assert [one.metadata for one in load_suites(specs, shots=1).samples] == [{"shots": []}] * 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("?shots=many", 'shots is "many", expected a whole number, 0 or more'),
        ("?shots=-1", 'shots is "-1", expected a whole number, 0 or more'),
        ("?shots=1&shots=2", "an option stands twice, expected each once"),
    ],
)
def test_a_wrong_option_is_named(load, options, problem):
    with pytest.raises(UserError, match=problem):
        load(FOUR[0], options=options)


def test_an_example_of_bfcl_is_an_answer_that_its_checker_takes(tmp_path):
    """Its lists hold `""` for "may be left out" and values for each member of an object; neither is sent."""
    drink = {"type": "dict", "properties": {"size": {"type": "string"}, "iced": {"type": "boolean"}}}
    tools = [function(properties={"drink": {"type": "string"}, "how": drink, "price": {"type": "float"}})]
    ids = ["simple_python_0", "simple_python_1"]
    truths = [
        truth(
            one,
            {
                "cafe.order": {
                    "drink": [f"tea {one}"],
                    "how": [{"size": ["big"], "iced": ["", True]}],
                    "price": ["", 2.5],
                }
            },
        )
        for one in ids
    ]
    folder = write(tmp_path, "simple_python", [entry(one, tools, f"A {one} tea") for one in ids], truths)
    first = load_suites([f"bfcl:{folder}#simple_python"], shots=1).samples[0]
    assert first.metadata["shots"]
    (made,) = (call for turn in first.messages for call in turn.get("tool_calls", ()))
    other = next(one for one in ids if one != first.id.rpartition("/")[2])
    assert json.loads(made["function"]["arguments"]) == {
        "drink": f"tea {other}",
        "how": {"size": "big", "iced": True},
        "price": 2.5,
    }
