"""How the packed runs of these tests are cut, and whether they are read whole."""

import pytest
from draftproof.evals.at_rest import packed_run, packing
from draftproof.evals.runs import stored_run
from draftproof.evals.summing_up import judged


@pytest.fixture
def in_small_groups(monkeypatch):
    """Groups of a sample or two, judged one after another in this process."""
    monkeypatch.setattr(packing, "GROUP", 5)
    monkeypatch.setattr(stored_run, "BLOCK", 2)
    monkeypatch.setattr(judged, "in_processes", map)


@pytest.fixture(params=["whole", "on disk"])
def is_left_on_disk(request, monkeypatch):
    """A packed run is read whole if it is small, else a group at a time."""
    if request.param == "on disk":
        monkeypatch.setattr(packed_run, "SMALL", -1)
    return request.param == "on disk"
