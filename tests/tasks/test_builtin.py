"""The suites that come with the package."""

import json
from collections import Counter

import jsonschema
import pytest
from draftproof.tasks.builtin import builtin_names, read_builtin
from draftproof.tasks.raw_sample import sample_from_json

STARTER = read_builtin("starter")


def _schema(sample, name):
    return next(tool["function"] for tool in sample["tools"] if tool["function"]["name"] == name)[
        "parameters"
    ]


def test_the_starter_suite_is_built_in():
    assert "starter" in builtin_names()


def test_an_unknown_name_is_a_key_error():
    with pytest.raises(KeyError):
        read_builtin("../starter")


def test_every_sample_is_one_that_a_suite_file_could_hold():
    for raw in STARTER:
        assert list(raw) == ["id", "category", "messages", "tools", "tool_choice", "expected"]
        assert sample_from_json(raw).id == raw["id"]


def test_ids_are_unique_and_carry_the_name_of_the_suite():
    ids = [raw["id"] for raw in STARTER]
    assert len(set(ids)) == len(ids) >= 48
    assert all(one.startswith("starter/") for one in ids)


def test_no_question_is_asked_twice():
    """The same last turn twice would count one behaviour double; nor is a question its own worked example."""
    asked = Counter(raw["messages"][-1]["content"] for raw in STARTER)
    assert max(asked.values()) == 1
    for raw in STARTER:
        earlier = {turn["content"] for turn in raw["messages"][:-1] if turn["role"] == "user"}
        assert raw["messages"][-1]["content"] not in earlier


def test_categories_are_varied_and_long_texts_are_among_them():
    categories = Counter(raw["category"] for raw in STARTER)
    assert len(categories) >= 5
    assert categories["long_text"] >= 8
    assert categories["parallel"] >= 8
    assert categories["none"] >= 4


def test_every_expected_call_passes_the_schema_of_its_tool():
    for raw in STARTER:
        for call in raw["expected"]["calls"]:
            right = {name: values[0] for name, values in call["arguments"].items()}
            jsonschema.validate(right, _schema(raw, call["name"]))


def test_every_worked_example_passes_the_schema_of_its_tool():
    for raw in STARTER:
        for turn in raw["messages"]:
            for call in turn.get("tool_calls", []):
                arguments = json.loads(call["function"]["arguments"])
                jsonschema.validate(arguments, _schema(raw, call["function"]["name"]))


def test_turns_of_user_and_assistant_alternate():
    for raw in STARTER:
        roles = [turn["role"] for turn in raw["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]


def test_call_ids_are_unique_within_a_conversation():
    for raw in STARTER:
        ids = [call["id"] for turn in raw["messages"] for call in turn.get("tool_calls", [])]
        assert len(set(ids)) == len(ids)


def test_changing_one_sample_leaves_the_others_as_they_are():
    changed = read_builtin("starter")
    for sample in (changed[0], changed[0]["expected"]):
        sample.clear()
    assert changed[1:] == STARTER[1:]
    again = read_builtin("starter")
    again[0]["tools"][0]["function"]["name"] = "other"
    again[0]["messages"][0]["content"] = "other"
    assert again[1:] == STARTER[1:]
