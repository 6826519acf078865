"""Git process with limits on its time and output."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.timers import cancel_call

STDERR_LIMIT = 4096
"""Bytes of stderr that are kept: the first ones."""

KILL_SECONDS = 5.0
"""Seconds to wait for a process after SIGKILL: a process that accesses a dead mount stays."""

Sink = Callable[[bytes], bool]
"""Receives output as it arrives; returns false after enough of it."""


@frozen(kw_only=True)
class ProcessEnd:
    """Result of a process.

    @ivar status: the exit status; less than 0 for a signal; C{None}: it was not started, or the
        status is unknown.
    @ivar reason: why C{status} is C{None}.
    @ivar timed_out: it was killed by its time limit.
    @ivar enough: it was killed because its sink wanted no more.
    @ivar fault: the sink could not parse the output.
    """

    status: int | None
    reason: str = ""
    timed_out: bool = False
    enough: bool = False
    fault: Exception | None = None
    stderr: bytes = b""


class GitProcess:
    """Single run of git; the caller waits for C{ended}.

    Git only reads and can lose nothing, so it is ended by SIGKILL.  A process that survives this is
    given up, and its later output is ignored.
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

    def start_timer(self, end: Callable[[], None]) -> None:
        """Start the time limit of the process.

        @param end: kills it and its children.
        """
        self._end = end
        self._timer = self._clock.callLater(self._timeout, self._handle_timeout)

    def kill(self) -> None:
        """Kill the process; harmless after its end."""
        if self._end is not None:
            self._end()
            self._end = None
            cancel_call(self._timer)
            self._timer = self._clock.callLater(
                KILL_SECONDS, self.process_failed, "it cannot be killed"
            )

    # -- ProcessCallbacks

    def stdout_received(self, data: bytes) -> None:
        if self._enough or self.ended.called:
            return
        try:
            self._enough = not self._sink(data)
        except Exception as error:
            self._fault, self._enough = error, True
        if self._enough:
            self.kill()

    def stderr_received(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[:STDERR_LIMIT]

    def process_ended(self, status: int) -> None:
        self._fire_ended(status)

    def process_failed(self, reason: str) -> None:
        self._fire_ended(None, reason)

    # -- inside

    def _fire_ended(self, status: int | None, reason: str = "") -> None:
        if self.ended.called:
            return
        self._end = None
        cancel_call(self._timer)
        ending = ProcessEnd(
            status=status,
            reason=reason,
            timed_out=self._timed_out,
            enough=self._enough,
            fault=self._fault,
            stderr=self._stderr,
        )
        self.ended.callback(ending)

    def _handle_timeout(self) -> None:
        self._timed_out = True
        self.kill()
