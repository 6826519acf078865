"""The real C{tsctl} against the real daemon, for tests."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from typing import IO, Any
from urllib.parse import urlsplit

from tests.held_port import HeldPort
from tests.integration.harness import PATIENCE, DaemonCase, DaemonHarness

TSCTL = (sys.executable, "-c", "from tservice.client.ctl import main; main()")


class TsctlCase(DaemonCase):
    """One daemon, and commands against it."""

    def setUp(self) -> None:
        super().setUp()
        # One that comes back is looked for where it was.
        self.port = HeldPort()
        self.addCleanup(self.port.close)
        self.service = self.daemon().start(listen=(self.port.endpoint,))

    def environ(self, **more: str) -> dict[str, str]:
        return {**self.service.environ(), "TSCTL_URL": self.service.url, **more}

    def run_it(
        self, *words: str, stdin: str = "", **environ: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*TSCTL, *words],
            env=self.environ(**environ),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def tsctl(self, *words: str, stdin: str = "", **environ: str) -> str:
        """What a command that succeeds prints."""
        ended = self.run_it(*words, stdin=stdin, **environ)
        self.assertEqual((0, ""), (ended.returncode, ended.stderr), ended.stdout)
        return ended.stdout

    def fails(self, *words: str, stdin: str = "", **environ: str) -> str:
        """The one line of a command that cannot be done."""
        ended = self.run_it(*words, stdin=stdin, **environ)
        self.assertEqual((2, ""), (ended.returncode, ended.stdout), ended.stderr)
        self.assertRegex(ended.stderr, r"\Atsctl: [^\n]*\n\Z")
        return ended.stderr

    def background(self, *words: str, **environ: str) -> subprocess.Popen[str]:
        """A command that goes on; it is ended when it has gone on for too long.

        A test does much beside it, and waits for each step up to C{PATIENCE}.
        """
        process = subprocess.Popen(
            [*TSCTL, *words],
            env=self.environ(**environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        timer = threading.Timer(4 * PATIENCE, process.kill)
        timer.start()
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.addCleanup(timer.cancel)
        return process

    def read_until(self, stream: IO[str] | None, text: str) -> str:
        """The lines up to and with the one that holds C{text}."""
        assert stream is not None
        seen = ""
        for line in iter(stream.readline, ""):
            seen += line
            if text in line:
                return seen
        raise AssertionError(f"no {text!r} in {seen!r}")

    def json(self, *words: str) -> Any:
        return json.loads(self.tsctl(*words, "--json"))

    def shell(self, name: str = "one") -> str:
        """A shell session that has run something; its id."""
        folder = str(self.service.home)
        session = self.tsctl("new", "shell", "--name", name, "--dir", folder).strip()
        self.tsctl("send", session, "echo ready-$((40+2))")
        self.see(session, "from=buffer&match=ready-42")
        return session

    def see(self, session: str, query: str) -> None:
        """Wait until the session prints a text."""
        path = f"/api/sessions/{session}/wait-output?{query}&timeout={PATIENCE * 1000:.0f}"
        found = self.service.request("GET", path, patience=2 * PATIENCE).data()
        self.assertTrue(found["wait"]["matched"], query)


def session_ids(service: DaemonHarness) -> list[str]:
    """The ids of the sessions that there are."""
    return [session["id"] for session in service.request("GET", "/api/sessions").data()]


class CuttableRelay:
    """A TCP relay to the daemon whose connections can be cut."""

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._shut = False
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut(self) -> int:
        """Reset every connection; how many there were."""
        with self._lock:
            found = len(self._open)
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        return found

    def close(self) -> None:
        """Stop."""
        self._shut = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _accept(self) -> None:
        while not self._shut:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection((str(self._to.hostname), self._to.port or 0))
            with self._lock:
                self._open |= {near, far}
            for pair in ((near, far), (far, near)):
                thread = threading.Thread(target=self._pump, args=pair)
                self._threads.append(thread)
                thread.start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1024):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._open.discard(source)
        source.close()
