"""A few rounds of `benchmarks/soak.py`: the benchmark itself keeps working, and what it says holds."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parent.parent / "benchmarks" / "soak.py"


@pytest.mark.heavy
def test_killed_runs_lose_nothing_and_count_nothing_twice():
    """Two seeded rounds, three kills each, and a journal of 500 attempts beside the two of a run."""
    done = subprocess.run(
        [sys.executable, SOAK, "--rounds", "2", "--attempts", "500"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost 0, doubled 0, other findings 0" in done.stdout
    assert "502 read" in done.stdout.replace("  ", " ")
