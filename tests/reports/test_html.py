"""The HTML report without a browser: whole, and in the order in which people ask."""

import re

import pytest
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.html import render_html

from ..evals.build import RIGHT
from .outline import Outline, data_of
from .runs import three_arms


@pytest.fixture(scope="module")
def page():
    return render_html(summarise(three_arms()))


def test_the_page_answers_in_the_order_in_which_people_ask(page):
    """Decision, causes, lengths, rates, endings, speed, findings."""
    assert page.index('class="decision ') < page.index("<h2>")
    assert [heading.split("n =")[0].strip() for heading in Outline(page).headings] == [
        "Regressions / fixes, by cause",
        "Completion lengths",
        "Net rate against the margin",
        "Endings",
        "Speed and acceptance",
        "Findings",
    ]


def test_a_missing_value_shows_as_missing(page):
    """No token of the baseline was drafted or counted, and the control has no causes."""
    assert re.search(
        r'<th scope="row">baseline</th><td class="number">12</td>.*?<td class="number">–</td>', page
    )
    assert "None" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_a_page_of_a_run_without_findings_is_whole():
    """Nothing broke: the tables say so."""
    html = render_html(summarise(three_arms({"same": (RIGHT, RIGHT, RIGHT)})))
    assert data_of(html)["rows"] == []
    assert "2 pairs right in both arms and 0 wrong in both are not listed" in html
