"""One git process in a session of its own, with bounds on its time and output."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IDelayedCall, IProcessTransport, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

GRACE = 1.0
"""Seconds that pipes may stay open behind the end of their process."""
STDERR_LIMIT = 4096
"""Bytes of stderr kept: the first ones."""

KillGroup = Callable[[int, int], None]
Sink = Callable[[bytes], bool]
"""Takes output as it comes; false when there was enough of it."""


@frozen(kw_only=True)
class Ending:
    """How a process ended.

    @ivar status: the exit status; C{None} after a signal.
    @ivar timed_out: it was ended because its time was up.
    @ivar enough: it was ended because its sink wanted no more.
    @ivar fault: the sink could not make sense of the output.
    """

    status: int | None
    timed_out: bool = False
    enough: bool = False
    fault: Exception | None = None
    stderr: bytes = b""


class GitProcess(ProcessProtocol):
    """One run; whoever started it waits for C{ended}.

    There is nothing that git could lose, since it only reads: ending it is a C{KILL} for its
    whole group.
    """

    transport: IProcessTransport

    def __init__(
        self, clock: IReactorTime, timeout: float, sink: Sink, kill_group: KillGroup = os.killpg
    ) -> None:
        self.ended: Deferred[Ending] = Deferred()
        self._clock = clock
        self._timeout = timeout
        self._sink = sink
        self._kill_group = kill_group
        self._group: int | None = None
        self._stderr = b""
        self._timed_out = self._enough = False
        self._fault: Exception | None = None
        self._timers: list[IDelayedCall] = []

    def connectionMade(self) -> None:
        self._group = self.transport.pid
        self.transport.closeStdin()
        self._timers.append(self._clock.callLater(self._timeout, self._expire))

    def outReceived(self, data: bytes) -> None:
        if self._enough:
            return
        try:
            self._enough = not self._sink(data)
        except Exception as error:
            self._fault, self._enough = error, True
        if self._enough:
            self.kill()

    def errReceived(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[:STDERR_LIMIT]

    def processExited(self, reason: Failure) -> None:
        # Whatever it left behind ends with it, and may not hold the pipes open for ever.
        self.kill()
        self._timers.append(self._clock.callLater(GRACE, self.transport.loseConnection))

    def processEnded(self, reason: Failure) -> None:
        for timer in self._timers:
            if timer.active():
                timer.cancel()
        ending = Ending(
            status=_status(reason),
            timed_out=self._timed_out,
            enough=self._enough,
            fault=self._fault,
            stderr=self._stderr,
        )
        self.ended.callback(ending)

    def kill(self) -> None:
        """End the whole group; harmless when it is over."""
        if self._group is None:
            return
        try:
            self._kill_group(self._group, signal.SIGKILL)
        except ProcessLookupError:
            # It may not have made its group yet.
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")

    def _expire(self) -> None:
        self._timed_out = True
        self.kill()


def _status(reason: Failure) -> int | None:
    if isinstance(reason.value, ProcessTerminated):
        status: int | None = reason.value.exitCode
        return status
    return 0
