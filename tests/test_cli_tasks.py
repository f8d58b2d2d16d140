"""The `tasks` commands: suites shown, checked, and written out so that they ask the same."""

import json

import pytest
from draftproof.tasks.suite import load_suites

from .evals.scripted_runs import journal, right, write_suite
from .scripted import ScriptedServer
from .tasks.samples import raw_sample
from .test_cli import draftproof


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.jsonl"
    lines = [raw_sample(id=f"{category}/{i}", category=category) for category in "ab" for i in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_is_written_out_asks_exactly_the_same(suite, tmp_path):
    """The same samples, under the same digest."""
    out = tmp_path / "out" / "mine.jsonl"
    ran = draftproof("tasks", "export", suite, "--limit", "4", "--seed", "3", "-o", out)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == f"wrote {out}: 4 samples\n"
    written, chosen = load_suites([str(out)]), load_suites([str(suite)], limit=4, seed=3)
    assert written.digest == chosen.digest
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == [one.id for one in chosen.samples]


def test_without_a_file_the_samples_go_to_standard_output(suite):
    """For a pipe."""
    ran = draftproof("tasks", "export", suite, "--category", "a", "--sample-ids", "a/1,a/2")
    assert {json.loads(line)["id"] for line in ran.stdout.splitlines()} == {"a/1", "a/2"}


def test_show_lists_what_was_chosen(suite, tmp_path):
    """By category, by ids of a file, by a limit in proportion."""
    ids = tmp_path / "ids.txt"
    ids.write_text("a/1\nb/3\n")
    shown = draftproof("tasks", "show", suite, "--sample-ids", ids).stdout.splitlines()
    assert [line.split()[1] for line in shown] == ["a/1", "b/3"]
    assert [line[0] for line in draftproof("tasks", "show", suite, "--limit", "2").stdout.splitlines()] == [
        "a",
        "b",
    ]
    one = draftproof("tasks", "show", suite, "b/2").stdout
    assert json.loads(one)["id"] == "b/2"


def test_validate_counts_or_names_every_wrong_line(suite):
    """Exit code 2 for a wrong one."""
    ran = draftproof("tasks", "validate", suite)
    assert (ran.returncode, ran.stdout) == (0, f"{suite}: 8 samples, all valid\n")
    suite.write_text(suite.read_text() + "{\n")
    ran = draftproof("tasks", "validate", suite)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{suite}:9: not JSON: " in ran.stderr


def test_an_unknown_category_or_id_exits_2(suite):
    """Nothing is asked less in silence."""
    for option, value in (("--category", "c"), ("--sample-ids", "a/9")):
        ran = draftproof("tasks", "show", suite, option, value)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert f'"{value}"' in ran.stderr


def test_run_asks_what_the_flags_chose(tmp_path):
    """Category, ids, worked examples and a system prompt: all of it in the requests, and in `run.json`."""
    path = write_suite(tmp_path / "suite.jsonl", 4, category="weather")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Only calls, please.\n{tools_json}")
    with ScriptedServer(right) as server:
        arms = ("--baseline", server.base_url, "--candidate", f"mtp={server.base_url}", "--model", "m")
        chosen = (
            "--category",
            "weather",
            "--sample-ids",
            "s/1,s/3",
            "--shots",
            "1",
            "--system-prompt",
            prompt,
        )
        out = tmp_path / "run"
        ran = draftproof("run", *arms, "--tasks", path, *chosen, "--out", out, "-q")
        assert ran.returncode == 0, ran.stderr
        other = draftproof("run", "--out", out, "--system-prompt", path, "-q")
    rows = journal(out, "mtp")
    assert {row["id"] for row in rows} == {"s/1", "s/3"}
    for row in rows:
        roles = [turn["role"] for turn in row["request"]["messages"]]
        assert roles == ["system", "user", "assistant", "user"]
        assert row["request"]["messages"][0]["content"].startswith("Only calls, please.\n{")
    plan = json.loads((out / "run.json").read_text())["plan"]["run"]
    assert (plan["categories"], plan["sample_ids"], plan["shots"]) == (["weather"], ["s/1", "s/3"], 1)
    assert plan["system_prompt"] == prompt.read_text()
    assert other.returncode == 2
    assert "run.system_prompt: has no {tools}" in other.stderr
