"""Client of the fork server, which starts git without blocking the reactor."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import (
    IDelayedCall,
    IProcessTransport,
    IReactorProcess,
    IReactorTime,
)
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.timers import cancel_call
from tservice.git import fork_server
from tservice.git.fork_server import (
    ENDED,
    ERRORS,
    FAILED,
    HEAD,
    KILL,
    OUTPUT,
    START,
    STATUS,
    ForkFrameDecoder,
)

IDLE_SECONDS = 60.0
"""Seconds without a process after which a fork server is stopped."""

STOP_SECONDS = 3.0
"""Seconds that a stopped fork server has to exit before it is killed."""

LOST = "the fork server ended"

MAX_LOGGED = 20
"""Maximum number of different error lines of fork servers that are logged."""


class _IdleCallback(Protocol):
    def __call__(self, *, failed: bool) -> None:
        """Handle the end of the fork server's last process.

        @param failed: true if a process could not be started.
        """


class ProcessCallbacks(Protocol):
    """Callbacks that receive the output and the end of one process."""

    def stdout_received(self, data: bytes) -> None:
        """Receive bytes of the process's standard output."""

    def stderr_received(self, data: bytes) -> None:
        """Receive bytes of the process's standard error."""

    def process_ended(self, status: int) -> None:
        """Handle the end of the process.  No other callback follows.

        @param status: the exit status; a negative number is a signal.
        """

    def process_failed(self, reason: str) -> None:
        """Handle a failed start, or an end of unknown status.  No other callback follows."""


class ForkServerClient:
    """Starts processes through a fork server, which runs only while it has processes to run.

    Every process is killed when its fork server ends.  The fork server ends with the service, even
    after a crash.
    """

    _log = Logger()

    def __init__(
        self, clock: IReactorTime, processes: IReactorProcess, *, alone: bool = False
    ) -> None:
        """@param alone: true if only git is started.  If the kernel supports it, the fork server
        then cannot run any other program.
        """
        self._clock = clock
        self._processes = processes
        self._alone = alone
        self._said: set[str] = set()
        self._server: _ForkServerProtocol | None = None
        self._last = 0
        self._resting: IDelayedCall | None = None

    def start_process(
        self,
        run: ProcessCallbacks,
        argv: list[bytes],
        env: dict[bytes, bytes],
        uid: int | None = None,
        gid: int | None = None,
        within: bytes | None = None,
    ) -> int:
        """Start C{argv} as the leader of a new session.

        @param run: receives the output and the end of the process.
        @param uid: user id of the process, which gets no supplementary groups; C{None} means the
            user of this process.
        @param within: the only folder that the process can read and write if the kernel has
            Landlock.
        @return: number of the process, for L{kill_process}.
        @raise OSError: the fork server cannot be started.
        """
        self._cancel_stop()
        if self._server is None:
            self._server = self._start_server(argv[0])
        self._last = (self._last + 1) % 2**32
        self._server.start_process(
            self._last, run, fork_server.encode_start(argv, env, uid, gid, within)
        )
        return self._last

    def kill_process(self, number: int) -> None:
        """Send SIGKILL to a process and its group.  Harmless if it has already ended."""
        if self._server is not None:
            self._server.kill_process(number)

    def stop(self) -> Deferred[None]:
        """Kill all processes and the fork server.

        The result fires after the fork server has ended.
        """
        self._cancel_stop()
        server, self._server = self._server, None
        return succeed(None) if server is None else server.close_server()

    def _start_server(self, program: bytes) -> _ForkServerProtocol:
        server = _ForkServerProtocol(
            self._clock, self._schedule_stop, self._handle_server_end, self._log_new_line
        )
        own = [sys.executable, "-I", "-S", fork_server.__file__]
        argv = [*map(os.fsencode, own), *([program] if self._alone else [])]
        self._processes.spawnProcess(server, argv[0], argv, env={})
        return server

    def _log_new_line(self, text: str) -> None:
        """Log an error line, unless it was logged before.

        Each fork server may print the same line.
        """
        if text not in self._said and len(self._said) < MAX_LOGGED:
            self._said.add(text)
            self._log.error("the fork server: {text}", text=text)

    def _schedule_stop(self, *, failed: bool) -> None:
        """Stop the fork server after L{IDLE_SECONDS} without a process.

        @param failed: true if a process could not be started.  Git may have been updated, and the
            running fork server cannot run the new program.
        """
        if self._server is not None:
            rest = 0.0 if failed and self._alone else IDLE_SECONDS
            self._resting = self._clock.callLater(rest, self.stop)

    def _handle_server_end(self, server: _ForkServerProtocol) -> None:
        if self._server is server:
            self._server = None
            self._cancel_stop()

    def _cancel_stop(self) -> None:
        cancel_call(self._resting)
        self._resting = None


class _ForkServerProtocol(ProcessProtocol):
    """Process protocol of one fork server."""

    transport: IProcessTransport

    def __init__(
        self,
        clock: IReactorTime,
        idle: _IdleCallback,
        gone: Callable[[_ForkServerProtocol], None],
        tell: Callable[[str], None],
    ) -> None:
        self._clock = clock
        self._idle = idle
        self._gone = gone
        self._tell = tell
        self._failed = False
        self._frames = ForkFrameDecoder()
        self._runs: dict[int, ProcessCallbacks] = {}
        self._left: Deferred[None] = Deferred()
        self._late: IDelayedCall | None = None

    def start_process(self, number: int, run: ProcessCallbacks, order: bytes) -> None:
        self._runs[number] = run
        self._send_request(number, START, order)

    def kill_process(self, number: int) -> None:
        if number in self._runs:
            self._send_request(number, KILL)

    def close_server(self) -> Deferred[None]:
        self.transport.closeStdin()
        self._late = self._clock.callLater(STOP_SECONDS, self._kill_server)
        return self._left

    def outReceived(self, data: bytes) -> None:
        for number, kind, payload in self._frames.feed_bytes(data):
            self._handle_frame(number, kind, payload)

    def errReceived(self, data: bytes) -> None:
        self._tell(data.decode("utf-8", "replace").strip())

    def processEnded(self, reason: Failure) -> None:
        cancel_call(self._late)
        self._gone(self)
        runs, self._runs = self._runs, {}
        for run in runs.values():
            run.process_failed(LOST)
        self._left.callback(None)

    def _kill_server(self) -> None:
        with suppress(ProcessExitedAlready):
            self.transport.signalProcess("KILL")

    def _send_request(self, number: int, kind: int, payload: bytes = b"") -> None:
        self.transport.write(HEAD.pack(number, kind, len(payload)) + payload)

    def _handle_frame(self, number: int, kind: int, payload: bytes) -> None:
        run = self._runs[number]
        if kind == OUTPUT:
            run.stdout_received(payload)
        elif kind == ERRORS:
            run.stderr_received(payload)
        elif kind == ENDED:
            self._remove_run(number)
            run.process_ended(STATUS.unpack(payload)[0])
        elif kind == FAILED:
            self._failed = True
            self._remove_run(number)
            run.process_failed(payload.decode())

    def _remove_run(self, number: int) -> None:
        del self._runs[number]
        if not self._runs:
            self._idle(failed=self._failed)
