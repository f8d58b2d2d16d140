"""`draftproof probe`: exit 0 when it did its work, 2 for bad input, 4 when nobody answers."""

import json

import pytest

from .evals.probing.toy_model import Toy
from .scripted import MODEL, ScriptedServer
from .test_cli import draftproof

KEY = "sk-very-secret-0123456789"


def test_two_urls_are_probed_side_by_side():
    """With the key from the environment, which is printed nowhere; faults found are no failure."""
    with ScriptedServer(Toy()) as one, ScriptedServer(Toy(ignores=frozenset(("seed",)))) as two:
        ran = draftproof("probe", one.base_url, two.base_url, "--api-key-env", "MY_KEY", env={"MY_KEY": KEY})
    assert ran.returncode == 0, ran.stderr
    assert "≠ seed" in ran.stdout
    assert f"A: probing {MODEL} at" in ran.stderr
    assert KEY not in ran.stdout + ran.stderr
    assert two.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_json_of_one_url_and_a_checkpoint(tmp_path):
    """One object on standard output, nothing else."""
    (tmp_path / "config.json").write_text('{"mtp_num_hidden_layers": 1}')
    with ScriptedServer(Toy()) as server:
        ran = draftproof("probe", server.base_url, "--model", "m", "--checkpoint", tmp_path, "--json")
    raw = json.loads(ran.stdout)
    assert (ran.returncode, raw["endpoints"][0]["model"], raw["checkpoint"]["verdict"]) == (0, "m", "unknown")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "nothing to probe"),
        (["ftp://h"], 2, "expected an http://"),
        (["http://127.0.0.1:9/v1"], 4, "no answer from"),
        (["--checkpoint", "/nowhere/at/all"], 2, "no such folder"),
        (["http://127.0.0.1:9/v1", "--api-key-env", "NOT_SET_ANYWHERE"], 2, "which is not set"),
    ],
)
def test_what_cannot_be_probed(arguments, code, words):
    """One clear error, nothing on standard output."""
    ran = draftproof("probe", *arguments)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert words in ran.stderr
