"""A real Ray cluster of three nodes on this machine: its nodes ask what one machine would have asked."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import pytest

from ...scripted import ScriptedServer
from ..asking.test_session import KEY, SETTINGS, eventful, wait_for, write_toml
from ..scripted_runs import ask, journal, judged, keys, make_plan, right, write_suite

pytestmark = [
    pytest.mark.heavy,
    # Looked for, not imported: who collects the quick tests does not wait for it.
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray: pip install '.[ray]'"),
]

SAMPLES = 9
IN_FLIGHT = 2 * SETTINGS["concurrency"]
# Every node finds the key in its environment, and the driver tells nothing to anybody.
ENVIRONMENT = {"MY_KEY": KEY, "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture(scope="module")
def cluster():
    """A head without a CPU, so that it gets no worker, and two nodes with one."""
    from ray.cluster_utils import Cluster

    with mock.patch.dict(os.environ, ENVIRONMENT):
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        yield cluster, nodes
        cluster.shutdown()


@pytest.fixture
def arms():
    with ScriptedServer(right) as baseline, ScriptedServer(eventful) as mtp:
        yield {"baseline": baseline, "mtp": mtp}


@pytest.fixture
def whole(tmp_path, arms):
    """Findings and keys of a run that nothing disturbed, asked from here."""
    plan = make_plan(write_suite(tmp_path / "suite.jsonl", SAMPLES), arms, **SETTINGS)
    ask(plan, tmp_path / "whole")
    for server in arms.values():
        server.requests.clear()
    findings = judged(tmp_path / "whole")[1]
    return findings, {arm: sorted(keys(journal(tmp_path / "whole", arm))) for arm in arms}


class Held:
    """Answers that are kept back, from the seventh request of an arm on, until a test lets them go."""

    def __init__(self, arms):
        self.go_on, self._lock, self._count = threading.Event(), threading.Lock(), 0
        for name, script in (("baseline", right), ("mtp", eventful)):
            arms[name].reply = self._holding(script)

    def _holding(self, script):
        def reply(request):
            if request.number >= 6:
                with self._lock:
                    self._count += 1
                self.go_on.wait(100)
            return script(request)

        return reply

    def wait_for(self, count):
        wait_for(lambda: self._count >= count, 60)


def parent_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


def pids_of_workers():
    """Processes with the title of our actor whose node was started by this process, and nobody else's."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        # A process may end while it is looked at.
        with contextlib.suppress(OSError):
            pid = int(path.parent.name)
            if path.read_bytes().startswith(b"ray::Worker") and parent_of(parent_of(pid)) == os.getpid():
                found.add(pid)
    return found


def write_config(tmp_path, arms):
    config = write_toml(tmp_path / "plan.toml", tmp_path / "suite.jsonl", arms)
    config.write_text(config.read_text().replace("timeout = 5.0", "timeout = 100.0"))
    return config


@pytest.fixture
def started():
    """Start a driver; whatever happens to the test, it does not outlive it."""
    processes = []

    def started(config, directory, address=None, **environment):
        command = [sys.executable, "-m", "draftproof", "run", str(config), "--out", str(directory), "--quiet"]
        process = subprocess.Popen(
            [*command, *(() if address is None else ("--ray", address))],
            env={**os.environ, **ENVIRONMENT, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        processes.append(process)
        return process

    yield started
    for process in processes:
        process.kill()
        print(process.communicate()[0])


def test_a_node_without_the_key_is_named_before_anything_is_asked(tmp_path, cluster, arms, whole, started):
    """The driver's own environment has it, and is not passed on; the value is nowhere."""
    del whole
    config = write_toml(tmp_path / "plan.toml", tmp_path / "suite.jsonl", arms)
    config.write_text(config.read_text().replace("MY_KEY", "OTHER_KEY"))
    process = started(config, tmp_path / "run", cluster[0].address, OTHER_KEY=KEY)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 4, output
    assert "arm baseline: api_key_env names OTHER_KEY, which is not set" in output
    assert "tip: on that node: export OTHER_KEY=" in output
    assert KEY not in output
    assert not any(server.requests for server in arms.values())


def test_a_worker_that_dies_comes_back_on_its_node(tmp_path, cluster, arms, whole, started):
    """Out of memory, say, and all at once: the run waits for them, and ends as it would have."""
    directory = tmp_path / "run"
    held = Held(arms)
    process = started(write_config(tmp_path, arms), directory, cluster[0].address)
    held.wait_for(IN_FLIGHT)
    pids = pids_of_workers()
    assert len(pids) == 2
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    held.wait_for(2 * IN_FLIGHT)
    held.go_on.set()
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert "worker is back" in output
    assert judged(directory)[1] == whole[0]
    for arm in arms:
        assert sorted(keys(journal(directory, arm))) == whole[1][arm]


def test_an_interrupt_waits_for_what_workers_have_in_flight(tmp_path, cluster, arms, whole, started):
    """Paid for, and kept; nothing new is sent, and the next session goes on, from here."""
    directory = tmp_path / "run"
    held = Held(arms)
    config = write_config(tmp_path, arms)
    process = started(config, directory, cluster[0].address)
    held.wait_for(IN_FLIGHT)
    before = sum(len(journal(directory, arm)) for arm in arms)
    process.send_signal(signal.SIGINT)
    lines = iter(process.stdout.readline, "")
    said = next(line for line in lines if "waiting for the answers in flight" in line)
    held.go_on.set()
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 130, said + output
    assert sum(len(journal(directory, arm)) for arm in arms) == before + IN_FLIGHT
    assert started(config, directory).wait(60) == 0
    assert judged(directory)[1] == whole[0]


def test_a_node_that_dies_costs_no_answer_and_changes_no_finding(tmp_path, cluster, arms, whole, started):
    """Killed with requests in flight everywhere: what had come stays, what was in flight is asked again.

    The last test: a cluster lists a dead node for half a minute.
    """
    cluster, nodes = cluster
    config, directory = write_config(tmp_path, arms), tmp_path / "run"
    held = Held(arms)
    process = started(config, directory, cluster.address)
    held.wait_for(IN_FLIGHT)
    before = {arm: journal(directory, arm) for arm in arms}
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    # Four were in flight on two nodes: two are lost, and are sent once more.
    held.wait_for(IN_FLIGHT + 2)
    held.go_on.set()
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    assert output.count("worker lost") == 1
    findings, wanted = whole
    assert judged(directory)[1] == findings
    for arm in arms:
        rows = journal(directory, arm)
        assert sorted(keys(rows)) == wanted[arm]
        assert rows[: len(before[arm])] == before[arm]
    lost = sum(len(server.requests) for server in arms.values()) - sum(map(len, wanted.values()))
    assert lost == sum(row["retries"] for arm in arms for row in journal(directory, arm)) == 2
    for path in directory.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
    assert KEY not in output
