"""Starts daemons without importing the program anew for each.

Four fifths of a daemon's start is imports. A child of the tests' process has them behind it and
forks, on request, a process that becomes C{twistd}: with its own environment, folder, output and
process group. A start that is looked at itself is a real one (C{DaemonHarness.preloaded}).
"""

from __future__ import annotations

import array
import atexit
import ctypes
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HERE = "thread-self"
"""As /proc calls the thread that asks, in whose namespaces a program starts by itself."""
ENTERED = ("mnt", "net", "uts", "ipc")
"""Namespaces that a test may have left for others; who is forked enters those of its test."""
STAYED = ("pid", "user")
"""Those that no running process can enter: each has a preloaded process of its own."""


class LaunchedProcess:
    """One process, as C{subprocess.Popen} shows it.

    @ivar pid: its process and its group.
    @ivar returncode: how it ended, negative for a signal; C{None} before.
    """

    def __init__(self, pid: int, stdout: IO[bytes], stderr: IO[bytes], status: int) -> None:
        self.pid = pid
        self.stdout = stdout
        self.stderr = stderr
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """How it ended, if it has."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """How it ended.

        @raise subprocess.TimeoutExpired: it has not, for so many seconds.
        """
        found = self._ended(timeout)
        if found is None:
            raise subprocess.TimeoutExpired("twistd", timeout or 0)
        return found

    def send_signal(self, number: int) -> None:
        """Signal it, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, patience: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], patience)[0]:
            told = os.read(self._status, 64)
            os.close(self._status)
            self.returncode = os.waitstatus_to_exitcode(int(told))
        return self.returncode


class ProcessLaunchpad:
    """The preloaded process, and the socket on which it is asked."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._around = _namespaces(ENTERED, HERE)
        ours, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.daemon_launcher", str(its.fileno())],
                cwd=ROOT,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
            )
        self._socket = ours
        atexit.register(self.close)

    def launch(
        self, words: Sequence[str], environ: Mapping[str, str], folder: Path, where: str = HERE
    ) -> LaunchedProcess:
        """Have C{twistd} started with C{words}, in the namespaces of a process."""
        asked = json.dumps({"argv": list(words), "environ": dict(environ), "cwd": str(folder)})
        pipes = [os.pipe() for _ in range(3)]
        others = [
            os.open(_namespace(name, where), os.O_RDONLY)
            for name, found in _namespaces(ENTERED, where).items()
            if found != self._around[name]
        ]
        given = array.array("i", [*(write for _, write in pipes), *others])
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)]
        body = asked.encode()
        self._socket.sendmsg([len(body).to_bytes(4, "big")], rights)
        self._socket.sendall(body)
        for number in given:
            os.close(number)
        if not select.select([self._socket], [], [], 2 * PATIENCE)[0]:
            raise AssertionError("the process that starts daemons does not answer")
        told = self._socket.recv(4, socket.MSG_WAITALL)
        if len(told) < 4:
            raise AssertionError("the process that starts daemons is gone")
        pid = int.from_bytes(told, "big")
        out, err, status = (read for read, _ in pipes)
        return LaunchedProcess(pid, os.fdopen(out, "rb"), os.fdopen(err, "rb"), status)

    def close(self) -> None:
        """End the preloaded process; what it started goes on."""
        self._socket.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def launchpad(environ: Mapping[str, str]) -> ProcessLaunchpad:
    """The one of this process for daemons that are to start with C{environ}, where it is now."""
    return _launchpad(*_namespaces(STAYED, HERE).values(), *environ.items())


@functools.cache
def _launchpad(*key: Any) -> ProcessLaunchpad:
    return ProcessLaunchpad(dict(key[len(STAYED) :]))


def _namespace(name: str, where: str) -> str:
    return f"/proc/{where}/ns/{name}"


def _namespaces(names: Sequence[str], where: str) -> dict[str, str]:
    """Those of a process, by their names."""
    return {name: os.readlink(_namespace(name, where)) for name in names}


def _enter(namespaces: Sequence[int]) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    for number in namespaces:
        if library.setns(number, 0):
            wrong = ctypes.get_errno()
            raise OSError(wrong, f"setns: {os.strerror(wrong)}")


def _become_twistd(asked: dict[str, Any], out: int, err: int, held: Sequence[int]) -> NoReturn:
    """In the new process: what C{exec} would have set, and the reactor as if just imported."""
    os.setsid()
    os.dup2(out, 1)
    os.dup2(err, 2)
    # Its poll object and its waker must not be shared with any other process.
    reactor: Any = importlib.import_module("twisted.internet.reactor")
    reactor.__init__()
    for number in (out, err, *held):
        os.close(number)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    time.tzset()
    sys.argv = ["twistd", *asked["argv"]]
    gc.enable()
    from twisted.scripts.twistd import run

    run()
    sys.exit(0)


def _fork(control: socket.socket, running: dict[int, int], wakers: Sequence[int]) -> bool:
    """Start what is asked for; whether anything was."""
    room = socket.CMSG_SPACE(array.array("i").itemsize * (3 + len(ENTERED)))
    head, rights, _, _ = control.recvmsg(4, room)
    if len(head) < 4:
        return False
    asked = json.loads(control.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
    given = array.array("i")
    given.frombytes(rights[0][2])
    out, err, status, *namespaces = given
    pid = os.fork()
    if not pid:
        _enter(namespaces)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        held = (status, *namespaces, control.detach(), *wakers, *running.values())
        _become_twistd(asked, out, err, held)
    for number in (out, err, *namespaces):
        os.close(number)
    running[pid] = status
    control.sendall(pid.to_bytes(4, "big"))
    return True


def _reap(running: dict[int, int]) -> None:
    """Tell of every process that ended how it did."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        told = running.pop(pid)
        os.write(told, str(status).encode())
        os.close(told)


def main(control: socket.socket) -> None:
    """Preload, then fork what is asked for until the tests' process is gone."""
    gc.disable()
    for name in ("twisted.scripts.twistd", "tservice.tap.assembly"):
        importlib.import_module(name)
    gc.freeze()
    woken, waker = os.pipe()
    for end in (woken, waker):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, int] = {}
    asked = True
    while asked:
        ready = select.select([control.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 512)
            _reap(running)
        if control.fileno() in ready:
            asked = _fork(control, running, (woken, waker))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
