"""The listener for hooks from containers, on the address that their bridge has on this machine
(protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, frozen
from twisted.internet.defer import Deferred, DeferredList, maybeDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IProtocolFactory, IReactorTime
from twisted.logger import Logger

from tservice.containers.model import ContainerHost, Engine
from tservice.containers.store import ContainerStore
from tservice.core.disk import NotKept
from tservice.core.timers import Timers

RETRY = 5.0
"""Seconds until an address that this machine has not, or a port that is taken, is tried again."""

NETWORK = "bridge"
"""The only network whose containers reach the listener."""

Listen = Callable[[int, IProtocolFactory, str], Any]
"""Listens on a port (0: any) of an address; raises L{CannotListenError}."""


@frozen(kw_only=True)
class BridgeState:
    """How the listener of one engine stands.

    @ivar url: where containers find it; C{None}: it does not listen.
    @ivar fault: why not.
    """

    engine: Engine
    url: str | None
    fault: str | None


@define(eq=False)
class _Bridge:
    engine: Engine
    address: str
    port: int
    fault: str = "it does not listen yet"
    listening: Any = None

    @property
    def url(self) -> str | None:
        return f"http://{self.address}:{self.port}" if self.listening is not None else None


class HookBridge:
    """One listener for each engine that has containers on its bridge.

    @param enabled: the operator wants it (C{SERVICE_DOCKER_BRIDGE_HOOKS}); else it does nothing.
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
        self._timers = Timers(clock)
        self._site: IProtocolFactory | None = None
        self._bridges: dict[Engine, _Bridge] = {}
        self._faults: dict[Engine, str] = {}

    def serve(self, site: IProtocolFactory) -> None:
        """What is answered there; to be called before L{start}."""
        self._site = site

    def start(self) -> None:
        """Listen where it did before, as soon as that address is there."""
        if not self.enabled:
            return
        for engine, address, port in self._store.bridges():
            self._bridges[engine] = _Bridge(engine, address, port)
            self._bind(self._bridges[engine])

    def look(self, host: ContainerHost, network: str, address: str | None) -> None:
        """Have a listener for a host's containers; failures are remembered.

        @param network: that of a container which runs.
        @param address: this machine's on it, as the engine tells.
        """
        if not self.enabled or not host.hooks or network != NETWORK:
            return
        known = self._bridges.get(host.engine)
        if address is not None and (known is None or self._has_moved(known, address)):
            self._timers.stop(host.engine)
            known = self._bridges[host.engine] = _Bridge(host.engine, address, 0)
        if known is None:
            self._faults[host.engine] = "its bridge is not known: the engine tells of no gateway"
            return
        self._bind(known)

    def url(self, host: ContainerHost, network: str) -> str | None:
        """Where the containers of a host find it; C{None}: they do not."""
        found = self._bridges.get(host.engine)
        if found is None or not host.hooks or network != NETWORK:
            return None
        return found.url

    def states(self) -> Sequence[BridgeState]:
        """Of every engine that was looked at."""
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
        """Listen no more."""
        self._timers.clear()
        over = [
            maybeDeferred(it.listening.stopListening)
            for it in self._bridges.values()
            if it.listening is not None
        ]
        self._bridges.clear()
        return DeferredList(over, consumeErrors=True)

    def _has_moved(self, bridge: _Bridge, address: str) -> bool:
        """Whether the bridge has another address by now; what was told of it is of no use then."""
        return bridge.listening is None and bridge.address != address

    def _bind(self, bridge: _Bridge) -> None:
        if bridge.listening is not None or self._site is None:
            return
        try:
            listening = self._listen(bridge.port, self._site, bridge.address)
        except CannotListenError as error:
            bridge.fault = f"{bridge.address} cannot be listened on: {error.socketError}"
            self._timers.set(bridge.engine, RETRY, self._bind, bridge)
            return
        bridge.port, bridge.listening = int(listening.getHost().port), listening
        self._log.info("hooks of containers: {url}", url=bridge.url)
        try:
            self._store.save_bridge(bridge.engine, bridge.address, bridge.port)
        except NotKept as error:
            self._log.warn("the port of hooks is not kept: {why}", why=str(error))
