"""Sequence numbers of keys that are still only in the pane's mark (protocol-exactly-once).

A key does not wait for the disk. Its number is in the mark that the pane's server keeps, which
outlives this process.  A pane has one mark. So a number is written to disk before another client
types into the pane, and otherwise after L{SETTLE}.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.disk.disk_errors import DiskFull

SETTLE = 1.0
"""Seconds from a typed key until its number is on disk, even if the typing continues."""

SequenceWriter = Callable[[str, str, int], None]
"""Writes a client's sequence number of a session. Raises L{DiskFull} if it cannot be deferred
either.
"""


class UnpersistedSequences:
    """Unsaved sequence numbers, at most one client's number for each session.

    Only inputs that were typed completely have a number here.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, write: SequenceWriter) -> None:
        self._clock = clock
        self._write = write
        self._numbers: dict[str, tuple[str, int]] = {}
        self._timer: IDelayedCall | None = None

    def find_number(self, session_id: str, client_id: str) -> int | None:
        """Return the unsaved number of that client; C{None} if there is none."""
        client, seq = self._numbers.get(session_id, (None, None))
        return seq if client == client_id else None

    def put(self, session_id: str, client_id: str, seq: int) -> None:
        """Remember the number in the pane's mark. The previous client's number must be written
        before.
        """
        self._numbers[session_id] = (client_id, seq)
        if self._timer is None:
            self._timer = self._clock.callLater(SETTLE, self._write_all)

    def write_number(self, session_id: str, but_of: str | None = None) -> None:
        """Write the session's number to disk, unless it belongs to the client C{but_of}.

        @raise DiskFull: the number is still unsaved.
        """
        found = self._numbers.get(session_id)
        if found is not None and found[0] != but_of:
            self._write(session_id, *found)
            del self._numbers[session_id]

    def forget_session(self, session_id: str) -> None:
        """Forget the number of a session that ended."""
        self._numbers.pop(session_id, None)

    def close(self) -> None:
        """Write everything; numbers that the disk refuses are still in the panes' marks."""
        if self._timer is not None:
            self._timer.cancel()
        self._write_all(again=False)

    def _write_all(self, *, again: bool = True) -> None:
        self._timer = None
        for session_id in tuple(self._numbers):
            try:
                self.write_number(session_id)
            except DiskFull as error:
                self._log.info(
                    "numbers of {id} are not saved yet: {why}", id=session_id, why=str(error)
                )
        if self._numbers and again:
            self._timer = self._clock.callLater(SETTLE, self._write_all)
