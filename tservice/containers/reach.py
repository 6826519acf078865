"""Whether containers reach the listener for their hooks, tried from one that runs
(protocol-containers)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from tservice.containers.bridge import BridgeState, HookBridge
from tservice.containers.engine import EngineError, is_up
from tservice.containers.hosts import Hosts
from tservice.containers.model import ContainerCase, ContainerHost, Engine
from tservice.containers.obstacles import explain_crowd
from tservice.containers.store import ContainerStore
from tservice.core.errors import ServiceError

SECONDS = 8.0
"""That one engine's containers are tried for."""
MOST_LOOKED_AT = 50
"""Containers of a host that are looked at until one is found that runs."""

ASK = (
    *("curl", "-q", "-s", "-g", "--noproxy", "*", "-o", "/dev/null"),
    *("--connect-timeout", "3", "-m", "5"),
)
"""As hooks ask, which bring a secret besides; whatever is answered, it was reached."""

_WHY = {
    7: "nothing answers at {url}; a firewall may refuse it",
    28: "{url} does not answer; a firewall may be in between",
    126: "curl cannot be run there, by which hooks are sent",
    127: "the image has no curl, by which hooks are sent",
}
"""By the status of curl, or of the engine where there is none."""


@frozen(kw_only=True)
class Tried:
    """How a listener stands, and how it was reached.

    @ivar container: from which it was tried; C{None}: from none.
    @ivar fault: why hooks do not arrive; C{None}: nothing is known of such.
    """

    state: BridgeState
    container: str | None = None
    fault: str | None = None


@frozen(kw_only=True)
class Reach:
    """Tries them."""

    clock: IReactorTime
    store: ContainerStore
    hosts: Hosts
    bridge: HookBridge

    async def look(self) -> list[Tried]:
        """Of every engine that has a listener, or should have one."""
        return [await self._try(state) for state in self.bridge.states()]

    async def _try(self, state: BridgeState) -> Tried:
        if state.url is None:
            return Tried(state=state, fault=state.fault)
        trying = Deferred.fromCoroutine(self._from_inside(state, state.url))
        try:
            return await trying.addTimeout(SECONDS, self.clock)
        except TimeoutError:
            return Tried(state=state, fault=f"{state.engine.value} did not answer in {SECONDS:g} s")
        except (EngineError, ServiceError) as error:
            return Tried(state=state, fault=str(error))

    async def _from_inside(self, state: BridgeState, url: str) -> Tried:
        for host, cases in self._served(state.engine):
            engine = self.hosts.engine(host)
            seen = await engine.look([case.container for case in cases[:MOST_LOOKED_AT]])
            running = next((name for name in seen if is_up(seen[name])), None)
            if running is None:
                continue
            told = await engine.execute(running, [*ASK, url])
            if told.well:
                return Tried(state=state, container=running)
            why = explain_crowd(running, seen[running].pid)
            why = why or _WHY.get(told.status or 0, f"curl ended with status {told.status}")
            return Tried(state=state, container=running, fault=why.format(url=url))
        return Tried(state=state)

    def _served(self, engine: Engine) -> Iterator[tuple[ContainerHost, list[ContainerCase]]]:
        """The hosts whose containers are told of the listener, and those containers."""
        for host in self.hosts.every():
            if host.engine is engine:
                yield (
                    host,
                    [
                        case
                        for case in self.store.cases()
                        if case.host_id == host.id
                        and self.bridge.url(host, case.network or host.network) is not None
                    ],
                )
