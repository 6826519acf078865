"""Hears of one session's pane and activity and passes it on, named by the session."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from zope.interface import implementer

from tservice.mux.interface import IPaneListener, PaneExit
from tservice.sessions.live import Live


@frozen(kw_only=True)
class Handlers:
    """Who is told what; each is given the session.

    @ivar over: the process ended; C{None}: its server is gone, nobody knows how it ended.
    """

    over: Callable[[Live, PaneExit | None], None]
    resized: Callable[[Live, int, int], None]
    working: Callable[[Live, str], None]
    idle: Callable[[Live, str], None]
    noted: Callable[[Live, str], None]


@implementer(IPaneListener)
class Watcher:
    """The listener of one session's pane, and the sink of its activity source."""

    def __init__(self, live: Live, handlers: Handlers) -> None:
        self._live = live
        self._handlers = handlers

    def pane_exited(self, ending: PaneExit) -> None:
        self._handlers.over(self._live, ending)

    def pane_lost(self) -> None:
        self._handlers.over(self._live, None)

    def pane_resized(self, cols: int, rows: int) -> None:
        self._handlers.resized(self._live, cols, rows)

    def pane_titled(self, title: str) -> None:
        """Titles are the activity source's business; it listens for itself."""

    def working(self, reason: str) -> None:
        self._handlers.working(self._live, reason)

    def idle(self, reason: str) -> None:
        self._handlers.idle(self._live, reason)

    def noted(self, reason: str) -> None:
        self._handlers.noted(self._live, reason)
