"""docs/dependencies.md names every runtime dependency and its licence, as the packages themselves tell it."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = set(
    re.findall(r"^([a-z0-9-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
)
DIRECT = {one.name: one for one in map(Requirement, PROJECT["dependencies"])}
FAMILIES = re.compile(r"\b(MIT|BSD|Apache|PSF|Python Software Foundation|MPL|Mozilla|ISC|0BSD|Unlicense)\b")


def licence_of(name):
    """The licence as one line: an expression where there is one, else a short text, else classifiers."""
    told = metadata(name)
    classifiers = [one for one in told.get_all("Classifier") or [] if one.startswith("License ::")]
    text = told.get("License") or ""
    return told.get("License-Expression") or (text if 0 < len(text) < 60 else "") or " ".join(classifiers)


def everything(names):
    """The names and what they require in turn, on this machine and without extras."""
    seen, waiting = set(), list(names)
    while waiting:
        if (name := waiting.pop()) in seen:
            continue
        try:
            needs = map(Requirement, requires(name) or [])
        except PackageNotFoundError:
            continue
        seen.add(name)
        waiting += [one.name for one in needs if one.marker is None or one.marker.evaluate({"extra": ""})]
    return seen


def test_the_page_lists_what_pyproject_asks_for():
    """Neither more nor less."""
    assert re.findall(r"^\| ([a-z0-9-]+) \| [A-Z][^|]*\| [^|]+\|$", PAGE, re.MULTILINE) == sorted(DIRECT)


def test_the_page_lists_every_locked_package_that_comes_along():
    """All of a plain installation of this machine, and nothing that is not locked."""
    listed = re.findall(r"^\| ([a-z0-9-]+) \| [A-Z]", PAGE, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {canonicalize_name(name) for name in everything(DIRECT)} & LOCKED <= set(listed) <= LOCKED


@pytest.mark.parametrize("name", re.findall(r"^\| ([a-z0-9-]+) \| [A-Z]", PAGE, re.MULTILINE))
def test_the_licence_is_what_the_package_says(name):
    """By its family: not every package tells which BSD licence it is."""
    written = re.search(rf"^\| {name} \| (\S+) \|", PAGE, re.MULTILINE)[1]
    assert written.partition("-")[0] in licence_of(name)


@pytest.mark.parametrize("name", sorted(everything(DIRECT)))
def test_whatever_comes_along_is_permissive(name):
    """A licence that asks more of users would be news."""
    assert FAMILIES.search(licence_of(name)), (name, licence_of(name))


@pytest.mark.parametrize("name", sorted(DIRECT))
def test_no_dependency_is_without_an_end(name):
    """The next major version may break what is relied on."""
    operators = {one.operator for one in DIRECT[name].specifier}
    assert operators == {">=", "<"}
    assert DIRECT[name].specifier.contains(metadata(name)["Version"])
