"""ttyd attached to tmux: the C program that a terminal in a browser is measured against."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.baretmux import BareTmux

SHELL = ["bash", "--norc", "--noprofile"]
INPUT, OUTPUT = b"0", b"0"
"""What a message of its protocol begins with."""
PROTOCOL = "tty"
HELLO = json.dumps({"AuthToken": "", "columns": 120, "rows": 40})
"""What a client says first: who it is, and how large."""


def build(source: Path, folder: Path) -> Path:
    """Build ttyd of the source tree C{source} below C{folder}; its program.

    It wants cmake and the headers of libwebsockets, libuv and json-c.
    """
    for command in (["cmake", "-S", str(source), "-B", "."], ["cmake", "--build", "."]):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "ttyd"


def program(given: Path, folder: Path) -> Path:
    """ttyd: C{given} is its source tree, or the program itself."""
    return build(given, folder) if given.is_dir() else given


class Ttyd:
    """One ttyd on a tmux server with one shell.

    @param given: as for L{program}.
    """

    def __init__(self, given: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="bench-"))
        path = program(given, self._folder)
        self._tmux = BareTmux(self._folder, "s", SHELL)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        attach = ["tmux", "-S", str(self._tmux.socket), "attach"]
        self._process = subprocess.Popen(
            [str(path), "-i", "127.0.0.1", "-p", str(self._port), "-W", "-d", "1", *attach],
            env={"PATH": os.environ["PATH"], "HOME": str(self._folder), "LANG": "C.UTF-8"},
            stderr=subprocess.DEVNULL,
        )

    def connect(self) -> ClientConnection:
        """A socket on the terminal, its size told."""
        deadline = time.monotonic() + 10
        while True:
            try:
                found = connect(
                    self.url,
                    subprotocols=[Subprotocol(PROTOCOL)],
                    compression=None,
                    max_size=None,
                )
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        found.send(HELLO.encode())
        return found

    @property
    def url(self) -> str:
        """Where its socket is."""
        return f"ws://127.0.0.1:{self._port}/ws"

    def type(self, line: str) -> None:
        """Type a line past ttyd."""
        self._tmux.type(line)

    def interrupt(self) -> None:
        """End what runs in the shell."""
        self._tmux.interrupt()

    def seconds_until(self, line: str, end: bytes) -> float:
        """Seconds from a line typed until C{end} is received."""
        with self.connect() as terminal:
            drain(terminal, 0.2)
            started, tail = time.perf_counter(), b""
            terminal.send(INPUT + line.encode() + b"\r")
            while end not in tail:
                message = terminal.recv(60)
                assert isinstance(message, bytes)
                tail = tail[-len(end) :] + message
            return time.perf_counter() - started

    def echo_times(self, count: int, pause: float = 0.02) -> list[float]:
        """Seconds from a key sent to its echo received."""
        times = []
        with self.connect() as terminal:
            drain(terminal, 0.2)
            for number in range(count):
                drain(terminal, pause)
                key = b"%c" % (0x61 + number % 26)
                started = time.perf_counter()
                terminal.send(INPUT + key)
                while not _shows(terminal.recv(10), key):
                    continue
                times.append(time.perf_counter() - started)
            terminal.send(INPUT + b"\x15")
        return times

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(10)
        self._tmux.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def drain(terminal: ClientConnection, quiet: float) -> None:
    """Read until nothing comes for C{quiet} seconds."""
    while True:
        try:
            terminal.recv(quiet)
        except TimeoutError:
            return


def _shows(message: str | bytes, key: bytes) -> bool:
    return isinstance(message, bytes) and message[:1] == OUTPUT and key in message[1:]
