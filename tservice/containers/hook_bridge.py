"""Listener for hooks from containers, on this machine's address in the engine's bridge network
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
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.timers import NamedTimers

RETRY = 5.0
"""Seconds until a failed attempt to listen is repeated.

The machine may lack the address, or the port may be in use.
"""

NETWORK = "bridge"
"""Name of the only container network from which the listener can be reached."""

Listen = Callable[[int, IProtocolFactory, str], Any]
"""Listens on a port of an address; port 0 means any free port.

Raises L{CannotListenError}.
"""


@frozen(kw_only=True)
class BridgeState:
    """State of one engine's hook listener.

    @ivar url: the listener's URL for containers; C{None} if it does not listen.
    @ivar fault: reason why it does not listen.
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

    @param enabled: true if the operator enabled the listeners (C{SERVICE_DOCKER_BRIDGE_HOOKS}).
        Otherwise this object does nothing.
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
        """Set the HTTP site that serves the requests.  Call this before L{start}."""
        self._site = site

    def start(self) -> None:
        """Listen on the saved addresses as soon as this machine has them."""
        if not self.enabled:
            return
        for engine, address, port in self._store.list_bridges():
            self._bridges[engine] = _HookListener(engine, address, port)
            self._bind_listener(self._bridges[engine])

    def ensure_listener(self, host: ContainerHost, network: str, address: str | None) -> None:
        """Start a listener for a host's containers if necessary.

        A failure does not raise; L{list_states} reports it.

        @param network: name of a running container's network.
        @param address: this machine's address on that network, as the engine reports it.
        """
        if not self.enabled or not host.hooks or network != NETWORK:
            return
        known = self._bridges.get(host.engine)
        if address is not None and (known is None or self._has_address_changed(known, address)):
            self._timers.cancel_timer(host.engine)
            known = self._bridges[host.engine] = _HookListener(host.engine, address, 0)
        if known is None:
            self._faults[host.engine] = "its bridge is not known: the engine reports no gateway"
            return
        self._bind_listener(known)

    def find_url(self, host: ContainerHost, network: str) -> str | None:
        """Return the listener's URL for containers of C{host} on that network.

        C{None} means that these containers cannot reach a listener.
        """
        found = self._bridges.get(host.engine)
        if found is None or not host.hooks or network != NETWORK:
            return None
        return found.url

    def list_states(self) -> Sequence[BridgeState]:
        """Return the state of each listener that was started, or could not be."""
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
        """Stop all hook listeners."""
        self._timers.cancel_all()
        over = [
            maybeDeferred(it.listening.stopListening)
            for it in self._bridges.values()
            if it.listening is not None
        ]
        self._bridges.clear()
        return DeferredList(over, consumeErrors=True)

    def _has_address_changed(self, bridge: _HookListener, address: str) -> bool:
        """Return true if the listener is not listening and the bridge now has another address.

        The stored port and fault are then outdated.
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
