"""Files of other shapes: detected by their first row, read through one door, and named in errors."""

import csv
import json

import pytest
from draftproof.errors import UserError
from draftproof.tasks.match import compare
from draftproof.tasks.raw_sample import sample_to_json
from draftproof.tasks.shape import Shape, detect_shape
from draftproof.tasks.suite import load_suites

from .samples import WEATHER, raw_sample

USER = {"role": "user", "content": "Weather in Oslo?"}
FLAT = WEATHER["function"]
CALL = {"name": "get_weather", "arguments": {"city": "Oslo"}}
MARKUP = f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"
MADE = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
SYSTEM = (
    f"You call functions, given within <tools></tools>.\n<tools>\n{json.dumps(WEATHER)}\n</tools>\nBe strict."
)

QUERY = {
    "id": 3,
    "query": "Weather in Oslo?",
    "tools": json.dumps([FLAT]),
    "answers": json.dumps([CALL]),
}
CONVERSATIONS = {
    "id": "u-1",
    "category": "Weather",
    "conversations": [
        {"from": "system", "value": SYSTEM},
        {"from": "human", "value": "Weather in Oslo?"},
        {"from": "gpt", "value": f"I look.\n{MARKUP}"},
        {"from": "tool", "value": "<tool_response>rain</tool_response>"},
        {"from": "gpt", "value": "Rain."},
    ],
}
CHAT = {
    "messages": [USER, {"role": "assistant", "content": None, "tool_calls": [MADE]}],
    "tools": [WEATHER],
}


def load(tmp_path, *rows, name="set.json", **keywords):
    path = tmp_path / name
    path.write_text(json.dumps(rows) if name.endswith(".json") else "\n".join(map(json.dumps, rows)))
    return load_suites([str(path)], **keywords)


@pytest.mark.parametrize("name", ["set.json", "set.jsonl"])
@pytest.mark.parametrize(
    ("row", "sample_id", "category"),
    [
        (QUERY, "set/3", "uncategorised"),
        (CONVERSATIONS, "set/u-1", "Weather"),
        (CHAT, None, "uncategorised"),
        ({**CHAT, "messages": [USER, {"role": "assistant", "content": MARKUP}]}, None, "uncategorised"),
        (
            {**QUERY, "tools": [WEATHER], "answers": [{**CALL, "arguments": '{"city": "Oslo"}'}]},
            "set/3",
            None,
        ),
        ({**CONVERSATIONS, "tools": json.dumps([FLAT])}, "set/u-1", "Weather"),
    ],
    ids=["query", "conversations", "chat", "markup", "objects", "tools apart"],
)
def test_every_shape_gives_the_same_question_and_answer(tmp_path, name, row, sample_id, category):
    """The prompt ends before the first answer; a system turn that holds tools is the dialect's business."""
    (sample,) = load(tmp_path, row, name=name).samples
    assert sample.messages == (USER,)
    assert sample.tools.declared == (WEATHER,)
    (call,) = sample.expected.calls
    assert (call.name, call.arguments, call.optional) == ("get_weather", {"city": ["Oslo"]}, frozenset())
    assert sample.id == sample_id or (sample_id is None and sample.id.startswith("set/"))
    assert category is None or sample.category == category


def test_an_answer_in_words_means_that_no_call_is_due(tmp_path):
    turns = [USER, {"role": "assistant", "content": "Which day?"}]
    (sample,) = load(tmp_path, {**CHAT, "messages": turns}).samples
    assert sample.expected.calls == ()
    assert compare(sample.expected, ()) is None


def test_xlams_own_way_to_declare_parameters_becomes_a_schema(tmp_path):
    """Python's type words, optional ones, defaults; a parameter may be called `type`."""
    parameters = {
        "type": {"description": "Kind", "type": "str", "default": "game"},
        "ids": {"description": "Ids", "type": "List[int]"},
        "near": {"description": "Where", "type": "Tuple[float, float], optional"},
        "limit": {"description": "Most", "type": "int, optional", "default": 10},
        "flags": {"description": "Odd", "type": "Optional[Dict[str, bool]]"},
        "what": {"description": "Any", "type": "Union[int, str]"},
    }
    answer = {"name": "find", "arguments": {"type": "game", "ids": [1], "what": "x"}}
    tool = {"name": "find", "description": "Finds.", "parameters": parameters}
    (sample,) = load(
        tmp_path, {**QUERY, "tools": json.dumps([tool]), "answers": json.dumps([answer])}
    ).samples
    schema = sample.tools.functions["find"]
    assert schema["required"] == ["ids", "what"]
    assert schema["properties"] == {
        "type": {"type": "string", "description": "Kind", "default": "game"},
        "ids": {"type": "array", "items": {"type": "integer"}, "description": "Ids"},
        "near": {"type": "array", "description": "Where"},
        "limit": {"type": "integer", "description": "Most", "default": 10},
        "flags": {"type": "object", "description": "Odd"},
        "what": {"description": "Any"},
    }
    (call,) = sample.expected.calls
    # A default that is given and one that is left out are the same call.
    assert call.arguments == {"type": ["game"], "ids": [[1]], "what": ["x"], "limit": [10]}
    assert call.optional == {"type", "limit"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**QUERY, "answers": "[{]"}, "answers: not JSON: "),
        ({**QUERY, "answers": "none"}, 'answers: is "none", expected a list of objects'),
        ({**QUERY, "answers": [{"name": "f"}]}, 'expected.calls[0].name: is "f", expected a declared tool'),
        (
            {**QUERY, "answers": [{"name": "get_weather"}]},
            "expected.calls[0].arguments: is refused by the tool",
        ),
        ({**QUERY, "tools": "[]"}, "tools: is empty, expected at least one"),
        ({**QUERY, "tools": [{"name": "a b"}]}, 'tools: tool 0: $.function.name: "a b" cannot be a name'),
        ({**QUERY, "query": 7}, "query: is 7, expected a text"),
        ({**CHAT, "messages": [{"role": "assistant", "content": "Hi"}]}, "begins with an answer"),
        ({**CHAT, "tools": None}, "tools: is missing, and no system turn has a <tools> block"),
        (
            {**CHAT, "messages": [USER, {"role": "assistant", "content": "<tool_call>{'a': 1}</tool_call>"}]},
            "its answer is malformed: invalid_json: ",
        ),
        (
            {"conversations": [{"from": "alien", "value": "?"}], "tools": [WEATHER]},
            'conversations[0].from: is "alien", expected one of system, human, ',
        ),
        ({"conversations": [{"from": "human", "value": "?"}]}, "has no assistant turn"),
    ],
)
def test_a_row_that_cannot_be_a_sample_is_left_out_and_counted(tmp_path, row, reason):
    """Nobody can mend a published data set; alone, such a row is an error."""
    good = next(one for one in (QUERY, CONVERSATIONS, CHAT) if one.keys() & row.keys() - {"id", "tools"})
    loaded = load(tmp_path, {**good, "id": "good"}, row)
    assert [sample.id for sample in loaded.samples] == ["set/good"]
    (left_out,) = loaded.excluded
    assert left_out.reason.startswith(reason)
    assert loaded.notes[0].startswith(
        f"1 entry is left out (the first: {json.dumps(left_out.id)}: {reason[:9]}"
    )
    with pytest.raises(UserError) as caught:
        load(tmp_path, row)
    assert "set.json: holds no sample; the first row is left out: " in str(caught.value)


def test_rows_of_a_data_set_keep_their_order_of_members(tmp_path):
    """A schema is sent as it was written: text until it is parsed, and parsed as text."""
    tool = '{"name": "f", "parameters": {"type": "object", "properties": {"b": {}, "a": {"default": 1.0}}}}'
    row = {**QUERY, "tools": f"[{tool}]", "answers": '[{"name": "f", "arguments": {}}]'}
    (sample,) = load(tmp_path, row).samples
    assert json.dumps(sample_to_json(sample)["tools"][0]["function"]) == json.dumps(json.loads(tool))


def write_csv(path, *rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_csv_cells_hold_json_as_text(tmp_path):
    """Of a data set, of captured traffic, and of our own samples."""
    cells = {name: value if isinstance(value, str) else json.dumps(value) for name, value in QUERY.items()}
    (query,) = load_suites([write_csv(tmp_path / "set.csv", cells)]).samples
    assert sample_to_json(query) == sample_to_json(load(tmp_path, QUERY).samples[0])
    own = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in raw_sample().items()
    }
    (sample,) = load_suites([write_csv(tmp_path / "own.csv", own)]).samples
    assert sample_to_json(sample) == raw_sample()
    body = {"messages": json.dumps([USER]), "tools": "", "model": "m", "user": "u"}
    (captured,) = load_suites([write_csv(tmp_path / "body.csv", body)]).samples
    assert (captured.expected, captured.extra_body) == (None, {"user": "u"})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "FILE: holds no sample"),
        ("a,b\n1,2\n", "FILE:2: has a, b, expected a suite's sample (id, messages, tools, expected), "),
        ("query,tools,answers\nq\n", "FILE:2: has another number of cells than the first line"),
        ('query,tools,answers\n"q', "FILE: not CSV: unexpected end of data"),
        (b"query\n\xff\n", "FILE: cannot be read: not UTF-8"),
    ],
)
def test_a_table_that_is_none_is_one_clear_error(tmp_path, content, problem):
    path = tmp_path / "set.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as caught:
        load_suites([str(path)])
    assert str(caught.value).replace(str(path), "FILE").startswith(problem)


@pytest.mark.parametrize(
    ("row", "shape"),
    [
        (raw_sample(), Shape.SAMPLE),
        ({"id": "a", "messages": [USER], "tools": [WEATHER]}, Shape.REQUEST),
        ({"messages": [USER], "model": "m"}, Shape.REQUEST),
        ({**CHAT, "model": "m"}, Shape.REQUEST),
        (CHAT, Shape.CHAT),
        ({**CHAT, "messages": json.dumps(CHAT["messages"])}, Shape.CHAT),
        ({"messages": json.dumps([USER])}, Shape.REQUEST),
        ({"request": {}}, Shape.LOG),
        (QUERY, Shape.QUERY),
        (CONVERSATIONS, Shape.CONVERSATIONS),
        ({"prompt": "hi"}, None),
        ({"messages": None, "id": "a"}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_row_shows_its_shape(row, shape):
    assert detect_shape(row) is shape


def test_in_a_suite_file_a_row_with_an_id_is_ours():
    """Unless it has a field that only a request has."""
    row = {"id": "a", "messages": [USER], "tools": [WEATHER]}
    assert detect_shape(row, is_suite_file=True) is Shape.SAMPLE
    assert detect_shape({**row, "temperature": 0}, is_suite_file=True) is Shape.REQUEST
    assert detect_shape({"id": "a"}, is_suite_file=True) is Shape.SAMPLE
    assert detect_shape({**CHAT, "id": "a"}, is_suite_file=True) is Shape.CHAT


def test_a_file_of_no_known_shape_is_told_what_there_is(tmp_path):
    """With the members that it has."""
    with pytest.raises(UserError) as caught:
        load(tmp_path, {"prompt": "hi", "completion": "ho"}, name="set.jsonl")
    message = str(caught.value)
    assert "set.jsonl:1: has prompt, completion, expected a suite's sample (id, messages, tools" in message
    for shape in ("captured request", "log (request, response)", "query/tools/answers", "conversations"):
        assert shape in message
