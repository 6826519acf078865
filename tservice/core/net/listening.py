"""Holding the ports: bound early, so that a clash ends the start; opened when all is ready."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from twisted.application.service import Service
from twisted.internet.address import IPv6Address, UNIXAddress
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.python.failure import Failure

from tservice.core.errors import StartError
from tservice.core.net.endpoints import ListenAddress, make_endpoint


class Listener(Service):
    """Binds every endpoint at start, and accepts connections from L{open} on.

    Who connects in between waits in the kernel's queue instead of being turned away or meeting
    a service that does not know its sessions yet.
    """

    def __init__(
        self, reactor: Any, addresses: Sequence[ListenAddress], factory: IProtocolFactory
    ) -> None:
        self._reactor = reactor
        self._addresses = tuple(addresses)
        self._factory = factory
        self._ports: list[tuple[ListenAddress, IListeningPort]] = []

    def startService(self) -> None:
        """@raise StartError: an endpoint cannot be listened on; the text names it."""
        for address in self._addresses:
            port: Any = _bind(self._reactor, address, self._factory)
            self._ports.append((address, port))
            port.stopReading()
        super().startService()

    def stopService(self) -> Deferred[None]:
        """Fires when every port is closed; connections that are open are not its business."""
        super().stopService()
        ports, self._ports = self._ports, []
        closed = [port.stopListening() for _, port in ports]
        return DeferredList([one for one in closed if one is not None]).addCallback(_nothing)

    def open(self) -> None:
        """Begin to accept connections."""
        for _, port in self._ports:
            transport: Any = port
            transport.startReading()

    def bound(self) -> list[tuple[ListenAddress, int]]:
        """The TCP ports that are held, in the order of the settings."""
        held = [(address, port.getHost()) for address, port in self._ports]
        return [(address, host.port) for address, host in held if hasattr(host, "port")]

    def ports(self) -> list[int]:
        """Their numbers."""
        return [port for _, port in self.bound()]

    def urls(self, base_path: str) -> tuple[str, ...]:
        """Where people find the service, one for each endpoint, in the order of the settings."""
        return tuple(_url(address, port, base_path) for address, port in self._ports)

    def local_url(self, base_path: str) -> str | None:
        """A URL that programs on this machine can use; C{None} with unix sockets alone.

        A plain loopback endpoint is best: hooks count as local there, and need not know whom
        the certificate's name is for.
        """
        ports = [entry for entry in self._ports if entry[0].kind != "unix"]
        if not ports:
            return None
        return _url(*min(ports, key=_distance), base_path).rstrip("/")


def _distance(entry: tuple[ListenAddress, IListeningPort]) -> tuple[bool, bool]:
    address, port = entry
    host: Any = port.getHost()
    return address.kind == "ssl", not ip_address(_reachable(host.host)).is_loopback


def _bind(reactor: Any, address: ListenAddress, factory: IProtocolFactory) -> IListeningPort:
    found: list[Any] = []
    make_endpoint(reactor, address).listen(factory).addBoth(found.append)
    (result,) = found  # the endpoints of this world answer at once
    if isinstance(result, Failure):
        reason = getattr(result.value, "socketError", None) or result.value
        text = getattr(reason, "strerror", None) or str(reason)
        raise StartError(f"listen: {address.text}: {text}")
    port: IListeningPort = result
    return port


def _url(address: ListenAddress, port: IListeningPort, base_path: str) -> str:
    host: Any = port.getHost()
    if isinstance(host, UNIXAddress):
        return f"unix:{address.socket_path}"
    scheme = "https" if address.kind == "ssl" else "http"
    name = _reachable(host.host)
    if isinstance(host, IPv6Address):
        name = f"[{name}]"
    return f"{scheme}://{name}:{host.port}{base_path}/"


def _reachable(host: str) -> str:
    """Every address of the machine includes the loopback one."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def _nothing(_: object) -> None:
    """Drop the result of a L{DeferredList}."""
