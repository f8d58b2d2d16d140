"""The command line: exit codes are the contract, and bad input is one clear error."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from draftproof.cli import main
from draftproof.cli_report import has_color

from .evals.asking.test_seed_story import baseline_script, mtp_script, suite_lines
from .scripted import ScriptedServer

KEY = "sk-very-secret-0123456789"


def draftproof(*arguments, stdin="", env=None):
    """Run the command line in this process: its exit code, standard output and standard error."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    given = SimpleNamespace(buffer=io.BytesIO(stdin.encode()))
    with (
        patch.object(sys, "argv", ["draftproof", *map(str, arguments)]),
        patch.object(sys, "stdin", given),
        patch.dict("os.environ", env or {}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as left:
            code = left.code or 0
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def arm_toml(name, url):
    return f'[[arms]]\nname = "{name}"\nbase_url = "{url}"\nmodel = "m"\napi_key_env = "MY_KEY"\n'


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A whole run against two scripted servers, by the command line, with a key."""
    folder = tmp_path_factory.mktemp("story")
    (folder / "story.jsonl").write_text("".join(json.dumps(line) + "\n" for line in suite_lines()))
    with ScriptedServer(baseline_script) as baseline, ScriptedServer(mtp_script) as mtp:
        (folder / "plan.toml").write_text(
            f'[run]\ntasks = ["{folder / "story.jsonl"}"]\n'
            + arm_toml("baseline", baseline.base_url)
            + arm_toml("mtp", mtp.base_url)
        )
        ran = draftproof("run", folder / "plan.toml", "--out", folder / "run", env={"MY_KEY": KEY})
        asked = len(baseline.requests) + len(mtp.requests)
        again = draftproof("run", "--out", folder / "run", env={"MY_KEY": KEY})
        assert len(baseline.requests) + len(mtp.requests) == asked
        sent_keys = {request.headers.get("authorization") for request in baseline.requests}
    return {"folder": folder, "run": folder / "run", "ran": ran, "again": again, "sent_keys": sent_keys}


def test_a_complete_run_exits_0_and_prints_the_report(story):
    """`run` exits 0 when it did its work, whatever it found."""
    assert story["ran"].returncode == 0, story["ran"].stderr
    assert "cap_cut" in story["ran"].stdout
    assert "\x1b" not in story["ran"].stdout


def test_a_complete_run_asks_nothing_and_says_so(story):
    """Running it again costs nothing."""
    assert story["again"].returncode == 0
    assert "nothing to ask" in story["again"].stderr


def test_a_run_in_clear_cannot_become_a_redacted_one(story):
    """`--redact` is a key of the plan, fixed from the first line on."""
    ran = draftproof("run", "--out", story["run"], "--redact", env={"MY_KEY": KEY})
    assert ran.returncode == 2
    assert "holds a run with another run.redact (False there, True here)" in ran.stderr


def test_keys_never_reach_disk_or_the_screen(story):
    """The key was sent, and stands in no file of the run directory and in no output."""
    assert story["sent_keys"] == {f"Bearer {KEY}"}
    for path in story["run"].rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
            assert b"uthorization" not in path.read_bytes(), path
    assert KEY not in story["ran"].stdout + story["ran"].stderr


def test_gate_exits_with_its_decision(story):
    """Inconclusive at 60 pairs is 3; a wide margin and a tolerated malformed output make it 0."""
    assert draftproof("gate", story["run"], "-q").returncode == 3
    wide = draftproof("gate", story["run"], "--margin", "0.2", "--markdown", story["folder"] / "job.md")
    assert wide.returncode == 3, "one new malformed output still blocks the pass"
    assert "**Decision: inconclusive**" in (story["folder"] / "job.md").read_text()


def test_report_renders_again_without_asking(story):
    """Markdown and JSON on standard output, or into a file."""
    markdown = draftproof("report", story["run"], "--format", "markdown")
    assert markdown.returncode == 0
    assert markdown.stdout.startswith("# draftproof")
    out = story["folder"] / "s.json"
    assert draftproof("report", story["run"], "--format", "json", "-o", out).returncode == 0
    assert json.loads(out.read_text()) == json.loads((story["run"] / "summary.json").read_text())


def test_show_takes_one_sample_apart(story):
    """An unknown id is one clear error."""
    shown = draftproof("show", story["run"], "story/08")
    assert "name_is_expression" in shown.stdout
    unknown = draftproof("show", story["run"], "story/99")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "no sample has the id 'story/99'" in unknown.stderr


def test_show_lists_and_walks_through_findings(story):
    """Without an id a table; with a code or cause the first, then the next; requests to send by hand."""
    listed = draftproof("show", story["run"])
    assert "Findings (n = 10)" in listed.stdout
    assert f"take one apart: draftproof show {story['run']} story/" in listed.stdout
    first = draftproof("show", story["run"], "--cause", "cap")
    shown = first.stdout.split()[0]
    assert f"1 of 8; next: draftproof show {story['run']} --cause cap --next {shown}\n" in first.stdout
    after = draftproof("show", story["run"], "--cause", "cap", "--next", shown)
    assert "\n2 of 8; next: " in after.stdout
    assert after.stdout.split()[0] != shown
    curl = draftproof("show", story["run"], "story/08", "--repeat", "curl")
    assert curl.stdout.count("$MY_KEY") == 2
    assert KEY not in curl.stdout


def test_report_writes_html_and_frames(story):
    """One page, and three files of data frames in a folder or the findings alone."""
    page = story["folder"] / "report.html"
    assert draftproof("report", story["run"], "--format", "html", "-o", page).returncode == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    frames = story["folder"] / "frames"
    assert draftproof("report", story["run"], "--format", "parquet", "-o", frames).returncode == 0
    assert sorted(path.name for path in frames.iterdir()) == [
        "attempts.parquet",
        "findings.parquet",
        "grades.parquet",
    ]
    one = story["folder"] / "findings.csv"
    assert draftproof("report", story["run"], "--format", "csv", "-o", one).returncode == 0
    assert one.read_text() == draftproof("report", story["run"], "--format", "csv").stdout
    refused = draftproof("report", story["run"], "--format", "parquet")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_diff_compares_two_arms_or_all(story):
    """Exit 0 whatever it finds; an arm that is not there is one clear error."""
    whole = draftproof("diff", story["run"])
    assert (whole.returncode, "choice: none" in whole.stdout) == (0, True)
    for arms in ((f"{story['run']}:mtp",), (f"{story['run']}:baseline", story["run"])):
        pair = draftproof("diff", *arms)
        assert pair.returncode == 0
        assert pair.stdout.startswith("baseline against mtp")
    page = story["folder"] / "diff.html"
    for arms in ((story["run"],), (f"{story['run']}:mtp",)):
        assert draftproof("diff", *arms, "--format", "html", "-o", page).returncode == 0
        assert page.read_text().startswith("<!DOCTYPE html>")
    markdown = draftproof("diff", f"{story['run']}:mtp", "--format", "markdown")
    assert (markdown.returncode, markdown.stdout.splitlines()[0]) == (0, "# baseline against mtp")
    alone = draftproof("diff", f"{story['run']}:baseline", "mtp")
    assert (alone.returncode, f"{story['run']}:mtp is that arm" in alone.stderr) == (2, True)
    unknown = draftproof("diff", f"{story['run']}:eagle")
    assert unknown.returncode == 2
    assert "expected one of baseline, mtp" in unknown.stderr


@pytest.mark.parametrize(
    ("is_terminal", "no_color", "expected"), [(True, "", True), (True, "1", False), (False, "", False)]
)
def test_colour_is_for_terminals_and_no_color_switches_it_off(monkeypatch, is_terminal, no_color, expected):
    """By the convention of no-color.org."""
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: is_terminal))
    assert has_color() is expected


def test_explain_says_what_a_code_means():
    """One code, all of them, or the reference."""
    assert draftproof("explain", "cap_cut").stdout.startswith("cap_cut  (Cap)")
    assert "name_is_expression" in draftproof("explain").stdout
    assert draftproof("explain", "--markdown").stdout.startswith("# Codes")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), "nothing to ask"),
        (("run", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("report", "nowhere"), "nowhere: not a run directory"),
        (("gate", "nowhere"), "nowhere: cannot be read"),
        (("show", "nowhere", "x"), "not a run directory"),
        (("show", "nowhere", "x", "--code", "cap_cut"), "expected no --code"),
        (("diff", "nowhere:a", "nowhere:b"), "not a run directory"),
        (("explain", "cap_cutt"), "no code is named 'cap_cutt'"),
        (("tasks", "validate", "nowhere.jsonl"), "nowhere.jsonl"),
        (("tasks", "show", "builtin:nothing"), "nothing"),
        (("parse", "nowhere.txt"), "nowhere.txt: cannot be read"),
        (("parse", "--dialect", "klingon"), "klingon"),
        (("run", "--baseline", "http://127.0.0.1:9/v1", "--candidate", "a", "--model", "m"), "NAME=URL"),
        (("gate", "--no-such-option"), "No such option"),
    ],
)
def test_bad_input_exits_2_with_one_clear_error(tmp_path, monkeypatch, arguments, words):
    """No traceback, nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    ran = draftproof(*arguments)
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


def test_a_server_that_is_not_there_exits_4(tmp_path):
    """A refused run names the arm and the address."""
    arms = ("--baseline", "http://127.0.0.1:9/v1", "--candidate", "a=http://127.0.0.1:9/v1", "--model", "m")
    tasks = ("--tasks", "builtin:starter", "--limit", "1")
    ran = draftproof("run", *arms, *tasks, "--out", tmp_path / "run")
    assert ran.returncode == 4
    assert "arm baseline: no answer from http://127.0.0.1:9/v1" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_parse_prints_the_contracts_json():
    """Text from standard input; spans count characters; exit 0 whatever was found."""
    text = 'Hi <tool_call>\n{"name": "f", "arguments": {"a": 05}}\n</tool_call>'
    ran = draftproof("parse", "--json", "--dialect", "hermes", "-", stdin=text)
    assert ran.returncode == 0
    parsed = json.loads(ran.stdout)
    assert parsed.keys() == {"calls", "defects", "notes", "content", "reasoning", "open"}
    assert [defect["code"] for defect in parsed["defects"]] == ["invalid_json"]
    start, end = parsed["defects"][0]["span"]
    assert text[start:end] == "5"
    people = draftproof("parse", stdin=text)
    assert "^" in people.stdout
    assert "dialect: hermes (guessed" in people.stderr


def test_version_and_help_exit_0():
    """The front door."""
    assert draftproof("--version").stdout.startswith("draftproof 0.")
    assert "Exit codes" in draftproof("--help").stdout


def write_plan(folder, samples, run=""):
    (folder / "suite.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in list(suite_lines())[:samples])
    )
    arms = arm_toml("baseline", "http://127.0.0.1:9/v1") + arm_toml("mtp", "http://127.0.0.1:9/v1")
    (folder / "plan.toml").write_text(f'[run]\ntasks = ["{folder / "suite.jsonl"}"]\n{run}{arms}')
    return folder / "plan.toml"


def test_plan_says_what_a_run_asks_and_sees_and_asks_nothing(tmp_path, story):
    """No server is there; an earlier run gives churn, length and speed."""
    config = write_plan(tmp_path, 60)
    planned = draftproof("plan", config, "--tokens-per-second", "40")
    assert planned.returncode == 0, planned.stderr
    assert "60 samples, arms baseline, mtp" in planned.stdout
    assert "churn 5.0% (assumed)" in planned.stdout
    like = draftproof("plan", config, "--like", story["run"])
    assert "(control of run)" in like.stdout
    assert "Time:" in like.stdout
    assert (
        "churn 2.0% (as given)"
        in draftproof("plan", config, "--like", story["run"], "--churn", "0.02").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "nowhere.toml"), "nowhere.toml: cannot be read"),
        (("plan", "plan.toml", "--churn", "0"), "--churn 0: expected a share above 0, up to 0.5"),
        (("plan", "plan.toml", "--tokens-per-second", "-1"), "expected a number above 0"),
        (("plan", "plan.toml", "--like", "nowhere"), "nowhere: not a run directory"),
        (("gate", "plan.toml"), "this design can hardly pass or detect anything: 10 pairs"),
        (("run", "plan.toml", "--until-decided", "--arm", "mtp"), "expected no --arm beside it"),
    ],
)
def test_bad_designs_exit_2_with_one_clear_error(tmp_path, monkeypatch, arguments, words):
    """Before anything is asked or written."""
    write_plan(tmp_path, 10)
    monkeypatch.chdir(tmp_path)
    ran = draftproof(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert not (tmp_path / "runs").exists()


def test_a_refused_design_is_asked_by_force(tmp_path):
    """Then it fails for want of a server only."""
    ran = draftproof(
        "gate", write_plan(tmp_path, 10), "--force", "--out", tmp_path / "run", env={"MY_KEY": KEY}
    )
    assert ran.returncode == 4
    assert "no answer from" in ran.stderr


def test_gate_compares_with_any_arm(story):
    """The derived files stay those of the run's own baseline; an unknown arm is an error."""
    before = (story["run"] / "summary.json").read_bytes()
    other = draftproof("gate", story["run"], "--baseline", "mtp")
    assert "Compared with mtp, as asked for." in other.stdout
    assert (story["run"] / "summary.json").read_bytes() == before
    assert "no arm is named 'eagle'" in draftproof("gate", story["run"], "--baseline", "eagle").stderr


def test_an_accepted_run_and_another_baseline_do_not_go_together(story):
    """What is known was known of the run's own baseline."""
    ran = draftproof("gate", story["run"], "--against", story["run"], "--baseline", "mtp")
    assert ran.returncode == 2
    assert "expected no --baseline beside it" in ran.stderr
