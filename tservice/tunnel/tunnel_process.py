"""Process of the tunnel program: it yields the public address, and is terminated with its process
group.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import (
    IDelayedCall,
    IProcessTransport,
    IReactorProcess,
    IReactorTime,
)
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.timers import cancel_call
from tservice.tunnel import warden
from tservice.tunnel.model import URL_SECONDS, clean_line, find_public_url

LONGEST_LINE = 16 * 1024
"""Maximum number of bytes of a line. Longer lines are cut."""

KillGroup = Callable[[int, int], None]


class TunnelError(Exception):
    """Error for a tunnel that could not be opened or has ended. Its text is safe to show to
    clients.
    """


class LineSplitter:
    """Splitter of a byte stream into lines."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._rest = b""

    def process_bytes(self, data: bytes) -> None:
        """Process the next bytes, and report each completed line."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-LONGEST_LINE:]
        for line in lines:
            self._on_line(line[-LONGEST_LINE:].decode("utf-8", "replace"))


class TunnelProcess(ProcessProtocol):
    """Single run of the tunnel program under the supervisor L{warden}."""

    transport: IProcessTransport

    def __init__(self, clock: IReactorTime, kill_group: KillGroup = os.killpg) -> None:
        self._clock, self._kill_group = clock, kill_group
        self._out, self._err = LineSplitter(self._handle_line), LineSplitter(self._handle_line)
        self._group: int | None = None
        self._last = ""
        self._found: str | None = None
        self._failure: TunnelError | None = None
        self._has_ended = False
        self._is_terminating = False
        self._timers: list[IDelayedCall] = []
        self._awaiting_url: list[Deferred[str]] = []
        self._awaiting_end: list[Deferred[None]] = []

    def start(
        self, processes: IReactorProcess, argv: tuple[str, ...], env: Mapping[str, str], cwd: Path
    ) -> None:
        """Run the command C{argv} without a shell.

        @param argv: program and arguments. The program is an absolute path.
        @raise OSError: the process could not be started.
        """
        words = [sys.executable, "-I", "-S", warden.__file__, *argv]
        processes.spawnProcess(self, words[0], words, env=dict(env), path=str(cwd))

    def wait_url(self) -> Deferred[str]:
        """Return a Deferred that fires with the public address, or fails with L{TunnelError}.

        Cancelling the Deferred does not stop the process.
        """
        if self._failure is not None:
            return fail(self._failure)
        if self._found is not None:
            return succeed(self._found)
        waiter: Deferred[str] = Deferred()
        self._awaiting_url.append(waiter)
        return waiter

    def wait_ended(self) -> Deferred[None]:
        """Return a Deferred that fires once all processes of the tunnel have ended.

        Cancelling the Deferred does not stop the processes.
        """
        if self._has_ended:
            return succeed(None)
        waiter: Deferred[None] = Deferred()
        self._awaiting_end.append(waiter)
        return waiter

    @property
    def has_started(self) -> bool:
        """True if the process was started."""
        return self._group is not None

    @property
    def reason(self) -> str:
        """Reason why the tunnel ended, for an error text."""
        return "it ended" if self._failure is None else str(self._failure)

    def terminate(self) -> Deferred[None]:
        """Send SIGTERM to the process group, and SIGKILL 3 s later. Return the Deferred of
        L{wait_ended}.
        """
        if not self._has_ended and not self._is_terminating:
            self._is_terminating = True
            self._signal_group(signal.SIGTERM)
            self._call_later(warden.GRACE, self._signal_group, signal.SIGKILL)
        return self.wait_ended()

    def connectionMade(self) -> None:
        self._group = self.transport.pid
        self._call_later(
            URL_SECONDS, self._fail_waiters, f"it printed no https address within {URL_SECONDS:g} s"
        )

    def outReceived(self, data: bytes) -> None:
        self._out.process_bytes(data)

    def errReceived(self, data: bytes) -> None:
        self._err.process_bytes(data)

    def processExited(self, reason: Failure) -> None:
        # Only processes left in its group can still hold the pipes open.
        self._signal_group(signal.SIGKILL)
        self._call_later(warden.GRACE, self.transport.loseConnection)

    def processEnded(self, reason: Failure) -> None:
        for timer in self._timers:
            cancel_call(timer)
        self._has_ended = True
        self._fail_waiters(self._describe_end(reason))
        waiting, self._awaiting_end = self._awaiting_end, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(None)

    def _handle_line(self, line: str) -> None:
        if line.strip():
            self._last = line
        found = None if self._found is not None else find_public_url(line)
        if found is None:
            return
        self._found = found
        waiting, self._awaiting_url = self._awaiting_url, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(found)

    def _fail_waiters(self, why: str) -> None:
        if self._failure is not None or (self._found is not None and not self._has_ended):
            return
        said = f"; its last output: {clean_line(self._last)}" if self._last else ""
        self._failure = TunnelError(why + said)
        waiting, self._awaiting_url = self._awaiting_url, []
        for waiter in waiting:
            if not waiter.called:
                waiter.errback(self._failure)

    def _describe_end(self, reason: Failure) -> str:
        if not isinstance(reason.value, ProcessTerminated):
            return "it ended"
        status, number = reason.value.exitCode, reason.value.signal
        if status is not None and status > warden.SIGNALLED:
            number = status - warden.SIGNALLED
        if number is not None:
            return f"it was killed by signal {number}"
        return f"it ended with status {status}"

    def _signal_group(self, number: int) -> None:
        if self._group is None:
            return
        try:
            self._kill_group(self._group, number)
        except ProcessLookupError:
            # It has not created its group yet, or the group is empty.
            if self.transport.pid is not None:
                with suppress(ProcessExitedAlready):
                    self.transport.signalProcess(number)

    def _call_later(self, seconds: float, call: Callable[..., object], *args: object) -> None:
        self._timers.append(self._clock.callLater(seconds, call, *args))
