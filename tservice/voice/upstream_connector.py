"""Connector to speech services, with the egress rules."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.web.client import BrowserLikePolicyForHTTPS
from twisted.web.iweb import IPolicyForHTTPS

from tservice.core.net.egress import GUARDED, EgressPolicy, parse_target
from tservice.core.net.guarded import GuardedEndpoint
from tservice.voice.upstream import UpstreamConnectRequest, UpstreamListener


class UpstreamConnector:
    """Connector to speech services. It follows no redirects, because a request contains a
    secret.
    """

    def __init__(
        self,
        reactor: Any,
        policy: EgressPolicy = GUARDED,
        *,
        tls: IPolicyForHTTPS | None = None,
    ) -> None:
        """Create a connector.

        @param policy: egress rules for the connections.
        @param tls: trusted certificates. C{None} uses those of the platform.
        """
        self._reactor, self._policy = reactor, policy
        self._tls = tls or BrowserLikePolicyForHTTPS()

    def connect(self, request: UpstreamConnectRequest, listener: UpstreamListener) -> Deferred[Any]:
        """Connect to a speech service. There is no time-out; the caller may cancel the Deferred.

        @return: Deferred that fails if no connection was made. The listener is not called in that
            case.
        @raise EgressRefused: the egress rules do not permit the target.
        """
        # The rules are for HTTP URLs; a WebSocket begins as an HTTP request.
        target = parse_target("http" + request.url.removeprefix("ws"), self._policy)
        joint = "&" if "?" in target.resource else "?"
        from tservice.voice.upstream_protocol import make_factory  # Autobahn, 6 MB, for a dictation

        url = f"ws{target.url.removeprefix('http')}{joint}{request.query}"
        factory = make_factory(self._reactor, url, request.headers, listener)
        endpoint: IStreamClientEndpoint = GuardedEndpoint(
            self._reactor,
            target.host,
            target.port,
            policy=self._policy,
            resolver=self._reactor.nameResolver,
        )
        if target.scheme == "https":
            creator = self._tls.creatorForNetloc(target.host.encode(), target.port)
            endpoint = wrapClientTLS(creator, endpoint)
        return endpoint.connect(factory)
