"""The Python client types through a relay that cuts at random: nothing is lost, nothing doubled.

C{python -m tests.stress.client_cuts --sends 10000 --seed 1}
"""

from __future__ import annotations

import random
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.integration.harness import PATIENCE, DaemonHarness
from tests.stress.command import report
from tservice.client import blocking

SESSIONS = 4
"""How many are typed into at once."""
CUT = 0.25
"""The share of connections that are cut."""
WITHIN = 700
"""Bytes of one direction within which a cut comes: a request, and an answer, are as long."""


class CuttingRelay(socketserver.ThreadingTCPServer):
    """Passes connections on, and cuts some of them after so many bytes of one direction.

    @ivar cuts: how many it has cut.
    """

    daemon_threads = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, url: str, seed: int) -> None:
        where = urlsplit(url)
        self.to = str(where.hostname), int(where.port or 0)
        self._dice, self._lock = random.Random(seed), threading.Lock()
        self.cuts = 0
        super().__init__(("127.0.0.1", 0), _PassingHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def fate(self) -> tuple[int | None, int | None]:
        """After how many bytes to and from the service a connection is cut."""
        with self._lock:
            if self._dice.random() >= CUT:
                return None, None
            self.cuts += 1
            at = self._dice.randrange(WITHIN)
            return (at, None) if self._dice.random() < 0.5 else (None, at)


class _PassingHandler(socketserver.BaseRequestHandler):
    server: CuttingRelay

    def handle(self) -> None:
        near: socket.socket = self.request
        there, back = self.server.fate()
        with socket.create_connection(self.server.to, PATIENCE) as far:
            pump = threading.Thread(target=_pump, args=(near, far, there))
            pump.start()
            _pump(far, near, back)
            pump.join()


def _pump(source: socket.socket, target: socket.socket, left: int | None) -> None:
    """Pass bytes on; at the end, or after C{left} bytes, both directions are over."""
    with suppress(OSError):
        while data := source.recv(4096):
            if left is not None and len(data) >= left:
                target.sendall(data[:left])
                break
            left = None if left is None else left - len(data)
            target.sendall(data)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def open_relay(url: str, seed: int) -> Iterator[CuttingRelay]:
    """A relay while it is needed."""
    with CuttingRelay(url, seed) as relay:
        thread = threading.Thread(target=relay.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield relay
        finally:
            relay.shutdown()
            thread.join(PATIENCE)


def run(sends: int, seed: int) -> dict[str, int]:
    """Type so many lines into several sessions; the figures.

    @raise AssertionError: one was lost, doubled or out of order.
    """
    daemon = DaemonHarness()
    try:
        daemon.start()
        straight = blocking.connect(daemon.url)
        with open_relay(daemon.url, seed) as relay, ThreadPoolExecutor(SESSIONS) as pool:
            share = sends // SESSIONS
            found = list(
                pool.map(
                    lambda name: _typed(straight, relay.url, daemon.folder / name, share),
                    (f"heard{number}" for number in range(SESSIONS)),
                )
            )
        return {"sends": share * SESSIONS, "cuts": relay.cuts, "found typed already": sum(found)}
    finally:
        daemon.close()


def _typed(straight: blocking.Client, url: str, heard: Path, count: int) -> int:
    """Type C{count} lines through the relay; how many were typed by a try whose answer was lost."""
    with straight.new(mode="shell", workingDir=str(heard.parent)) as made:
        made.send(f"stty -echo; printf 'rea%s' dy; cat > {heard}")
        if made.wait_output("ready") is None:
            raise AssertionError(made.screen())
        session = blocking.connect(url).session(made.id)
        again = sum(session.send(f"n{number}\r", raw=True).again for number in range(count))
        _settle(heard, count)
        want = [f"n{number}" for number in range(count)]
        got = heard.read_text().split()
        if got != want:
            wrong = [(one, two) for one, two in zip(want, got, strict=False) if one != two]
            raise AssertionError(f"{len(want)} sent, {len(got)} heard, wrong from {wrong[:3]}")
        return again


def _settle(heard: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while heard.read_text().count("\n") < count and time.monotonic() < deadline:
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "sends", 10_000))
