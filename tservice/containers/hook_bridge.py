"""Listener for hooks from containers, on this machine's address on the engine's bridge network
(protocol-containers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, frozen
from twisted.internet.defer import Deferred, DeferredList, maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IProtocolFactory, IReactorTime
from twisted.logger import Logger

from tservice.containers.model import ContainerHost, EngineKind
from tservice.containers.store import ContainerStore
from tservice.core.disk_errors import DiskFull
from tservice.core.timers import NamedTimers

RETRY = 5.0
"""Seconds between attempts to bind an address that this machine lacks, or a port that is in use."""

NETWORK = "bridge"
"""The only network whose containers reach the listener."""

Listen = Callable[[int, IProtocolFactory, str], Any]
"""Listens on a port (0: any) of an address; raises L{CannotListenError}."""


@frozen(kw_only=True)
class BridgeState:
    """State of one engine's listener.

    @ivar url: its URL inside containers; C{None}: it does not listen.
    @ivar fault: why it does not listen.
    """

    engine: EngineKind
    url: str | None
    fault: str | None


@define(eq=False)
class _HookListener:
    engine: EngineKind
    address: str
    port: int
    fault: str = "it does not listen yet"
    listening: Any = None

    @property
    def url(self) -> str | None:
        return f"http://{self.address}:{self.port}" if self.listening is not None else None


class HookBridge:
    """Hook listeners, one for each engine that has containers on its bridge network.

    @param enabled: the operator wants them (C{SERVICE_DOCKER_BRIDGE_HOOKS}); otherwise this does
        nothing.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        listen: Listen,
        store: ContainerStore,
        *,
        enabled: bool,
    ) -> None:
        self.enabled = enabled
        self._listen, self._store = listen, store
        self._timers = NamedTimers(clock)
        self._site: IProtocolFactory | None = None
        self._bridges: dict[EngineKind, _HookListener] = {}
        self._faults: dict[EngineKind, str] = {}

    def set_site(self, site: IProtocolFactory) -> None:
        """Set the site that answers requests; call it before L{start}."""
        self._site = site

    def start(self) -> None:
        """Listen on the saved addresses, as soon as they are available."""
        if not self.enabled:
            return
        for engine, address, port in self._store.list_bridges():
            self._bridges[engine] = _HookListener(engine, address, port)
            self._bind_listener(self._bridges[engine])

    def ensure_listener(self, host: ContainerHost, network: str, address: str | None) -> None:
        """Start a listener for a host's containers; a failure is kept for L{list_states}.

        @param network: the network of a running container.
        @param address: this machine's address on it, as the engine reports.
        """
        if not self.enabled or not host.hooks or network != NETWORK:
            return
        known = self._bridges.get(host.engine)
        if address is not None and (known is None or self._has_moved(known, address)):
            self._timers.cancel_timer(host.engine)
            known = self._bridges[host.engine] = _HookListener(host.engine, address, 0)
        if known is None:
            self._faults[host.engine] = "its bridge is not known: the engine reports no gateway"
            return
        self._bind_listener(known)

    def find_url(self, host: ContainerHost, network: str) -> str | None:
        """Return the listener's URL for the containers of a host; C{None}: they cannot reach it."""
        found = self._bridges.get(host.engine)
        if found is None or not host.hooks or network != NETWORK:
            return None
        return found.url

    def list_states(self) -> Sequence[BridgeState]:
        """Return the state of each engine's listener, for engines that were tried."""
        found = [
            BridgeState(engine=it.engine, url=it.url, fault=None if it.url else it.fault)
            for it in self._bridges.values()
        ]
        unknown = [
            BridgeState(engine=engine, url=None, fault=fault)
            for engine, fault in self._faults.items()
            if engine not in self._bridges
        ]
        return [*found, *unknown]

    def stop(self) -> Deferred[Any]:
        """Stop all listeners."""
        self._timers.cancel_all()
        over = [
            maybeDeferred(it.listening.stopListening)
            for it in self._bridges.values()
            if it.listening is not None
        ]
        self._bridges.clear()
        return DeferredList(over, consumeErrors=True)

    def _has_moved(self, bridge: _HookListener, address: str) -> bool:
        """Return true if the bridge's address has changed while it does not listen; its port and
        fault are stale then.
        """
        return bridge.listening is None and bridge.address != address

    def _bind_listener(self, bridge: _HookListener) -> None:
        if bridge.listening is not None or self._site is None:
            return
        try:
            listening = self._listen(bridge.port, self._site, bridge.address)
        except CannotListenError as error:
            bridge.fault = f"cannot listen on {bridge.address}: {error.socketError}"
            self._timers.schedule_call(bridge.engine, RETRY, self._bind_listener, bridge)
            return
        bridge.port, bridge.listening = int(listening.getHost().port), listening
        self._log.info("listening for hooks from containers: {url}", url=bridge.url)
        try:
            self._store.save_bridge(bridge.engine, bridge.address, bridge.port)
        except DiskFull as error:
            self._log.warn("cannot save the port of the hook listener: {why}", why=str(error))
