"""Test whether containers reach the listener for their hooks, from inside a running one
(protocol-containers).
"""

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
"""Time limit for the test of one engine."""
MOST_LOOKED_AT = 50
"""Containers of a host that are inspected to find a running one."""

ASK = (
    *("curl", "-q", "-s", "-g", "--noproxy", "*", "-o", "/dev/null"),
    *("--connect-timeout", "3", "-m", "5"),
)
"""Command of the test.  Hooks send the same request with a secret; any answer shows that the
listener was reached.
"""

_WHY = {
    7: "nothing answers at {url}; a firewall may refuse it",
    28: "{url} does not answer; a firewall may be in between",
    126: "curl, which sends the hooks, cannot be run in the container",
    127: "the image has no curl, which sends the hooks",
}
"""Reasons by the exit code of curl, or of the engine if there is no curl."""


@frozen(kw_only=True)
class Tried:
    """State of a listener, and the result of testing it.

    @ivar container: the container that tested it; C{None}: none did.
    @ivar fault: why hooks do not arrive; C{None}: no reason is known.
    """

    state: BridgeState
    container: str | None = None
    fault: str | None = None


@frozen(kw_only=True)
class Reach:
    """Tests each engine's listener from its containers."""

    clock: IReactorTime
    store: ContainerStore
    hosts: Hosts
    bridge: HookBridge

    async def look(self) -> list[Tried]:
        """Return the results for every engine that has a listener, or should have one."""
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
        """Yield the hosts whose containers know the listener's URL, with those containers."""
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
