"""Every page: self-contained, and deaf to what a model wrote."""

import base64
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.diff_html import render_diff_html
from draftproof.reports.finding_rows import TEXT_SHOWN
from draftproof.reports.html import render_html

from ..evals.build import RIGHT
from .outline import Outline, data_of
from .runs import HOSTILE, LONG_LINE, SAID, three_arms

HOSTILE_RUN = {**SAID, HOSTILE: (RIGHT, LONG_LINE, HOSTILE)}


def two_arms(summary):
    return render_diff_html(pair_arms(*operands(summary, "baseline", summary, "ngram")))


def two_runs(summary):
    """The other one stands in a directory with a hostile name."""
    directory = Path("runs/<img src=x>\x1b[2J\u202e\udcff")
    other = summarise(replace(summary.run, directory=directory))
    return render_diff_html(pair_arms(*operands(summary, "baseline", other, "ngram")))


PAGES = {"report": render_html, "all arms": render_diff_html, "two arms": two_arms, "two runs": two_runs}


@pytest.fixture(scope="module", params=PAGES)
def pages(request):
    """A page of a harmless run, and the same page of a hostile one."""
    draw = PAGES[request.param]
    return draw(summarise(three_arms())), draw(summarise(three_arms(HOSTILE_RUN)))


@pytest.fixture
def page(pages):
    return pages[0]


@pytest.fixture
def hostile(pages):
    return pages[1]


def test_nothing_is_loaded_from_anywhere(page):
    """No address but the empty icon, and a policy that forbids the rest."""
    outline = Outline(page)
    addresses = [
        value for _, name, value in outline.attributes if name in ("src", "href", "action", "srcset")
    ]
    assert addresses == ["data:,"]
    assert "url(" not in page
    assert "@import" not in page
    assert outline.tags.count("script") == 2
    policy = next(
        value
        for tag, name, value in outline.attributes
        if (tag, name) == ("meta", "content") and "default-src" in value
    )
    digest = base64.b64encode(hashlib.sha256(outline.scripts[1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


def test_the_pages_own_script_never_writes_markup(page):
    """Text of a model becomes text nodes, or nothing."""
    script = Outline(page).scripts[1]
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
    ):
        assert word not in script


def test_hostile_text_adds_no_element_and_no_attribute(page, hostile):
    """The same outline as that of a page about a harmless run, but for marks and rows of one more sample."""
    assert set(Outline(hostile).tags) == set(Outline(page).tags)
    assert not [name for _, name, _ in Outline(hostile).attributes if name.startswith("on")]
    assert not set(hostile) & set("\x1b\x07\x00\u202e\u2028\ud800")
    hostile.encode("utf-8")


def test_a_line_of_a_megabyte_is_cut_with_its_length(hostile):
    """The page stays usable, and says what it left out."""
    assert len(hostile) < 500_000
    side = next(row for row in data_of(hostile)["rows"] if "owned" in row["id"])["sides"][1]
    assert "more characters in the journal" in side["after"]
    assert len(side["after"]) < TEXT_SHOWN
    assert side["after"].startswith("\\x1b]0;owned")
