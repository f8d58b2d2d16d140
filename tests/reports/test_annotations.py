"""GitHub annotations: one workflow command a line, escaped as its runner reads them, ten and a count."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.evals.decision.gate import Decision
from draftproof.evals.summing_up.history import accepted_of, judge_against
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.annotations import render_annotations

from .test_markdown import many_findings
from .test_reports import hostile_run, make_run

COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]+)::([^\r\n]+)")


def annotations(summary, **keywords):
    """Kind, title and message of each line, read as GitHub's runner reads them."""
    read = []
    for line in render_annotations(summary, **keywords).splitlines():
        kind, title, message = COMMAND.fullmatch(line).groups()
        for code, letter in (("%3A", ":"), ("%2C", ",")):
            title = title.replace(code, letter)
        for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            title, message = title.replace(code, letter), message.replace(code, letter)
        read.append((kind, title, message))
    return read


def test_the_decision_comes_first_and_then_the_regressions():
    """With what an annotation has room for; percent signs and line ends survive."""
    first, *rest = annotations(summarise(make_run()))
    assert first == (
        "error",
        "draftproof: ngram: void",
        "ngram: 1 of 8 samples are void (12%, [gate] max_failed 5%)",
    )
    assert [title for _, title, _ in rest] == [
        "ngram: cap: cap",
        "ngram: syntax: malformed",
        "ngram: contract: malformed",
        "ngram: real: real_change",
    ]
    assert "at 200: ngram pass, 140 tokens, finish_reason stop\nlook at it:" in rest[0][2]


def test_ten_are_sent_and_the_rest_is_counted():
    """GitHub would drop them in silence."""
    summary = many_findings(60)
    assert summary.decision is Decision.REGRESSION
    sent = annotations(summary)
    assert [kind for kind, *_ in sent] == ["error"] * 10 + ["notice"]
    assert sent[-1][2] == "51 more regressions: see the report or findings.jsonl"


@pytest.mark.parametrize(
    ("decision", "allowed", "kind"),
    [
        (Decision.PASS, False, "notice"),
        (Decision.REGRESSION, True, "error"),
        (Decision.VOID, True, "error"),
        (Decision.INCONCLUSIVE, False, "error"),
        (Decision.INCONCLUSIVE, True, "warning"),
    ],
)
def test_a_decision_is_an_error_when_it_fails_the_job(decision, allowed, kind):
    """And a warning when it was let through."""
    summary = summarise(make_run())
    summary = replace(summary, rulings=(replace(summary.rulings[0], decision=decision),))
    assert annotations(summary, allow_inconclusive=allowed)[0][0] == kind


def test_calls_that_only_the_cap_broke_warn():
    """They do not fail a gate unless it is told to count them."""
    summary = summarise(make_run())
    failed = replace(summary, rulings=(replace(summary.rulings[0], decision=Decision.REGRESSION),))
    kinds = {title: kind for kind, title, _ in annotations(failed)}
    assert (kinds["ngram: cap: cap"], kinds["ngram: real: real_change"]) == ("warning", "error")
    counted = replace(failed, gate=failed.gate.model_copy(update={"cap": "fail"}))
    assert {title: kind for kind, title, _ in annotations(counted)}["ngram: cap: cap"] == "error"


def test_known_regressions_are_not_annotated():
    """Only what is new asks for attention."""
    run = many_findings(3)
    assert len(annotations(judge_against(run, accepted_of(run, Path("accepted"))))) == 1


def test_hostile_text_cannot_start_a_command_of_its_own():
    """One line each, whatever a model or a server wrote."""
    text = render_annotations(summarise(hostile_run()))
    assert len(text.splitlines()) == 2
    assert not set(text) & set("\x1b\x07\x00\u202e\ud800")
