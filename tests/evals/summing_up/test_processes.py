"""Work shared out among processes."""

import importlib
import sys
from functools import partial

import pytest
from draftproof.errors import UserError
from draftproof.evals.runs import stored_run
from draftproof.evals.runs.record import read_run
from draftproof.evals.runs.stored_run import index_run
from draftproof.evals.summing_up import judged
from draftproof.evals.summing_up.derived import derive
from draftproof.evals.summing_up.processes import in_processes

from ...reports.runs import three_arms
from ..runs.test_stored_run import written

# A module of its own: what a process is to do, it imports by name, and this file has none outside of pytest.
WORK = """
import os, signal, time
from draftproof.errors import UserError

def late(seconds):
    time.sleep(seconds)
    return seconds

def refuse(what):
    raise UserError(what, tip="do it", exit_code=4)

def die(_):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    (tmp_path / "work_shared_out.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "work_shared_out", raising=False)
    return importlib.import_module("work_shared_out")


def test_results_come_in_the_order_of_the_tasks(work):
    """Whoever is done first, and each task taken up only as results are taken out."""
    taken = []

    def tasks():
        for seconds in (0.2, 0.0, 0.1, 0.0, 0.0, 0.0):
            taken.append(seconds)
            yield seconds

    results = in_processes(work.late, tasks(), processes=2)
    assert next(results) == 0.2
    assert len(taken) == 4
    assert list(results) == [0.0, 0.1, 0.0, 0.0, 0.0]


def test_an_error_of_the_user_comes_through_as_it_was(work):
    """What was wrong, what to do and the exit code."""
    with pytest.raises(UserError, match="so wrong") as refused:
        list(in_processes(work.refuse, ["so wrong"], processes=2))
    assert (refused.value.tip, refused.value.exit_code) == ("do it", 4)


def test_a_process_that_was_killed_is_one_clear_error(work):
    """No traceback of a library: most likely the memory was exhausted."""
    with pytest.raises(UserError, match="ended early"):
        list(in_processes(work.die, [1, 2, 3], processes=2))


def test_one_process_is_this_one(work):
    """Nothing is gained by another."""
    assert list(in_processes(work.late, iter([0.0]), processes=1)) == [0.0]
    assert list(in_processes(lambda task: task, [1], processes=1)) == [1]


def test_blocks_are_judged_in_other_processes(tmp_path, monkeypatch):
    """What they send back makes the same files as judging here."""
    directory = written(tmp_path / "run", three_arms())
    monkeypatch.setattr(stored_run, "BLOCK", 3)
    monkeypatch.setattr(judged, "in_processes", partial(in_processes, processes=2))
    for name, run in (("here", read_run(directory)), ("there", index_run(directory))):
        assert derive(run, tmp_path / name)[1] is None
    for file in ("findings.jsonl", "summary.json"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()
