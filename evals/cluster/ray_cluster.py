"""Ray as the place where workers run: one actor a node, brought back by Ray itself while its node lives.

Nothing but errands and answers goes through Ray: no key, no file, no environment of the driver.
"""

import importlib
import importlib.util
import os
import re
import socket
from collections.abc import Awaitable, Sequence
from typing import Any, Self

from ... import __version__
from ...errors import UserError
from ..arm import Arm
from ..attempt import Attempt
from ..plan import Plan, RunSection
from .crew import LostError
from .worker import Errand, Worker

_ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(?P<port>\d{1,5})", re.ASCII)
_CONNECT_SECONDS = 10.0
# A node that has no CPU to give (often the head's) is not meant to work.
_CPU = "CPU"
_SETTINGS = {
    # Ray would wait for a port where no cluster listens for a quarter of an hour.
    "RAY_NUM_REDIS_GET_RETRIES": "1",
    # Under `uv run` Ray would copy the working folder, and a `.env` in it, to every node.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}


class RayCluster:
    """A connection to a running cluster, for as long as the context lasts.

    Args:
        address: HOST:PORT of the head, as `ray start --head` prints it; this machine is one of its nodes.
        plan: Checked for what cannot be asked from elsewhere.

    Raises:
        UserError: No Ray here, no such address, or a plan that needs this machine.
    """

    def __init__(self, address: str, plan: Plan) -> None:
        self._address = address
        self._host, self._port = _read_address(address)
        _refuse(plan)
        if importlib.util.find_spec("ray") is None:
            raise UserError("--ray needs Ray", tip="pip install 'draftproof[ray]'")

    def __enter__(self) -> Self:
        try:
            socket.create_connection((self._host, self._port), _CONNECT_SECONDS).close()
        except OSError as error:
            raise self._no_cluster(error.strerror or str(error)) from None
        try:
            _ray().init(address=self._address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # noqa: BLE001 - whatever Ray raises, there is no cluster to ask from
            raise self._no_cluster(_first_line(error)) from None
        return self

    def __exit__(self, *_: object) -> None:
        _ray().shutdown()

    def start_workers(self, arms: Sequence[Arm], settings: RunSection) -> list["RayWorker"]:
        """Start a worker on every node with a CPU.

        Raises:
            UserError: There is none.
        """
        ray = _ray()
        actor = ray.remote(Worker)
        workers: list[RayWorker] = []
        for node in ray.nodes():
            if not (node["Alive"] and node["Resources"].get(_CPU)):
                continue
            remote = actor.options(
                # It waits for answers nearly all of its time, and must not wait for a CPU of other jobs.
                num_cpus=0,
                # A worker that died comes back by Ray's own doing, while its node lives. What it had in
                # flight does not: that is sent again by the driver, which knows what has come.
                max_restarts=-1,
                max_task_retries=0,
                # All that may be in flight at once may be here, and a greeting.
                max_concurrency=len(arms) * max(settings.concurrency, settings.control_concurrency or 1) + 2,
                scheduling_strategy=ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                    node["NodeID"], soft=False
                ),
            ).remote(tuple(arms), settings)
            workers.append(RayWorker(f"node {node['NodeManagerAddress']}", remote))
        if not workers:
            raise UserError(f"--ray {self._address}: the cluster has no node with a CPU", exit_code=4)
        return workers

    def _no_cluster(self, reason: str) -> UserError:
        return UserError(
            f"--ray {self._address}: no cluster there that this machine is a node of ({reason})",
            tip="expected the address that `ray start --head` prints (port 6379, not the dashboard's 8265), "
            "and the same Ray and Python there as here; run draftproof on one of its nodes",
            exit_code=4,
        )


class RayWorker:
    """A `Worker` in an actor; Ray's errors become ours."""

    def __init__(self, node: str, actor: Any) -> None:  # noqa: ANN401 - Ray makes the class as it runs
        self.node = node
        self._actor = actor

    async def greet(self) -> None:
        """See `Worker.greet`."""
        await self._answer(self._actor.greet.remote(__version__))

    async def ask(self, errand: Errand) -> Attempt:
        """See `Worker.ask`."""
        return await self._answer(self._actor.ask.remote(errand))

    def stop(self) -> None:
        """See `Worker.stop`."""
        self._actor.stop.remote()

    async def close(self) -> None:
        """End its process; Ray does not bring this one back."""
        _ray().kill(self._actor)

    async def _answer(self, reference: Awaitable[Any]) -> Any:  # noqa: ANN401 - as Ray gives it
        errors = _ray().exceptions
        try:
            return await reference
        except errors.RayTaskError as error:
            # Raised by the worker's own code, as it would have been here.
            raise error.cause from None
        except errors.RayError as error:
            is_for_good = isinstance(error, errors.ActorDiedError | errors.ActorUnschedulableError)
            raise LostError(_first_line(error), is_for_good=is_for_good) from None


def _ray() -> Any:  # noqa: ANN401 - its own types are partial
    """Return the library, imported with the settings it reads at import."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    return importlib.import_module("ray")


def _read_address(address: str) -> tuple[str, int]:
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise UserError(
            f"--ray {address}: expected HOST:PORT of the cluster's head, such as 10.0.0.1:6379",
            tip="draftproof runs on a node of the cluster; Ray's own client (ray://) is not used",
        )
    return match["host"].strip("[]"), int(match["port"])


def _refuse(plan: Plan) -> None:
    if plan.is_managed:
        arm = next(arm.name for arm in plan.arms if arm.serve is not None)
        raise UserError(
            f"arm {arm}: serve starts a server on this machine, for this machine; expected base_url without "
            "serve beside --ray"
        )
    if plan.run.redact:
        raise UserError(
            "run.redact: with --ray prompts and answers pass through the cluster's memory, which Ray may "
            "write to disk in clear; expected one without the other"
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
