"""Outgoing HTTP requests under the rules of L{tservice.core.net.egress}.

Redirects are never followed; no proxy, cookie or persistent connection is used.  Time and size are
bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.error import (
    ConnectionRefusedError,
    DNSLookupError,
    TCPTimedOutError,
    TimeoutError,
)
from twisted.internet.interfaces import (
    IAddress,
    IConsumer,
    IHostnameResolver,
    IStreamClientEndpoint,
)
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import (
    URI,
    Agent,
    BrowserLikePolicyForHTTPS,
    HTTPConnectionPool,
    ResponseDone,
)
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgentEndpointFactory, IBodyProducer, IPolicyForHTTPS, IResponse
from zope.interface import implementer

from tservice.core.net.egress import GUARDED, EgressPolicy, EgressRefused, parse_target
from tservice.core.net.guarded import GuardedEndpoint, TrafficMeter
from tservice.core.net.http_client import BoundedHttpClient
from tservice.core.workers.resolver import limit_to_owner_share

TIME_LIMIT = 5.0
"""Time limit in seconds for a whole request, from the lookup to the end of the response
(protocol-webhooks).
"""
HEAD_LIMIT = 64 * 1024
"""Limit in bytes on the parts of a response other than the body: head, TLS handshake, chunk
headers.
"""


class OutboundFault(Enum):
    """Reason why a request got no response; the values are shown to users (protocol-webhooks)."""

    TIMED_OUT = "Timed out"
    NOT_FOUND = "Host not found"
    CONNECTION_REFUSED = "Connection refused"
    NETWORK = "Network error"
    REFUSED = "Refused"


class OutboundError(Exception):
    """Error of a request that got no response.  Neither its text nor its cause holds the URL."""

    def __init__(self, fault: OutboundFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


@frozen(kw_only=True)
class OutboundResponse:
    """Response of the remote server.

    @ivar headers: values by lower-case name; of repeated headers the last value.
    @ivar body: the body; empty if it was not requested.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_redirect(self) -> bool:
        """True for a redirect, which is never followed."""
        return 300 <= self.status < 400


@frozen(kw_only=True)
class OutboundRequest:
    """Outgoing request.

    @ivar url: the URL, which is checked on sending (L{parse_target}).
    @ivar body_limit: limit on the response's body in bytes; a longer body is a network error.
        C{None} if only the status is needed; the connection then ends after the head.
    @ivar asker: the account that chose C{url}.  C{None} if the operator of the service did.
    """

    url: str = field(repr=False)
    method: str = "GET"
    headers: Mapping[str, str] = field(factory=dict)
    body: bytes | None = field(default=None, repr=False)
    body_limit: int | None = None
    asker: str | None = None


class OutboundClient:
    """HTTP client that keeps no connection and no state between requests."""

    def __init__(
        self,
        reactor: Any,
        policy: EgressPolicy = GUARDED,
        *,
        resolver: IHostnameResolver | None = None,
        tls: IPolicyForHTTPS | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        """@param reactor: provides IReactorTCP and IReactorTime, and resolves names.
        @param resolver: resolves names instead of the reactor.
        @param tls: the trusted certificates; by default those of the platform.
        """
        self._reactor = reactor
        self._policy = policy
        self._resolver = resolver
        self._tls = tls or BrowserLikePolicyForHTTPS()
        self._time_limit = time_limit

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send C{request} and return the response; cancelling ends the connection.

        @raise OutboundError: no complete response arrived within the limits, or the target is
            refused.
        """
        work: Deferred[OutboundResponse] = Deferred.fromCoroutine(self._send_request(request))
        work.addTimeout(self._time_limit, self._reactor, lambda _, __: _make_timeout_error())
        try:
            return await work
        except (OutboundError, CancelledError):
            raise
        except Exception as error:
            # The original may name the host; only the fault may leave this method.
            raise OutboundError(_classify_error(error)) from None

    async def _send_request(self, request: OutboundRequest) -> OutboundResponse:
        target = parse_target(request.url, self._policy)
        meter = TrafficMeter(HEAD_LIMIT + (request.body_limit or 0))
        endpoints = _EndpointFactory(self._make_connector(meter, request.asker), self._tls)
        pool: Any = HTTPConnectionPool(self._reactor, persistent=False)
        pool._factory = _ClientFactory
        agent = Agent.usingEndpointFactory(self._reactor, endpoints, pool)
        headers = Headers({name: [value] for name, value in request.headers.items()})
        try:
            response = await agent.request(
                request.method.encode(), target.url.encode(), headers, _make_body(request.body)
            )
            return await _read_response(response, request.body_limit)
        finally:
            meter.abort_all()

    def _make_connector(
        self, meter: TrafficMeter, asker: str | None
    ) -> Callable[[str, int], GuardedEndpoint]:
        resolver = limit_to_owner_share(self._resolver or self._reactor.nameResolver, asker)

        def make_endpoint(host: str, port: int) -> GuardedEndpoint:
            return GuardedEndpoint(
                self._reactor, host, port, policy=self._policy, resolver=resolver, meter=meter
            )

        return make_endpoint


class _ClientFactory(Factory):
    """Factory of HTTP client connections, which replaces Twisted's connection pool."""

    noisy = False

    def __init__(self, quiescent: Callable[[Any], None], metadata: str) -> None:
        self._quiescent = quiescent

    def buildProtocol(self, addr: IAddress | None) -> BoundedHttpClient:
        return BoundedHttpClient(self._quiescent)


@implementer(IAgentEndpointFactory)
class _EndpointFactory:
    """Factory of guarded endpoints for an L{Agent}, with TLS for https."""

    def __init__(
        self, connector: Callable[[str, int], GuardedEndpoint], tls: IPolicyForHTTPS
    ) -> None:
        self._connector = connector
        self._tls = tls

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:
        endpoint = self._connector(uri.host.decode("ascii"), uri.port)
        if uri.scheme == b"http":
            return endpoint
        creator = self._tls.creatorForNetloc(uri.host, uri.port)
        secured: IStreamClientEndpoint = wrapClientTLS(creator, endpoint)
        return secured


class _BodyCollector(Protocol):
    """Protocol that collects a response body up to a limit; its user ends the connection."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.done: Deferred[bytes] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= self._limit:
            self._parts.append(data)
        elif not self.done.called:
            self.done.errback(OutboundError(OutboundFault.NETWORK))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self.done.called:
            return
        if reason.check(ResponseDone):
            self.done.callback(b"".join(self._parts))
        else:
            self.done.errback(OutboundError(OutboundFault.NETWORK))


async def _read_response(response: IResponse, limit: int | None) -> OutboundResponse:
    headers = {
        name.decode("latin-1").lower(): values[-1].decode("latin-1")
        for name, values in response.headers.getAllRawHeaders()
    }
    body = b""
    if limit is not None:
        collector = _BodyCollector(limit)
        response.deliverBody(collector)
        body = await collector.done
    return OutboundResponse(status=response.code, headers=headers, body=body)


@implementer(IBodyProducer)
class _BodyProducer:
    """Body producer that writes the complete request body at once."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.length = len(content)

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:
        consumer.write(self._content)
        return succeed(None)

    def pauseProducing(self) -> None:
        """Do nothing, since everything is already written."""

    resumeProducing = stopProducing = pauseProducing


def _make_body(content: bytes | None) -> _BodyProducer | None:
    return None if content is None else _BodyProducer(content)


def _make_timeout_error() -> OutboundResponse:
    raise OutboundError(OutboundFault.TIMED_OUT)


def _classify_error(error: Exception) -> OutboundFault:
    """Return the fault to show to users for C{error}."""
    if isinstance(error, EgressRefused):
        return OutboundFault.REFUSED
    if isinstance(error, DNSLookupError):
        return OutboundFault.NOT_FOUND
    if isinstance(error, TimeoutError | TCPTimedOutError):
        return OutboundFault.TIMED_OUT
    if isinstance(error, ConnectionRefusedError):
        return OutboundFault.CONNECTION_REFUSED
    return OutboundFault.NETWORK
