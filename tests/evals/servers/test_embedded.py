"""The embedded llama.cpp server: real processes, real speculation."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import httpx
import pytest
from draftproof.errors import UserError
from draftproof.evals.servers.embedded import Speculation, start_embedded

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed (the extra `demo`)"
)


def _get(server, path):
    return httpx.get(server.base_url.removesuffix("/v1") + path, timeout=60)


def _complete(server, text, **more):
    body = {"model": server.name, "messages": [{"role": "user", "content": text}], "temperature": 0, **more}
    answer = httpx.post(server.base_url + "/chat/completions", json=body, timeout=120)
    answer.raise_for_status()
    return answer.json()


@pytest.mark.heavy
@needs_engine
@pytest.mark.parametrize("speculation", list(Speculation))
def test_a_server_answers_and_shows_whether_it_speculates(speculation, model_path, tmp_path):
    log = tmp_path / "logs" / "server.log"
    with start_embedded("small", model_path, speculation, n_ctx=1024, log=log) as server:
        answer = _complete(
            server, "Say: one two three one two three one two three one two three", max_tokens=24
        )
        assert answer["choices"][0]["finish_reason"] in ("stop", "length")
        assert answer["usage"]["completion_tokens"] <= 24
        if speculation is Speculation.DRAFT:
            assert answer["timings"]["draft_n"] >= answer["timings"]["draft_n_accepted"] > 0
        assert [slot["speculative"] for slot in _get(server, "/slots").json()] == [
            speculation is not Speculation.NONE
        ]
        assert "llamacpp:spec_decode_num_draft_tokens_total" in _get(server, "/metrics").text
        assert _get(server, "/props").json()["default_generation_settings"]["n_ctx"] == 1024
        assert _get(server, "/v1/models").json()["data"][0]["id"] == "small"
        assert server.is_running
    assert not server.is_running
    server.stop()  # a second time is allowed
    assert "listening" in log.read_text()


@pytest.mark.heavy
@needs_engine
def test_a_chat_template_of_ones_own_is_used(model_path, tmp_path):
    with start_embedded(
        "small",
        model_path,
        Speculation.NONE,
        n_ctx=512,
        chat_template="{{ messages[0]['content'] }} and no more",
        log=tmp_path / "log",
    ) as server:
        body = {"messages": [{"role": "user", "content": "This"}]}
        rendered = httpx.post(server.base_url.removesuffix("/v1") + "/apply-template", json=body, timeout=60)
        assert rendered.json()["prompt"] == "This and no more"


PARENT = """
import json, sys, threading, time
from pathlib import Path
from draftproof.evals.servers.embedded import Speculation, start_embedded

def start():
    server = start_embedded("small", Path(sys.argv[1]), Speculation.NONE, n_ctx=512, log=Path(sys.argv[2]))
    kept.append(server)

kept = []
if sys.argv[3] == "main":
    start()
else:
    worker = threading.Thread(target=start)
    worker.start()
    worker.join()
health = kept[0].base_url.removesuffix("/v1") + "/health"
print(json.dumps({"pid": kept[0].pid, "health": health}), flush=True)
time.sleep(600)
"""


@pytest.mark.heavy
@needs_engine
@pytest.mark.parametrize("thread", ["main", "other"])
def test_the_server_dies_with_a_killed_parent_but_not_with_the_thread_that_started_it(
    thread, model_path, tmp_path
):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(model_path), str(tmp_path / "log"), thread], stdout=subprocess.PIPE
    )
    try:
        started = json.loads(parent.stdout.readline())
        time.sleep(0.5)
        assert httpx.get(started["health"], timeout=30).status_code == 200
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert _ends(started["pid"])
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def _ends(pid):
    return _soon(lambda: not _is_alive(pid))


def _soon(holds, seconds=20.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


def _is_alive(pid):
    """Whether a process that is not our child runs; a zombie that nobody has reaped yet does not."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - one line of procfs
                return stat.read().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.heavy
@needs_engine
def test_a_crash_is_seen(model_path, tmp_path):
    with start_embedded("small", model_path, Speculation.NONE, n_ctx=512, log=tmp_path / "log") as server:
        os.kill(server.pid, signal.SIGSEGV)
        # Its first thread is a zombie at once, but a process ends only when its last thread does.
        assert _soon(lambda: not server.is_running)


@pytest.mark.heavy
@needs_engine
def test_a_bad_model_file_is_an_error_with_the_last_lines_of_the_log(tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF\x03\x00\x00\x00" + b"\x00" * 64)
    with pytest.raises(UserError) as caught:
        start_embedded("bad", bad, Speculation.NONE, log=tmp_path / "log")
    message = str(caught.value)
    assert message.startswith(f"{bad}: the embedded server (none) did not start; its last output:\n")
    assert "failed to load model" in message
    assert "Traceback" not in message
    assert str(tmp_path / "log") in message


@needs_engine
def test_a_missing_model_file_is_an_error_before_anything_starts(tmp_path):
    with pytest.raises(UserError, match=r"no\.gguf: no such model file"):
        start_embedded("none", tmp_path / "no.gguf", Speculation.NONE, log=tmp_path / "log")
    assert not (tmp_path / "log").exists()


def test_without_the_engine_the_error_names_the_extra(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else find(name))
    with pytest.raises(UserError) as caught:
        start_embedded("small", tmp_path / "m.gguf", Speculation.NONE, log=tmp_path / "log")
    assert caught.value.tip == "pip install 'draftproof[demo]'"
