"""What a server sends is kept as received, and what is no answer is never taken for one."""

import json

import pytest
from draftproof.evals.attempt import Drafts, ErrorType, Usage
from draftproof.evals.servers.response import (
    BadResponseError,
    TokenLogprob,
    error_message,
    error_type,
    read_completion,
)


def body(message=None, choice=None, **members):
    first = {"message": {"content": "hi", **(message or {})}, "finish_reason": "stop", **(choice or {})}
    return json.dumps({"choices": [first], **members})


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "abort", "anything", None])
def test_a_finish_reason_is_kept_as_received(reason):
    """Null stays null; no reason is made up."""
    assert read_completion(body(choice={"finish_reason": reason})).finish_reason == reason


def test_an_absent_finish_reason_is_none():
    """A member that is not there is None, never "stop"."""
    assert read_completion('{"choices": [{"message": {"content": "a"}}]}').finish_reason is None


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (None, None),
        ("", ""),
        ("a\ud800b", "a\ud800b"),
        ("a\x00b\u2028c", "a\x00b\u2028c"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"text": "a"}], "a"),
        ([], ""),
    ],
)
def test_content_is_kept_and_text_parts_are_one_text(sent, kept):
    """Null is not the empty string; lone surrogates and NUL pass; a list of text parts is their text."""
    assert read_completion(body({"content": sent})).content == kept


@pytest.mark.parametrize(
    "calls", [None, [], {}, "x", [None, 7, {"function": {"name": 5}}], [{"a": [1.5, "\udfff"]}]]
)
def test_tool_calls_are_kept_whatever_they_are(calls):
    """The parser judges them, the edge does not."""
    assert read_completion(body({"tool_calls": calls})).tool_calls == calls


@pytest.mark.parametrize(
    ("usage", "kept"),
    [
        (None, None),
        ({}, Usage()),
        ({"prompt_tokens": 3, "completion_tokens": None}, Usage(3)),
        ({"prompt_tokens": "many", "completion_tokens": 7}, Usage(None, 7)),
        ({"prompt_tokens": 10**400, "completion_tokens": 7}, Usage(None, 7)),
        ("free", None),
        ([], None),
        ({"completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 2}}, Usage(None, 7, 2)),
        ({"completion_tokens": 7, "completion_tokens_details": []}, Usage(None, 7)),
        ({"completion_tokens": 7, "reasoning_tokens": 4}, Usage(None, 7, 4)),
    ],
)
def test_a_count_that_was_not_told_is_none(usage, kept):
    """Bookkeeping that cannot be read was not told; it is not zero, and the answer stands."""
    completion = read_completion(body(usage=usage))
    assert (completion.usage, completion.content) == (kept, "hi")


def test_an_absent_usage_is_none():
    """No usage is not a usage of nothing."""
    assert read_completion(body()).usage is None


@pytest.mark.parametrize(
    ("members", "spec"),
    [
        ({}, None),
        ({"timings": {"predicted_n": 9}}, Drafts(0, 0)),
        ({"timings": {"draft_n": 9, "draft_n_accepted": 4}}, Drafts(9, 4)),
        ({"timings": {"draft_n": None}}, None),
        ({"timings": {"draft_n": -1, "draft_n_accepted": -1}}, None),
        ({"timings": {"draft_n": 10**400}}, None),
        ({"timings": 5}, None),
        ({"metrics": {"speculative_decoding": None}}, None),
        (
            {"metrics": {"speculative_decoding": {"num_draft_tokens": 6, "num_accepted_draft_tokens": 5}}},
            Drafts(6, 5),
        ),
        ({"metrics": {"speculative_decoding": {"num_draft_tokens": 6}}}, None),
        ({"metrics": []}, None),
    ],
)
def test_drafts_are_counted_where_the_server_counts_them(members, spec):
    """Drafted nothing (llama.cpp leaves `draft_n` out) is 0; a server that says nothing is None."""
    assert read_completion(body(**members)).spec == spec


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_is_read_under_both_names(name):
    """Servers spell it differently."""
    assert read_completion(body({name: "hm"})).reasoning == "hm"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("<html><body>502</body></html>", "not JSON"),
        ('data: {"choices": []}', "not JSON"),
        ('{"choices": [', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("null", "not a completion"),
        ("[]", "not a completion"),
        ("{}", "choices"),
        ('{"choices": null}', "choices"),
        ('{"choices": []}', "no choices"),
        ('{"choices": [null]}', "choices.0"),
        ('{"choices": [{"message": null}]}', "neither message nor text"),
        ('{"choices": [{"delta": {"content": "a"}}]}', "neither message nor text"),
        (body({"content": 5}), "choices.0.message.content"),
        (body({"content": [{"type": "image_url", "image_url": "x"}]}), "choices.0.message.content"),
        (body(choice={"finish_reason": {"type": "stop"}}), "choices.0.finish_reason"),
        (body(choice={"finish_reason": 1}), "choices.0.finish_reason"),
        ('{"error": {"message": "overloaded"}}', "an error inside HTTP 200"),
        (body(error={"message": "overloaded"}), "an error inside HTTP 200"),
        (body(choice={"error": {"code": 502}}), "gave this answer up"),
        (body(choice={"finish_reason": "error"}), "gave this answer up"),
    ],
)
def test_what_is_no_answer_is_a_bad_response(text, says):
    """An HTTP 200 without an answer in it is the endpoint's fault and says what came."""
    with pytest.raises(BadResponseError, match=says) as caught:
        read_completion(text)
    assert len(str(caught.value)) < 1000


def test_a_null_error_beside_choices_is_none():
    """Some servers send every member of their schema."""
    assert read_completion(body(error=None)).content == "hi"


PEG = "The model produced output that does not match the expected peg-native format"


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (500, f'{{"error": {{"code": 500, "message": "{PEG}"}}}}', ErrorType.SERVER_PARSE_FAILURE),
        (500, "Failed to parse input at pos 13: <|channel>thought", ErrorType.SERVER_PARSE_FAILURE),
        (500, "the output could not be parsed", ErrorType.SERVER_PARSE_FAILURE),
        (400, PEG, ErrorType.UNSUPPORTED_REQUEST),
        (500, "Failed to parse tool call arguments as JSON: [json.exception]", ErrorType.ENDPOINT_ERROR),
        (500, "Failed to parse messages: no content", ErrorType.ENDPOINT_ERROR),
        (500, "internal error", ErrorType.ENDPOINT_ERROR),
        (503, "Loading model", ErrorType.ENDPOINT_ERROR),
        (408, "", ErrorType.TIMEOUT),
        (400, "max_tokens is too large", ErrorType.UNSUPPORTED_REQUEST),
        (413, "", ErrorType.UNSUPPORTED_REQUEST),
        (422, "", ErrorType.UNSUPPORTED_REQUEST),
        (401, "", ErrorType.ENDPOINT_ERROR),
        (404, "no such model", ErrorType.ENDPOINT_ERROR),
        (429, "slow down", ErrorType.ENDPOINT_ERROR),
        (308, "", ErrorType.ENDPOINT_ERROR),
    ],
)
def test_a_status_says_whose_fault_it_is(status, text, kind):
    """Only a server that says the model's output did not parse blames the model."""
    assert error_type(status, text) is kind


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"error": {"message": "too long", "code": 400}}', "too long"),
        ('{"error": "too long"}', "too long"),
        ('{"message": "too long"}', "too long"),
        ('{"detail": [1]}', '{"detail": [1]}'),
        ('"too long"', "too long"),
        ("<html>\n <b>502</b>\n</html>", "<html> <b>502</b> </html>"),
        ("", "an empty body"),
        ("[" * 100_000, "[" * 500 + "…"),
    ],
)
def test_an_error_is_told_in_the_servers_own_words(text, message):
    """On one line, and never a whole page."""
    assert error_message(text) == message


@pytest.mark.parametrize(
    ("logprobs", "read"),
    [
        (None, None),
        ({"content": None}, None),
        ({"content": "x"}, None),
        ({"content": [{"token": "a", "logprob": None}]}, None),
        (
            {"content": [{"token": "a", "logprob": -0.5, "id": 7, "top_logprobs": []}]},
            (TokenLogprob("a", -0.5, 7),),
        ),
        (
            {"content": [{"token": "a", "logprob": 0, "top_logprobs": [{"token": "b", "logprob": -2}]}]},
            (TokenLogprob("a", 0.0, None, (("b", -2.0),)),),
        ),
    ],
)
def test_log_probabilities_are_read_where_they_can_be(logprobs, read):
    """Bookkeeping beside the answer: what cannot be read of it was not told."""
    choice = {"message": {"content": "a"}, "finish_reason": "stop", "logprobs": logprobs}
    assert read_completion(json.dumps({"choices": [choice]})).logprobs == read
