"""The page of `diff`: what is compared, what only one breaks, the pictures, the matrix, the samples."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.diff_html import render_diff_html

from ..evals.build import RIGHT
from .outline import Outline, data_of
from .runs import three_arms


def without(made, arm):
    """The run before one of its arms was asked."""
    attempts = {key: one for key, one in made.attempts.items() if one.arm != arm}
    return replace(made, attempts=attempts)


def unlabelled(made):
    return replace(made, samples=[replace(one, expected=None) for one in made.samples])


def headings(page):
    return [heading.split("n =")[0].strip(" (") for heading in Outline(page).headings]


def two_arms(left="ngram", right="mtp"):
    summary = summarise(three_arms())
    return render_diff_html(pair_arms(*operands(summary, left, summary, right)))


def test_two_arms_are_shown_in_the_order_in_which_people_ask():
    """How many and why; how fast; lengths; rates; the other arms of the run; sample by sample."""
    page = two_arms()
    assert headings(page) == [
        "Broken in one only",
        "First answers",
        "Completion lengths",
        "Net rate against the margin",
        "All arms of the run",
        "Samples that only one breaks",
    ]
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "4 only ngram breaks, 3 only mtp breaks" in text
    assert "agreement: 4 of 11 (36.4%): 2 right in both, 2 wrong in both" in text
    assert "choice none no candidate passes" in text


def test_all_arms_begin_with_the_choice_its_reasons_and_the_matrix():
    """Each candidate's pictures stand beside each other, to one scale."""
    page = render_diff_html(summarise(three_arms()))
    assert headings(page) == [
        "Every arm",
        "First answers",
        "Completion lengths",
        "Net rate against the margin",
        "Samples that a candidate changes",
    ]
    assert page.index("no candidate passes") < page.index("<h2>")
    assert page.count('class="chip ') == 2
    margins = re.findall(r'class="cap-label" x="([0-9.]+)"[^>]*>margin<', page)
    assert len(margins) == 2
    assert len(set(margins)) == 1


def test_the_pictures_name_both_arms_and_draw_the_cap():
    """Between two candidates neither axis is the baseline's."""
    page = two_arms()
    for words in ("tokens, ngram<", "tokens, mtp<", ">cap 100<", ">mtp against ngram", "mtp is better"):
        assert words in page, words


def test_a_chosen_arm_stands_at_the_top():
    """The fastest of those that pass."""
    page = render_diff_html(summarise(three_arms({f"s{n}": (RIGHT, RIGHT, RIGHT) for n in range(300)})))
    assert "<strong>mtp</strong>" in page[page.index('class="decision pass"') : page.index("<h2>")]


def test_two_runs_are_no_matrix_and_name_their_runs():
    """Arms of two runs were never judged together."""
    one = summarise(three_arms())
    other = summarise(replace(three_arms(), directory=Path("runs/other")))
    page = render_diff_html(pair_arms(*operands(one, "ngram", other, "mtp")))
    assert "All arms of the run" not in page
    assert "test:ngram against other:mtp" in page
    assert data_of(page)["arms"].keys() == {"test:ngram", "other:mtp"}


def test_equal_arms_break_nothing_and_the_page_is_whole():
    """No row, no mark that is no unchanged pair."""
    summary = summarise(three_arms({"same": (RIGHT, RIGHT, RIGHT)}))
    page = render_diff_html(pair_arms(*operands(summary, "ngram", summary, "mtp")))
    assert data_of(page)["rows"] == []
    assert "<p>None.</p>" in page
    assert "agreement: 1 of 1 (100.0%)" in page


@pytest.mark.parametrize(
    "made",
    [
        three_arms(redact=True),
        three_arms(in_turn=False),
        three_arms(control=False),
        without(three_arms(), "mtp"),
        unlabelled(three_arms()),
    ],
    ids=["redacted", "without speed", "without control", "an arm never asked", "unlabelled"],
)
def test_pages_of_odd_runs_are_whole(made):
    """What is missing is missing, and no picture is torn by it."""
    summary = summarise(made)
    for compared in (summary, pair_arms(*operands(summary, "ngram", summary, "mtp"))):
        page = render_diff_html(compared)
        assert page.rstrip().endswith("</html>")
        shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
        assert not re.search(r"\b(None|nan|inf)\b", shown.replace("<p>None.</p>", ""))
