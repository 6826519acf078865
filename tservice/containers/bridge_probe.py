"""Test, run inside a container, of the connection to the hook listener (protocol-containers)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from tservice.containers.engine import EngineError, is_running
from tservice.containers.explanations import explain_process_shortage
from tservice.containers.hook_bridge import BridgeState, HookBridge
from tservice.containers.host_registry import ContainerHostRegistry
from tservice.containers.model import ContainerCase, ContainerHost, EngineKind
from tservice.containers.store import ContainerStore
from tservice.core.kernel.errors import ServiceError

SECONDS = 8.0
"""Time limit in seconds of the test of one engine."""
MAX_INSPECTED = 50
"""Maximum number of a host's containers that are inspected to find a running one."""

CURL_COMMAND = (
    *("curl", "-q", "-s", "-g", "--noproxy", "*", "-o", "/dev/null"),
    *("--connect-timeout", "3", "-m", "5"),
)
"""Command of the test.

Hooks send the same request with a secret.  Any HTTP response shows that the listener was reached.
"""

_WHY = {
    7: "nothing answers at {url}; a firewall may refuse it",
    28: "{url} does not answer; a firewall may be in between",
    126: "curl, which sends the hooks, cannot be run in the container",
    127: "the image has no curl, which sends the hooks",
}
"""Reasons of a failed test, by the exit code of curl, or of the engine if there is no curl."""


@frozen(kw_only=True)
class BridgeProbeResult:
    """State of an engine's hook listener, and the result of testing it.

    @ivar container: name of the container in which the test ran; C{None} if none was available.
    @ivar fault: reason why hooks do not arrive; C{None} if no fault is known.
    """

    state: BridgeState
    container: str | None = None
    fault: str | None = None


@frozen(kw_only=True)
class BridgeProbe:
    """Tests the hook listener of each engine from inside one of its containers."""

    clock: IReactorTime
    store: ContainerStore
    hosts: ContainerHostRegistry
    bridge: HookBridge

    async def probe_bridges(self) -> list[BridgeProbeResult]:
        """Return one result for each engine that has a listener, or should have one."""
        return [await self._probe_bridge(state) for state in self.bridge.list_states()]

    async def _probe_bridge(self, state: BridgeState) -> BridgeProbeResult:
        if state.url is None:
            return BridgeProbeResult(state=state, fault=state.fault)
        trying = Deferred.fromCoroutine(self._probe_from_container(state, state.url))
        try:
            return await trying.addTimeout(SECONDS, self.clock)
        except TimeoutError:
            return BridgeProbeResult(
                state=state, fault=f"{state.engine.value} did not answer in {SECONDS:g} s"
            )
        except (EngineError, ServiceError) as error:
            return BridgeProbeResult(state=state, fault=str(error))

    async def _probe_from_container(self, state: BridgeState, url: str) -> BridgeProbeResult:
        for host, cases in self._list_hosts_with_url(state.engine):
            engine = self.hosts.get_engine(host)
            seen = await engine.inspect_containers(
                [case.container for case in cases[:MAX_INSPECTED]]
            )
            running = next((name for name in seen if is_running(seen[name])), None)
            if running is None:
                continue
            told = await engine.run_inside(running, [*CURL_COMMAND, url])
            if told.is_success:
                return BridgeProbeResult(state=state, container=running)
            why = explain_process_shortage(running, seen[running].pid)
            why = why or _WHY.get(told.status or 0, f"curl ended with status {told.status}")
            return BridgeProbeResult(state=state, container=running, fault=why.format(url=url))
        return BridgeProbeResult(state=state)

    def _list_hosts_with_url(
        self, engine: EngineKind
    ) -> Iterator[tuple[ContainerHost, list[ContainerCase]]]:
        """Yield each host of the engine, with those of its containers that were given the
        listener's URL.
        """
        for host in self.hosts.list_hosts():
            if host.engine is engine:
                yield (
                    host,
                    [
                        case
                        for case in self.store.list_cases()
                        if case.host_id == host.id
                        and self.bridge.find_url(host, case.network or host.network) is not None
                    ],
                )
