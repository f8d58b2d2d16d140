"""Tables at any width: no header's word and no figure is ever torn, and nothing wraps by accident."""

import re
from itertools import pairwise

import pytest
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.diff import build_diff
from draftproof.reports.sample import render_sample
from draftproof.reports.table import Table
from draftproof.reports.terminal import render_diff, render_table, render_terminal
from draftproof.reports.walk import Wanted, findings_table, wanted_findings

from .runs import three_arms

WIDTHS = (60, 80, 120)
WHOLE = (
    "finish_reason",
    "accepted",
    "interval",
    "decision",
    "regression",
    "wrong_arguments",
    "name_is_expression",
    "(timeout",
    "control",
)
FIGURES = re.compile(r"[-+]?\d[\d.,]*%?")


def renderings(width):
    summary = summarise(three_arms())
    yield render_terminal(summary, width=width)
    yield render_diff(build_diff(summary), width=width)
    yield render_table(findings_table(wanted_findings(summary, Wanted())), width=width)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal_but_commands(width):
    """A terminal that wraps by itself tears a table apart."""
    for text in renderings(width):
        lines = [line for line in text.splitlines() if len(line) > width]
        assert all(" draftproof " in line for line in lines), lines


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_a_header_and_no_figure_is_torn(width):
    """Every word and figure of the widest rendering stands whole in a narrow one."""
    for wide, narrow in zip(renderings(400), renderings(width), strict=True):
        words = set(wide.split())
        assert [word for word in WHOLE if word in words and word not in narrow.split()] == []
        missing = set(FIGURES.findall(wide)) - set(FIGURES.findall(narrow))
        assert missing == set()


@pytest.mark.parametrize("width", WIDTHS)
def test_piped_text_is_plain(width):
    """No escape, and no space at the end of a line."""
    for text in renderings(width):
        assert "\x1b" not in text
        assert all(line == line.rstrip() for line in text.splitlines())


def test_few_rows_of_many_figures_are_turned_and_many_rows_are_written_row_by_row():
    """Three ways to fit, the most compact that does is taken."""
    header = ("arm", *(f"figure-{n}" for n in range(9)))
    few = Table("few", header, (("one", *map(str, range(9))),))
    assert render_table(few, width=120).splitlines()[1].split()[:3] == ["arm", "figure-0", "figure-1"]
    turned = render_table(few, width=40).splitlines()
    assert turned[1].split() == ["arm", "one"]
    assert turned[3].split() == ["figure-0", "0"]
    many = Table("many", header, tuple((f"row-{n}", *map(str, range(9))) for n in range(20)))
    rows = render_table(many, width=40).splitlines()
    assert rows[1] == "row-0  0"
    assert rows[2] == "  figure-1 1 · figure-2 2 · figure-3 3"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["syntax", "expression", "cap"])
def test_carets_stand_under_what_they_mark_however_narrow_the_terminal(width, name):
    """A line that the terminal wraps would carry its carets elsewhere."""
    text = render_sample(summarise(three_arms()), f"core/{name}", width=width)
    drawn = [line for line in text.splitlines() if re.match(r"\s+(\d+)? *\|", line) or " · " in line]
    assert max(map(len, drawn)) <= width
    carets = [(above, line) for above, line in pairwise(text.splitlines()) if "^" in line]
    assert len(carets) == {"syntax": 2, "expression": 1, "cap": 0}[name]
    for above, line in carets:
        marked = above[line.index("^") : line.rindex("^") + 1]
        # A place that is too long is marked as far as it is shown.
        whole = ("5", "get_weather(location='Boston')", "\"get_weather(location='Boston')\"")
        assert any(place.startswith(marked) for place in whole), marked


def test_wide_letters_are_counted_by_the_cells_they_take():
    """Two cells for a letter of East Asia."""
    table = Table("t", ("name", "n"), (("東京" * 10, "1"),), frozenset((1,)))
    assert render_table(table, width=60).splitlines()[3].endswith("1")
