"""Whoever is told of something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from twisted.logger import Logger

T = TypeVar("T")


class Listeners(Generic[T]):
    """Tells each of them, in the order in which they came.

    One that raises is logged and does not keep the others from hearing.
    """

    _log = Logger()

    def __init__(self, what: str) -> None:
        """@param what: they are told of, for the log."""
        self._what = what
        self._listeners: dict[object, T] = {}

    def __len__(self) -> int:
        return len(self._listeners)

    def add(self, listener: T) -> Callable[[], None]:
        """Start telling C{listener}; the returned function ends it and may be called twice."""
        key = object()
        self._listeners[key] = listener

        def remove() -> None:
            self._listeners.pop(key, None)

        return remove

    def clear(self) -> None:
        """Forget everyone."""
        self._listeners.clear()

    def tell(self, call: Callable[[T], object]) -> None:
        """Make C{call} with each, those who leave meanwhile included."""
        for listener in tuple(self._listeners.values()):
            try:
                call(listener)
            except Exception:
                self._log.failure("a listener of {what} failed", what=self._what)
