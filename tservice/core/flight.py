"""Work that several may wait for, and that goes on when they do not."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

T = TypeVar("T")


class Flight(Generic[T]):
    """One piece of work, begun at once.

    @ivar landed: it is over.
    @ivar over: fires then, whichever way it went.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._waiting: list[Deferred[T]] = []
        self._outcome: T | Failure | None = None
        self.landed = False
        self.over: Deferred[None] = Deferred.fromCoroutine(work).addBoth(self._land)

    def join(self) -> Deferred[T]:
        """Its result, or its error; to cancel this ends only the waiting."""
        waiter: Deferred[T] = Deferred()
        self._waiting.append(waiter)
        if self.landed:
            self._tell()
        return waiter

    def _land(self, outcome: T | Failure) -> None:
        self.landed = True
        self._outcome = outcome
        self._tell()

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(self._outcome)  # type: ignore[arg-type]  # a failure too
