"""What to do next: every step is a command that exists, about a sample that tells something."""

import shlex
from dataclasses import replace
from pathlib import Path

import typer.main
from draftproof.cli import app
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.steps import diff_steps, report_steps, step_lines

from ..evals.build import OPEN, RIGHT, WRONG
from .runs import three_arms


def commands(steps):
    return {step.purpose: step.command for step in steps}


def made(said=None, directory="runs/test", **run):
    record = three_arms(**run) if said is None else three_arms(said, **run)
    return summarise(replace(record, directory=Path(directory)))


def test_a_report_leads_to_a_regression_its_request_the_choice_the_page_and_the_gate():
    """In that order, the commands below each other."""
    steps = tuple(report_steps(made()))
    assert step_lines(steps) == [
        "take one apart   draftproof show runs/test core/syntax",
        "send it by hand  draftproof show runs/test core/syntax --repeat curl",
        "choose an arm    draftproof diff runs/test",
        "see it drawn     draftproof report runs/test --format html -o report.html",
        "decide, for CI   draftproof gate runs/test",
    ]


def test_what_the_cap_broke_is_shown_only_where_nothing_else_broke():
    """It is told already by the report; a fix says more than a sample that changed nothing."""
    for said, wanted in (
        ({"same": (RIGHT, RIGHT, RIGHT), "cap": (RIGHT, OPEN, RIGHT)}, "core/cap"),
        ({"cap": (RIGHT, OPEN, RIGHT), "real": (RIGHT, RIGHT, WRONG)}, "core/real"),
        ({"same": (RIGHT, RIGHT, RIGHT), "fix": (WRONG, RIGHT, RIGHT)}, "core/fix"),
        ({"same": (RIGHT, RIGHT, RIGHT), "too": (RIGHT, RIGHT, RIGHT)}, "core/same"),
    ):
        assert commands(report_steps(made(said)))["take one apart"].endswith(f" {wanted}")


def test_a_redacted_run_has_no_request_to_send():
    """Its bodies are hashes."""
    assert "send it by hand" not in commands(report_steps(made(redact=True)))
    assert "send it by hand" not in commands(diff_steps(made(redact=True)))


def test_two_runs_lead_to_the_run_whose_arm_broke():
    """And the page is asked for with the same two operands; a name that a shell could read is quoted."""
    one = made({"cap": (RIGHT, RIGHT, RIGHT)})
    other = made({"cap": (RIGHT, RIGHT, WRONG)}, "my runs/other")
    steps = commands(diff_steps(pair_arms(*operands(one, "ngram", other, "mtp"))))
    assert steps == {
        "take one apart": "draftproof show 'my runs/other' core/cap",
        "send it by hand": "draftproof show 'my runs/other' core/cap --repeat curl",
        "see it drawn": "draftproof diff runs/test:ngram 'my runs/other:mtp' --format html -o diff.html",
    }


def test_every_step_exists_with_its_options():
    """A reader copies them."""
    summary = made()
    pair = pair_arms(*operands(summary, "ngram", summary, "mtp"))
    group = typer.main.get_group(app)
    for step in (*report_steps(summary), *diff_steps(summary), *diff_steps(pair)):
        name, command, *rest = shlex.split(step.command)
        known = {option for parameter in group.commands[command].params for option in parameter.opts}
        assert name == "draftproof"
        assert {word for word in rest if word.startswith("-")} <= known
