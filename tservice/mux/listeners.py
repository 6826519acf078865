"""Registry of the listeners of a pane."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.kernel.listeners import ListenerList
from tservice.mux.interface import IPaneListener, PaneExit


class PaneListeners:
    """Registry that sends each event to every listener of one pane, in the order of registration.

    An exception of a listener is logged, and the other listeners are still called. A pane ends
    once: after the first call of L{notify_exited} or L{notify_lost}, later calls do nothing.
    """

    def __init__(self) -> None:
        self._listeners = ListenerList[IPaneListener]("a pane")
        self._over = False

    def add(self, listener: IPaneListener) -> Callable[[], None]:
        """Add a listener; the returned function removes it and may be called twice."""
        return self._listeners.add(listener)

    def clear(self) -> None:
        """Remove all listeners."""
        self._listeners.clear()

    def notify_exited(self, ending: PaneExit) -> None:
        """Notify the listeners that the pane's process has ended."""
        if not self._over:
            self._over = True
            self._listeners.notify_all(lambda listener: listener.pane_exited(ending))

    def notify_lost(self) -> None:
        """Notify the listeners that the pane's server is gone."""
        if not self._over:
            self._over = True
            self._listeners.notify_all(lambda listener: listener.pane_lost())

    def notify_resized(self, cols: int, rows: int) -> None:
        """Notify the listeners that the pane has a new size."""
        self._listeners.notify_all(lambda listener: listener.pane_resized(cols, rows))

    def notify_titled(self, title: str) -> None:
        """Notify the listeners that the program set the terminal's title."""
        self._listeners.notify_all(lambda listener: listener.pane_titled(title))
