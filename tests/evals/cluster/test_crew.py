"""The crew, with workers in this process that are lost when a test says so: no answer lost, none doubled."""

import asyncio
import contextlib
from unittest import mock

import pytest
from draftproof import __version__
from draftproof.errors import UserError
from draftproof.evals.asking.session import ask_plan
from draftproof.evals.cluster import crew
from draftproof.evals.cluster.crew import LostError
from draftproof.evals.cluster.worker import Worker
from draftproof.reports.progress import SilentProgress
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ...scripted import ScriptedServer
from ..asking.test_session import SETTINGS, eventful
from ..scripted_runs import InFlight, ask, journal, judged, keys, make_plan, right, write_suite


class LocalWorker:
    """A worker whose asks are lost by number, counted over all workers: before they are sent, or after."""

    def __init__(self, cluster, number, arms, run):
        self.node = f"node {number}"
        self._cluster, self._worker = cluster, Worker(arms, run)
        self._in_flight = self._deaths = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_dead = False

    async def greet(self):
        if self.node in self._cluster.gone or (self._is_dead and not self._cluster.brings_back):
            raise LostError("died", is_for_good=True)
        self._is_dead = False
        await self._worker.greet(__version__)

    async def ask(self, errand):
        number, self._cluster.asked = self._cluster.asked, self._cluster.asked + 1
        loss, deaths = self._cluster.losses.get(number), self._deaths
        if loss == "before":
            self._die()
        self._in_flight += 1
        self._idle.clear()
        try:
            attempt = await self._worker.ask(errand)
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()
        if loss == "after" or self._deaths != deaths:
            self._cluster.unheard += 1
            if self._deaths == deaths:
                self._die()
            raise LostError("died", is_for_good=False)
        return attempt

    def stop(self):
        self._stopped = asyncio.get_running_loop().create_task(self._worker.stop())

    async def close(self):
        await self._idle.wait()
        await self._worker.close()

    def _die(self):
        """With everything that it has in flight."""
        self._is_dead, self._deaths = True, self._deaths + 1
        raise LostError("died", is_for_good=False)


class LocalCluster:
    def __init__(self, *, size=3, losses=None, brings_back=True, gone=()):
        self.size, self.losses, self.brings_back = size, losses or {}, brings_back
        self.gone = gone
        self.asked = self.unheard = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def start_workers(self, arms, run):
        return [LocalWorker(self, number, arms, run) for number in range(self.size)]


def ask_by(cluster, plan, directory):
    told = []
    with (
        mock.patch("draftproof.evals.asking.session.RayCluster", return_value=cluster),
        mock.patch.object(crew, "PAUSE_SECONDS", 0.001),
    ):
        ask_plan(plan, directory, progress=SilentProgress(), tell=told.append, ray="here:1")
    return told


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A plan, its servers, and the findings and keys of a run of it that nothing disturbed."""
    folder = tmp_path_factory.mktemp("crew")
    with ScriptedServer(right) as baseline, ScriptedServer(eventful) as mtp:
        arms = {"baseline": baseline, "mtp": mtp}
        plan = make_plan(write_suite(folder / "suite.jsonl", 4), arms, **SETTINGS)
        ask(plan, folder / "whole")
        findings = judged(folder / "whole")[1]
        wanted = {arm: sorted(keys(journal(folder / "whole", arm))) for arm in arms}
        yield plan, arms, findings, wanted


@settings(deadline=None, max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(losses=st.dictionaries(st.integers(0, 30), st.sampled_from(["before", "after"]), max_size=12))
def test_whatever_is_lost_every_ask_has_one_answer(planned, tmp_path_factory, losses):
    """Findings are those of an undisturbed run, no key stands twice, and what was unheard was asked again."""
    plan, arms, findings, wanted = planned
    for server in arms.values():
        server.requests.clear()
    directory = tmp_path_factory.mktemp("lost") / "run"
    cluster = LocalCluster(losses=losses)
    # One ask can meet all the losses that hypothesis thinks of: then the next session goes on.
    with contextlib.suppress(UserError):
        ask_by(cluster, plan, directory)
    ask_by(LocalCluster(), plan, directory)
    assert judged(directory)[1] == findings
    for arm in arms:
        assert sorted(keys(journal(directory, arm))) == wanted[arm]
    sent = sum(len(server.requests) for server in arms.values())
    assert sent == sum(map(len, wanted.values())) + cluster.unheard


@pytest.mark.parametrize("size", [1, 2, 5])
def test_concurrency_is_one_limit_over_all_workers(planned, tmp_path, size):
    """However many there are: no more in flight, and no fewer while there is work."""
    plan, arms, _, _ = planned
    flying = InFlight()
    scripts = {name: server.reply for name, server in arms.items()}
    for name, server in arms.items():
        server.reply = flying.counted(name, scripts[name])
    try:
        ask_by(LocalCluster(size=size), plan, tmp_path / "run")
    finally:
        for name, server in arms.items():
            server.reply = scripts[name]
    assert flying.most == dict.fromkeys(arms, SETTINGS["concurrency"])


def test_all_workers_have_work(planned, tmp_path):
    """The least busy one is next, and of those the one that was asked least."""
    plan, _, _, wanted = planned
    made = []

    class Watched(LocalCluster):
        def start_workers(self, arms, run):
            made.extend(super().start_workers(arms, run))
            for worker in made:
                worker.ask = mock.AsyncMock(wraps=worker.ask)
            return made

    ask_by(Watched(size=3), plan, tmp_path / "run")
    counts = [worker.ask.await_count for worker in made]
    assert sum(counts) == sum(map(len, wanted.values()))
    assert max(counts) - min(counts) <= len(counts)


def test_a_loss_is_told_once_and_counts_as_a_retry(planned, tmp_path):
    """However much the worker had in flight: each attempt says that it was sent before."""
    plan, arms, _, _ = planned
    cluster = LocalCluster(losses={3: "after"})
    told = ask_by(cluster, plan, tmp_path / "run")
    assert [one for one in told if "worker lost" in one] == [
        "note: node 0: worker lost (died); what it had in flight is sent again"
    ]
    assert any("worker is back" in one for one in told)
    retries = sum(row["retries"] for arm in arms for row in journal(tmp_path / "run", arm))
    assert retries == cluster.unheard >= 1


def test_without_any_worker_the_run_ends_and_goes_on_later(planned, tmp_path):
    """One clear error, exit code 4; what came is kept."""
    plan, arms, findings, wanted = planned
    directory = tmp_path / "run"
    losses = dict.fromkeys(range(6, 12), "before")
    with pytest.raises(UserError, match="every worker of the cluster is lost") as caught:
        ask_by(LocalCluster(losses=losses, brings_back=False), plan, directory)
    assert caught.value.exit_code == 4
    assert 0 < sum(len(journal(directory, arm)) for arm in arms) < sum(map(len, wanted.values()))
    ask_by(LocalCluster(), plan, directory)
    assert judged(directory)[1] == findings


def test_an_ask_that_kills_every_worker_ends_the_run(planned, tmp_path):
    """It is not sent for ever, and the sample is named."""
    plan = planned[0]
    with pytest.raises(UserError, match="5 workers were lost one after another with sample s/") as caught:
        ask_by(LocalCluster(losses=dict.fromkeys(range(100), "before")), plan, tmp_path / "run")
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("brings_back", "words"), [(True, "worker is back"), (False, "every worker of the cluster is lost")]
)
def test_asks_wait_for_a_worker_that_comes_back(planned, tmp_path, brings_back, words):
    """With one worker only: lost, and back; or lost for good."""
    cluster = LocalCluster(size=1, losses={2: "after"}, brings_back=brings_back)
    if brings_back:
        assert any(words in one for one in ask_by(cluster, planned[0], tmp_path / "run"))
    else:
        with pytest.raises(UserError, match=words):
            ask_by(cluster, planned[0], tmp_path / "run")


def test_another_version_on_a_node_is_refused_before_anything_is_asked(planned, tmp_path):
    """Answers would be read by other rules."""
    plan, arms, _, _ = planned
    for server in arms.values():
        server.requests.clear()
    with (
        mock.patch("draftproof.evals.cluster.worker.__version__", "0.0.1"),
        pytest.raises(
            UserError, match=r"node 0: has draftproof 0\.0\.1, and the run is draftproof"
        ) as caught,
    ):
        ask_by(LocalCluster(size=1), plan, tmp_path / "run")
    assert caught.value.exit_code == 4
    assert not any(server.requests for server in arms.values())


def test_a_node_that_is_gone_is_left_out(planned, tmp_path):
    """A cluster lists it for a while; only when nobody is there the run does not begin."""
    plan, _, findings, _ = planned
    told = ask_by(LocalCluster(size=2, gone=["node 0"]), plan, tmp_path / "run")
    assert "note: node 0: no worker starts there (died)" in told
    assert "asking from 1 worker: node 1" in told
    assert judged(tmp_path / "run")[1] == findings
    with pytest.raises(UserError, match="no worker starts on any node") as caught:
        ask_by(LocalCluster(size=1, gone=["node 0"]), plan, tmp_path / "none")
    assert caught.value.exit_code == 4
