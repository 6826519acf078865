"""Git process with limits on its time and output."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.timers import cancel_call

STDERR_LIMIT = 4096
"""Number of leading bytes of standard error that are kept."""

KILL_SECONDS = 5.0
"""Seconds to wait for a process to end after SIGKILL.

A process that is blocked on a hung mount does not end.
"""

Sink = Callable[[bytes], bool]
"""Callback that receives output as it arrives.

It returns false when it wants no more.
"""


@frozen(kw_only=True)
class GitProcessResult:
    """Result of a process.

    @ivar status: the exit status; a negative number is a signal; C{None} if the process was not
        started or its status is unknown.
    @ivar reason: the reason why C{status} is C{None}.
    @ivar timed_out: true if the process exceeded its time limit and was killed.
    @ivar enough: true if the process was killed because its sink wanted no more output.
    @ivar fault: the error that the sink raised while parsing the output.
    """

    status: int | None
    reason: str = ""
    timed_out: bool = False
    enough: bool = False
    fault: Exception | None = None
    stderr: bytes = b""


class GitProcess:
    """Single run of git.  The caller waits for C{ended}.

    Git only reads and can lose nothing, so it is killed with SIGKILL.  If it has not ended
    L{KILL_SECONDS} later, it is abandoned and its further output is ignored.
    """

    def __init__(self, clock: IReactorTime, timeout: float, sink: Sink) -> None:
        self.ended: Deferred[GitProcessResult] = Deferred()
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

        @param end: function that kills the process and its children.
        """
        self._end = end
        self._timer = self._clock.callLater(self._timeout, self._handle_timeout)

    def kill(self) -> None:
        """Kill the process.  Harmless if it has already ended."""
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
        ending = GitProcessResult(
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
