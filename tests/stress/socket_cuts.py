"""Cut the terminal's socket at random moments of its output: nothing is lost that is not replaced.

After each cut the client resumes or gets a snapshot; then its bytes equal the pane's, and its
grid equals tmux's.  C{python -m tests.stress.socket_cuts --cuts 1000 --seed 1}
"""

from __future__ import annotations

import hashlib
import json
import random
import socket
import struct
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyte
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from bench.client import new_session, run_line, wait_output
from tests.integration.harness import PATIENCE, DaemonHarness
from tests.stress.command import report

PRINTER = """
import hashlib, sys
print("rea" + "dy", flush=True)
for order in sys.stdin:
    number, lines = map(int, order.split())
    out = []
    for at in range(lines):
        word = hashlib.sha256(f"{number}.{at}".encode()).hexdigest()
        out.append(f"\\x1b[3{at % 8}m{number}.{at}\\x1b[0m {word * (1 + at % 3)}\\n")
    sys.stdout.write("".join(out) + f"end of {number}\\n")
    sys.stdout.flush()
"""
RING = 64 * 1024
"""A small ring, so that a client that stays away for a moment is out of it."""
COLS, ROWS = 100, 30


def expected_burst(number: int, lines: int) -> bytes:
    """What the pane prints for one order, as the terminal's line discipline sends it."""
    out = []
    for at in range(lines):
        word = hashlib.sha256(f"{number}.{at}".encode()).hexdigest()
        out.append(f"\x1b[3{at % 8}m{number}.{at}\x1b[0m {word * (1 + at % 3)}\r\n")
    return ("".join(out) + f"end of {number}\r\n").encode()


class ReconnectingTerminal:
    """A terminal that keeps its grid and its place in the output over cuts.

    @ivar since_snapshot: the bytes received since the last snapshot.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        self._screen = pyte.Screen(COLS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._epoch = ""
        self._offset: int | None = None
        self.since_snapshot = b""
        self.resumed = 0
        self.snapshots = 0

    def connect(self) -> None:
        """Connect, resuming where it was."""
        where = f"{self._url}?cid=stress"
        if self._offset is not None:
            where += f"&epoch={self._epoch}&since={self._offset}"
        self._socket = self._open.enter_context(
            # Nobody reads between two cuts, so a ping of its own would go unanswered.
            connect(
                where, compression=None, max_size=None, open_timeout=PATIENCE, ping_interval=None
            )
        )

    def cut(self) -> None:
        """Reset the connection without a word, as a lost network would."""
        assert self._socket is not None
        raw = self._socket.socket
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
        self._socket.close_socket()
        self._open.close()
        self._socket = None

    def read(self, timeout: float) -> bool:
        """Take one frame; false when none came in time."""
        assert self._socket is not None
        try:
            message = self._socket.recv(timeout)
        except (TimeoutError, ConnectionClosed):
            return False
        if isinstance(message, bytes):
            self._take(message)
        else:
            self._told(json.loads(message))
        return True

    def ended(self, end: str) -> bool:
        """Whether that row is the last, and the cursor behind it at the begin of the next."""
        cursor = self._screen.cursor
        return cursor.x == 0 and cursor.y > 0 and self.grid()[cursor.y - 1] == end

    def grid(self) -> list[str]:
        """The rows as text."""
        return [row.rstrip() for row in self._screen.display]

    def _take(self, data: bytes) -> None:
        assert self._offset is not None
        self._offset += len(data)
        self.since_snapshot += data
        self._stream.feed(data)

    def _told(self, message: dict[str, Any]) -> None:
        if message["t"] == "hello":
            if message["resumed"]:
                if message["offset"] != self._offset:
                    raise AssertionError(f"resumed at {message['offset']}, not {self._offset}")
                self.resumed += 1
            self._epoch, self._offset = message["epoch"], message["offset"]
        elif message["t"] == "snapshot":
            self.snapshots += 1
            self._offset = message["offset"]
            self.since_snapshot = b""
            self._screen.reset()
            self._stream.feed(message["data"].encode())


def tmux_grid(daemon: DaemonHarness, session: str) -> list[str]:
    """The rows that tmux shows."""
    path = daemon.data / "mux" / f"{session}.sock"
    done = subprocess.run(
        ["tmux", "-S", str(path), "capture-pane", "-p"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    rows = [row.rstrip() for row in done.stdout.split("\n")[:-1]]
    return rows + [""] * (ROWS - len(rows))


def one_cut(
    client: ReconnectingTerminal,
    daemon: DaemonHarness,
    session: str,
    number: int,
    dice: random.Random,
) -> None:
    """Order a burst, cut somewhere in it, come back, and compare once it is over."""
    lines = dice.choice((5, 200, 1500, 4000))
    before = len(client.since_snapshot)
    snapshots = client.snapshots
    run_line(daemon, session, f"{number} {lines}")
    for _ in range(dice.randint(0, 12)):
        if not client.read(0.05):
            break
    client.cut()
    client.connect()
    end = f"end of {number}"
    over = False
    while not over:
        if not client.read(PATIENCE):
            raise AssertionError(f"{number}: the end did not come; the grid is {client.grid()}")
        over = client.ended(end)
    while client.read(0.02):
        pass
    if client.snapshots == snapshots:
        want = expected_burst(number, lines)
        got = client.since_snapshot[before:]
        # The order itself is echoed before the burst.
        if not got.endswith(want):
            raise AssertionError(f"{number}: {len(got)} bytes do not end with the {len(want)}")
    if client.grid() != tmux_grid(daemon, session):
        raise AssertionError(
            f"{number}: the client shows {client.grid()}, tmux {tmux_grid(daemon, session)}"
        )


def run(cuts: int, seed: int) -> dict[str, int]:
    """Cut so often; the figures.

    @raise AssertionError: bytes or a grid differed.
    """
    dice = random.Random(seed)
    daemon = DaemonHarness(SERVICE_OUTPUT_RING=str(RING))
    try:
        daemon.start()
        session = new_session(daemon, cols=COLS, rows=ROWS)
        program = Path(daemon.folder) / "printer.py"
        program.write_text(PRINTER)
        run_line(daemon, session, f"exec {sys.executable} {program}")
        wait_output(daemon, session, "ready", "buffer")
        url = daemon.url.replace("http", "ws", 1)
        client = ReconnectingTerminal(f"{url}/ws/sessions/{session}/terminal")
        client.connect()
        while client.read(0.3):
            pass
        for number in range(cuts):
            one_cut(client, daemon, session, number, dice)
            client.since_snapshot = client.since_snapshot[-100:]
        client.cut()
        return {"cuts": cuts, "resumed": client.resumed, "snapshots": client.snapshots - 1}
    finally:
        daemon.close()


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "cuts", 1000))
