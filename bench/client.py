"""A terminal client with as little of its own cost as a client can have."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.integration.harness import PATIENCE, DaemonHarness


def new_session(daemon: DaemonHarness, **fields: object) -> str:
    """Start a shell session and wait until it has a process; its id."""
    body = {"mode": "shell", "start": True, "workingDir": str(daemon.home), **fields}
    session: str = daemon.request("POST", "/api/sessions", body).data()["session"]["id"]
    return session


def run_line(daemon: DaemonHarness, session: str, line: str) -> None:
    """Type a line into a shell session."""
    daemon.request("POST", f"/api/sessions/{session}/input", {"input": line + "\r"}).data()


def wait_output(
    daemon: DaemonHarness, session: str, text: str, start: str = "now"
) -> dict[str, Any]:
    """Hold until the session prints C{text}."""
    path = f"/api/sessions/{session}/wait-output?match={text}&from={start}&timeout=55000"
    found: dict[str, Any] = daemon.request("GET", path).data()
    return found


class Terminal:
    """One socket on a session, past its hello and snapshot."""

    def __init__(self, daemon: DaemonHarness, session: str, cid: str = "bench") -> None:
        url = daemon.url.replace("http", "ws", 1)
        self._open = ExitStack()
        where = f"{url}/ws/sessions/{session}/terminal?cid={cid}"
        self.socket: ClientConnection = self._open.enter_context(
            connect(where, compression=None, max_size=None, open_timeout=PATIENCE)
        )
        self._seq = 0
        while json.loads(self.socket.recv())["t"] != "snapshot":
            pass

    def type(self, text: str) -> None:
        """Type C{text} under the next number."""
        self._seq += 1
        self.socket.send(json.dumps({"t": "i", "d": text, "seq": self._seq}))

    def next_bytes(self, timeout: float = 10.0) -> bytes:
        """The next output frame; other frames are passed over."""
        while True:
            message = self.socket.recv(timeout)
            if isinstance(message, bytes):
                return message

    def drain(self, quiet: float = 0.02) -> None:
        """Read until nothing comes for C{quiet} seconds."""
        while True:
            try:
                self.socket.recv(quiet)
            except TimeoutError:
                return

    def close(self) -> None:
        """Hang up."""
        self._open.close()


def echo_times(
    daemon: DaemonHarness, session: str, count: int, pause: float = 0.02, cid: str = "bench"
) -> list[float]:
    """Seconds from a key sent to its echo received, C{count} times, C{pause} apart.

    @param cid: another one each time for the same session: its keys are numbered from 1 on.
    """
    terminal = Terminal(daemon, session, cid)
    times = []
    try:
        for number in range(count):
            terminal.drain(pause)
            started = time.perf_counter()
            terminal.type(chr(0x61 + number % 26))
            terminal.next_bytes()
            times.append(time.perf_counter() - started)
    finally:
        terminal.close()
    return times
