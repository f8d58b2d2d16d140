"""A run at s3://, on a server that speaks the protocol (moto): what the in-memory file system cannot show.

Heavy, and skipped where moto and s3fs are not installed; they are no part of the development environment.
"""

import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
from urllib.request import Request, urlopen

import pytest

from ...scripted import ScriptedServer, delayed
from ..asking.test_session import wait_for
from ..scripted_runs import raw_plan, right, write_suite, wrong

pytest.importorskip("s3fs", reason="no s3fs here: pip install s3fs 'moto[server]'")
pytest.importorskip("moto.server", reason="no moto here: pip install s3fs 'moto[server]'")
pytestmark = pytest.mark.heavy

KEY_ID, SECRET = "AKIAPROOF4567EXAMPLE", "s3cr3t/PROOF+of+nothing+on+any+disk+0123"
URL = "s3://proofs/runs/mtp"
# The command line, copying to the URL as often as a test has patience for.
DRIVER = """
import sys
from draftproof.evals.runs import mirror
mirror.COPY_SECONDS = mirror.COPY_SHARE = 0.1
from draftproof.cli import main
main()
"""


class Store:
    """An object store with one bucket."""

    def __init__(self, url):
        self.url = url

    def post(self, path, body=b""):
        # As bytes: a form would be taken apart on the way.
        headers = {"Content-Type": "application/octet-stream"}
        with urlopen(Request(f"{self.url}{path}", data=body, headers=headers, method="POST")) as reply:
            return reply.read()

    def refuse_unknown_keys(self):
        """From now on the store knows who may come in: nobody."""
        self.post("/moto-api/reset-auth", b"0")

    @property
    def files(self):
        # As the environment says, but never from what an earlier look remembers.
        return importlib.import_module("s3fs").S3FileSystem(
            key=KEY_ID,
            secret=SECRET,
            endpoint_url=self.url,
            skip_instance_cache=True,
            use_listings_cache=False,
        )

    def contents(self):
        """Every file of the run at the URL."""
        root, files = URL.removeprefix("s3://"), self.files
        return {name.removeprefix(f"{root}/"): files.cat_file(name) for name in files.find(root)}

    def lines(self):
        """How many answers stand at the URL, and what of lines that a kill tore."""
        files = self.contents()
        return sum(text.count(b"\n") for name, text in files.items() if name.startswith("attempts/"))


@pytest.fixture(scope="module")
def server():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store = Store(f"http://127.0.0.1:{port}")

    def is_up():
        try:
            return bool(urlopen(f"{store.url}/moto-api/data.json").read())
        except OSError:
            return False

    wait_for(is_up, seconds=60)
    yield store
    process.kill()
    process.wait()


@pytest.fixture
def store(server):
    server.post("/moto-api/reset")
    server.files.mkdir("proofs")
    return server


@pytest.fixture
def arms():
    with ScriptedServer(right) as baseline, ScriptedServer(wrong) as mtp:
        yield {"baseline": baseline, "mtp": mtp}


def asked(arms):
    return sum(len(arm.requests) for arm in arms.values())


def slow_down(arms, seconds):
    for arm, reply in zip(arms.values(), (right, wrong), strict=True):
        arm.reply = lambda request, reply=reply: delayed(reply(request), seconds)


class Machine:
    """A working directory with the plan, where sessions start; credentials are in the environment alone."""

    def __init__(self, folder, store, arms, count=8):
        folder.mkdir()
        self.folder, self.store = folder, store
        plan = raw_plan(write_suite(folder / "suite.jsonl", count), arms)
        lines = ["[run]", *(f"{name} = {json.dumps(value)}" for name, value in plan["run"].items())]
        for arm in plan["arms"]:
            lines += ["[[arms]]", *(f"{name} = {json.dumps(value)}" for name, value in arm.items())]
        (folder / "plan.toml").write_text("\n".join(lines) + "\n")

    def start(self, url=URL, **environment):
        return subprocess.Popen(
            [sys.executable, "-c", DRIVER, "run", "plan.toml", "--out", url, "--quiet"],
            cwd=self.folder,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("AWS_")},
                "AWS_ENDPOINT_URL": self.store.url,
                "AWS_ACCESS_KEY_ID": KEY_ID,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_DEFAULT_REGION": "us-east-1",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, url=URL, **environment):
        process = self.start(url, **environment)
        out, err = process.communicate(timeout=120)
        return process.returncode, out + err

    def local(self):
        """Every file of the local side, but its locks."""
        (directory,) = (self.folder / "runs").iterdir()
        return {
            path.relative_to(directory).as_posix(): path.read_bytes()
            for path in directory.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        }


def undisturbed(folder, store, arms):
    """The findings of the same run without a URL, and how many requests it takes."""
    before = asked(arms)
    machine = Machine(folder, store, arms)
    assert machine.run("plain")[0] == 0
    return (folder / "plain" / "findings.jsonl").read_bytes(), asked(arms) - before


def test_a_run_stands_there_and_no_credential_anywhere(tmp_path, store, arms):
    """Both sides hold the same; without its folder the run is fetched, and nothing is asked again."""
    one = Machine(tmp_path / "one", store, arms)
    code, said = one.run()
    assert code == 0, said
    assert store.contents() == one.local()
    assert {"run.json", "samples.jsonl", "attempts/mtp.jsonl", "summary.json"} <= store.contents().keys()
    before, whole = asked(arms), one.local()
    shutil.rmtree(one.folder / "runs")
    code, said = one.run()
    assert code == 0
    assert "is complete: nothing to ask" in said
    assert asked(arms) == before
    assert one.local() == store.contents() == whole
    for text in (*(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()), said.encode()):
        assert KEY_ID.encode() not in text
        assert SECRET.encode() not in text


def test_a_machine_that_was_lost_is_taken_over_by_another(tmp_path, store, arms):
    """Killed with -9 while it asked, its folder gone: the other one asks what the URL does not have."""
    findings, whole = undisturbed(tmp_path / "plain", store, arms)
    slow_down(arms, 0.15)
    one, two = (Machine(tmp_path / name, store, arms) for name in ("one", "two"))
    process = one.start()
    wait_for(lambda: store.lines() >= 3, seconds=60)
    process.kill()
    process.communicate()
    shutil.rmtree(one.folder)
    there, before = store.lines(), asked(arms)
    assert there < whole
    code, said = two.run()
    assert code == 0, said
    assert asked(arms) - before == whole - there
    assert store.contents() == two.local()
    assert two.local()["findings.jsonl"] == findings


def test_two_that_went_on_apart_are_refused(tmp_path, store, arms):
    """Neither side is written over, and nothing is asked."""
    one = Machine(tmp_path / "one", store, arms)
    assert one.run()[0] == 0
    path = f"{URL}/attempts/mtp.jsonl"
    store.files.pipe_file(path, store.files.cat_file(path).replace(b"City", b"Town"))
    here, there, before = one.local(), store.contents(), asked(arms)
    code, said = one.run()
    assert code == 2
    assert "attempts/mtp.jsonl went on otherwise than in runs/mtp-" in said
    assert (one.local(), store.contents(), asked(arms)) == (here, there, before)


def test_of_two_at_once_one_stops(tmp_path, store, arms):
    """It says so and keeps its answers; what stands at the URL is whole, and the other one's."""
    # Longer than a process takes to start.
    slow_down(arms, 0.5)
    one, two = (Machine(tmp_path / name, store, arms, count=16) for name in ("one", "two"))
    processes = [one.start()]
    wait_for(lambda: store.lines() >= 2, seconds=60)
    processes.append(two.start())
    said = [process.communicate(timeout=120)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert 4 in codes, (codes, said)
    stopped = codes.index(4)
    assert "was written by somebody else" in said[stopped]
    journals = [
        {name: text for name, text in files.items() if name.startswith("attempts/")}
        for files in (one.local(), two.local(), store.contents())
    ]
    assert journals[stopped]["attempts/mtp.jsonl"].count(b"\n") > 0
    for name, text in journals[2].items():
        assert text in (journals[0][name][: len(text)], journals[1][name][: len(text)])


REFUSED = {
    "no bucket": ({}, "s3://nobody/run", "The specified bucket does not exist"),
    "no credentials": ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, URL, "NoCredentialsError"),
    "no server": ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, URL, "Could not connect"),
}


@pytest.mark.parametrize(("environment", "url", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_reached_is_one_error_before_anything_is_asked(
    tmp_path, store, arms, environment, url, says
):
    """With the URL in front, and no trace of a program."""
    machine = Machine(tmp_path / "one", store, arms)
    code, said = machine.run(url, **environment)
    assert (code, asked(arms)) == (4, 0)
    assert said.startswith(f"error: {url}: cannot be read or written (")
    assert says in said
    assert "tip: nothing was asked" in said
    assert len(said.splitlines()) == 2


def test_wrong_credentials_are_one_error_that_does_not_show_them(tmp_path, store, arms):
    """The store refuses the key; it is in no message and on no disk."""
    store.refuse_unknown_keys()
    machine = Machine(tmp_path / "one", store, arms)
    try:
        code, said = machine.run()
    finally:
        store.post("/moto-api/reset-auth", b"inf")
    assert (code, asked(arms)) == (4, 0)
    assert "PermissionError: The AWS Access Key Id you provided does not exist" in said
    for text in (*(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()), said.encode()):
        assert KEY_ID.encode() not in text
        assert SECRET.encode() not in text
