"""The scripted server does what a test tells it, faults included, and leaves nothing behind."""

import json
import threading
import time

import httpx
import pytest

from ..scripted import (
    ScriptedServer,
    answer,
    broken_off,
    delayed,
    error,
    hang,
    html,
    in_turn,
    not_json,
    reset,
    streamed,
    text_answer,
    text_reply,
    tool_call,
    without_choices,
)

BODY = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}


def ask(server, timeout=5.0, path="/chat/completions"):
    with httpx.Client(timeout=timeout, trust_env=False) as client:
        return client.post(server.base_url + path, json=BODY, headers={"Authorization": "Bearer key"})


def test_an_answer_is_a_chat_completion_and_the_request_is_logged():
    calls = [tool_call("get_weather", {"city": "Oslo"})]
    reply = answer(
        None, "tool_calls", completion_tokens=7, tool_calls=calls, reasoning="hm", timings={"draft_n": 3}
    )
    with ScriptedServer(lambda _request: reply) as server:
        body = ask(server).json()
    (request,) = server.requests
    assert (request.number, request.path, request.body) == (0, "/v1/chat/completions", BODY)
    assert request.headers["authorization"] == "Bearer key"
    (choice,) = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
            }
        ],
        "reasoning_content": "hm",
    }
    assert body["usage"] == {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
    assert body["timings"] == {"draft_n": 3}


def test_the_script_sees_the_request():
    with ScriptedServer(lambda request: answer(request.body["messages"][0]["content"])) as server:
        assert ask(server).json()["choices"][0]["message"]["content"] == "hi"


def test_a_null_finish_reason_is_not_a_missing_one():
    with ScriptedServer(in_turn(answer("a", None), answer("a", ...))) as server:
        assert ask(server).json()["choices"][0]["finish_reason"] is None
        assert "finish_reason" not in ask(server).json()["choices"][0]


def test_usage_can_be_missing():
    with ScriptedServer(lambda _request: answer("a", usage=False)) as server:
        assert "usage" not in ask(server).json()


def test_a_text_completion_has_its_text():
    with ScriptedServer(lambda _request: text_answer("once", system_fingerprint="f")) as server:
        body = ask(server, path="/completions").json()
    assert (body["choices"][0]["text"], body["system_fingerprint"]) == ("once", "f")


def test_a_stream_comes_in_events():
    reply = streamed([{"content": "a"}, {"content": "b"}], "length", completion_tokens=2)
    with ScriptedServer(lambda _request: reply) as server:
        response = ask(server)
    events = [line.removeprefix("data: ") for line in response.text.splitlines() if line]
    assert events[-1] == "[DONE]"
    bodies = [json.loads(event) for event in events[:-1]]
    assert [body["choices"][0]["delta"].get("content") for body in bodies[:2]] == ["a", "b"]
    assert bodies[2]["choices"][0]["finish_reason"] == "length"
    assert bodies[3]["usage"]["completion_tokens"] == 2


@pytest.mark.parametrize(
    ("reply", "status", "content_type"),
    [
        (error(429, "slow down", retry_after="2"), 429, "application/json"),
        (error(500), 500, "application/json"),
        (html(502), 502, "text/html"),
        (not_json(), 200, "application/json"),
        (without_choices(), 200, "application/json"),
    ],
)
def test_a_fault_that_is_an_answer_comes_as_it_is(reply, status, content_type):
    with ScriptedServer(lambda _request: reply) as server:
        response = ask(server)
    assert (response.status_code, response.headers["Content-Type"]) == (status, content_type)
    assert response.content == reply.body
    assert response.headers.get("Retry-After") == reply.headers.get("Retry-After")


@pytest.mark.parametrize("whole", [answer("a" * 1000), streamed([{"content": "a"}] * 10)])
@pytest.mark.parametrize(
    ("fault", "kind"), [(reset, httpx.ReadError), (broken_off, httpx.RemoteProtocolError)]
)
def test_a_connection_can_end_in_the_middle_of_a_body(fault, kind, whole):
    with ScriptedServer(lambda _request: fault(whole)) as server:
        with pytest.raises(kind):
            ask(server)
        assert len(server.requests) == 1


def test_a_server_that_hangs_can_be_closed_at_once():
    with ScriptedServer(lambda _request: hang()) as server:
        with pytest.raises(httpx.ReadTimeout):
            ask(server, timeout=0.1)
        started = time.monotonic()
    assert time.monotonic() - started < 2


def test_a_delay_is_kept():
    with ScriptedServer(lambda _request: delayed(answer("late"), 0.1)) as server:
        started = time.monotonic()
        assert ask(server).status_code == 200
    assert time.monotonic() - started >= 0.1


def test_replies_in_turn_end_with_the_last():
    with ScriptedServer(in_turn(error(503), answer("a"))) as server:
        assert [ask(server).status_code for _ in range(3)] == [503, 200, 200]


def test_models_are_listed_and_other_pages_are_not_there():
    with ScriptedServer(lambda _request: answer(), max_model_len=4096) as server:
        models = httpx.get(f"{server.base_url}/models", trust_env=False).json()
        assert models["data"][0]["max_model_len"] == 4096
        for page in ("/props", "/slots", "/metrics"):
            assert httpx.get(server.root_url + page, trust_env=False).status_code == 404
    assert server.pages_read == ["/v1/models", "/props", "/slots", "/metrics"]
    assert server.requests == []


def test_pages_are_scripted_too_and_may_change():
    counts = iter(range(9))
    pages = {
        "/metrics": lambda: text_reply(f"drafted {next(counts)}"),
        "/tokenize": text_reply("posted"),
    }
    with ScriptedServer(lambda _request: answer(), pages=pages) as server:
        texts = [httpx.get(f"{server.root_url}/metrics", trust_env=False).text for _ in range(2)]
        assert httpx.post(f"{server.root_url}/tokenize", trust_env=False).text == "posted"
    assert texts == ["drafted 0", "drafted 1"]


def test_many_clients_are_served_at_once_over_kept_connections():
    together = threading.Barrier(8)

    def script(_request):
        together.wait(5)
        return answer("a")

    def client_of(server, statuses):
        with httpx.Client(timeout=10, trust_env=False) as client:
            statuses += [
                client.post(f"{server.base_url}/chat/completions", json=BODY).status_code for _ in "ab"
            ]

    statuses = []
    with ScriptedServer(script) as server:
        threads = [threading.Thread(target=client_of, args=(server, statuses)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert statuses == [200] * 16
    assert [request.number for request in server.requests] == list(range(16))


def test_a_client_that_keeps_its_connection_does_not_keep_the_server():
    with httpx.Client(trust_env=False) as client:
        with ScriptedServer(lambda _request: answer()) as server:
            client.post(f"{server.base_url}/chat/completions", json=BODY)
            started = time.monotonic()
        assert time.monotonic() - started < 2


def test_a_mistake_in_the_script_fails_the_test():
    def script(request):
        return request.body["no such member"]

    with pytest.raises(KeyError, match="no such member"), ScriptedServer(script) as server:
        assert ask(server).status_code == 500
