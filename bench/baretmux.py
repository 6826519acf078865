"""The peer of every terminal figure: a tmux server and nothing but its control-mode client."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NOTICE = re.compile(rb"\n%output %\d+ ")
_TAIL = 1024


class BareTmux:
    """One tmux server on a socket of its own, with one session that runs C{argv}."""

    def __init__(self, folder: Path, name: str, argv: list[str]) -> None:
        self.socket = folder / name
        self._env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", *argv)
        self.pid = int(self._tmux("display-message", "-p", "#{pid}"))

    def attach(self) -> subprocess.Popen[bytes]:
        """A control-mode client."""
        return subprocess.Popen(
            ["tmux", "-u", "-S", str(self.socket), "-C", "attach"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._env,
            bufsize=0,
        )

    def type(self, line: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-t", "%0", line, "Enter")

    def interrupt(self) -> None:
        """End what runs in the shell."""
        self._tmux("send-keys", "-t", "%0", "C-c")

    def screen(self) -> str:
        """What its pane shows."""
        return self._tmux("capture-pane", "-p", "-t", "%0")

    def close(self) -> None:
        """End the server."""
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *words],
            env=self._env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


@contextmanager
def bare_servers(count: int, argv: list[str]) -> Iterator[list[BareTmux]]:
    """C{count} servers, ended at the end."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    servers: list[BareTmux] = []
    try:
        servers.extend(BareTmux(folder, f"s{number}", argv) for number in range(count))
        yield servers
    finally:
        for server in servers:
            server.close()
        shutil.rmtree(folder, ignore_errors=True)


def echo_times(count: int) -> list[float]:
    """Seconds from a key into a bare control-mode client to its echo, C{count} times."""
    with bare_servers(1, ["cat"]) as (server,):
        client = server.attach()
        assert client.stdin is not None
        assert client.stdout is not None
        _drain(client.stdout.fileno(), 0.3)
        times = []
        for number in range(count):
            key = b"%02x" % (0x61 + number % 26)
            started = time.perf_counter()
            client.stdin.write(b"send-keys -H " + key + b"\n")
            _read_until(client.stdout.fileno(), b"%output")
            times.append(time.perf_counter() - started)
            _drain(client.stdout.fileno(), 0.002)
        client.stdin.close()
        client.wait(5)
        client.stdout.close()
        return times


def flood_seconds(command: str, marker: bytes) -> float:
    """Seconds until a bare control-mode client has read everything up to C{marker}."""
    with bare_servers(1, ["sh"]) as (server,):
        client = server.attach()
        assert client.stdin is not None
        assert client.stdout is not None
        _drain(client.stdout.fileno(), 0.3)
        started = time.perf_counter()
        line = command.encode() + b"\r"
        client.stdin.write(b"send-keys -H " + b" ".join(b"%02x" % byte for byte in line) + b"\n")
        _read_until(client.stdout.fileno(), marker)
        seconds = time.perf_counter() - started
        client.stdin.close()
        client.wait(5)
        client.stdout.close()
        return seconds


def unread_seconds(command: str) -> float:
    """Seconds until a command has ended whose output nobody but tmux reads."""
    with bare_servers(1, ["sh"]) as (server,):
        over = server.socket.with_name("over")
        started = time.perf_counter()
        server.type(f"{command}; echo > {over}")
        while not over.exists():
            time.sleep(0.002)
        return time.perf_counter() - started


def created_seconds() -> float:
    """Seconds from starting a tmux server to the first prompt byte of its shell."""
    with bare_servers(0, ["sh"]) as servers:
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        started = time.perf_counter()
        server = BareTmux(folder, "s", ["sh"])
        servers.append(server)
        while not server.screen().strip():
            time.sleep(0.001)
        seconds = time.perf_counter() - started
    shutil.rmtree(folder)
    return seconds


def _read_until(descriptor: int, what: bytes) -> None:
    """Read until C{what} comes, of which tmux may bring a part in one notice and the rest in the
    next.  What comes behind it is short: the shell's prompt.
    """
    seen = tail = b""
    while what not in seen and what not in _NOTICE.sub(b"", tail):
        data = os.read(descriptor, 65536)
        if not data:
            raise RuntimeError("the control client ended early")
        seen = seen[-len(what) :] + data
        tail = (tail + data)[-_TAIL:]


def _drain(descriptor: int, quiet: float) -> None:
    while select.select([descriptor], [], [], quiet)[0]:
        os.read(descriptor, 65536)
