"""Connections to servers, each of one session: a WebSocket on its Unix socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint

from tservice.agents.channels.codex.connection import ConnectServer, ServerListener

CONNECT_SECONDS = 5.0


def make_connector(reactor: Any) -> ConnectServer:
    """Return the function that connects to servers."""

    def connect_server(path: Path, listener: ServerListener) -> Callable[[], None]:
        # Autobahn takes 6 MB, and most users have no server.
        from tservice.agents.channels.codex.server_protocol import ServerProtocol, make_factory

        made: list[ServerProtocol] = []
        factory = make_factory(reactor, listener, made)
        endpoint = UNIXClientEndpoint(reactor, str(path), timeout=CONNECT_SECONDS)
        attempt: Deferred[Any] = endpoint.connect(factory)
        attempt.addErrback(lambda _: listener.connection_ended())

        def end_connection() -> None:
            if made and made[0].transport is not None:
                made[0].abort_connection()
            else:
                attempt.cancel()

        return end_connection

    return connect_server
