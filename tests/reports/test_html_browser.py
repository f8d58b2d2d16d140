"""The HTML pages in a real browser: they work, ask the network for nothing, and nothing in them can act."""

import json
import shutil

import pytest
from draftproof.evals.summing_up.pairing import operands, pair_arms
from draftproof.evals.summing_up.summary import summarise
from draftproof.reports.diff_html import render_diff_html
from draftproof.reports.html import render_html

from ..evals.build import RIGHT
from .runs import HOSTILE, LONG_LINE, SAID, three_arms

pytestmark = pytest.mark.heavy

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# One sample whose id, category and answers are all hostile, and more findings than fit on a page.
RUN = {
    **SAID,
    HOSTILE: (RIGHT, LONG_LINE, HOSTILE),
    **{f"more {n}": (RIGHT, "Sure!", RIGHT) for n in range(60)},
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if BROWSER is None or DRIVER is None:
        pytest.skip("no Chromium with its driver is installed (Debian: chromium, chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report as a file."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render_html(summarise(three_arms(RUN))), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser, report):
    """The browser with the report open."""
    return shown(browser, report)


@pytest.fixture(scope="module")
def two_arms(tmp_path_factory):
    """A comparison of two arms as a file."""
    summary = summarise(three_arms(RUN))
    file = tmp_path_factory.mktemp("page") / "diff.html"
    pair = pair_arms(*operands(summary, "baseline", summary, "ngram"))
    file.write_text(render_diff_html(pair), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def diff(browser, two_arms):
    """The browser with the comparison open."""
    return shown(browser, two_arms)


def shown(browser, address):
    if browser.current_url != address:
        browser.get(address)
    return browser


def rows(page):
    return page.find_elements("css selector", "details.row")


def count(page):
    return page.find_element("id", "count").text


def choose(page, field, value):
    page.execute_script(
        "const [field, value] = arguments;"
        "const select = document.querySelector(`select[data-field=${field}]`);"
        "select.value = value; select.dispatchEvent(new Event('change'));",
        field,
        value,
    )


def search(page, words):
    page.execute_script(
        "const box = document.getElementById('search');"
        "box.value = arguments[0]; box.dispatchEvent(new Event('input'));",
        words,
    )


def opened(page, details):
    """The element, opened; what it opens to is made when the browser says that it is open."""
    from selenium.webdriver.support.ui import WebDriverWait

    details.find_element("css selector", "summary").click()
    WebDriverWait(page, 30).until(lambda _: int(details.get_property("childElementCount")) > 1)
    return details


def reset(page):
    for field in ("candidate", "what", "cause", "code", "category"):
        choose(page, field, "")
    search(page, "")


def test_the_table_is_paged_and_turns_its_pages(page):
    """Ten thousand findings must not be ten thousand rows."""
    reset(page)
    assert (count(page), len(rows(page))) == ("74 of 74 findings", 50)
    page.find_element("id", "next").click()
    assert len(rows(page)) == 24
    page.find_element("id", "previous").click()
    assert len(rows(page)) == 50


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("cause", "cap", 2),
        ("code", "invalid_json", 2),
        ("candidate", "mtp", 6),
        ("what", "void", 1),
        ("what", "fix", 2),
        ("cause", "–", 1),
    ],
)
def test_filters_choose_findings(page, field, value, shown):
    """By cause, code, candidate and what became of the sample."""
    reset(page)
    choose(page, field, value)
    assert count(page) == f"{shown} of 74 findings"
    assert len(rows(page)) == shown


def test_search_finds_ids_messages_and_outputs(page):
    """In any case."""
    reset(page)
    search(page, "EXPRESSION: it holds")
    assert [row.text.split("\n")[0] for row in rows(page)] == ["core/expression"]
    search(page, "bergen")
    assert "core/real" in rows(page)[0].text


def test_a_finding_opens_to_both_outputs(page):
    """Difference marked, calls as parsed, defects under carets, attempts, and the request to send again."""
    reset(page)
    search(page, "core/expression")
    (row,) = rows(page)
    opened(page, row)
    sides = row.find_elements("css selector", ".side")
    assert [side.find_element("css selector", "h3").text.split()[0] for side in sides] == [
        "baseline",
        "ngram",
    ]
    assert [side.find_element("css selector", "mark").text for side in sides] == ['"', "("]
    assert "call get_weather" in sides[0].text
    assert "^^^^" in sides[1].find_element("css selector", "pre.caret").text
    assert "The name holds the arguments" in row.text
    opened(page, sides[1].find_element("css selector", "details"))
    shown = next(pre.text for pre in sides[1].find_elements("css selector", "pre") if "curl" in pre.text)
    assert "$OPENAI_API_KEY" in shown
    assert '"max_tokens": 100' in shown


def test_hostile_output_is_shown_and_cannot_act(page):
    """Markup, escapes, direction marks and a line of a megabyte are text and nothing else."""
    reset(page)
    search(page, "owned")
    found = rows(page)
    assert len(found) == 2
    for row in found:
        opened(page, row)
        assert "<img src=x onerror=" in row.text
        assert "\\u202eevil" in row.text
        assert row.find_elements("css selector", "img, script") == []
    assert page.title.startswith("draftproof: ")
    assert page.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_a_comparison_says_which_arm_broke_and_opens_to_both(diff):
    """No column of candidates, no filter for them; hostile text is text here too."""
    assert diff.find_elements("css selector", "select[data-field=candidate]") == []
    choose(diff, "what", "only ngram")
    choose(diff, "code", "name_is_expression")
    (row,) = rows(diff)
    assert row.find_element("css selector", "summary").text.split("\n")[:3] == [
        "core/expression",
        "nested",
        "only ngram",
    ]
    head = diff.find_elements("css selector", "#rows .head > span")
    cells = row.find_elements("css selector", "summary > span")
    assert [span.location["x"] for span in head[1:]] == [span.location["x"] for span in cells]
    opened(diff, row)
    sides = row.find_elements("css selector", ".side > h3")
    assert [side.text.split()[0] for side in sides] == ["baseline", "ngram"]
    for field in ("what", "code"):
        choose(diff, field, "")
    search(diff, "owned")
    (row,) = rows(diff)
    opened(diff, row)
    assert "<img src=x onerror=" in row.text
    assert row.find_elements("css selector", "img, script") == []
    assert diff.title == "draftproof diff: baseline against ngram"


@pytest.mark.parametrize("kind", ["page", "diff"])
def test_a_telephone_shows_the_page_without_scrolling_sideways(request, kind):
    """390 pixels wide, dark, with a finding open."""
    page = request.getfixturevalue(kind)
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True},
    )
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    search(page, "core/expression")
    opened(page, rows(page)[0])
    assert page.execute_script("return document.documentElement.scrollWidth") == 390
    sizes = page.execute_script(
        "return [...document.querySelectorAll('svg')]"
        ".map((svg) => 11 * svg.clientWidth / svg.viewBox.baseVal.width)"
    )
    assert min(sizes) >= 10, "labels of the pictures are at least 10 pixels high"
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_console_has_no_error_and_nothing_was_asked_of_the_network(browser, report, two_arms):
    """After all of the above; the last test of this module."""
    assert browser.get_log("browser") == []
    asked = [
        message["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
        # The browser's own first tab asks for pages of its own.
        and message["params"]["documentURL"] in (report, two_arms)
    ]
    assert {url for url in asked if not url.startswith("data:")} == {report, two_arms}
