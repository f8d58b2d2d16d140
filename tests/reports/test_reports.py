"""What reports show: every figure with its n, hostile text harmless, nothing missing shown as zero."""

import json
from dataclasses import replace

import pytest
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.judging.parting import first_difference
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.machine import render_json
from draftproof.reports.markdown import render_markdown
from draftproof.reports.sample import render_sample
from draftproof.reports.terminal import render_terminal
from draftproof.reports.visible import visible, visible_line

from ..evals.build import BROKEN, BUDGET, OPEN, RIGHT, WRONG, attempt, block, record, sample

HOSTILE = "\x1b]0;owned\x07\x1b[2J</script>|<b>\u202eevil\x00\ud800"


def make_run(**run):
    """Eight samples: regressions of four causes, a fix, a void, and two that pass in both arms."""
    candidate = {
        "cap": (OPEN, "length", BUDGET),
        "syntax": (BROKEN, "stop", 50),
        "contract": (block("get_wether", city="Oslo"), "stop", 50),
        "real": (WRONG, "stop", 50),
        "fix": (RIGHT, "stop", 50),
        "same": (RIGHT, "stop", 50),
        "more": (RIGHT, None, 50),
    }
    attempts = []
    for name in (*candidate, "void"):
        first = WRONG if name == "fix" else RIGHT
        stages = (Stage.FIRST, Stage.CONTROL)
        attempts += [attempt(first, sample_id=name, stage=stage, drafts=(0, 0)) for stage in stages]
        content, reason, tokens = candidate.get(name, (None, None, None))
        error = ErrorType.TIMEOUT if name == "void" else None
        attempts.append(
            attempt(content, reason, tokens=tokens, sample_id=name, arm="ngram", error=error, drafts=(10, 5))
        )
    for arm, stage in (("baseline", Stage.DOUBLED), ("baseline", Stage.CONTROL), ("ngram", Stage.DOUBLED)):
        attempts.append(attempt(RIGHT, sample_id="cap", arm=arm, stage=stage, budget=200, tokens=140))
    return record([sample(name) for name in (*candidate, "void")], attempts, confirm=0, **run)


def test_the_terminal_report_says_what_was_asked_what_broke_and_what_to_type_next():
    """Decision, causes with syntax and contract apart, the control, findings and commands."""
    text = render_terminal(summarise(make_run()), width=110)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "baseline 8 7 1 0 0 stop 8 unknown 0 0 –" in lines
    assert "ngram 8 3 3 1 1 length 1, null 1, stop 5 on 70 35 –" in lines
    for line in (
        "cap 1 / 0",
        "malformed: syntax 1 / 0",
        "malformed: contract 1 / 0",
        "real change 1 / 1",
        "unresolved 0 / 0",
        "all 4 / 1 0 / 0",
        "pairs compared 7 of 8 8",
        "void 1 (timeout 1)",
        "ngram cap regression cap cap_cut 140 → 140 –",
        "ngram real regression real_change wrong_arguments 50 → 50 –",
        "draftproof show runs/test syntax",
    ):
        assert line in lines or any(line in one for one in lines), line
    assert "needed 140" in text
    assert "decision: void (gate would exit 4)" in text  # 1 of 8 void is over max_failed


def test_no_line_of_the_terminal_report_is_wider_than_asked_but_commands():
    """Nothing wraps by accident at 80 columns."""
    for width in (80, 100, 140):
        lines = render_terminal(summarise(make_run()), width=width).splitlines()
        assert [line for line in lines if len(line) > width and "draftproof" not in line] == []


def test_piped_output_has_no_escapes_and_a_terminal_gets_colour():
    """Colour is an option, never an accident."""
    summary = summarise(make_run())
    assert "\x1b" not in render_terminal(summary)
    assert "\x1b[" in render_terminal(summary, color=True)


def test_the_json_report_is_the_contract():
    """Names and nesting of summary.json."""
    written = json.loads(render_json(summarise(make_run())))
    assert {"format", "decision", "exit_code", "arms", "comparisons"} <= written.keys()
    assert (written["format"], written["decision"], written["exit_code"]) == (1, "void", 4)
    arm = written["arms"]["ngram"]
    assert {"attempts", "failed", "finish_reasons", "cut", "pass", "fail", "void"} <= arm.keys()
    assert (arm["attempts"], arm["failed"], arm["cut"], arm["acceptance"]) == (8, 1, 1, 0.5)
    assert arm["tokens_per_second"] is None
    comparison = written["comparisons"][0]
    assert comparison["regressions"] == {
        "total": 4,
        "cap": 1,
        "malformed": 2,
        "real_change": 1,
        "unresolved": 0,
        "malformed_syntax": 1,
        "malformed_contract": 1,
    }
    assert (comparison["samples"], comparison["compared"], comparison["void"]) == (8, 7, 1)
    assert comparison["net_rate"] == pytest.approx((3 - 1) / 7)
    assert comparison["needed_max_tokens"] == 140


def test_speed_is_shown_only_for_arms_asked_in_turn():
    """Arms that were asked side by side slowed each other."""
    assert summarise(make_run()).arms[0].tokens_per_second is None
    assert summarise(make_run(in_turn=True)).arms[0].tokens_per_second == 50


def test_without_a_control_nothing_is_said_of_churn():
    """A missing value is missing, not zero."""
    made = make_run(control=False)
    assert json.loads(render_json(summarise(made)))["comparisons"][0]["control"] is None
    assert "churn" not in render_terminal(summarise(made))


def test_what_the_suite_leaves_out_is_in_every_report():
    """No denominator shrinks in silence."""
    summary = summarise(replace(make_run(), notes=("2 entries are left out: no answer passes",)))
    assert "2 entries are left out" in render_terminal(summary)
    assert "2 entries are left out" in render_markdown(summary)


def hostile_run():
    attempts = []
    for arm in ("baseline", "ngram"):
        for stage in (Stage.FIRST, Stage.CONTROL) if arm == "baseline" else (Stage.FIRST,):
            text = RIGHT if arm == "baseline" else HOSTILE
            attempts.append(attempt(text, HOSTILE, arm=arm, stage=stage, sample_id="s1"))
    return record([sample()], attempts, confirm=0)


def test_hostile_text_is_shown_and_harms_nothing():
    """Terminal escapes, markup and direction marks of a model are shown as text, in every report."""
    summary = summarise(hostile_run())
    for text in (render_terminal(summary), render_markdown(summary), render_sample(summary, "s1")):
        assert text is not None
        assert not set(text) & set("\x1b\x07\x00\u202e\ud800")
        text.encode("utf-8")
    markdown = render_markdown(summary)
    assert "</script>" not in markdown
    assert "<b>" not in markdown


def test_visible_keeps_what_people_write():
    """Letters of every script, newline and tab stay; everything hidden becomes its escape."""
    assert visible("Ærø 東京 🎉\n\tx") == "Ærø 東京 🎉\n\tx"
    assert visible("a\x1b[0m\u202eb\ud800") == "a\\x1b[0m\\u202eb\\ud800"
    assert visible_line("a\nb\tc\r") == "a⏎b⇥c\\x0d"


def test_one_sample_shows_prompt_due_call_every_attempt_and_the_first_difference():
    """`show` is what a person needs to understand one regression."""
    summary = summarise(make_run())
    text = render_sample(summary, "cap")
    assert "Weather?" in text
    assert 'get_weather {"city": "Oslo"}' in text
    assert "baseline → ngram: regression, cause cap, code cap_cut, judged at 200 tokens" in text
    assert "budget 100 · 100 tokens · finish_reason length · cut · grade truncated (cut)" in text
    assert "the same text as first at 100" in text
    assert "differ from character" in text
    text = render_sample(summary, "syntax")
    assert "! invalid_json at line 2" in text
    assert render_sample(summary, "nobody") is None


@pytest.mark.parametrize(
    ("one", "two", "position"), [("", "", 0), ("abc", "abd", 2), ("abc", "abcd", 3), ("x", "abc", 0)]
)
def test_the_first_difference_is_a_position(one, two, position):
    """A prefix differs where it ends."""
    assert first_difference(one, two) == position
