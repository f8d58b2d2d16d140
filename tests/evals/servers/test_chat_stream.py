"""Streamed answers: the same as whole ones, whatever the pieces; what is not sent stays absent."""

import json

import pytest
from draftproof.evals.attempt import Drafts, Usage
from draftproof.evals.servers.chat_stream import ChatStream, StreamedError
from draftproof.evals.servers.response import BadResponseError, read_completion


def delta(finish_reason=None, **members):
    return {"choices": [{"index": 0, "delta": members, "finish_reason": finish_reason}]}


def call(index=0, call_id=None, name=None, arguments=None):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry = {"index": index, "id": call_id, "function": function}
    if index is None:
        del entry["index"]
    return entry


def calls(*entries):
    return delta(tool_calls=list(entries))


def read(*chunks, done=True):
    stream = ChatStream()
    for chunk in chunks:
        stream.feed(chunk if isinstance(chunk, str) else json.dumps(chunk))
    if done:
        stream.feed("[DONE]")
    return stream.completion(ttft_ms=3.0)


def made(name, arguments, call_id=None):
    function = {"name": name, "arguments": arguments}
    return {"function": function} if call_id is None else {"id": call_id, "function": function}


END = delta("tool_calls")
CALLS = {
    "split anywhere": (
        [
            calls(call(0, "a", "get_", "")),
            calls(call(0, None, "weather", '{"ci')),
            calls(call(0, None, None, 'ty": "O')),
            calls(call(0, None, None, 'slo"}')),
        ],
        [made("get_weather", '{"city": "Oslo"}', "a")],
    ),
    "whole in one delta": ([calls(call(0, "a", "f", "{}"))], [made("f", "{}", "a")]),
    "several in one delta": (
        [calls(call(0, "a", "f", "{}"), call(1, "b", "g", "{}"))],
        [made("f", "{}", "a"), made("g", "{}", "b")],
    ),
    "pieces of two interleaved": (
        [
            calls(call(0, "a", "f", '{"x"'), call(1, "b", "g", '{"y"')),
            calls(call(1, None, None, ": 2}"), call(0, None, None, ": 1}")),
        ],
        [made("f", '{"x": 1}', "a"), made("g", '{"y": 2}', "b")],
    ),
    "later index first": (
        [calls(call(1, "b", "g", "{}")), calls(call(0, "a", "f", "{}"))],
        [made("f", "{}", "a"), made("g", "{}", "b")],
    ),
    "no ids at all": ([calls(call(0, None, "f", "{}"))], [made("f", "{}")]),
    "no index, told apart by id": (
        [
            calls(call(None, "a", "f", "{")),
            calls(call(None, "a", None, "}")),
            calls(call(None, "b", "g", "{}")),
        ],
        [made("f", "{}", "a"), made("g", "{}", "b")],
    ),
    "no index and no id, told apart by a new name": (
        [
            calls(call(None, None, "f", "{")),
            calls(call(None, None, None, "}")),
            calls(call(None, None, "g", "{}")),
        ],
        [made("f", "{}"), made("g", "{}")],
    ),
    "a name said twice is not mended": (
        [calls(call(0, "a", "f", "{")), calls(call(0, "a", "f", "}"))],
        [made("ff", "{}", "a")],
    ),
    "arguments that are no string stay as they came": (
        [calls(call(0, "a", "f", {"x": 1}))],
        [made("f", {"x": 1}, "a")],
    ),
    "arguments that never came": ([calls(call(0, "a", "f"))], [{"id": "a", "function": {"name": "f"}}]),
}


@pytest.mark.parametrize("case", CALLS, ids=str)
def test_tool_calls_are_joined_as_the_contract_says(case):
    """By index; where it is missing by id, else by what is in progress."""
    chunks, expected = CALLS[case]
    assert read(*chunks, END).tool_calls == expected


def test_a_whole_and_a_streamed_answer_are_the_same():
    """Content, reasoning, ending, usage, drafts, fingerprint, token ids: each where the other form has it."""
    told = {
        "usage": {"prompt_tokens": 5, "completion_tokens": 7},
        "timings": {"draft_n": 4, "draft_n_accepted": 3},
        "system_fingerprint": "fp",
    }
    choice = {"finish_reason": "stop", "stop_reason": 151645, "token_ids": [1, 2, 3]}
    message = {"content": "Hello there", "reasoning": "hm"}
    whole = read_completion(json.dumps({"choices": [{**choice, "message": message}], **told}))
    first, second = delta(reasoning="h"), delta(reasoning="m", content="")
    first["choices"][0]["token_ids"] = [1]
    second["choices"][0]["token_ids"] = [2, 3]
    last = delta("stop")
    last["choices"][0]["stop_reason"] = 151645
    chunks = [delta(role="assistant"), first, second, delta(content="Hello"), delta(content=" there"), last]
    streamed = read(*chunks, {"choices": [], **told})
    fields = (
        "finish_reason",
        "stop_reason",
        "content",
        "reasoning",
        "tool_calls",
        "usage",
        "spec",
        "token_ids",
    )
    assert [getattr(streamed, name) for name in fields] == [getattr(whole, name) for name in fields]
    assert streamed.usage == Usage(5, 7)
    assert streamed.spec == Drafts(4, 3)
    assert (streamed.chunks, streamed.ttft_ms) == (4, 3.0)


def test_a_text_completion_streams_as_text():
    """As raw mode asks."""
    chunks = [
        {"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in ("<tool", "_call>")
    ]
    end = {"choices": [{"index": 0, "text": "", "finish_reason": "length"}]}
    answer = read(*chunks, end)
    assert (answer.content, answer.finish_reason, answer.chunks) == ("<tool_call>", "length", 2)


@pytest.mark.parametrize(
    ("chunks", "done", "reason"),
    [
        ([delta(content="a"), delta("stop")], True, "stop"),
        ([delta(content="a"), delta("stop")], False, "stop"),
        ([delta(content="a")], True, None),
        ([delta("stop", content="a"), delta(content="")], True, "stop"),
    ],
)
def test_a_finish_reason_that_was_not_sent_is_absent(chunks, done, reason):
    """A stream may end in order without one; a missing `[DONE]` after one is no fault."""
    assert read(*chunks, done=done).finish_reason == reason


@pytest.mark.parametrize(
    ("chunks", "done", "message"),
    [
        ([delta(content="a")], False, "the stream broke off: no finish_reason and no [DONE]"),
        ([], True, "the stream ended without a choice"),
        ([{"choices": []}], True, "the stream ended without a choice"),
        (["{"], True, "an event of the stream is not JSON"),
        (["[]"], True, "an event of the stream is no JSON object: []"),
        ([delta(tool_calls=["x"])], True, 'a tool call in the stream is no JSON object: "x"'),
        ([delta("error")], True, "the server gave this answer up"),
    ],
)
def test_a_stream_that_is_no_answer_is_a_bad_response(chunks, done, message):
    """It is the endpoint's fault, and retried."""
    with pytest.raises(BadResponseError) as caught:
        read(*chunks, done=done)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "no", "code": 400}, 400),
        ({"message": "no", "code": "400"}, 400),
        ({"message": "no", "status": 503}, 503),
        ({"message": "no", "code": "context_length_exceeded"}, None),
        ({"message": "no", "code": True}, None),
        ("no", None),
    ],
)
def test_an_error_event_keeps_the_status_that_it_names(error, status):
    """VLLM answers HTTP 200 and one event with the error in it."""
    with pytest.raises(StreamedError, match="no") as caught:
        read({"error": error})
    assert caught.value.status == status


def test_other_choices_and_a_closing_message_are_no_part_of_the_answer():
    """Only the first choice is asked for, and a repeated whole is not a piece."""
    other = {"choices": [{"index": 1, "delta": {"content": "other"}}]}
    closing = {"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}
    answer = read(delta(content="Hello"), other, closing)
    assert (answer.content, answer.finish_reason, answer.chunks) == ("Hello", "stop", 1)


def test_nothing_after_the_end_counts():
    """What a server sends behind `[DONE]` is not read."""
    stream = ChatStream()
    for data in (json.dumps(delta("stop", content="a")), "[DONE]", "garbage"):
        stream.feed(data)
    assert stream.completion().content == "a"


def test_a_cut_that_was_said_is_not_taken_back():
    """Proxies close every stream with a reason of their own."""
    assert read(delta(content="Os"), delta("length"), delta("stop")).finish_reason == "length"
    assert read(delta(content="Os"), delta("stop"), delta("tool_calls")).finish_reason == "tool_calls"


def test_an_error_that_is_not_wrapped_is_an_error():
    """Older vLLM sends it bare, and then `[DONE]`."""
    with pytest.raises(StreamedError, match="engine died") as caught:
        read(delta(content="Os"), {"object": "error", "message": "engine died", "code": 500})
    assert caught.value.status == 500


@pytest.mark.parametrize("odd", [{}, [], [1], 7, True, "x"], ids=repr)
@pytest.mark.parametrize("name", ["finish_reason", "stop_reason", "token_ids", "index", "delta"])
def test_any_json_in_place_of_a_member_is_an_answer_or_a_bad_response(name, odd):
    """Whatever a server writes there, and then an ordinary end: never an exception of our own."""
    chunk = delta(content="a")
    chunk["choices"][0][name] = odd
    try:
        answer = read(chunk, delta("stop"))
    except BadResponseError as error:
        assert str(error).startswith(("not a completion", "the stream ended without"))  # noqa: PT017 - either
    else:
        assert answer.finish_reason == "stop"
