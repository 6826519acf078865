"""Rejection of TLS clients that offer no supported protocol, with the alert of RFC 7301.

Twisted sends alert 80 (internal_error), which does not tell the client the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from OpenSSL import SSL


class AlpnContext(SSL.Context):
    """TLS context that sends alert 120 if client and server have no common protocol."""

    def set_alpn_select_callback(
        self, callback: Callable[[SSL.Connection, list[bytes]], Any]
    ) -> None:
        """Let C{callback} choose one of the client's protocols; an empty result rejects the
        client.
        """

        def select_protocol(connection: SSL.Connection, offered: Sequence[bytes]) -> Any:
            chosen = callback(connection, list(offered))
            if chosen == b"":
                # This error becomes the alert no_application_protocol.  The handshake then raises
                # it like the errors of OpenSSL.
                raise SSL.Error([("SSL routines", "", "no application protocol")])
            return chosen

        super().set_alpn_select_callback(select_protocol)


class AlpnReactor:
    """Reactor for server endpoints whose TLS ports have an L{AlpnContext}."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def listenSSL(self, port: int, factory: Any, contextFactory: Any, **more: Any) -> Any:
        """Listen like the wrapped reactor, with an L{AlpnContext}."""
        # Twisted has no public setting for the class; it makes the context at the first connection.
        contextFactory._contextFactory = AlpnContext
        return self._reactor.listenSSL(port, factory, contextFactory=contextFactory, **more)
