"""Connections to a target, restricted by the egress guard (protocol-egress)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory, Protocol
from twisted.web.client import BrowserLikePolicyForHTTPS

from tservice.core.doors.resolver import limit_to_owner_share
from tservice.core.net.egress import EgressRefused, EgressTarget
from tservice.core.net.guarded import GuardedEndpoint
from tservice.http.envelope import bare_refusal
from tservice.webviews.pinning import Pin
from tservice.webviews.service import Guard

CONNECT_SECONDS = 10.0


@frozen(kw_only=True)
class Upstream:
    """Connector to targets.

    @ivar reactor: connects and resolves names.
    """

    reactor: Any
    guard: Guard

    def target(self, url: str, owner: str) -> EgressTarget:
        """Return the target of an account's saved URL.

        @raise Refusal: plain 502: the account may not connect there.
        """
        try:
            return self.guard.target(url, owner)
        except EgressRefused as refused:
            raise bare_refusal(502, f"Bad Gateway: the address {refused}") from None

    async def connect(
        self, target: EgressTarget, protocol: Callable[[], Protocol], owner: str, pin: Pin
    ) -> Any:
        """Connect to a target.

        @param protocol: creates the protocol.
        @param owner: account that owns the tab.
        @param pin: pin of the token.
        @raise Refusal: plain 502.
        """
        factory = Factory.forProtocol(protocol)
        factory.noisy = False
        made: Deferred[Any] = self._endpoint(target, owner, pin).connect(factory)
        made.addTimeout(CONNECT_SECONDS, self.reactor)
        try:
            found = await made
        except CancelledError:
            raise
        except EgressRefused as refused:
            raise bare_refusal(502, f"Bad Gateway: the address {refused}") from None
        except Exception:
            raise bare_refusal(502, "Bad Gateway: the target does not answer") from None
        if self._is_own(found.transport, target):
            found.transport.abortConnection()
            raise bare_refusal(502, "Bad Gateway: the address must not be this service itself")
        pin.reached(found.transport.getPeer().host)
        return found

    def _is_own(self, transport: Any, target: EgressTarget) -> bool:
        """Return true if a connection leads to a port of the service, by any address of this
        machine.

        A connection to one's own address has the same address on both sides.
        """
        near, far = transport.getHost(), transport.getPeer()
        same = getattr(near, "host", None) == getattr(far, "host", "")
        return same and target.port in self.guard.own_ports()

    def _endpoint(self, target: EgressTarget, owner: str, pin: Pin) -> IStreamClientEndpoint:
        guarded: IStreamClientEndpoint = GuardedEndpoint(
            self.reactor,
            target.host,
            target.port,
            policy=self.guard.policy(target.port, owner),
            resolver=limit_to_owner_share(self.reactor.nameResolver, owner),
            narrowed=pin.narrowed,
        )
        if target.scheme == "http":
            return guarded
        tls = BrowserLikePolicyForHTTPS().creatorForNetloc(target.host.encode(), target.port)
        secured: IStreamClientEndpoint = wrapClientTLS(tls, guarded)
        return secured


def host_of(target: EgressTarget) -> bytes:
    """Return the target's value of the Host header."""
    return target.origin.partition("://")[2].encode()
