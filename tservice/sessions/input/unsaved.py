"""Numbers of keys that the pane's mark alone has yet (protocol-exactly-once).

A key waits for no disk: its number is in the mark that the pane's server keeps, and outlives this
process there.  The mark is one a pane, so a number is written before anything else is typed there
by anybody else, and otherwise when L{SETTLE} has passed.
"""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.disk import NotKept

SETTLE = 1.0
"""Seconds after a key was typed until its number is on the disk, however long the typing lasts."""

Write = Callable[[str, str, int], None]
"""Writes a session's, client's number; raises L{NotKept} where it cannot even be owed."""


class UnsavedNumbers:
    """At most one client's number a session, and only of what was typed whole."""

    _log = Logger()

    def __init__(self, clock: IReactorTime, write: Write) -> None:
        self._clock = clock
        self._write = write
        self._numbers: dict[str, tuple[str, int]] = {}
        self._timer: IDelayedCall | None = None

    def number(self, session_id: str, client_id: str) -> int | None:
        """That client's, if it is the one."""
        client, seq = self._numbers.get(session_id, (None, None))
        return seq if client == client_id else None

    def put(self, session_id: str, client_id: str, seq: int) -> None:
        """The pane's mark tells this number now; the client before was settled."""
        self._numbers[session_id] = (client_id, seq)
        if self._timer is None:
            self._timer = self._clock.callLater(SETTLE, self._due)

    def settle(self, session_id: str, but_of: str | None = None) -> None:
        """Write the session's number, unless it is of the client C{but_of}.

        @raise NotKept: it is still unsaved.
        """
        found = self._numbers.get(session_id)
        if found is not None and found[0] != but_of:
            self._write(session_id, *found)
            del self._numbers[session_id]

    def drop(self, session_id: str) -> None:
        """The session is over."""
        self._numbers.pop(session_id, None)

    def close(self) -> None:
        """Write everything; what is not taken is still with the panes."""
        if self._timer is not None:
            self._timer.cancel()
        self._due(again=False)

    def _due(self, *, again: bool = True) -> None:
        self._timer = None
        for session_id in tuple(self._numbers):
            try:
                self.settle(session_id)
            except NotKept as error:
                self._log.info("numbers of {id} wait: {why}", id=session_id, why=str(error))
        if self._numbers and again:
            self._timer = self._clock.callLater(SETTLE, self._due)
