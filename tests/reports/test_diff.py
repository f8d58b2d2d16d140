"""What `diff` says: two arms with what only one breaks, or all arms with the one to turn on."""

from dataclasses import replace
from pathlib import Path

from draftproof.evals.attempt import Stage
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.diff import build_diff
from draftproof.reports.markdown import render_diff_markdown
from draftproof.reports.terminal import render_diff

from ..evals.build import OPEN, RIGHT
from .runs import HOSTILE, SAID, three_arms


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def pair(summary, left, right, other=None):
    return pair_arms(*operands(summary, left, other or summary, right))


def shown(compared, width=120):
    return lines(render_diff(build_diff(compared), width=width))


def test_two_arms_show_what_only_one_breaks_and_how_far_they_agree():
    """What was asked, then by cause and code, then sample by sample."""
    text = shown(pair(summarise(three_arms()), "ngram", "mtp"))
    assert text[0] == "ngram against mtp"
    assert text[1].startswith("12 samples of x.jsonl; mode prompted, dialect hermes, max_tokens 100, ")
    for line in (
        "ngram 12 5 5 1 1 on 25% 57 1.00x",
        "mtp 12 7 3 2 0 on 75% 120 2.11x",
        "Broken in one only (n = 11 of 12 compared)",
        "malformed name_is_expression 1 0",
        "unresolved still_truncated 0 1",
        "all 4 3",
        "core/silent mtp real_change no_call",
        "agreement: 4 of 11 (36.4%): 2 right in both, 2 wrong in both",
        "void: 1 of 12 (timeout 1)",
    ):
        assert line in text, line


def test_all_arms_show_who_breaks_what_whom_and_no_choice_where_none_passes():
    """Honestly none, with the gate's reasons beside it."""
    summary = summarise(three_arms())
    text = shown(summary)
    assert "baseline 12 10 2 0 0 unknown – 46 1.00x" in text
    assert "ngram 5 · 4" in text
    assert "mtp 4 3 ·" in text
    assert "choice: none (no candidate passes)" in text
    for comparison, ruling in zip(summary.comparisons, summary.rulings, strict=True):
        assert f"{comparison.candidate}: {ruling.decision.value}" in text
        assert all(reason in " ".join(text) for reason in ruling.reasons)


def test_the_fastest_of_the_passing_arms_is_chosen():
    """300 equal answers pass; MTP is faster than n-gram."""
    made = three_arms({f"s{n}": (RIGHT, RIGHT, RIGHT) for n in range(300)})
    text = "\n".join(shown(summarise(made)))
    assert "\nchoice: mtp (the fastest of those that pass (ngram, mtp): " in text


def test_without_speed_two_passing_arms_are_no_choice():
    """Arms that were asked side by side slowed each other."""
    made = three_arms({f"s{n}": (RIGHT, RIGHT, RIGHT) for n in range(300)}, in_turn=False)
    text = " ".join(shown(summarise(made)))
    assert "choice: none (ngram, mtp pass, and which is fastest is not known" in text


def test_an_arm_without_token_counts_is_compared_all_the_same():
    """A missing figure is missing."""
    made = three_arms()
    attempts = {
        key: replace(one, usage=None) if one.arm == "mtp" and one.stage is Stage.FIRST else one
        for key, one in made.attempts.items()
    }
    summary = summarise(replace(made, attempts=attempts))
    assert "mtp 12 7 3 2 0 on 75% – –" in shown(summary)


def test_two_runs_say_which_samples_were_not_asked_at_the_same_budgets():
    """Only one of the runs cut one of its arms there, so only that one asked again."""
    one = three_arms({"a": (RIGHT, OPEN, RIGHT), "b": (RIGHT, RIGHT, RIGHT)})
    other = three_arms({"a": (RIGHT, RIGHT, RIGHT), "b": (RIGHT, RIGHT, RIGHT)})
    two = summarise(replace(other, directory=Path("runs/other")))
    text = shown(pair(summarise(one), "ngram", "mtp", two))
    assert "void: 1 of 2 (missing_attempt 1)" in text
    assert "one run of both arms judges them" in " ".join(text)


def test_markdown_has_the_same_tables_and_nothing_of_it_acts():
    """Ids and a run's name are the user's, answers the model's: all are escaped."""
    summary = summarise(
        replace(three_arms({**SAID, HOSTILE: (RIGHT, RIGHT, HOSTILE)}), directory=Path("a<b>|c"))
    )
    text = render_diff_markdown(build_diff(pair(summary, "ngram", "mtp")))
    assert text.startswith("# ngram against mtp\n")
    for title in ("First answers", "Broken in one only", "Samples that one arm breaks"):
        assert f"\n## {title}" in text
    assert "| real\\_change | no\\_call | 0 | 2 |" in text
    assert "<img" not in text.replace("\\<img", "")
    whole = render_diff_markdown(build_diff(summary))
    assert whole.startswith("# all arms of a\\<b\\>\\|c\n")
    assert "\n**Choice: none** (no candidate passes)\n" in whole
    assert "\n- **mtp: " in whole
