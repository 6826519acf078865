"""Connection to the server of one session: a WebSocket on its Unix socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class ServerConnection(Protocol):
    """Open connection to a server."""

    def send_message(self, payload: bytes) -> None:
        """Send a message."""

    def abort_connection(self) -> None:
        """End the connection at once."""


class ServerListener(Protocol):
    """Receiver of what happens on a connection."""

    def connection_opened(self, connection: ServerConnection) -> None:
        """Handle the end of the handshake."""

    def message_received(self, payload: bytes) -> None:
        """Handle a message."""

    def connection_ended(self) -> None:
        """Handle the end, also that of an attempt to connect."""


ConnectServer = Callable[[Path, ServerListener], Callable[[], None]]
"""Connects to a socket, and returns a function that ends the attempt or the connection."""
