"""JUnit XML: valid by the schema CI servers share, with the colours a team expects."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
import xmlschema
from draftproof.evals.summing_up.history import accepted_of, judge_against
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.junit import render_junit

from ..evals.build import RIGHT, WRONG, attempt, record, sample
from .test_markdown import many_findings
from .test_reports import HOSTILE, hostile_run, make_run

SCHEMA = xmlschema.XMLSchema10(str(Path(__file__).parent / "junit.xsd"))


def cases(text):
    """Test cases by name: their result's tag (None: passed), and the element."""
    SCHEMA.validate(text.partition("?>")[2].strip())
    found = {}
    for case in ET.fromstring(text.encode()).iter("testcase"):
        results = [child for child in case if child.tag != "system-out"]
        found[case.get("name")] = (results[0].tag if results else None, results[0] if results else case)
    return found


def test_every_sample_is_a_case_in_the_colour_of_what_became_of_it():
    """Regressions fail with their cause; fixes and equal answers pass; void is skipped with its reason."""
    found = cases(render_junit(summarise(make_run())))
    assert {name: tag for name, (tag, _) in found.items()} == {
        "decision": "error",
        "cap": "failure",
        "syntax": "failure",
        "contract": "failure",
        "real": "failure",
        "fix": None,
        "same": None,
        "more": None,
        "void": "skipped",
    }
    _, failure = found["cap"]
    assert (failure.get("type"), failure.get("message")) == ("cap", "cap: cap_cut")
    for line in (
        "budgets asked: 100, 200; judged at 200 tokens",
        "at 100: ngram truncated (cut), 100 tokens, finish_reason length",
        "at 200: ngram pass, 140 tokens, finish_reason stop",
        "look at it: draftproof show runs/test cap",
    ):
        assert line in failure.text.splitlines()
    assert found["void"][1].get("message") == "void: timeout"
    assert found["real"][1].get("message").startswith("real_change: wrong_arguments: get_weather: $.city is")


def test_both_wrong_is_skipped_with_the_reason():
    """It says nothing of the candidate: neither a pass to count nor a failure to look at."""
    attempts = [attempt(WRONG), attempt(WRONG, arm="ngram")]
    found = cases(render_junit(summarise(record([sample()], attempts, control=False))))
    assert found["s1"][0] == "skipped"
    assert found["s1"][1].get("message") == "both wrong: says nothing of ngram"


def test_a_reproduced_regression_says_how_often():
    """Repeats stand in the text."""
    summary = summarise(make_run())
    findings = tuple(
        msgspec.structs.replace(one, reproduced=(2, 2)) for one in summary.comparisons[0].findings
    )
    summary = replace(summary, comparisons=(replace(summary.comparisons[0], findings=findings),))
    assert "reproduced: 2 of 2 repeats" in cases(render_junit(summary))["real"][1].text


@pytest.mark.parametrize(
    ("content", "count", "allowed", "tag"),
    [
        (RIGHT, 3, False, "failure"),  # inconclusive: as red as exit code 3
        (RIGHT, 3, True, "skipped"),
        (RIGHT, 120, False, None),
        (WRONG, 30, True, "failure"),
    ],
)
def test_the_decision_has_the_colour_of_the_exit_code(content, count, allowed, tag):
    """A green report beside a failed job, or a red one beside a passed job, would mislead."""
    names = [f"s{number}" for number in range(count)]
    attempts = [attempt(RIGHT, sample_id=name) for name in names]
    attempts += [attempt(content, sample_id=name, arm="ngram", drafts=(2, 1)) for name in names]
    summary = summarise(record([sample(name) for name in names], attempts, control=False, confirm=0))
    found = cases(render_junit(summary, allow_inconclusive=allowed))
    assert found["decision"][0] == tag


def test_a_known_regression_is_skipped_as_known():
    """Accepted once, it is listed and does not turn the report red again."""
    run = many_findings(3)
    found = cases(render_junit(judge_against(run, accepted_of(run, Path("accepted")))))
    assert found["s1"][0] == "skipped"
    assert found["s1"][1].get("message").startswith("known regression: real_change: wrong_arguments")


def test_counts_add_up():
    """Of each suite and of all."""
    root = ET.fromstring(render_junit(summarise(make_run())).encode())
    (suite,) = root
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")] == [
        "ngram",
        "9",
        "4",
        "1",
        "1",
    ]
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["9", "4", "1"]


@pytest.mark.parametrize("text", [HOSTILE, "]]>", "\x0b\x0c\x85\u2028", "\ufffe\uffff", "\"<&>'", "\r\n\t"])
def test_hostile_text_is_valid_xml(text):
    """Characters that XML 1.0 has no place for are escapes, wherever they stand."""
    made = hostile_run()
    attempts = [replace(one, id=text, finish_reason=text) for one in made.attempts.values()]
    made = record([sample(text, category=text)], attempts, confirm=0)
    found = cases(render_junit(summarise(made)))
    assert len(found) == 2
    xml = render_junit(summarise(made))
    assert not set(xml) & set("\x00\x07\x0b\x1b\x85\ufffe\uffff\ud800\u202e")
