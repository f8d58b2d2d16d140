"""What `diff` shows: two arms with what only one breaks, or all arms with the one to turn on."""

from dataclasses import replace

from draftproof.evals.attempt import Stage
from draftproof.evals.pairing import operands
from draftproof.evals.summary import summarise
from draftproof.reports.diff import render_matrix, render_pair

from ..evals.build import RIGHT
from .runs import three_arms


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_two_arms_show_what_only_one_breaks_and_how_far_they_agree():
    """By cause and code, then sample by sample."""
    summary = summarise(three_arms())
    shown = lines(render_pair(*operands(summary, "ngram", summary, "mtp"), width=120))
    assert shown[0] == "ngram against mtp"
    for line in (
        "ngram 12 5 5 1 1 on 25% 57",
        "Broken in one only (n = 11 of 12 compared)",
        "malformed name_is_expression 1 0",
        "unresolved still_truncated 0 1",
        "all 4 3",
        "core/silent mtp real_change no_call",
        "agreement: 4 of 11 (36.4%): 2 right in both, 2 wrong in both",
        "void: 1 of 12",
    ):
        assert line in shown, line


def test_all_arms_show_who_breaks_what_whom_and_no_choice_where_none_passes():
    """Honestly none."""
    shown = lines(render_matrix(summarise(three_arms()), width=120))
    assert "baseline 12 10 2 0 0 unknown – 46" in shown
    assert "ngram 5 · 4" in shown
    assert "mtp 4 3 ·" in shown
    assert shown[-1] == "choice: none (no candidate passes)"


def test_the_fastest_of_the_passing_arms_is_chosen():
    """300 equal answers pass; MTP is faster than n-gram."""
    made = three_arms({f"s{n}": (RIGHT, RIGHT, RIGHT) for n in range(300)})
    shown = lines(render_matrix(summarise(made), width=120))
    assert shown[-1].startswith("choice: mtp (the fastest of those that pass (ngram, mtp): ")


def test_without_speed_two_passing_arms_are_no_choice():
    """Arms that were asked side by side slowed each other."""
    made = three_arms({f"s{n}": (RIGHT, RIGHT, RIGHT) for n in range(300)}, in_turn=False)
    text = " ".join(lines(render_matrix(summarise(made), width=120)))
    assert "choice: none (ngram, mtp pass, and which is fastest is not known" in text


def test_an_arm_without_token_counts_is_compared_all_the_same():
    """A missing figure is missing."""
    made = three_arms()
    attempts = {
        key: replace(one, usage=None) if one.arm == "mtp" and one.stage is Stage.FIRST else one
        for key, one in made.attempts.items()
    }
    summary = summarise(replace(made, attempts=attempts))
    assert "mtp 12 7 3 2 0 on 75% –" in lines(render_matrix(summary, width=120))
