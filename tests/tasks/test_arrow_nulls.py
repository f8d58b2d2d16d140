"""Arrow and nulls: no member that Arrow made ever reaches a tool schema, and none that was meant is lost."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.tasks.arrow_nulls import NullsTakenOut
from draftproof.tasks.problems import SampleError
from draftproof.tasks.raw_sample import sample_to_json
from draftproof.tasks.suite import load_suites

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


# Two rows whose schemas have nothing in common: as structs, each would get the members of the other.
TOOLS = [
    [tool("get_weather", city={"type": "string"}, days={"type": "integer", "minimum": 1})],
    [tool("send", to={"type": "array", "items": {"type": "string"}}, kind={"enum": ["a", None]})],
]
ROWS = [
    {
        "query": f"Question {number}",
        "tools": tools,
        "answers": [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1}}]
        if number == 0
        else [{"name": "send", "arguments": {"to": ["x"], "kind": "a"}}],
    }
    for number, tools in enumerate(TOOLS)
]


def text(value):
    return value if isinstance(value, str) else json.dumps(value)


def declared(path):
    samples = load_suites([str(path)]).samples
    by_query = {sample.messages[0]["content"]: sample for sample in samples}
    return [sample_to_json(by_query[f"Question {number}"])["tools"] for number in range(2)]


def test_arrow_does_merge_structs():
    """What this is all about: were the rows read by Arrow, the schemas would hold nulls."""
    merged = pa.Table.from_pylist([{"tools": tools} for tools in TOOLS]).to_pylist()
    assert merged[0]["tools"][0]["function"]["parameters"]["properties"]["to"] is None


@pytest.mark.parametrize("name", ["set.jsonl", "set.json"])
def test_local_json_never_meets_arrow(tmp_path, name):
    """Objects of any difference come back as they were written, to the letter."""
    path = tmp_path / name
    path.write_text(json.dumps(ROWS) if name.endswith(".json") else "\n".join(map(json.dumps, ROWS)))
    assert json.dumps(declared(path)) == json.dumps(TOOLS)


def test_json_text_in_parquet_stays_text(tmp_path):
    """The way to keep schemas in a table."""
    path = tmp_path / "set.parquet"
    pq.write_table(pa.Table.from_pylist([{k: text(v) for k, v in row.items()} for row in ROWS]), path)
    assert json.dumps(declared(path)) == json.dumps(TOOLS)
    assert load_suites([str(path)]).notes == ()


def test_nulls_of_structs_in_parquet_are_taken_out_and_counted(tmp_path):
    """Tools as structs, answers as text: the schemas are those that were written, and the user is told."""
    path = tmp_path / "set.parquet"
    rows = [{**row, "answers": text(row["answers"])} for row in ROWS]
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert declared(path) == TOOLS
    loaded = load_suites([str(path)])
    (note,) = loaded.notes
    assert note.startswith("2 of 2 samples come from columns of structs")
    assert all(sample.metadata["source"]["nulls_taken_out"] > 0 for sample in loaded.samples)


def test_answers_as_structs_are_left_out(tmp_path):
    """An argument that is null, and one that is not there, are two answers."""
    path = tmp_path / "set.parquet"
    same = [{**ROWS[0], "answers": [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1}}]}]
    other = {**ROWS[0], "query": "Question 1", "answers": [{"name": "get_weather", "arguments": {"x": 1}}]}
    pq.write_table(pa.Table.from_pylist([*same, other]), path)
    with pytest.raises(UserError) as caught:
        load_suites([str(path)])
    reason = "the first row is left out: answers[0].arguments.x: is null in a column of structs"
    assert f"set.parquet: holds no sample; {reason}" in str(caught.value)


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def schema_of(parameters):
    nulls = NullsTakenOut()
    row = nulls.row({"tools": [{"type": "function", "function": {"name": "f", "parameters": parameters}}]})
    return row["tools"][0]["function"]["parameters"], nulls.count


@pytest.mark.parametrize(
    ("padded", "plain", "count"),
    [
        (SCHEMA, SCHEMA, 0),
        ({**SCHEMA, "required": None, "title": None}, SCHEMA, 2),
        ({"type": "object", "properties": {"a": {"type": "string", "enum": None}, "b": None}}, None, 2),
        ({"type": "object", "properties": {"a": None, "b": None}}, {"type": "object", "properties": {}}, 2),
        ({"anyOf": [{"type": "string", "items": None}], "items": {"x": None}}, None, 2),
        ({"enum": ["a", None], "examples": [None]}, {"enum": ["a", None], "examples": [None]}, 0),
    ],
)
def test_a_null_that_can_be_nothing_else_is_taken_out(padded, plain, count):
    """No keyword but `default` and `const` takes null; items of lists are nobody's doing."""
    schema, taken = schema_of(padded)
    assert taken == count
    assert "enum" in schema or "null" not in json.dumps(schema)
    assert plain is None or schema == plain


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"tools": [{"name": "f", "parameters": {"default": None}}]}, "tools[0].parameters.default is null"),
        (
            {"tools": [{"name": "f", "parameters": {"const": {"a": None}}}]},
            "tools[0].parameters.const.a is null",
        ),
        (
            {"tools": [{"name": "f", "parameters": {"properties": {"a": {"type": None, "enum": None}}}}]},
            "tools[0].parameters.properties.a holds nothing that is not null",
        ),
        ({"answers": [{"name": "f", "arguments": {"a": None}}]}, "answers[0].arguments.a is null"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": {"a": None}}}]}]},
            "messages[0].tool_calls[0].function.arguments.a is null",
        ),
    ],
)
def test_a_null_that_could_be_meant_is_not_guessed_at(members, place):
    with pytest.raises(SampleError) as caught:
        NullsTakenOut().row(members)
    assert str(caught.value).replace(": ", " ", 1).startswith(place)


def test_chat_messages_lose_every_null_but_their_content():
    """The interface reads the others as absent."""
    nulls = NullsTakenOut()
    turn = {"role": "assistant", "content": None, "name": None, "tool_calls": [{"id": "c", "type": None}]}
    row = nulls.row(
        {"messages": [turn, {"role": "user", "content": [{"type": "text", "url": None}]}], "x": None}
    )
    assert row == {
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
            {"role": "user", "content": [{"type": "text"}]},
        ]
    }
    assert nulls.count == 3
