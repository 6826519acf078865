"""The real daemon as a child process, for tests that need all of it.

Blocking on purpose: a test says what it waits for and for how long at most, and a thread reads
the child's log meanwhile, so that a full pipe never stops it.  Nothing of the machine is
touched: the home folder, the data folder and the tmux servers are the test's own.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.evidence import Files, read_screens, register_source, unregister_source
from tests.integration.daemon_launcher import HERE, LaunchedProcess, launchpad
from tests.waiting import PATIENCE as PATIENCE
from tservice.core.locations.workspace_bounds import ACCOUNTS

ROOT = Path(__file__).resolve().parents[2]
READY = r"ready at ([^\s\",]+)"
LOOPBACK = "tcp:0:interface=127.0.0.1"
TWISTD = (sys.executable, "-c", "from twisted.scripts.twistd import run; run()")
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "COVERAGE_PROCESS_START")


@frozen(kw_only=True)
class DaemonAnswer:
    """One HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def data(self) -> Any:
        """The payload of a success envelope.

        @raise AssertionError: it is no success.
        """
        found = self.json()
        if self.status != 200 or not found["success"]:
            raise AssertionError(f"{self.status}: {self.body!r}")
        return found["data"]


class DaemonHarness:
    """One data folder, and the daemon that runs on it, if one does.

    @ivar folder: a short path below the system's temporary folder: socket paths are bounded.
    @ivar url: where it said that it listens, for example C{http://127.0.0.1:40123}.
    @ivar where: whose namespaces it runs in, as L{ProcessLaunchpad.launch} takes it.
    @cvar preloaded: whether it may be forked from a process that has imported the program.
    """

    preloaded = True

    def __init__(self, **environment: str) -> None:
        """@param environment: C{SERVICE_*} and other variables of the daemon."""
        self.folder = Path(tempfile.mkdtemp(prefix="ts"))
        self.home = self.folder / "home"
        self.data = self.folder / "data"
        self.runtime = self.folder / "runtime"
        self.home.mkdir()
        self.runtime.mkdir(mode=0o700)
        self.stands_in = self.home
        self.environment = environment
        self.url = ""
        self.where = HERE
        self._child: _TwistdProcess | None = None

    def start(
        self, *options: str, listen: Sequence[str] = (LOOPBACK,), until: str = READY
    ) -> DaemonHarness:
        """Start it and wait until it says that it is ready, or something else.

        @raise AssertionError: it ended, or said nothing for too long; with its log.
        """
        self._child = self.launch(*options, listen=listen)
        register_source(self, self._evidence)
        line = self._child.wait_for(re.compile(until))
        if until == READY:
            self.url = line.group(1).rstrip("/")
        return self

    def launch(self, *options: str, listen: Sequence[str] = (LOOPBACK,)) -> _TwistdProcess:
        """Start one without waiting; for starts that are to be refused."""
        listens = [f"--listen={endpoint}" for endpoint in listen]
        words = ["--nodaemon", "--pidfile=", "tservice", *listens, *options]
        command = self.wrapped([*TWISTD, *words])
        if self.preloaded and command == [*TWISTD, *words]:
            pad = launchpad(self._basis())
            return _TwistdProcess(pad.launch(words, self.environ(), self.stands_in, self.where))
        return _TwistdProcess(_executed(command, self.environ(), self.stands_in))

    def wrapped(self, command: list[str]) -> list[str]:
        """The command that starts the daemon's; it must become it, or its signals are lost."""
        return command

    def run(self, *options: str, listen: Sequence[str] = (LOOPBACK,)) -> tuple[int, str, str]:
        """Start one that ends by itself: its exit status, stdout and stderr."""
        return self.launch(*options, listen=listen).ended()

    @property
    def pid(self) -> int:
        """The running daemon's process."""
        return self._running().pid

    @property
    def log(self) -> str:
        """Everything that the running or the last daemon has printed so far."""
        return "" if self._child is None else self._child.text()

    def wait_for_log(self, pattern: str) -> re.Match[str]:
        """Wait until a line of the log matches."""
        return self._running().wait_for(re.compile(pattern))

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end: the exit status as C{subprocess} gives it."""
        child = self._running()
        child.send(number)
        return child.ended()[0]

    def send(self, number: int) -> None:
        """Send a signal without waiting for anything."""
        self._running().send(number)

    def kill(self) -> None:
        """End it as a crash would."""
        self.stop(signal.SIGKILL)

    def restart(self, *options: str, number: int = signal.SIGTERM) -> DaemonHarness:
        """Stop it and start it again on the same data folder, perhaps on another port."""
        self.stop(number)
        return self.start(*options)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> DaemonAnswer:
        """One request on a connection of its own; C{body} goes as JSON."""
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=patience)
        sent = dict(headers or {})
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        with contextlib.closing(connection):
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            return DaemonAnswer(
                status=answer.status,
                headers={name.lower(): value for name, value in answer.getheaders()},
                body=answer.read(),
            )

    def answer_item(self, item: Mapping[str, Any], **how: Any) -> DaemonAnswer:
        """Answer an approval, and once more if a hook told meanwhile what its screen asks.

        It is the same question as long as the screen's words are the same.
        """
        answer = self._answer(item, how)
        if answer.status != 409:
            return answer
        pending = self.request("GET", "/api/approvals").data()["approvals"]
        newer = [each for each in pending if each["id"] == item["id"]]
        if not newer or newer[0].get("context") != item.get("context"):
            return answer
        return self._answer(newer[0], how)

    def _answer(self, item: Mapping[str, Any], how: Mapping[str, Any]) -> DaemonAnswer:
        path = f"/api/approvals/{item['id']}/answer"
        body = {**how, "expectFrame": item["frame"]}
        return self.request("POST", path, body, patience=3 * PATIENCE)

    def close(self) -> None:
        """End the daemon and every tmux server that it started, and remove the folder."""
        unregister_source(self)
        if self._child is not None and self._child.alive():
            self.kill()
        for socket in sorted((self.data / "mux").glob("*.sock")):
            _end_tmux(socket)
        shutil.rmtree(self.folder, ignore_errors=True)

    def cases_of(self, account: str) -> Path:
        """The folder of an account's cases, by what the database says."""
        path = f"{(self.data / 'tservice.db').as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True)) as database:
            sql = "SELECT id FROM accounts WHERE username = ?"
            (found,) = database.execute(sql, (account,)).fetchone()
        return self.folder / "cases" / ACCOUNTS / str(found)

    def _evidence(self) -> Files:
        yield "daemon.log", self.log.encode()
        yield from read_screens(self.data / "mux")

    def _running(self) -> _TwistdProcess:
        if self._child is None:
            raise AssertionError("no daemon was started")
        return self._child

    def environ(self) -> dict[str, str]:
        """The whole environment of the daemon."""
        return {
            **self._basis(),
            "HOME": str(self.home),
            "TMPDIR": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "SERVICE_DATA_DIR": str(self.data),
            "SERVICE_CASES_DIR": str(self.folder / "cases"),
            **self.environment,
        }

    def _basis(self) -> dict[str, str]:
        """What every interpreter of a daemon starts with."""
        return {
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "default::DeprecationWarning,default::RuntimeWarning",
        }


def name_pane_variables(*names: str) -> str:
    """A value of C{SERVICE_PANE_ENV} that has agents unpack their libraries in the daemon's folder.

    An agent that is killed leaves them; in /tmp they would stay.
    """
    return ",".join((*names, "TMPDIR"))


def job_in(case: str, prompt: str) -> dict[str, Any]:
    """The body of a scheduled job in a case: a shell that is told C{prompt}."""
    return {
        "name": f"in {case}",
        "agentType": "shell",
        "caseName": case,
        "promptMode": "inline_text",
        "promptText": prompt,
        "inputMode": "paste",
        "scheduleType": "interval",
        "intervalMinutes": 60,
        "enabled": True,
        "concurrencyPolicy": "warn_only",
    }


def _executed(
    command: Sequence[str], environ: Mapping[str, str], folder: Path
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


class _TwistdProcess:
    """One C{twistd} process, and a thread that collects what it prints."""

    def __init__(self, process: subprocess.Popen[bytes] | LaunchedProcess) -> None:
        self._process = process
        self.pid = self._process.pid
        self._changed = threading.Condition()
        self._printed: dict[str, str] = {"stdout": "", "stderr": ""}
        self._begun = dict.fromkeys(self._printed, b"")
        self._pipes: dict[str, Any] = {name: getattr(self._process, name) for name in self._printed}
        for pipe in self._pipes.values():
            os.set_blocking(pipe.fileno(), False)
        self._threads = [
            threading.Thread(target=self._read, args=(name, pipe))
            for name, pipe in self._pipes.items()
        ]
        for thread in self._threads:
            thread.start()

    def text(self) -> str:
        """All that it has printed by now, also what no thread has come to read yet."""
        with self._changed:
            for name, pipe in self._pipes.items():
                self._take(name, pipe)
            return self._printed["stdout"] + self._printed["stderr"]

    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found: list[re.Match[str]] = []

        def seen() -> bool:
            found[:] = [match for match in [pattern.search(self._printed["stdout"])] if match]
            return bool(found) or not self._pipes

        with self._changed:
            self._changed.wait_for(seen, PATIENCE)
        if not found:
            raise AssertionError(f"no {pattern.pattern!r} in the log:\n{self.text()}")
        return found[0]

    def ended(self) -> tuple[int, str, str]:
        try:
            status = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"it did not end:\n{self.text()}") from None
        for thread in self._threads:
            thread.join(PATIENCE)
        return status, self._printed["stdout"], self._printed["stderr"]

    def _read(self, name: str, pipe: Any) -> None:
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        while name in self._pipes:
            poller.poll()
            with self._changed:
                if not self._take(name, pipe):
                    self._printed[name] += self._begun[name].decode("utf-8", "replace")
                    del self._pipes[name]
                    pipe.close()
                self._changed.notify_all()

    def _take(self, name: str, pipe: Any) -> bool:
        """Take the lines that are there; whether more may come."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(pipe.fileno(), 65536):
                lines, end, begun = (self._begun[name] + data).rpartition(b"\n")
                self._printed[name] += (lines + end).decode("utf-8", "replace")
                self._begun[name] = begun
            return False
        return True


def _end_tmux(socket: Path) -> None:
    """End one server, and wait until it is gone."""
    found = subprocess.run(
        ["tmux", "-S", str(socket), "display-message", "-p", "#{pid}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    subprocess.run(
        ["tmux", "-S", str(socket), "kill-server"],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    if found.stdout.strip().isdigit():
        _see_it_gone(int(found.stdout))


def _see_it_gone(pid: int) -> None:
    """A server that still has a client with unread output waits for it: then end it."""
    try:
        wait_until_gone(pid, 2.0)
    except AssertionError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until_gone(pid)


def wait_until_gone(pid: int, patience: float = PATIENCE) -> None:
    """Wait until a process that is no child of ours has ended and left the process table.

    @raise AssertionError: it goes on.
    """
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            ended, _, _ = select.select([descriptor], [], [], patience)
        finally:
            os.close(descriptor)
        if not ended:
            raise AssertionError(f"process {pid} goes on")
    # Some containers' first process is slow to collect the dead, and nothing tells of that.
    for _ in range(int(PATIENCE / 0.02)):
        if not Path(f"/proc/{pid}").exists():
            return
        threading.Event().wait(0.02)
    raise AssertionError(f"process {pid} was never collected")


class DaemonCase(SynchronousTestCase):
    """A test with daemons of its own."""

    def daemon(self, **environment: str) -> DaemonHarness:
        """One that is not started yet, and is ended with the test."""
        daemon = DaemonHarness(**environment)
        self.addCleanup(daemon.close)
        return daemon

    def refused(
        self, daemon: DaemonHarness, *options: str, listen: tuple[str, ...] = (LOOPBACK,)
    ) -> str:
        """The one line on stderr of a start that must fail."""
        status, _, stderr = daemon.run(*options, listen=listen)
        self.assertEqual(1, status)
        self.assertEqual(1, len(stderr.splitlines()), stderr)
        return stderr
