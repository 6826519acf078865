"""Observer of one session's pane and activity. It passes each event on together with the
session.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from zope.interface import implementer

from tservice.mux.interface import IPaneListener, PaneExit
from tservice.sessions.live_session import LiveSession


@frozen(kw_only=True)
class PaneEventHandlers:
    """Callbacks for events of a session. Each receives the session as its first argument.

    @ivar over: called when the process ended. If its server is gone, the exit is C{None}: unknown.
    """

    over: Callable[[LiveSession, PaneExit | None], None]
    resized: Callable[[LiveSession, int, int], None]
    working: Callable[[LiveSession, str], None]
    idle: Callable[[LiveSession, str], None]
    noted: Callable[[LiveSession, str], None]


@implementer(IPaneListener)
class PaneWatcher:
    """Listener of one session's pane, and sink of its activity source."""

    def __init__(self, live: LiveSession, handlers: PaneEventHandlers) -> None:
        self._live = live
        self._handlers = handlers

    def pane_exited(self, ending: PaneExit) -> None:
        self._handlers.over(self._live, ending)

    def pane_lost(self) -> None:
        self._handlers.over(self._live, None)

    def pane_resized(self, cols: int, rows: int) -> None:
        self._handlers.resized(self._live, cols, rows)

    def pane_titled(self, title: str) -> None:
        """Ignore titles; the activity source listens to the pane itself."""

    def report_working(self, reason: str) -> None:
        self._handlers.working(self._live, reason)

    def report_idle(self, reason: str) -> None:
        self._handlers.idle(self._live, reason)

    def report_evidence(self, reason: str) -> None:
        self._handlers.noted(self._live, reason)
