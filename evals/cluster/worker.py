"""What runs on a node of a cluster: the endpoints of the arms, sent to by errands that come one by one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ... import __version__
from ...errors import UserError
from ..arm import Arm
from ..attempt import Ask, Attempt, Body
from ..plan import RunSection
from ..servers.endpoint import Endpoint
from ..servers.server import ServerKind
from ..stopping import Stopping


@dataclass(frozen=True, slots=True)
class Errand:
    """One ask on its way to a worker, with what is to be sent; `kind` is the engine that the driver found."""

    arm: str
    kind: ServerKind
    ask: Ask
    body: Body
    index: int


class Worker:
    """Sends what it is given and returns what came back; it writes nothing and decides nothing.

    Keys are read from the environment of the node it runs on: none comes with the plan or with an errand.

    Args:
        arms: Those that are asked.
        settings: Of the run: timeout and repeats.
    """

    def __init__(self, arms: Sequence[Arm], settings: RunSection) -> None:
        self._arms = {arm.name: arm for arm in arms}
        self._settings = settings
        self._stopping = Stopping()
        self._endpoints: dict[str, Endpoint] = {}

    async def greet(self, version: str) -> None:
        """Find out whether this node can ask: same draftproof, keys there, servers within reach.

        Raises:
            UserError: It cannot; what is missing is named.
        """
        if version != __version__:
            raise UserError(
                f"has draftproof {__version__}, and the run is draftproof {version}",
                tip="install one version on every node: answers are read and retried as it says",
            )
        for arm in self._arms:
            await self._endpoint(arm).get_text("/models")

    async def ask(self, errand: Errand) -> Attempt:
        """Send until an answer comes or the repeats end (`Endpoint.ask`)."""
        endpoint = self._endpoint(errand.arm)
        endpoint.kind = errand.kind
        return await endpoint.ask(errand.ask, errand.body, errand.index)

    async def stop(self) -> None:
        """Repeat nothing from now on; what is in flight is waited for."""
        self._stopping.set()

    async def close(self) -> None:
        """Close the connections."""
        for endpoint in self._endpoints.values():
            await endpoint.close()

    def _endpoint(self, arm: str) -> Endpoint:
        if arm not in self._endpoints:
            self._endpoints[arm] = Endpoint(self._arms[arm], self._settings, self._stopping)
        return self._endpoints[arm]
