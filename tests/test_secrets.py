"""No secret is in any file, log, message or report, whatever the server does with the headers it was sent."""

import json
import logging
import re

import pytest
from draftproof.evals.arm import Arm
from draftproof.evals.servers.keys import Secrets

from .evals.scripted_runs import MODEL, number_of, right, write_suite
from .scripted import (
    ScriptedReply,
    ScriptedServer,
    answer,
    error,
    json_reply,
    streamed,
    text_answer,
    tool_call,
)
from .test_cli import draftproof

KEY = "sk-very/secret+0123456789"
TOKEN = "gateway-token-9876543210"
SECRETS = {"MY_KEY": KEY, "MY_TOKEN": TOKEN}
FORMATS = ("terminal", "markdown", "html", "json", "junit")


def echoing(request):
    """Say the headers in every place where a server can say anything; some requests are answered right."""
    said = f"headers: {dict(request.headers)}"
    match number_of(request):
        case 0:
            return error(400, said)
        case 1:
            # A message is cut after some 500 characters: in the middle of the key.
            return error(500, "x" * 480 + said)
        case 2:
            call = tool_call(said, {request.headers["authorization"]: [said]}, said)
            return answer(said, said, tool_calls=[call], reasoning=said, system_fingerprint=said)
        case 3:
            return ScriptedReply(200, said.encode(), {"Content-Type": "text/html"})
        case 4:
            return json_reply({"choices": [{"finish_reason": "error", "message": {"content": said}}]})
        case 5:
            body = answer(said).body.replace(b"/", b"\\/")
            return ScriptedReply(200, body, {"Content-Type": "application/json"})
        case 6:
            return ScriptedReply(307, b"", {"Location": f"https://user:{KEY}@elsewhere.test/?token={TOKEN}"})
        case _:
            return right(request)


def streaming(request):
    """The same as a stream, in pieces of three characters."""
    said = f"headers: {dict(request.headers)}"
    if number_of(request) % 2:
        return right(request)
    return streamed([{"content": said[n : n + 3]} for n in range(0, len(said), 3)])


def pages():
    """Pages that say what they were asked with."""
    said = f"bad {KEY} {TOKEN}"
    models = {"object": "list", "data": [{"id": said, "owned_by": "vllm"}, {"id": MODEL}]}
    return {
        "/v1/models": json_reply(models),
        "/version": json_reply({"version": said}),
        "/tokenize": json_reply({"tokens": [1], "token_strs": [said]}),
        "/metrics": error(500, said),
    }


@pytest.mark.parametrize(("script", "stream"), [(echoing, False), (streaming, True)])
def test_no_secret_is_anywhere(tmp_path, caplog, script, stream):
    """Files of the run, logs at their most talkative, output of every command, in every format."""
    caplog.set_level(logging.DEBUG)
    suite = write_suite(tmp_path / "suite.jsonl", 9)
    with ScriptedServer(right, pages=pages()) as baseline, ScriptedServer(script) as mtp:
        arms = "".join(
            f'[[arms]]\nname = "{name}"\nbase_url = "{server.base_url}"\nmodel = "{MODEL}"\n'
            'api_key_env = "MY_KEY"\nheaders = { "X-Gateway-Token" = "tok ${MY_TOKEN}" }\n'
            for name, server in (("baseline", baseline), ("mtp", mtp))
        )
        run = (
            f"[run]\ntasks = [{json.dumps(str(suite))}]\nmax_tokens = 100\nconfirm = 0\nretries = 0\n"
            f"stream = {str(stream).lower()}\n"
        )
        (tmp_path / "plan.toml").write_text(run + arms)
        directory = tmp_path / "run"
        outputs = [
            draftproof("run", tmp_path / "plan.toml", "--out", directory, "--allow", "model", env=SECRETS)
        ]
    assert outputs[0].returncode in (0, 4), outputs[0].stderr
    assert mtp.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert mtp.requests[0].headers["x-gateway-token"] == f"tok {TOKEN}"
    for name in FORMATS:
        outputs.append(draftproof("report", directory, "--format", name))
        outputs.append(draftproof("report", directory, "--format", name, "-o", directory / f"r.{name}"))
    for extra in ([], ["--repeat", "curl"], ["--repeat", "python"]):
        outputs += [draftproof("show", directory, f"s/{number}", *extra) for number in (1, 2)]
    outputs.append(
        draftproof("gate", directory, "--junit", directory / "j.xml", "--markdown", directory / "m.md")
    )
    outputs.append(draftproof("diff", f"{directory}:baseline", f"{directory}:mtp"))
    texts = [path.read_text() for path in directory.rglob("*") if path.is_file()]
    texts += [one.stdout + one.stderr for one in outputs]
    # Nobody but a programmer can turn on the HTTP library's own trace, which shows headers as they come.
    caplog.records[:] = [record for record in caplog.records if not record.name.startswith("httpcore")]
    texts += [record.getMessage() + str(record.exc_info or "") for record in caplog.records]
    assert any("[key]" in text for text in texts), "the server's echo is in the run"
    # Also not the beginning of one, and not as JSON escapes it.
    for part in ("sk-very", "0123456789", "gateway-token-9", "9876543210"):
        assert not [text[max(0, text.find(part) - 200) :][:300] for text in texts if part in text]
    assert any("$MY_KEY" in one.stdout for one in outputs)


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize(
    "url", ["socks5://me:hunter2@127.0.0.1:1", "gopher://me:hunter2@x", "http://[me:hunter2"]
)
def test_a_proxy_that_cannot_be_used_is_said_without_its_password(tmp_path, variable, url):
    """One clear error in place of a traceback."""
    suite = write_suite(tmp_path / "suite.jsonl", 1)
    flags = ["--baseline", "http://a.test/v1", "--candidate", "x=http://b.test/v1", "--model", "m"]
    ran = draftproof("run", *flags, "--tasks", suite, "--out", tmp_path / "run", env={variable: url})
    assert ran.returncode == 2, ran.stderr
    assert "no connection can be prepared" in ran.stderr
    assert "hunter2" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("member", ["base_url", "metrics_url"])
def test_a_url_with_a_password_is_refused_without_saying_it(tmp_path, member):
    """It would be in run.json and in every report."""
    urls = {"base_url": "http://127.0.0.1:9/v1", member: "http://me:hunter2@127.0.0.1:9/v1"}
    arm = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    (tmp_path / "plan.toml").write_text(
        f'[run]\ntasks = ["builtin:starter"]\n[[arms]]\nname = "a"\nmodel = "m"\nbaseline = true\n{arm}'
        '[[arms]]\nname = "b"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    ran = draftproof("run", tmp_path / "plan.toml", "--out", tmp_path / "run")
    assert ran.returncode == 2
    assert re.search("without user or password", ran.stderr)
    assert "hunter2" not in ran.stdout + ran.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("placeholder", ["EMPTY", "test", "none", "a", "token"])
def test_a_placeholder_for_a_key_changes_no_answer(monkeypatch, placeholder):
    """Local servers take any key: that word in an answer is the model's, and evidence."""
    monkeypatch.setenv("MY_KEY", placeholder)
    secrets = Secrets(Arm(name="a", base_url="http://a.test", model="m", api_key_env="MY_KEY"))
    text = text_answer(placeholder).body.decode()
    assert secrets.out_of_text(text) == text
    assert secrets.out_of_error(f"bad key {placeholder}") == secrets.out_of_error("bad key [key]")
