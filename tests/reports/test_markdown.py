"""The Markdown report, as a Markdown reader sees it: tables keep their shape, and text stays text."""

from dataclasses import replace

import pytest
from draftproof.evals.attempt import Stage
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.markdown import render_markdown, render_markdown_within
from markdown_it import MarkdownIt

from ..evals.build import RIGHT, WRONG, attempt, record, sample
from .test_reports import HOSTILE, hostile_run, make_run

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def many_findings(count, ids="s{}"):
    names = [ids.format(number) for number in range(count)]
    attempts = [
        attempt(RIGHT, sample_id=name, stage=s) for name in names for s in (Stage.FIRST, Stage.CONTROL)
    ]
    attempts += [attempt(WRONG, sample_id=name, arm="ngram", drafts=(2, 1)) for name in names]
    return summarise(record([sample(name) for name in names], attempts, confirm=0))


def texts(tokens, kind):
    """The inline text after each token of a kind."""
    return [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == kind]


@pytest.mark.parametrize(
    "text", ["|", "a|b", HOSTILE, "`x`", "**b**", "![i](u)", "<!--", "_a_", "- x", "1. x"]
)
def test_no_text_is_ever_markup(text):
    """Ids, notes and a server's words: no table breaks, no link, image, list or HTML comes of them."""
    made = replace(make_run(), notes=(text,))
    samples = [sample(text), *made.samples[1:]]
    attempts = {key: replace(one, id=text) for key, one in made.attempts.items() if key.id == "cap"}
    attempts = {one.key: one for one in attempts.values()} | {
        key: one for key, one in made.attempts.items() if key.id != "cap"
    }
    tokens = READER.parse(
        render_markdown(summarise(replace(made, samples=tuple(samples), attempts=attempts)))
    )
    plain = READER.parse(render_markdown(summarise(replace(make_run(), notes=("x",)))))
    assert [token.type for token in tokens] == [token.type for token in plain]
    marked = {child.type for token in tokens for child in token.children or ()}
    assert marked <= {"text", "strong_open", "strong_close", "em_open", "em_close", "text_special"}


def test_names_of_arms_are_text_in_headers_too():
    """An arm may be called __fast__."""
    attempts = [attempt(stage=stage) for stage in (Stage.FIRST, Stage.CONTROL)] + [attempt(arm="__fast__")]
    tokens = READER.parse(render_markdown(summarise(record([sample()], attempts, candidates=("__fast__",)))))
    assert "\\_\\_fast\\_\\_" in texts(tokens, "th_open")


def test_a_page_with_a_limit_gets_what_fits():
    """Findings go first, and their number stays; a hostile suite's text is cut at a whole character."""
    summary = many_findings(60, "s{}-" + "é" * 400)
    whole = render_markdown(summary)
    assert render_markdown_within(summary, 10**6) == whole
    shorter = render_markdown_within(summary, 20_000)
    assert 2_000 < len(shorter.encode()) <= 20_000
    assert "50 more in findings.jsonl" in shorter
    none = render_markdown_within(summary, 3_000)
    assert "Findings (n = 60)" in none
    assert "None." not in none
    for size in (0, 1, 20, 500, 501):
        assert len(render_markdown_within(summary, size).encode()) <= size
    assert render_markdown_within(summary, 500).endswith("… the rest did not fit.\n")


def test_a_run_without_findings_says_none():
    """An empty table is a word, not a gap."""
    attempts = [attempt(stage=stage) for stage in (Stage.FIRST, Stage.CONTROL)] + [attempt(arm="ngram")]
    assert "## Findings (n = 0)\n\nNone.\n" in render_markdown(summarise(record([sample()], attempts)))


def test_hostile_words_of_a_server_stand_in_one_cell():
    """A finish_reason with a pipe and a tag is one cell of text."""
    tokens = READER.parse(render_markdown(summarise(hostile_run())))
    assert all(
        "<b>" not in child.content for t in tokens for child in t.children or () if child.type != "text"
    )
