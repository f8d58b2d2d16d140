"""A real Ray cluster of three nodes on this machine: its nodes ask what one machine would have asked."""

import os
import subprocess
import sys
import threading
from collections import Counter
from unittest import mock

import pytest

from ...scripted import ScriptedServer
from ..asking import ask, journal, judged, keys, make_plan, right, write_suite
from ..test_session import KEY, SETTINGS, eventful, wait_for, write_toml

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
pytestmark = pytest.mark.heavy

SAMPLES = 9
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


@pytest.fixture
def started():
    """Start a driver; whatever happens to the test, it does not outlive it."""
    processes = []

    def started(config, directory, address, **environment):
        command = [sys.executable, "-m", "draftproof", "run", str(config), "--out", str(directory), "--quiet"]
        process = subprocess.Popen(
            [*command, "--ray", address],
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


def test_a_node_that_dies_costs_no_answer_and_changes_no_finding(tmp_path, cluster, arms, whole, started):
    """Killed with requests in flight everywhere: what had come stays, what was in flight is asked again."""
    cluster, nodes = cluster
    config = write_toml(tmp_path / "plan.toml", tmp_path / "suite.jsonl", arms)
    config.write_text(config.read_text().replace("timeout = 5.0", "timeout = 100.0"))
    directory = tmp_path / "run"
    sent_again = threading.Event()
    lock, held = threading.Lock(), Counter()

    def holding(name, script):
        def reply(request):
            if request.number >= 6:
                with lock:
                    held[name] += 1
                sent_again.wait(100)
            return script(request)

        return reply

    for name, script in (("baseline", right), ("mtp", eventful)):
        arms[name].reply = holding(name, script)
    process = started(config, directory, cluster.address)
    wait_for(lambda: held == dict.fromkeys(arms, SETTINGS["concurrency"]), 100)
    before = {arm: journal(directory, arm) for arm in arms}
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    # Four were in flight on two nodes: two are lost, and are sent once more.
    wait_for(lambda: held.total() >= 2 * SETTINGS["concurrency"] + 2, 60)
    sent_again.set()
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
