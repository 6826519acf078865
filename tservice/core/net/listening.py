"""Listening ports, bound at start and opened for connections when the service is ready.

A port that is in use therefore ends the start early.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from twisted.application.service import Service
from twisted.internet.address import IPv6Address, UNIXAddress
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IListeningPort, IProtocolFactory
from twisted.python.failure import Failure

from tservice.core.kernel.errors import StartError
from tservice.core.net.endpoints import ListenAddress, make_endpoint


class PortListener(Service):
    """Service that binds every endpoint at start and accepts connections after L{open}.

    Clients that connect before L{open} wait in the kernel's queue.  They are not refused, and are
    served only once the service has loaded its sessions.
    """

    def __init__(
        self, reactor: Any, addresses: Sequence[ListenAddress], factory: IProtocolFactory
    ) -> None:
        self._reactor = reactor
        self._addresses = tuple(addresses)
        self._factory = factory
        self._ports: list[tuple[ListenAddress, IListeningPort]] = []

    def startService(self) -> None:
        """Bind every endpoint.

        @raise StartError: an endpoint cannot be bound; the text names the endpoint.
        """
        for address in self._addresses:
            port: Any = _bind_endpoint(self._reactor, address, self._factory)
            self._ports.append((address, port))
            port.stopReading()
        super().startService()

    def stopService(self) -> Deferred[None]:
        """Close every port; the Deferred fires when all are closed.  Open connections are not
        affected.
        """
        super().stopService()
        ports, self._ports = self._ports, []
        closed = [port.stopListening() for _, port in ports]
        return DeferredList([one for one in closed if one is not None]).addCallback(_ignore_result)

    def open(self) -> None:
        """Start to accept connections on all ports."""
        for _, port in self._ports:
            transport: Any = port
            transport.startReading()

    def get_bound_ports(self) -> list[tuple[ListenAddress, int]]:
        """Return the bound TCP ports with their addresses, in the order of the settings."""
        held = [(address, port.getHost()) for address, port in self._ports]
        return [(address, host.port) for address, host in held if hasattr(host, "port")]

    def get_port_numbers(self) -> list[int]:
        """Return the numbers of the bound TCP ports."""
        return [port for _, port in self.get_bound_ports()]

    def get_urls(self, base_path: str) -> tuple[str, ...]:
        """Return the URLs for users, one for each endpoint, in the order of the settings."""
        return tuple(_format_url(address, port, base_path) for address, port in self._ports)

    def get_local_url(self, base_path: str) -> str | None:
        """Return a URL that programs on this machine can use; C{None} with Unix sockets alone.

        A loopback endpoint without TLS is preferred.  Hooks on it count as local, and need not know
        the host name of the certificate.
        """
        ports = [entry for entry in self._ports if entry[0].kind != "unix"]
        if not ports:
            return None
        return _format_url(*min(ports, key=_loopback_rank), base_path).rstrip("/")


def _loopback_rank(entry: tuple[ListenAddress, IListeningPort]) -> tuple[bool, bool]:
    address, port = entry
    host: Any = port.getHost()
    return address.kind == "ssl", not ip_address(_replace_wildcard_host(host.host)).is_loopback


def _bind_endpoint(
    reactor: Any, address: ListenAddress, factory: IProtocolFactory
) -> IListeningPort:
    found: list[Any] = []
    make_endpoint(reactor, address).listen(factory).addBoth(found.append)
    (result,) = found  # Twisted's server endpoints fire synchronously
    if isinstance(result, Failure):
        reason = getattr(result.value, "socketError", None) or result.value
        text = getattr(reason, "strerror", None) or str(reason)
        raise StartError(f"listen: {address.text}: {text}")
    port: IListeningPort = result
    return port


def _format_url(address: ListenAddress, port: IListeningPort, base_path: str) -> str:
    host: Any = port.getHost()
    if isinstance(host, UNIXAddress):
        return f"unix:{address.socket_path}"
    scheme = "https" if address.kind == "ssl" else "http"
    name = _replace_wildcard_host(host.host)
    if isinstance(host, IPv6Address):
        name = f"[{name}]"
    return f"{scheme}://{name}:{host.port}{base_path}/"


def _replace_wildcard_host(host: str) -> str:
    """Return the loopback address for a wildcard address; return any other C{host} unchanged."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def _ignore_result(_: object) -> None:
    """Return C{None} instead of the result of a L{DeferredList}."""
