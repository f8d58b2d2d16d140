"""How to repeat a request: the body arrives exactly, whatever stands in it, and keys come from outside."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from draftproof.errors import UserError
from draftproof.evals.plan import Arm, Mode
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.repeat import body_text, curl_line, python_snippet
from draftproof.reports.sample import render_repeat

from .runs import BODY, three_arms

KEY = "sk-secret"
BODIES = [
    BODY,
    {"a": "'; touch owned; '"},
    {"a": "$(touch owned) `touch owned` $HOME ${HOME} !! \\"},
    {"a": "line\nbreak\r\n\"quotes\" 'single' \"\"\" three '''"},
    {"a": "\nBODY\n", "b": ["BODY", "<<'BODY'"]},
    {"a": "東京 🎉 \u202e \x1b[2J \x00 \x7f \ud800", "b": 1.5e-7, "c": None, "d": True},
    {"a": "x" * 300_000},
    {},
]
STUB = """#!/bin/sh
for argument in "$@"; do printf '%s\\0' "$argument"; done > "$OUT.arguments"
cat > "$OUT.body"
"""


def arm(name="ngram", **fields):
    return Arm(name=name, base_url="http://127.0.0.1:8000/v1", model="m", **fields)


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_shell_hands_curl_exactly_the_body(tmp_path, body):
    """Run by bash with a curl that only writes down what it was given; nothing else happens."""
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin" / "curl"
    stub.write_text(STUB)
    stub.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "OUT": str(tmp_path / "out"),
        "MY_KEY": KEY,
    }
    line = curl_line(arm(api_key_env="MY_KEY"), Mode.NATIVE, body)
    subprocess.run(
        ["bash", "-c", line] if len(line) < 100_000 else ["bash"],
        input=line,
        env=environment,
        cwd=tmp_path,
        check=True,
        text=True,
    )
    arguments = (tmp_path / "out.arguments").read_text().split("\0")[:-1]
    assert arguments == [
        "-sS",
        "http://127.0.0.1:8000/v1/chat/completions",
        "-H",
        "Content-Type: application/json",
        "-H",
        f"Authorization: Bearer {KEY}",
        "--data-binary",
        "@-",
    ]
    assert json.loads((tmp_path / "out.body").read_text()) == body
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "out.arguments", "out.body"]


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_the_python_snippet_sends_exactly_the_body(body):
    """Run by Python against a server that writes down what came."""
    came = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            came.append((self.path, self.headers["Authorization"], json.loads(self.rfile.read(length))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"choices": []}')

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.handle_request, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    snippet = python_snippet(Arm(name="a", base_url=url, model="m"), Mode.PROMPTED, body)
    environment = {**os.environ, "OPENAI_API_KEY": KEY, "no_proxy": "127.0.0.1"}
    ran = subprocess.run(
        [sys.executable, "-"], input=snippet, env=environment, capture_output=True, text=True
    )
    server.server_close()
    assert ran.returncode == 0, ran.stderr
    assert came == [("/v1/chat/completions", f"Bearer {KEY}", body)]
    assert json.loads(ran.stdout) == {"choices": []}


@pytest.mark.parametrize("name", ["A-B", "x; touch owned", '"$(touch owned)"', "a'b"])
def test_a_variable_with_an_odd_name_is_no_command(tmp_path, name):
    """A run directory may be somebody else's: the name of its key must not act."""
    line = curl_line(arm(api_key_env=name), Mode.NATIVE, {}).replace("curl -sS", "printf '%s\\n'", 1)
    ran = subprocess.run(
        ["bash", "-c", line], env={**os.environ, name: KEY}, cwd=tmp_path, capture_output=True, text=True
    )
    assert f"Authorization: Bearer {KEY}" in ran.stdout.splitlines()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_body_is_one_line_of_ascii_without_a_single_quote(body):
    """So it can stand in a shell's text, in a Python string and at a terminal."""
    text = body_text(body)
    assert text.isascii()
    assert text.isprintable()
    assert "'" not in text
    assert json.loads(text) == body


def test_repeat_prints_a_request_per_arm_at_the_budget_that_tells():
    """What the cap cut is repeated with the cap that cut it."""
    text = render_repeat(summarise(three_arms()), "core/cap", "curl")
    assert text.count("curl -sS") == 3
    assert "# ngram: core/cap, max_tokens 100" in text
    assert '"max_tokens": 100' in text
    assert "import urllib.request" in render_repeat(summarise(three_arms()), "core/cap", "python")
    assert render_repeat(summarise(three_arms()), "nobody", "curl") is None


def test_a_redacted_run_says_that_it_cannot_be_repeated():
    """Its requests are hashes."""
    with pytest.raises(UserError, match="redacted"):
        render_repeat(summarise(three_arms(redact=True)), "core/cap", "curl")


def test_a_raw_request_goes_where_completions_are_made():
    """The chat route would render the prompt a second time."""
    assert "http://127.0.0.1:8000/v1/completions \\\n" in curl_line(arm(), Mode.RAW, {"prompt": "x"})
    assert "'http://127.0.0.1:8000/v1/completions'" in python_snippet(arm(), Mode.RAW, {"prompt": "x"})
