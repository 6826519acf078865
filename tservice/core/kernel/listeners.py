"""Lists of callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from twisted.logger import Logger

T = TypeVar("T")


class ListenerList(Generic[T]):
    """List of listeners that are called in the order in which they were added.

    An exception of a listener is logged and does not affect the others.
    """

    _log = Logger()

    def __init__(self, what: str) -> None:
        """@param what: describes the notifications in the log."""
        self._what = what
        self._listeners: dict[object, T] = {}

    def __len__(self) -> int:
        return len(self._listeners)

    def add(self, listener: T) -> Callable[[], None]:
        """Add C{listener}.

        @return: a function that removes it and may be called twice.
        """
        key = object()
        self._listeners[key] = listener

        def remove() -> None:
            self._listeners.pop(key, None)

        return remove

    def clear(self) -> None:
        """Remove all listeners."""
        self._listeners.clear()

    def notify_all(self, call: Callable[[T], object]) -> None:
        """Run C{call} with each listener, including listeners that are removed during the loop."""
        for listener in tuple(self._listeners.values()):
            try:
                call(listener)
            except Exception:
                self._log.failure("a listener of {what} failed", what=self._what)
