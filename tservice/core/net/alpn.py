"""Refusing TLS clients that offer no protocol of ours by the alert that RFC 7301 names.

Twisted answers them by alert 80 (internal_error), of which a client cannot tell what to change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from OpenSSL import SSL


class AlpnContext(SSL.Context):
    """A TLS context whose server ends a handshake without a common protocol by alert 120."""

    def set_alpn_select_callback(
        self, callback: Callable[[SSL.Connection, list[bytes]], Any]
    ) -> None:
        """Let C{callback} choose among the client's protocols; empty: none of them will do."""

        def select(connection: SSL.Connection, offered: Sequence[bytes]) -> Any:
            chosen = callback(connection, list(offered))
            if chosen == b"":
                # What is raised here becomes the alert no_application_protocol, and is then raised
                # by the handshake, as OpenSSL's own errors are.
                raise SSL.Error([("SSL routines", "", "no application protocol")])
            return chosen

        super().set_alpn_select_callback(select)


class AlpnReactor:
    """A reactor as server endpoints use it, whose TLS ports have an L{AlpnContext}."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def listenSSL(self, port: int, factory: Any, contextFactory: Any, **more: Any) -> Any:
        """Listen as the reactor does."""
        # Twisted has no public way to another class; its context is made at the first connection.
        contextFactory._contextFactory = AlpnContext
        return self._reactor.listenSSL(port, factory, contextFactory=contextFactory, **more)
