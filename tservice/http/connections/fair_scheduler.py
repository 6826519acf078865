"""Fair scheduling of connections: each one may process a share of its bytes in each reactor
iteration.

Compressed data from a client can be costly to decompress, which delays other users' terminals.
Therefore all WebSockets and the connections to the targets of web tabs share a fixed budget for
each iteration.  A key press does not wait for connections with much data.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from twisted.internet.interfaces import IDelayedCall
from twisted.logger import Logger

from tservice.core.kernel.timers import cancel_call

ITERATION_BUDGET = 64
"""Number of small frames that may be processed in one reactor iteration: some milliseconds."""
CONNECTION_SHARE = 16
"""Number of small frames that one connection may process before the next connection."""


class ScheduledConnection(Protocol):
    """Connection with received bytes that wait to be processed."""

    def process_share(self) -> None:
        """Process a share of the received bytes.

        Call L{FairScheduler.queue_connection} again if bytes are left.
        """

    def abort_connection(self) -> None:
        """Abort the connection."""


class FairScheduler:
    """Scheduler of the connections of one server whose bytes wait; each is queued at most once.

    Connections with new data are queued separately from those that had a share and have more.  The
    two queues alternate, so neither waits for all of the other.
    """

    _log = Logger()

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._left = ITERATION_BUDGET
        self._come: deque[ScheduledConnection] = deque()
        self._served: deque[ScheduledConnection] = deque()
        self._lines = [self._served, self._come]
        self._next: IDelayedCall | None = None

    def has_budget_left(self) -> bool:
        """Return whether more may be processed in this reactor iteration."""
        return self._left > 0 and not self._has_waiting

    def charge_budget(self, cost: int) -> None:
        """Subtract C{cost}, a number of small frames, from the budget of this iteration."""
        self._left -= cost
        self._schedule_iteration()

    def queue_connection(self, taker: ScheduledConnection, *, again: bool = False) -> None:
        """Queue C{taker} for its next share.

        @param again: true if the connection has had a share, and has more bytes.
        """
        (self._served if again else self._come).append(taker)
        self._schedule_iteration()

    def remove_connection(self, taker: ScheduledConnection) -> None:
        """Remove C{taker} from the queues."""
        for line in self._lines:
            if taker in line:
                line.remove(taker)
        if not self._has_waiting and self._left == ITERATION_BUDGET:
            cancel_call(self._next)
            self._next = None

    @property
    def _has_waiting(self) -> bool:
        return any(self._lines)

    def _schedule_iteration(self) -> None:
        if self._next is None:
            self._next = self._reactor.callLater(0, self._run_iteration)

    def _run_iteration(self) -> None:
        self._next, self._left = None, ITERATION_BUDGET
        self._lines.reverse()
        for line in self._lines:
            while line and self._left > 0:
                self._serve_connection(line.popleft())
        if self._has_waiting:
            self._schedule_iteration()

    def _serve_connection(self, taker: ScheduledConnection) -> None:
        try:
            taker.process_share()
        except Exception:
            self._log.failure("a connection failed while processing received data")
            taker.abort_connection()
