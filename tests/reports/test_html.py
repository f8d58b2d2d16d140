"""The HTML report without a browser: whole, self-contained, and deaf to what a model wrote."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from draftproof.evals.pairing import run_pairs
from draftproof.evals.summary import summarise
from draftproof.reports.finding_rows import TEXT_SHOWN, findings_json, json_for_html
from draftproof.reports.html import render_html

from ..evals.build import RIGHT
from .runs import HOSTILE, LONG_LINE, SAID, three_arms

HOSTILE_RUN = {**SAID, HOSTILE: (RIGHT, LONG_LINE, HOSTILE)}


class Outline(HTMLParser):
    """Elements of a page, and the texts of its scripts and headings."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.headings, self.stack = [], [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.stack.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if self.stack[-1:] == ["script"]:
            self.scripts[-1] += data
        if "h2" in self.stack:
            self.headings[-1] += data


@pytest.fixture(scope="module")
def page():
    return render_html(summarise(three_arms()))


@pytest.fixture(scope="module")
def hostile():
    return render_html(summarise(three_arms(HOSTILE_RUN)))


def data_of(html):
    return json.loads(Outline(html).scripts[0])


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


@pytest.mark.parametrize("sign", ["<", ">", "&", "\u2028", "\u2029", "\x00", "\u202e", "\ud800", "\u00e9"])
def test_json_holds_no_sign_that_html_could_read(sign):
    """And gives back every one of them."""
    text = json_for_html({sign: [f"</script>{sign}<!--"]})
    assert text.isascii()
    assert not set(text) & set("<>&")
    assert json.loads(text) == {sign: [f"</script>{sign}<!--"]}


def test_rows_say_what_broke_how_it_ended_and_what_would_have_sufficed():
    """Everything a person needs to understand one finding, without the run directory."""
    data = json.loads(findings_json(run_pairs(summarise(three_arms()))))
    rows = {(row["id"], row["candidate"]): row for row in data["rows"]}
    cap = rows["core/cap", "ngram"]
    assert (cap["what"], cap["cause"], cap["code"], cap["budget"], cap["judged"]) == (
        "regression",
        "cap",
        "cap_cut",
        100,
        200,
    )
    assert cap["sufficed"] == "max_tokens 140 would have been enough for ngram; it was cut at 100"
    assert [one["ending"] for one in cap["sides"][1]["tries"]] == ["cut", "finished"]
    assert cap["meaning"].startswith("Cut at the first budget")
    assert cap["due"] == ['get_weather {"city": "Oslo"}']
    real = rows["core/real", "ngram"]
    assert (real["code"], real["paths"]) == ("wrong_arguments", ["$.city"])
    assert real["sides"][0]["before"].endswith('{"city": "')
    assert [side["after"][:2] for side in real["sides"]] == ["Os", "Be"]
    syntax = rows["core/syntax", "mtp"]
    assert "^" in syntax["sides"][1]["defects"][0]
    assert "RFC 8259" in syntax["sides"][1]["defects"][0]
    void = rows["core/void", "ngram"]
    assert (void["what"], void["cause"], void["code"]) == ("void", None, "timeout")
    assert void["sides"][1]["tries"][0]["tokens"] is None
    unresolved = rows["core/unresolved", "mtp"]
    assert unresolved["sufficed"] == "more than max_tokens 200 is needed for mtp: it was cut there too"
    body = json.loads(data["bodies"][cap["sides"][1]["body"]])
    assert body["max_tokens"] == 100
    assert "$OPENAI_API_KEY" in data["arms"]["ngram"]["curl"][0]


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


def test_a_redacted_run_gives_no_bodies_and_no_first_difference():
    """Hashes can be neither sent nor compared by position."""
    data = json.loads(findings_json(run_pairs(summarise(three_arms(redact=True)))))
    assert all(row["difference"] is None for row in data["rows"])
