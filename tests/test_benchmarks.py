"""The benchmarks stand apart from the tests, and still have to start."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
# Not started by hand: what several of them share.
SHARED = (
    *("made_run.py", "measured.py", "quick_server.py", "walked.py"),
    *("known_texts.py", "lenient_readers.py", "public_parsers.py"),
)


@pytest.mark.heavy
def test_every_benchmark_finds_what_it_imports():
    """`--help` comes after the imports, and a module that moved stands in them."""
    started = {
        path.name: subprocess.Popen(
            [sys.executable, path, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for path in sorted(BENCHMARKS.glob("*.py"))
        if path.name not in SHARED
    }
    assert len(started) > 10
    said = {name: process.communicate()[1] for name, process in started.items()}
    assert {name: text for name, text in said.items() if started[name].returncode} == {}


def test_mutation_looks_at_modules_and_tests_that_are_there():
    """A path that leads nowhere would let every mutant of a module live."""
    text = (BENCHMARKS / "mutants.py").read_text(encoding="utf-8")
    modules = re.findall(r'"(evals/[a-z_/]+\.py)"', text)
    tests = [f"tests/evals/{name}.py" for name in re.findall(r'"([a-z]+/test_[a-z_]+)"', text)]
    assert len(modules) >= 4
    assert len(tests) >= 4
    missing = [path for path in (*modules, *tests) if not (BENCHMARKS.parent / path).is_file()]
    assert missing == []
