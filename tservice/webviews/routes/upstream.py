"""Connections to a target, restricted by the egress rules (protocol-egress)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory, Protocol
from twisted.web.client import BrowserLikePolicyForHTTPS

from tservice.core.net.egress import EgressRefused, EgressTarget
from tservice.core.net.guarded import GuardedEndpoint
from tservice.core.workers.resolver import limit_to_owner_share
from tservice.http.envelope import make_bare_refusal
from tservice.webviews.pinning import AddressPin
from tservice.webviews.service import WebTabGuard

CONNECT_SECONDS = 10.0


@frozen(kw_only=True)
class TargetConnector:
    """Connector to targets.

    @ivar reactor: reactor for connections and name lookups.
    """

    reactor: Any
    guard: WebTabGuard

    def parse_target_url(self, url: str, owner: str) -> EgressTarget:
        """Parse the saved URL of an account's web tab, and check that the account may connect to
        it.

        @raise HttpRefusal: 502 in plain text if the account may not connect.
        """
        try:
            return self.guard.check_target(url, owner)
        except EgressRefused as refused:
            raise make_bare_refusal(502, f"Bad Gateway: the address {refused}") from None

    async def connect(
        self, target: EgressTarget, protocol: Callable[[], Protocol], owner: str, pin: AddressPin
    ) -> Any:
        """Connect to a target.

        @param protocol: creates the Twisted protocol.
        @param owner: account that owns the web tab.
        @param pin: restriction of the target's addresses for this token.
        @raise HttpRefusal: 502 in plain text if the connection failed or is not permitted.
        """
        factory = Factory.forProtocol(protocol)
        factory.noisy = False
        made: Deferred[Any] = self._make_endpoint(target, owner, pin).connect(factory)
        made.addTimeout(CONNECT_SECONDS, self.reactor)
        try:
            found = await made
        except CancelledError:
            raise
        except EgressRefused as refused:
            raise make_bare_refusal(502, f"Bad Gateway: the address {refused}") from None
        except Exception:
            raise make_bare_refusal(502, "Bad Gateway: the target does not answer") from None
        if self._is_own_service(found.transport, target):
            found.transport.abortConnection()
            raise make_bare_refusal(502, "Bad Gateway: the address must not be this service itself")
        pin.record_address(found.transport.getPeer().host)
        return found

    def _is_own_service(self, transport: Any, target: EgressTarget) -> bool:
        """Return true if a connection leads to the service itself, by any address of this machine.

        Such a connection has the same address on both sides.
        """
        near, far = transport.getHost(), transport.getPeer()
        same = getattr(near, "host", None) == getattr(far, "host", "")
        return same and target.port in self.guard.own_ports()

    def _make_endpoint(
        self, target: EgressTarget, owner: str, pin: AddressPin
    ) -> IStreamClientEndpoint:
        guarded: IStreamClientEndpoint = GuardedEndpoint(
            self.reactor,
            target.host,
            target.port,
            policy=self.guard.policy_for(target.port, owner),
            resolver=limit_to_owner_share(self.reactor.nameResolver, owner),
            narrowed=pin.policy,
        )
        if target.scheme == "http":
            return guarded
        tls = BrowserLikePolicyForHTTPS().creatorForNetloc(target.host.encode(), target.port)
        secured: IStreamClientEndpoint = wrapClientTLS(tls, guarded)
        return secured


def format_host_header(target: EgressTarget) -> bytes:
    """Return the value of the C{Host} header for a target."""
    return target.origin.partition("://")[2].encode()
