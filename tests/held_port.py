"""A port of loopback that stays a test's own, also while nothing listens on it."""

from __future__ import annotations

import socket


class HeldPort:
    """Bound and not listened on: the kernel gives it to nobody who asks for any port, and whoever
    asks for it by its number and reuses addresses, as sshd and Twisted do, can listen on it.

    @ivar number: the port.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = int(self._socket.getsockname()[1])

    @property
    def endpoint(self) -> str:
        """As the service is told to listen on it."""
        return f"tcp:{self.number}:interface=127.0.0.1"

    def close(self) -> None:
        """Anybody may have it."""
        self._socket.close()
