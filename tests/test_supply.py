"""What is installed is what is locked, and an audit that could not be made is not a clean one."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")
PINS = [Requirement(line) for line in LOCK.splitlines() if not line.startswith("#")]
WANTED = [
    Requirement(one)
    for group in (
        PYPROJECT["project"]["dependencies"],
        *PYPROJECT["project"]["optional-dependencies"].values(),
        *PYPROJECT["dependency-groups"].values(),
    )
    for one in group
    if isinstance(one, str)
]
# Stands in for pip-audit: says of the first package what STORY holds, and of the others nothing.
PIP_AUDIT = """
import json, os, sys
lines = open(sys.argv[sys.argv.index("--requirement") + 1]).read().split()
if os.environ["STORY"] == "crash":
    sys.exit("ConnectionError: no route to host")
pins = [line.split("==") for line in lines]
told = [{"name": name, "version": version, "vulns": []} for name, version in pins]
told[0] |= json.loads(os.environ["STORY"])
json.dump({"dependencies": told}, open(sys.argv[sys.argv.index("--output") + 1], "w"))
"""


def test_the_lock_holds_versions_and_nothing_else():
    """No address of an index, no file of this machine, no two versions for one Python."""
    for pin in PINS:
        assert pin.url is None
        assert re.fullmatch(r"==[\w.!+]+", str(pin.specifier))
    names = [pin.name for pin in PINS]
    assert all(pin.marker is not None for pin in PINS if names.count(pin.name) > 1)
    assert "://" not in LOCK
    assert names == sorted(names)


@pytest.mark.parametrize("wanted", WANTED, ids=lambda one: one.name)
def test_whatever_is_asked_for_is_locked_within_its_bounds(wanted):
    """After a change of pyproject.toml, `make lock` is due."""
    versions = [pin.specifier for pin in PINS if pin.name == canonicalize_name(wanted.name)]
    assert versions
    for version in versions:
        assert wanted.specifier.contains(str(version).removeprefix("=="))


def test_every_python_that_is_supported_is_locked():
    """From the oldest on; a package with several versions has one for each."""
    assert SpecifierSet(PYPROJECT["project"]["requires-python"]).contains("3.11")
    for python in ("3.11.0", "3.12.0", "3.13.0"):
        environment = {"python_version": python[:4], "python_full_version": python, "extra": ""}
        chosen = [pin.name for pin in PINS if pin.marker is None or pin.marker.evaluate(environment)]
        assert len(chosen) == len(set(chosen))
        assert {"numpy", "scipy", "pydantic", "pytest"} <= set(chosen)


@pytest.mark.parametrize(
    ("story", "code", "said"),
    [
        ({}, 0, r"\d+ locked versions audited: 0 known vulnerabilities"),
        ({"vulns": [{"id": "X-1", "fix_versions": ["9"]}]}, 1, r"X-1, mended in 9\n.*: 2 known"),
        ({"vulns": [{"id": "X-1", "fix_versions": []}]}, 1, "X-1, mended in no version"),
        ({"skip_reason": "not found"}, 3, "^not audited: service unreachable .*does not know"),
        ("crash", 3, r"^not audited: service unreachable \(ConnectionError: no route to host\)"),
    ],
    ids=["clean", "mended", "not mended", "unknown to the service", "no service"],
)
def test_an_audit_says_clean_found_or_not_made(tmp_path, story, code, said):
    """Three exit codes; a package that the service does not know was not audited either."""
    (tmp_path / "pip_audit.py").write_text(PIP_AUDIT, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "STORY": story if isinstance(story, str) else json.dumps(story),
    }
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "audit.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert re.search(said, done.stdout, re.DOTALL), done.stdout
