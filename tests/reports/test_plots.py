"""Where marks stand: lengths over the cap, intervals against the margin, nothing outside the picture."""

import pytest
from draftproof.evals.judging.attribute import attribute
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.plots import WIDTH, lengths_plot, rates_plot, rates_reach
from draftproof.reports.rates import Rate, net_rates

from ..evals.build import BUDGET, OPEN, RIGHT
from .runs import three_arms


def lengths(candidate="ngram", cap=BUDGET):
    summary = summarise(three_arms())
    findings = attribute(summary.graded(), baseline="baseline", candidate=candidate)
    return lengths_plot(summary.graded(), findings, cap)


def test_what_the_cap_cut_stands_where_it_ended_when_asked_again():
    """Above the cap's line, not on it."""
    plot = lengths()
    (mark,) = [mark for mark in plot.marks if mark.kind == "cap"]
    assert mark.y < plot.cap_y
    assert not mark.is_cut
    assert plot.over == (0, 1)


def test_what_was_never_finished_is_marked_as_cut():
    """Its length is only known to be more."""
    marks = [mark for mark in lengths("mtp").marks if mark.is_cut]
    assert [mark.title for mark in marks] == ["core/unresolved: broken in mtp, still_truncated"]


def test_pairs_without_a_length_are_counted_as_missing():
    """A timeout has no length, and is not drawn as zero."""
    plot = lengths()
    assert (plot.shown, plot.missing) == (11, 1)


def test_every_mark_and_tick_is_inside_the_picture():
    """And the axes begin at zero."""
    plot = lengths()
    assert all(plot.left <= mark.x <= plot.right and plot.top <= mark.y <= plot.bottom for mark in plot.marks)
    assert plot.ticks_x[0].label == "0"
    assert 3 <= len(plot.ticks_x) <= 6
    assert all(plot.left <= tick.at <= plot.right for tick in plot.ticks_x)


def test_a_cap_far_above_every_answer_is_left_out():
    """It would squeeze the answers into a corner."""
    assert lengths("ngram", cap=100_000).cap is None


def test_rates_are_of_all_pairs_and_then_of_each_category():
    """With n, without the cap's, and None where nothing was informative."""
    summary = summarise(three_arms())
    whole, *categories = net_rates(summary.comparisons[0], summary.gate)
    assert (whole.label, whole.n, whole.regressions, whole.fixes) == ("all", 10, 4, 1)
    assert [rate.label for rate in categories] == ["nested", "simple"]
    assert sum(rate.n for rate in categories) == whole.n
    assert whole.net == pytest.approx(summary.rulings[0].net_rate)
    assert whole.interval == pytest.approx(summary.rulings[0].interval)


def test_an_interval_that_leaves_the_picture_says_so():
    """A category of two pairs has a huge one."""
    rates = [
        Rate("all", 100, 1, 1, 0.0, (-0.03, 0.03)),
        Rate("tiny", 2, 1, 0, 0.5, (-0.4, 0.9)),
        Rate("none", 0, 0, 0, None, None),
    ]
    plot = rates_plot(rates, 0.03, rates_reach(rates[:1], 0.03))
    whole, tiny = plot.bars
    assert (whole.leaves_left, whole.leaves_right) == (False, False)
    assert (tiny.leaves_left, tiny.leaves_right) == (True, True)
    assert plot.silent == ("none",)
    assert all(0 <= place <= WIDTH for bar in (whole, tiny) for place in (bar.low, bar.high))
    assert whole.low < plot.zero < plot.margin


@pytest.mark.parametrize("bound", [0.02, 0.1, 0.45, 1.0])
def test_no_label_of_the_rates_is_cut_by_the_edge(bound):
    """And zero is always among them."""
    rate = Rate("all", 9, 1, 1, 0.0, (-bound, bound))
    plot = rates_plot([rate], 0.03, rates_reach([rate], 0.03))
    assert all(20 <= tick.at <= WIDTH - 20 for tick in plot.ticks)
    assert "0" in [tick.label for tick in plot.ticks]


def test_pictures_of_several_candidates_have_one_scale():
    """The widest interval of all of them; a lone category's counts for nothing."""
    rates = [Rate(name, 100, 1, 1, 0.0, (-bound, bound)) for name, bound in (("one", 0.1), ("two", 0.2))]
    assert rates_reach(rates, 0.03) == pytest.approx(0.44)
    assert rates_reach([Rate("all", 0, 0, 0, None, None)], 0.03) == pytest.approx(0.132)


def test_a_rate_outside_the_picture_has_no_mark_at_its_edge():
    """An arrow says where it is; a dot would say that it is there."""
    rates = [Rate("all", 100, 1, 1, 0.0, (-0.01, 0.01)), Rate("tiny", 2, 2, 0, 1.0, (0.2, 1.0))]
    _, tiny = rates_plot(rates, 0.03, rates_reach(rates[:1], 0.03)).bars
    assert (tiny.middle, tiny.leaves_right) == (None, True)


def test_what_was_not_compared_is_not_drawn_as_unchanged():
    """Both arms still cut at the last budget: void, with lengths."""
    summary = summarise(three_arms({"open": (OPEN, OPEN, RIGHT), "unresolved": (OPEN, OPEN, OPEN)}))
    pairs = attribute(summary.graded(), baseline="baseline", candidate="ngram")
    marks = lengths_plot(summary.graded(), pairs, BUDGET).marks
    assert [(mark.kind, mark.title) for mark in marks] == [
        ("same", "unchanged: 1 pair"),
        ("void", "void: 1 pair"),
    ]


def test_the_caps_own_doing_is_told_apart_in_both_directions():
    """Only the first arm was cut, or only the second."""
    summary = summarise(three_arms({"one": (OPEN, RIGHT, RIGHT), "other": (RIGHT, OPEN, RIGHT)}))
    pairs = attribute(summary.graded(), baseline="baseline", candidate="ngram")
    marks = lengths_plot(summary.graded(), pairs, BUDGET).marks
    assert {mark.kind: mark.title for mark in marks} == {
        "cap-fix": "core/one: broken in baseline, cap_cut",
        "cap": "core/other: broken in ngram, cap_cut",
    }
