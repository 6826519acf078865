"""Who listens to a pane."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.listeners import Listeners
from tservice.mux.interface import IPaneListener, PaneExit


class PaneListeners:
    """Tells each event to every listener of one pane, in the order in which they came.

    A listener that raises is logged and does not keep the others from hearing.  A pane ends
    once: after the first of L{exited} and L{lost} neither is told again.
    """

    def __init__(self) -> None:
        self._listeners = Listeners[IPaneListener]("a pane")
        self._over = False

    def add(self, listener: IPaneListener) -> Callable[[], None]:
        """Start telling C{listener}; the returned function ends it and may be called twice."""
        return self._listeners.add(listener)

    def clear(self) -> None:
        """Forget everyone."""
        self._listeners.clear()

    def exited(self, ending: PaneExit) -> None:
        """The process is over."""
        if not self._over:
            self._over = True
            self._listeners.tell(lambda listener: listener.pane_exited(ending))

    def lost(self) -> None:
        """The server is gone."""
        if not self._over:
            self._over = True
            self._listeners.tell(lambda listener: listener.pane_lost())

    def resized(self, cols: int, rows: int) -> None:
        """A size was applied."""
        self._listeners.tell(lambda listener: listener.pane_resized(cols, rows))

    def titled(self, title: str) -> None:
        """The program set its title."""
        self._listeners.tell(lambda listener: listener.pane_titled(title))
