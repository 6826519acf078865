"""A way that takes its time: a relay on loopback that holds every byte back."""

from __future__ import annotations

import queue
import socket
import threading
import time
from contextlib import suppress

_PIECE = 65536


class Delay:
    """Listens on C{port} for what it hands on, each way so much later; C{close} ends it.

    @ivar port: of loopback.
    """

    def __init__(self, target: int, seconds: float) -> None:
        """
        @param target: the port of loopback that it leads to.
        @param seconds: one way.
        """
        self._target, self._seconds = target, seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        _begin(self._accept)

    def close(self) -> None:
        """Take no more connections; those that are there end with either side."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                for source, sink in ((near, far), (far, near)):
                    # As what is measured does: a small piece waits for no other.
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    held: queue.Queue[tuple[float, bytes]] = queue.Queue()
                    _begin(self._read, source, held)
                    _begin(_write, sink, held)

    def _read(self, source: socket.socket, held: queue.Queue[tuple[float, bytes]]) -> None:
        data = b"-"
        while data:
            try:
                data = source.recv(_PIECE)
            except OSError:
                data = b""
            held.put((time.monotonic() + self._seconds, data))


def _write(sink: socket.socket, held: queue.Queue[tuple[float, bytes]]) -> None:
    with sink, suppress(OSError):
        while True:
            due, data = held.get()
            time.sleep(max(0.0, due - time.monotonic()))
            if not data:
                # Both threads of this socket let go of it.
                sink.shutdown(socket.SHUT_RDWR)
                return
            sink.sendall(data)


def _begin(call: object, *arguments: object) -> None:
    threading.Thread(target=call, args=arguments, daemon=True).start()  # type: ignore[arg-type]
