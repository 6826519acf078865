"""A TCP relay that a test can cut, to the byte, or have fall silent."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading

from tests.waiting import PATIENCE

CHUNK = 65536
# Closing with a reset instead of an orderly end, as a lost network looks afterwards.
RESET = struct.pack("ii", 1, 0)


class BrowserRelay:
    """Passes connections on to a port of this machine.

    @ivar port: where it listens.
    @ivar cuts: how often it has cut everything.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cuts = 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._peers: dict[socket.socket, socket.socket] = {}
        self._outer: set[socket.socket] = set()
        self._left: int | None = None
        self._silent: list[socket.socket] = []
        self._to_silence = threading.Event()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def cut_after(self, size: int) -> None:
        """Reset every connection once C{size} more bytes went to the browser."""
        with self._lock:
            self._left = size

    def silence(self) -> None:
        """Leave every connection open and pass nothing on, as a network that went away does.

        Later connections are passed on.
        """
        self._to_silence.set()
        while self._to_silence.is_set():
            self._ended.wait(0.01)

    def close(self) -> None:
        """End every connection and the thread."""
        self._ended.set()
        self._thread.join()
        self._cut()
        for each in self._silent:
            each.close()
        self._listener.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._to_silence.is_set():
                self._forget_all()
                self._to_silence.clear()
            for key, _ in self._selector.select(0.05):
                self._serve(key.fileobj)

    def _serve(self, ready: object) -> None:
        if ready is self._listener:
            self._accept()
        elif isinstance(ready, socket.socket) and ready in self._peers:
            self._pass(ready)

    def _accept(self) -> None:
        outer, _ = self._listener.accept()
        try:
            inner = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            outer.close()
            return
        for each in (outer, inner):
            # Whoever takes nothing for so long does not hold up the others' end.
            each.settimeout(PATIENCE)
        self._peers[outer], self._peers[inner] = inner, outer
        self._outer.add(outer)
        for each in (outer, inner):
            self._selector.register(each, selectors.EVENT_READ)

    def _pass(self, source: socket.socket) -> None:
        try:
            data = source.recv(CHUNK)
            if data and self._send(self._peers[source], data):
                return
        except OSError:
            data = b""
        if source in self._peers:
            self._drop(source)

    def _send(self, target: socket.socket, data: bytes) -> bool:
        """@return: whether the connection goes on."""
        with self._lock:
            due = target in self._outer and self._left is not None and len(data) >= self._left
            if target in self._outer and self._left is not None:
                data = data[: self._left]
                self._left = None if due else self._left - len(data)
        target.sendall(data)
        if due:
            self._cut()
            self.cuts += 1
        return not due

    def _cut(self) -> None:
        for each in tuple(self._outer):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self._drop(each)

    def _forget_all(self) -> None:
        for each in self._peers:
            self._selector.unregister(each)
            self._silent.append(each)
        self._peers.clear()
        self._outer.clear()

    def _drop(self, one: socket.socket) -> None:
        for each in (one, self._peers[one]):
            self._selector.unregister(each)
            self._peers.pop(each)
            self._outer.discard(each)
            with contextlib.suppress(OSError):
                each.close()
