"""Connections to hosts after each of their addresses has passed L{tservice.core.net.egress}.

A name is resolved once, every address in the answer is checked, and the connection goes to an
address of that answer.  There is no second lookup, so a name server that changes its answer gains
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import (
    IAddress,
    IDelayedCall,
    IHostnameResolver,
    IHostResolution,
    IProtocolFactory,
    IReactorPluggableNameResolver,
    IReactorTCP,
    IReactorTime,
    IResolutionReceiver,
    IStreamClientEndpoint,
)
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from zope.interface import implementer

from tservice.core.net.egress import EgressPolicy, EgressRefused, parse_address, parse_host


@implementer(IStreamClientEndpoint)
class GuardedEndpoint:
    """Client endpoint that connects to a host once all its addresses have passed the rules.

    The endpoint works for any protocol, not only HTTP.  It has no time-out; cancel the Deferred of
    L{connect} to stop.
    """

    def __init__(
        self,
        reactor: Any,
        host: str,
        port: int,
        *,
        policy: EgressPolicy,
        resolver: IHostnameResolver,
        meter: TrafficMeter | None = None,
        narrowed: EgressPolicy | None = None,
    ) -> None:
        """@param meter: limits the number of bytes that the connection receives.  C{None} for no
            limit.
        @param narrowed: additional policy; addresses that break it are skipped instead of refused.
        """
        self._reactor = reactor
        self._host = host
        self._port = port
        self._policy = policy
        self._resolver = resolver
        self._meter = meter
        self._narrowed = narrowed

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[Any]:
        """Resolve the name, check the addresses and connect.

        The Deferred errbacks with L{EgressRefused} before any connection attempt if one address of
        the answer is refused, however many others there are.
        """
        return Deferred.fromCoroutine(self._connect_checked(protocolFactory))

    async def _connect_checked(self, factory: IProtocolFactory) -> Any:
        addresses = await find_addresses(
            self._host, self._port, policy=self._policy, resolver=self._resolver
        )
        if self._narrowed is not None:
            addresses = _filter_addresses(addresses, self._narrowed)
        only = _CheckedReactor(self._reactor, _FixedResolver(addresses))
        # Happy eyeballs over addresses that are already known.
        endpoint = HostnameEndpoint(only, self._host, self._port)
        if self._meter is None:
            return await endpoint.connect(factory)
        wrapper: Any = await endpoint.connect(_MeteringFactory(factory, self._meter))
        return wrapper.wrappedProtocol


async def find_addresses(
    host: str, port: int, *, policy: EgressPolicy, resolver: IHostnameResolver
) -> list[Any]:
    """Return every address of C{host}; IPv6 addresses have no brackets.

    @raise EgressRefused: C{policy} refuses the name or one of the addresses.
    @raise DNSLookupError: C{host} has no address.
    """
    name, literal = parse_host(host, bracketed=":" in host)
    if literal is not None:
        kind = IPv4Address if literal.version == 4 else IPv6Address
        found: list[Any] = [kind("TCP", str(literal), port)]
    else:
        policy.check_name(name)
        found = await _resolve_name(resolver, name, port)
    if not found:
        raise DNSLookupError
    for address in found:
        policy.check_address(parse_address(address.host))
    return found


def _filter_addresses(addresses: Sequence[Any], policy: EgressPolicy) -> list[Any]:
    """Return the addresses that pass C{policy}.

    @raise EgressRefused: no address passes.
    """
    found = [each for each in addresses if policy.admits_address(parse_address(each.host))]
    if not found:
        raise EgressRefused(policy.rule)
    return found


def _resolve_name(resolver: IHostnameResolver, name: str, port: int) -> Deferred[list[Any]]:
    """Return every address of C{name}.  Cancelling the Deferred ends the wait, not the lookup."""
    found: list[Any] = []
    done: Deferred[list[Any]] = Deferred()

    @implementer(IResolutionReceiver)
    class Receiver:
        @staticmethod
        def resolutionBegan(resolutionInProgress: IHostResolution) -> None:
            """Do nothing, since a lookup in a thread cannot be cancelled."""

        @staticmethod
        def addressResolved(address: IAddress) -> None:
            if isinstance(address, IPv4Address | IPv6Address):
                found.append(address)

        @staticmethod
        def resolutionComplete() -> None:
            if not done.called:
                done.callback(found)

    resolver.resolveHostName(Receiver(), name, port)
    return done


@implementer(IHostnameResolver)
class _FixedResolver:
    """Resolver that returns the addresses that were passed to it."""

    def __init__(self, addresses: Sequence[IAddress]) -> None:
        self._addresses = addresses

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        resolution = _CompletedResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        for address in self._addresses:
            resolutionReceiver.addressResolved(address)
        resolutionReceiver.resolutionComplete()
        return resolution


@implementer(IHostResolution)
@frozen
class _CompletedResolution:
    name: str

    def cancel(self) -> None:
        """Do nothing, since the lookup is already complete."""


@implementer(IReactorTCP, IReactorTime, IReactorPluggableNameResolver)
class _CheckedReactor:
    """Subset of the reactor's interface that L{HostnameEndpoint} needs.

    Every name lookup returns the addresses that have been checked.
    """

    def __init__(self, reactor: Any, resolver: IHostnameResolver) -> None:
        self._reactor = reactor
        self.nameResolver = resolver

    def connectTCP(self, *args: Any, **named: Any) -> Any:
        return self._reactor.connectTCP(*args, **named)

    def listenTCP(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError("this reactor only connects")

    def callLater(self, *args: Any, **named: Any) -> IDelayedCall:
        call: IDelayedCall = self._reactor.callLater(*args, **named)
        return call

    def seconds(self) -> float:
        now: float = self._reactor.seconds()
        return now

    def getDelayedCalls(self) -> Sequence[IDelayedCall]:
        calls: Sequence[IDelayedCall] = self._reactor.getDelayedCalls()
        return calls

    def installNameResolver(self, resolver: IHostnameResolver) -> IHostnameResolver:
        raise NotImplementedError("the addresses are fixed")


class TrafficMeter:
    """Counter of the bytes received over one or more connections.

    @ivar limit: number of bytes; the connections are aborted when they receive more.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._connections: list[_MeteredProtocol] = []

    def add_connection(self, connection: _MeteredProtocol) -> None:
        """Count a further connection."""
        self._connections.append(connection)

    def abort_all(self) -> None:
        """Abort every connection without the closing handshake of TLS, which a peer could delay."""
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.abort_transport()


class _MeteredProtocol(ProtocolWrapper):
    """Protocol wrapper that counts received bytes directly above TCP, below any TLS."""

    factory: _MeteringFactory
    _received = 0

    def connectionMade(self) -> None:
        self.factory.meter.add_connection(self)
        super().connectionMade()

    def dataReceived(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > self.factory.meter.limit:
            self.abort_transport()
            return
        super().dataReceived(data)

    def abort_transport(self) -> None:
        transport: Any = self.transport
        transport.abortConnection()


class _MeteringFactory(WrappingFactory):
    protocol = _MeteredProtocol
    noisy = False

    def __init__(self, factory: IProtocolFactory, meter: TrafficMeter) -> None:
        super().__init__(factory)
        self.meter = meter
