"""A run at a URL: written through, fetched by another machine, and never written over."""

import fsspec
import pytest
from draftproof.errors import UserError
from draftproof.evals import mirror
from draftproof.evals.mirror import Mirror, local_folder, open_directory
from draftproof.evals.record import read_run

from ..scripted import ScriptedServer
from ..test_cli import draftproof
from .asking import ask, journal, judged, make_plan, right, write_suite

FILES = fsspec.filesystem("memory")


@pytest.fixture
def url(request):
    """A place of its own for each test; nothing is left there."""
    place = f"/{request.node.name}/run"
    yield f"memory:/{place}"
    if FILES.exists(place):
        FILES.rm(place, recursive=True)


@pytest.fixture
def plan(tmp_path):
    with ScriptedServer(right) as baseline, ScriptedServer(right) as mtp:
        plan = make_plan(write_suite(tmp_path / "suite.jsonl"), {"baseline": baseline, "mtp": mtp})
        plan.asked = lambda: len(baseline.requests) + len(mtp.requests)
        yield plan
