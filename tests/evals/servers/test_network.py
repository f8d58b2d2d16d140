"""Network manners: only configured hosts, TLS verified, proxies and authorities of the user."""

import asyncio
import json
import shutil
import ssl
import subprocess
import sys
from base64 import b64encode

import pytest
from draftproof.errors import UserError
from draftproof.evals.arm import Arm
from draftproof.evals.attempt import Ask, ErrorType, Stage
from draftproof.evals.plan import Mode, RunSection, build_plan
from draftproof.evals.servers.endpoint import Endpoint
from draftproof.evals.servers.proxies import Proxies

from ...byte_server import ByteServer, head
from ...scripted import ScriptedServer, text_reply
from ..scripted_runs import TOOL, ask, judged, raw_plan, right, write_suite

KEY = "sk-very-secret-0123456789"
WHOLE = json.dumps({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}).encode()
contacted: list[object] = []
hook_is_in = False


def note_contact(event, arguments):
    if event == "socket.connect":
        contacted.append(arguments[1])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        contacted.append((arguments[0], None))


@pytest.fixture
def contacts():
    """Every address that this process connects to, and every name that it looks up."""
    global hook_is_in  # noqa: PLW0603 - an audit hook cannot be taken out again
    if not hook_is_in:
        sys.addaudithook(note_contact)
        hook_is_in = True
    contacted.clear()
    return contacted


def tool_with(parameters):
    return {"type": "function", "function": {**TOOL["function"], "parameters": parameters}}


def test_a_whole_run_contacts_the_hosts_of_its_plan_alone(tmp_path, contacts):
    """Not what a schema names, in asking or in judging; `metrics_url` is configured."""
    remote = {"type": "object", "properties": {"city": {"$ref": "http://schemas.test/city.json"}}}
    refused = write_suite(tmp_path / "refused.jsonl", 2, tools=[tool_with(remote)])
    with pytest.raises(UserError, match="nothing is fetched"):
        ask(
            build_plan(raw_plan(refused, {"baseline": "http://a.test", "b": "http://b.test"}), source="t"),
            tmp_path / "no",
        )
    assert contacts == []
    named = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://schemas.test/tool.json"}
    tool = tool_with({**named, "type": "object", "properties": {"city": {"type": "string"}}})
    suite = write_suite(tmp_path / "suite.jsonl", 2, tools=[tool])
    with ScriptedServer(right) as baseline, ScriptedServer(right) as mtp, ScriptedServer(right) as metrics:
        raw = raw_plan(suite, {"baseline": baseline, "mtp": mtp}, mode="native")
        raw["arms"][1]["metrics_url"] = f"{metrics.root_url}/metrics"
        ask(build_plan(raw, source="test"), tmp_path / "run")
        judged(tmp_path / "run")
        ports = {int(one.root_url.rpartition(":")[2]) for one in (baseline, mtp, metrics)}
        assert metrics.pages_read
    assert {one[0] for one in contacts} == {"127.0.0.1"}
    assert {one[1] for one in contacts} - {None} == ports


async def asked(base_url, stream=False, **members):
    arm = Arm(name="mtp", base_url=base_url, model="m", **members)
    endpoint = Endpoint(arm, RunSection(tasks=("t",), timeout=5.0, retries=0))
    try:
        attempt = await endpoint.ask(
            Ask("s/1", "mtp", Mode.PROMPTED, stream, Stage.FIRST, 8), {"model": "m", "stream": stream}, 0
        )
        if endpoint.arm.metrics_url:
            await endpoint.get_text(endpoint.arm.metrics_url)
        return attempt
    finally:
        await endpoint.close()


def test_secrets_go_to_the_host_of_base_url_alone(monkeypatch):
    """Another host, or another port, has no business with them."""
    monkeypatch.setenv("MY_KEY", KEY)

    async def main():
        page = [head(Content_Length=2) + b"{}"]
        async with ByteServer(lambda _: [head(Content_Length=len(WHOLE)) + WHOLE]) as server:
            async with ByteServer(lambda _: page) as metrics:
                for port in (metrics.port, server.port):
                    await asked(
                        server.base_url,
                        api_key_env="MY_KEY",
                        headers={"X-Token": "${MY_KEY}", "X-Plain": "p"},
                        metrics_url=f"http://127.0.0.1:{port}/metrics",
                    )
            return [text for text, _ in server.requests], [text for text, _ in metrics.requests]

    own, other = asyncio.run(main())
    assert [text.count(KEY) for text in own] == [2, 2, 2]
    assert len(other) == 1
    assert KEY not in other[0]
    assert "x-plain" not in other[0].lower()


@pytest.mark.parametrize("before", [0, 30, 85, 92, 480, 495])
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nX-Echo: %s" + b"q" * 9000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Echo: %s\x01\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n%s\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://a.test/%s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 401 %s\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 401 No\r\n\r\n%s",
        b"HTTP/1.1 200 OK\r\n\r\n%s",
        b"%s\r\n\r\n",
    ],
)
def test_a_key_that_is_sent_back_stands_nowhere(monkeypatch, answer, before):
    """Nor does the start of it, wherever what came is cut to be shown."""
    monkeypatch.setenv("MY_KEY", KEY)
    answer = answer.replace(b"%s", b"p" * before + KEY.encode())

    async def main():
        async with ByteServer(lambda _: [answer]) as server:
            return await asked(server.base_url, api_key_env="MY_KEY")

    attempt = asyncio.run(main())
    assert attempt.status == "failed"
    assert KEY[:5] not in attempt.to_line()


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    """Its name is never looked up here: the proxy is asked for it."""

    async def main():
        async with ByteServer(lambda _: [head(Content_Length=len(WHOLE)) + WHOLE]) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
            attempt = await asked("http://models.test/v1")
            return attempt, proxy.requests[0][0]

    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    attempt, request = asyncio.run(main())
    assert attempt.content == "fine"
    assert request.startswith("POST http://models.test/v1/chat/completions ")


PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "http://a.test/v1", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://a.test/v1", "http://p:1"),
        ({"HTTP_PROXY": "p:1"}, "http://a.test/v1", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://a.test/v1", None),
        ({"HTTPS_PROXY": "https://p:1", "ALL_PROXY": "http://q:1"}, "https://a.test/v1", "https://p:1"),
        ({"ALL_PROXY": "http://q:1"}, "https://a.test/v1", "http://q:1"),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "b.test, a.test"}, "http://a.test:8000/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": ".test"}, "http://a.test/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "127.0.0.1"}, "http://127.0.0.1:8000/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "*"}, "https://a.test/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "b.test"}, "http://a.test/v1", "http://q:1"),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "::1"}, "http://[::1]:8000/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "[::1]"}, "http://[::1]:8000/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "::2"}, "http://[::1]:8000/v1", "http://q:1"),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "a.test:8000"}, "http://a.test:8000/v1", None),
        ({"ALL_PROXY": "http://q:1", "NO_PROXY": "a.test:8000"}, "http://a.test/v1", "http://q:1"),
    ],
)
def test_the_environment_says_which_proxy(monkeypatch, variables, url, proxy):
    """The variables that every tool knows, each as it is usually read."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = Proxies().of(url)
    assert (found and found.url) == proxy


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("is_refused", [False, True])
def test_a_proxys_password_goes_to_the_proxy_alone(monkeypatch, scheme, is_refused):
    """As Basic credentials; what goes wrong is said without it, and the proxy gets no key of a TLS server."""
    monkeypatch.setenv("MY_KEY", KEY)
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    reply = head(407 if is_refused or scheme == "https" else 200, Content_Length=len(WHOLE)) + WHOLE

    async def main():
        async with ByteServer(lambda _: [reply]) as proxy:
            monkeypatch.setenv("ALL_PROXY", f"http://me:hunter2@127.0.0.1:{proxy.port}")
            attempt = await asked(f"{scheme}://models.test/v1", api_key_env="MY_KEY")
            return attempt, proxy.requests[0][0]

    attempt, request = asyncio.run(main())
    assert f"proxy-authorization: basic {b64encode(b'me:hunter2').decode().lower()}" in request.lower()
    assert "hunter2" not in attempt.to_line()
    assert "hunter2" not in request
    assert (KEY in request) == (scheme == "http")
    assert attempt.succeeded == (scheme == "http" and not is_refused)
    if not attempt.succeeded:
        assert "407" in f"{attempt.error.status} {attempt.error.message}"


def test_a_proxy_that_is_not_there_is_said_without_its_password(monkeypatch):
    """The address says enough."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("ALL_PROXY", "http://me:hunter2@127.0.0.1:1")
    for scheme in ("http", "https"):
        attempt = asyncio.run(asked(f"{scheme}://models.test/v1"))
        assert attempt.error.message.startswith("ConnectionRefusedError")
        assert "hunter2" not in attempt.to_line()


@pytest.mark.parametrize("name", ["a..b", f"{'a' * 64}.test", "1.2.3", "a b", "%31.invalid", "xn--"])
@pytest.mark.parametrize("is_proxy", [False, True])
def test_a_name_that_no_host_has_is_the_endpoints_fault(monkeypatch, name, is_proxy):
    """Told in one sentence, whether it is the server's or the proxy's."""
    for variable in PROXY_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.lower(), raising=False)
    if is_proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://{name}:1")
    attempt = asyncio.run(asked("http://models.test/v1" if is_proxy else f"http://{name}/v1"))
    assert attempt.error.type is ErrorType.ENDPOINT_ERROR


@pytest.mark.parametrize("port", ["0", "65536", "+1", "1 ", "x", "-1"])
@pytest.mark.parametrize("member", ["base_url", "metrics_url"])
def test_a_port_that_is_none_is_refused_with_the_plan(port, member):
    """Before anything is asked."""
    members = {"base_url": "http://a.test/v1", member: f"http://a.test:{port}/v1"}
    with pytest.raises(ValueError, match=r"(?i)port|expected an http"):
        Arm(name="mtp", model="m", **members)


@pytest.fixture
def certificate(tmp_path):
    """A certificate of nobody's authority for 127.0.0.1, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    paths = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x"
    files = ["-out", paths[0], "-keyout", paths[1], "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    return paths


@pytest.mark.parametrize("is_known", [False, True])
def test_a_certificate_is_verified_against_the_users_authorities(monkeypatch, certificate, is_known):
    """`SSL_CERT_FILE` names another set; without it a certificate that nobody signed is refused."""
    if is_known:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    else:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def main():
        async with ByteServer(lambda _: [head(Content_Length=len(WHOLE)) + WHOLE], tls=context) as server:
            return await asked(server.base_url.replace("http:", "https:")), server.requests

    attempt, requests = asyncio.run(main())
    if is_known:
        assert attempt.content == "fine"
    else:
        assert attempt.error.type is ErrorType.ENDPOINT_ERROR
        assert "CERTIFICATE_VERIFY_FAILED" in attempt.error.message
        assert requests == []


def test_a_page_of_metrics_is_read_once_for_each_look(tmp_path):
    """Nothing polls: a run of two samples looks at its start and at its end."""
    suite = write_suite(tmp_path / "suite.jsonl", 2)
    pages = {"/metrics": text_reply("vllm:generation_tokens_total 5.0\n")}
    with ScriptedServer(right, pages=pages) as baseline, ScriptedServer(right, pages=pages) as mtp:
        ask(build_plan(raw_plan(suite, {"baseline": baseline, "mtp": mtp}), source="test"), tmp_path / "run")
        assert mtp.pages_read.count("/metrics") == 2
