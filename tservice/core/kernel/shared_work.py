"""Shared work that several callers can await and that continues without them."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

T = TypeVar("T")


class SharedWork(Generic[T]):
    """Coroutine that starts immediately and whose result several callers can await.

    @ivar is_finished: true once the coroutine has finished.
    @ivar finished: Deferred that fires when the coroutine has finished, with or without an error.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._waiting: list[Deferred[T]] = []
        self._outcome: T | Failure | None = None
        self.is_finished = False
        self.finished: Deferred[None] = Deferred.fromCoroutine(work).addBoth(
            self._finish_with_outcome
        )

    def wait_for_result(self) -> Deferred[T]:
        """Return a Deferred of the result or error; cancelling it ends only this caller's wait."""
        waiter: Deferred[T] = Deferred()
        self._waiting.append(waiter)
        if self.is_finished:
            self._notify_waiters()
        return waiter

    def _finish_with_outcome(self, outcome: T | Failure) -> None:
        self.is_finished = True
        self._outcome = outcome
        self._notify_waiters()

    def _notify_waiters(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(self._outcome)  # type: ignore[arg-type]  # a failure too
