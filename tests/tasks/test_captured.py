"""Captured traffic: sent as it was but for what the plan sets, unlabelled, sloppy schemas and all."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.tasks.raw_sample import sample_from_json, sample_to_json
from draftproof.tasks.suite import load_suites

from .samples import WEATHER

USER = {"role": "user", "content": "Weather in Oslo?"}
SLOPPY = {"type": "function", "function": {"name": "search", "parameters": {"type": "str"}}}
BODY = {
    "model": "somebody/model",
    "messages": [USER],
    "tools": [WEATHER],
    "tool_choice": "required",
    "temperature": 0.7,
    "max_tokens": 4096,
    "stream": True,
    "stop": ["\n\n"],
    "parallel_tool_calls": False,
    "chat_template_kwargs": {"enable_thinking": False},
    "x_vendor": None,
}


@pytest.fixture
def load(tmp_path):
    def load(*lines, name="requests.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return load_suites([str(path)])

    return load


def one(load, line, **keywords):
    (sample,) = load(line, **keywords).samples
    return sample


def test_a_request_is_a_sample_that_nobody_labelled(load):
    """What the plan sets is kept aside, every other field is sent, null included."""
    sample = one(load, BODY)
    assert (sample.expected, sample.category, sample.tool_choice) == (None, "captured", "required")
    assert sample.messages == (USER,)
    assert sample.extra_body == {
        "stop": ["\n\n"],
        "parallel_tool_calls": False,
        "chat_template_kwargs": {"enable_thinking": False},
        "x_vendor": None,
    }
    assert sample.metadata == {
        "captured": {"max_tokens": 4096, "model": "somebody/model", "stream": True, "temperature": 0.7}
    }


def test_a_request_survives_the_run_directory(load):
    """`samples.jsonl` reads as what was captured, unchecked tools too."""
    for body in (BODY, {**BODY, "tools": [WEATHER, SLOPPY]}, {"messages": [USER]}):
        sample = one(load, body)
        raw = json.loads(json.dumps(sample_to_json(sample)))
        assert sample_to_json(sample_from_json(raw)) == raw
        assert sample_from_json(raw).tools.unchecked == sample.tools.unchecked


def test_ids_are_given_or_a_digest_of_the_body(load):
    """Equal requests stay as many as they were; the id of a body does not depend on its line."""
    bare = {"messages": [USER], "model": "m"}
    ids = {sample.id for sample in load(BODY, bare, bare, {**bare, "id": "mine"}, {**bare, "id": 7}).samples}
    digests = {i for i in ids if i.startswith("requests/")}
    assert ids - digests == {"mine", "7"}
    assert len(digests) == 3
    assert sum(i.endswith("-2") for i in digests) == 1
    assert one(load, bare).id in digests
    assert one(load, {**bare, "id": "x", "category": "chat"}).category == "chat"
    with pytest.raises(UserError, match=r'requests.jsonl:2: id: is "a", which .*requests.jsonl:1 has'):
        load({**bare, "id": "a"}, {**bare, "id": "a"})


@pytest.mark.parametrize(
    "line",
    [
        {"id": "r", "request": BODY, "response": {"id": "c", "choices": []}},
        {"custom_id": "r", "method": "POST", "url": "/v1/chat/completions", "body": BODY},
        {"request_id": "r", "request": json.dumps(BODY), "status": 200},
    ],
    ids=["response beside it", "a batch", "as text"],
)
def test_a_log_holds_the_same_request(load, line):
    """The response that was logged is nobody's label."""
    sample, body = one(load, line), one(load, BODY)
    assert sample.id == "r"
    assert sample_to_json(sample) | {"id": ""} == sample_to_json(body) | {"id": ""}


def test_a_sloppy_schema_is_a_warning_and_unchecked(load):
    """The tool is sent as it is; its calls may have any arguments, those of other tools may not."""
    unnamed = {"type": "function", "function": {"description": "?"}}
    loaded = load({**BODY, "tools": [SLOPPY, WEATHER, WEATHER, unnamed]}, BODY)
    sample = next(one for one in loaded.samples if one.tools.unchecked)
    assert sample.tools.declared == (SLOPPY, WEATHER, WEATHER, unnamed)
    assert list(sample.tools.functions) == ["search", "get_weather"]
    assert sample.tools.validators["search"].is_valid({"anything": 1})
    assert not sample.tools.validators["get_weather"].is_valid({"anything": 1})
    assert len(sample.tools.unchecked) == 3
    (note,) = loaded.notes
    assert note.startswith("1 of 2 samples declare a tool that is none; calls of it are not checked")
    assert '(the first: "requests/' in note


def test_tools_are_not_needed(load):
    """And are said to be missing."""
    loaded = load({"messages": [USER], "model": "m", "tools": None})
    assert loaded.samples[0].tools.declared == ()
    assert loaded.notes == ("1 of 1 samples declare no tool: text is not compared, and no call is due",)


def test_a_vendor_verifiers_system_turn_is_one(load):
    """Its files call it `_input`, and its own runner renames it."""
    sample = one(load, {**BODY, "messages": [{"role": "_input", "content": "Be brief."}, USER]})
    assert sample.messages[0] == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({**BODY, "messages": []}, "messages: is empty, expected at least one"),
        ({**BODY, "messages": [{"role": "robot"}]}, 'messages[0].role: is "robot", expected '),
        ({**BODY, "messages": "hi"}, 'messages: is "hi", expected a valid list'),
        ({**BODY, "tools": {"a": 1}}, 'tools: is {"a": 1}, expected a valid list'),
        ({**BODY, "tools": [7]}, "tools[0]: is 7, expected a valid dictionary"),
        ({**BODY, "tool_choice": "any"}, 'tool_choice: is "any", expected '),
        ({"request": {"prompt": "hi"}}, "request.messages: is missing"),
        ({"request": "{"}, "request: not JSON: "),
        ({"request": "hi"}, 'request: is "hi", expected a chat-completions request'),
        ({"body": {**BODY, "messages": []}}, "body.messages: is empty, expected at least one"),
    ],
)
def test_a_line_that_cannot_be_sent_again_is_named(load, line, problem):
    """With the member, also of a request inside a log."""
    first = BODY if "messages" in line else {"request": BODY}
    if "body" in line:
        first = {"body": BODY}
    with pytest.raises(UserError) as caught:
        load(first, line)
    assert f"requests.jsonl:2: {problem}" in str(caught.value)


def test_a_sample_of_ours_with_a_slip_is_no_request(load):
    """A label is never lost to a typing error: such a file stays ours, and its line is wrong."""
    for slip, problem in (
        ({"expectd": {"calls": []}}, "expectd: is no known member"),
        ({"expected": {"calls": []}, "model": "m"}, "model: is no known member"),
    ):
        with pytest.raises(UserError, match=problem):
            load({"id": "a", "messages": [USER], "tools": [WEATHER], **slip})


def test_fields_of_the_plan_are_refused_in_a_sample_of_ours(load):
    """They would compare unlike things."""
    with pytest.raises(
        UserError, match="extra_body: has temperature, expected fields that the plan does not"
    ):
        load({"id": "a", "messages": [USER], "tools": [WEATHER], "extra_body": {"temperature": 1}})
