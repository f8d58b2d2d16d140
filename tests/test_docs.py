"""The pages in docs/ tell the truth: the workflow parses, and every command in it runs as it stands there."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml
from draftproof.cli import app

from .evals.scripted_runs import right, write_suite, wrong
from .scripted import ScriptedServer
from .test_cli import arm_toml, draftproof

PAGE = (Path(__file__).parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def steps():
    (text,) = blocks("yaml")
    (job,) = yaml.safe_load(text)["jobs"].values()
    return job["steps"]


def shown():
    """Every draftproof command of the page, as its words."""
    lines = [step["run"] for step in steps() if "run" in step]
    lines += [line for block in blocks("sh") for line in block.splitlines()]
    lines += re.findall(r"`(draftproof [^`]+)`", PAGE)
    return [words for line in lines if (words := shlex.split(line, comments=True))[0] == "draftproof"]


@pytest.mark.parametrize("words", shown(), ids=" ".join)
def test_every_command_exists_with_its_options(words):
    """A reader copies them."""
    command, rest = typer.main.get_group(app), words[1:]
    while getattr(command, "commands", None):
        command, *rest = command.commands[rest[0]], *rest[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= known


def test_the_workflow_is_one_a_runner_takes():
    """Every step does one thing, and the run is kept whatever the gate said."""
    (text,) = blocks("yaml")
    workflow = yaml.safe_load(text)
    assert {"name", "jobs"} <= workflow.keys()
    assert all(("run" in step) != ("uses" in step) for step in steps())
    assert steps()[-1]["if"] == "always()"


def test_the_workflow_runs_as_it_stands(tmp_path, monkeypatch):
    """Its draftproof steps, on scripted servers: a second run is judged against the first, accepted one."""
    monkeypatch.chdir(tmp_path)
    write_suite(tmp_path / "my-suite.jsonl", 48)
    github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "MY_KEY": "k"}
    ask = [words for words in shown() if words[1] == "gate" and "plan.toml" in words and "--junit" in words]
    (gate,) = ask
    check = next(words for words in shown() if words[1:3] == ["tasks", "validate"])
    assert draftproof(*check[1:]).returncode == 0
    with ScriptedServer(right) as baseline, ScriptedServer(wrong) as mtp:
        (tmp_path / "plan.toml").write_text(
            '[run]\ntasks = ["my-suite.jsonl"]\nconfirm = 0\n[gate]\nrequire_speculation = false\n'
            + arm_toml("baseline", baseline.base_url)
            + arm_toml("mtp", mtp.base_url)
        )
        alone = [word for word in gate[1:] if word not in ("--against", "accepted")]
        first = draftproof(*alone, env=github)
        assert first.returncode == 1, first.stderr
        assert "::error title=draftproof%3A mtp%3A regression::" in first.stdout
        (tmp_path / "accepted").mkdir()
        for name in ("summary.json", "findings.jsonl"):
            (tmp_path / "accepted" / name).write_bytes((tmp_path / "runs/ci" / name).read_bytes())
        again = draftproof(*gate[1:], env=github)
    assert again.returncode == 3, "known regressions are not new, and 48 pairs are few"
    assert (tmp_path / "runs/ci/report.md").read_text().count("regression, known") == 48
    assert (tmp_path / "summary.md").read_text().count("# draftproof: ci") == 2
    assert (tmp_path / "runs/ci/junit.xml").read_text().count("known regression") == 48
