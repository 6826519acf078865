"""One git process, with bounds on its time and output."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.timers import cancel

STDERR_LIMIT = 4096
"""Bytes of stderr kept: the first ones."""

UNENDING = 5.0
"""Seconds after its SIGKILL that a process is waited for: one that looks at a dead mount stays."""

Sink = Callable[[bytes], bool]
"""Takes output as it comes; false when there was enough of it."""


@frozen(kw_only=True)
class ProcessEnd:
    """How a process ended.

    @ivar status: the exit status; less than 0 for a signal; C{None}: it was not started, or
        nobody knows.
    @ivar reason: why C{status} is C{None}.
    @ivar timed_out: it was ended because its time was up.
    @ivar enough: it was ended because its sink wanted no more.
    @ivar fault: the sink could not make sense of the output.
    """

    status: int | None
    reason: str = ""
    timed_out: bool = False
    enough: bool = False
    fault: Exception | None = None
    stderr: bytes = b""


class GitProcess:
    """One run; whoever started it waits for C{ended}.

    There is nothing that git could lose, since it only reads: it is ended by SIGKILL.  One that
    does not end of that is given up, and what it says later is not heard.
    """

    def __init__(self, clock: IReactorTime, timeout: float, sink: Sink) -> None:
        self.ended: Deferred[ProcessEnd] = Deferred()
        self._clock = clock
        self._timeout = timeout
        self._sink = sink
        self._end: Callable[[], None] | None = None
        self._stderr = b""
        self._timed_out = self._enough = False
        self._fault: Exception | None = None
        self._timer: IDelayedCall | None = None

    def begun(self, end: Callable[[], None]) -> None:
        """It is being started; its time runs from now on.

        @param end: ends it and everything that it started.
        """
        self._end = end
        self._timer = self._clock.callLater(self._timeout, self._expire)

    def kill(self) -> None:
        """End it; harmless when it is over."""
        if self._end is not None:
            self._end()
            self._end = None
            cancel(self._timer)
            self._timer = self._clock.callLater(UNENDING, self.failed, "it cannot be ended")

    # -- GitRun

    def printed(self, data: bytes) -> None:
        if self._enough or self.ended.called:
            return
        try:
            self._enough = not self._sink(data)
        except Exception as error:
            self._fault, self._enough = error, True
        if self._enough:
            self.kill()

    def complained(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[:STDERR_LIMIT]

    def over(self, status: int) -> None:
        self._finish(status)

    def failed(self, reason: str) -> None:
        self._finish(None, reason)

    # -- inside

    def _finish(self, status: int | None, reason: str = "") -> None:
        if self.ended.called:
            return
        self._end = None
        cancel(self._timer)
        ending = ProcessEnd(
            status=status,
            reason=reason,
            timed_out=self._timed_out,
            enough=self._enough,
            fault=self._fault,
            stderr=self._stderr,
        )
        self.ended.callback(ending)

    def _expire(self) -> None:
        self._timed_out = True
        self.kill()
