"""Threads whose work begins when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from zope.interface import implementer

from tservice.core.workers.worker_pool import IThreads


@implementer(IThreads)
class HeldThreads:
    """Nothing is done until it is let go on.

    @ivar begun: what was asked for and is not done, the oldest first.
    """

    def __init__(self) -> None:
        self.begun: list[tuple[Callable[[], Any], Deferred[Any]]] = []

    def run(
        self, work: Callable[[], Any], *, at: str = "", owner: str | None = None
    ) -> Deferred[Any]:
        """See L{IThreads}."""
        done: Deferred[Any] = Deferred()
        self.begun.append((work, done))
        return done

    def finish(self) -> Any:
        """Do the oldest, and tell who asked; its result."""
        work, done = self.begun.pop(0)
        result = work()
        done.callback(result)
        return result

    def refuse(self, error: Exception) -> None:
        """Do not do the oldest."""
        self.begun.pop(0)[1].errback(error)
