"""Raw mode: the server's own template, then a text completion; a clear error where there is no such page."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.servers.raw_prompt import completion_body, read_decoded, read_rendered, render_page
from draftproof.evals.servers.response import BadResponseError
from draftproof.evals.servers.server import ServerKind

from ...scripted import ScriptedServer, error, json_reply, text_answer
from ..scripted_runs import TOOL, ask, call_of, journal, judged, make_plan, write_suite

CHAT = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [TOOL],
    "tool_choice": "auto",
    "chat_template_kwargs": {"enable_thinking": False},
    "max_tokens": 8,
    "temperature": 0.0,
    "cache_salt": "x",
}


def test_what_shapes_the_prompt_goes_to_the_template_and_the_rest_to_the_completion():
    """Nothing is sent twice and nothing is lost."""
    page = render_page(ServerKind.VLLM, CHAT, "mtp")
    assert page.path == "/tokenize"
    assert page.body == {
        "model": "m",
        "messages": CHAT["messages"],
        "tools": [TOOL],
        "chat_template_kwargs": {"enable_thinking": False},
        "add_generation_prompt": True,
    }
    assert render_page(ServerKind.LLAMA_CPP, CHAT, "mtp").path == "/apply-template"
    rest = {"model": "m", "max_tokens": 8, "temperature": 0.0, "cache_salt": "x"}
    assert completion_body(CHAT, "text") == {**rest, "prompt": "text"}
    assert completion_body(CHAT, [1, 2]) == {**rest, "prompt": [1, 2], "skip_special_tokens": False}


@pytest.mark.parametrize(
    ("text", "prompt"),
    [('{"tokens": [1, 2], "count": 2}', [1, 2]), ('{"prompt": "<|im_start|>"}', "<|im_start|>")],
)
def test_a_rendered_prompt_is_tokens_or_text(text, prompt):
    """VLLM gives tokens, llama.cpp text."""
    assert read_rendered(text) == prompt


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tokens": []}', '{"tokens": ["a"]}', '{"prompt": 5}', "<html>"]
)
def test_a_page_without_a_prompt_is_a_bad_response(text):
    """It is the endpoint's fault, never an empty prompt."""
    with pytest.raises(BadResponseError, match="no prompt in the rendered template"):
        read_rendered(text)


def test_a_text_that_did_not_come_is_not_told():
    """Decoding is an extra."""
    assert read_decoded('{"prompt": "a"}') == "a"
    assert read_decoded("<html>") is None


def llama(reply, **pages):
    card = {"id": "scripted", "object": "model", "owned_by": "llamacpp"}
    return ScriptedServer(reply, pages={"/v1/models": json_reply({"data": [card]}), **pages})


def test_a_raw_run_asks_what_the_server_rendered(tmp_path):
    """The journal has the whole completion body; the text is read in the dialect."""

    def reply(request):
        if request.path == "/apply-template":
            return json_reply({"prompt": f"RENDERED {request.body['messages'][-1]['content']}"})
        assert request.path == "/v1/completions"
        city = request.body["prompt"].removeprefix("RENDERED Weather in ").rstrip("?")
        return text_answer(call_of(city))

    suite = write_suite(tmp_path / "s.jsonl", 2)
    with llama(reply) as server:
        ask(make_plan(suite, {"baseline": server, "mtp": server}, mode="raw"), tmp_path / "run")
    summary, _ = judged(tmp_path / "run")
    assert [arm.passed for arm in summary.arms] == [2, 2]
    row = journal(tmp_path / "run", "mtp")[0]
    assert row["mode"] == "raw"
    assert row["request"]["prompt"].startswith("RENDERED Weather in City")
    assert "messages" not in row["request"]


def test_a_template_page_that_fails_for_a_moment_is_asked_again(tmp_path):
    """Rendering is part of the send: it has its repeats."""
    rendered = []

    def reply(request):
        if request.path == "/apply-template":
            rendered.append(request)
            # The first two are those of the preflight, one for each arm.
            return error(503) if len(rendered) == 3 else json_reply({"prompt": "p"})
        return text_answer(call_of("City0"))

    suite = write_suite(tmp_path / "s.jsonl", 1)
    with llama(reply) as server:
        ask(make_plan(suite, {"baseline": server, "mtp": server}, mode="raw"), tmp_path / "run")
    rows = journal(tmp_path / "run", "baseline") + journal(tmp_path / "run", "mtp")
    assert [row["status"] for row in rows] == ["success"] * 2
    assert sum(row["retries"] for row in rows) == 1


def test_another_server_has_no_raw_mode(tmp_path):
    """Said before anything is asked, with the kinds that have it."""
    suite = write_suite(tmp_path / "s.jsonl", 1)
    with (
        ScriptedServer(lambda _request: text_answer("x")) as server,
        pytest.raises(
            UserError, match=r"mode raw needs vLLM .* or llama.cpp .*; this server is not known"
        ) as caught,
    ):
        ask(make_plan(suite, {"baseline": server, "mtp": server}, mode="raw"), tmp_path / "run")
    assert caught.value.exit_code == 4
    assert server.requests == []


def test_a_redacted_raw_run_holds_no_prompt(tmp_path):
    """Not as text, and not as tokens that anybody can decode."""

    def reply(request):
        if request.path == "/apply-template":
            return json_reply({"prompt": "SECRET " + request.body["messages"][-1]["content"]})
        return text_answer(call_of("City0"))

    suite = write_suite(tmp_path / "s.jsonl", 1)
    with llama(reply) as server:
        ask(make_plan(suite, {"baseline": server, "mtp": server}, mode="raw", redact=True), tmp_path / "run")
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or b"SECRET" not in path.read_bytes()
        assert not path.is_file() or b"City0" not in path.read_bytes()
