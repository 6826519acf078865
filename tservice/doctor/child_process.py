"""Process protocol of the doctor's child process, for the daemon."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IProcessTransport, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.timers import cancel_call
from tservice.doctor.child_launch import REPORT_LIMIT, TIME_LIMIT, parse_report

PIPE_SECONDS = 1.0
"""Seconds for which the pipes may stay open after the end of the child process.

Processes that the child has left may hold them.
"""
ERROR_LIMIT = 2000
"""Maximum bytes of standard error that are kept for the log."""

KillGroup = Callable[[int, int], None]


class DoctorProcess(ProcessProtocol):
    """Protocol of one run of the child process.

    @ivar report: fires with the report, or with C{None} if there is none.
    @ivar ended: fires after the process has ended and its pipes are closed.
    """

    transport: IProcessTransport

    def __init__(self, clock: IReactorTime, kill_group: KillGroup = os.killpg) -> None:
        self._clock = clock
        self._kill_group = kill_group
        self._printed = b""
        self.errors = b""
        self.report: Deferred[dict[str, Any] | None] = Deferred()
        self.ended: Deferred[None] = Deferred()
        self._timers: list[IDelayedCall] = []
        self._order = b""

    def set_request(self, order: bytes) -> None:
        """Set the request that is written to the child's stdin."""
        self._order = order

    def kill_group(self) -> None:
        """Kill the child process and its descendants.

        Harmless if they have already ended.
        """
        pid = self.transport.pid
        if pid is None:
            return
        try:
            self._kill_group(pid, signal.SIGKILL)
        except ProcessLookupError:
            # It is not the leader of a group yet.
            self.transport.signalProcess("KILL")

    def connectionMade(self) -> None:
        self.transport.write(self._order)
        self.transport.closeStdin()
        self._timers.append(self._clock.callLater(TIME_LIMIT, self.kill_group))

    def outReceived(self, data: bytes) -> None:
        self._printed += data
        if b"\n" in data:
            self._fire_report(parse_report(self._printed))
        elif len(self._printed) > REPORT_LIMIT:
            self._printed = b""
            self._fire_report(None)
            self.kill_group()

    def errReceived(self, data: bytes) -> None:
        self.errors = (self.errors + data)[-ERROR_LIMIT:]

    def processExited(self, reason: Failure) -> None:
        # A process outside of the group may hold the pipes for ever.
        self._timers.append(self._clock.callLater(PIPE_SECONDS, self.transport.loseConnection))

    def processEnded(self, reason: Failure) -> None:
        for timer in self._timers:
            cancel_call(timer)
        self._fire_report(None)
        self.ended.callback(None)

    def _fire_report(self, report: dict[str, Any] | None) -> None:
        if not self.report.called:
            self.report.callback(report)
