"""The one door to threads, for work that would hold up the reactor (architecture: 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorThreads
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool
from zope.interface import Interface, implementer

SIZE = 2
"""Threads: what goes through the door is bound by the processor, not by waiting."""

_T = TypeVar("_T")


class IThreads(Interface):
    """Runs work beside the reactor."""

    def run(work: Callable[[], Any]) -> Deferred[Any]:
        """The result of C{work}, which must touch nothing that the reactor's thread uses.

        Who calls this bounds how much it puts in.
        """


@implementer(IThreads)
class Threads(Service):
    """A pool of L{SIZE} threads, begun with the first work and ended with the service."""

    def __init__(self, reactor: IReactorThreads) -> None:
        self._reactor = reactor
        self._pool = ThreadPool(0, SIZE, "tservice")
        self._begun = False

    def run(self, work: Callable[[], _T]) -> Deferred[_T]:
        """See L{IThreads}."""
        if not self._begun:
            self._begun = True
            self._pool.start()
        found: Deferred[_T] = deferToThreadPool(self._reactor, self._pool, work)
        return found

    def stopService(self) -> None:
        """Wait for what runs; what has not begun yet is run too, so callers put little in."""
        super().stopService()
        if self._begun:
            self._begun = False
            self._pool.stop()


@implementer(IThreads)
class NoThreads:
    """Runs everything at once, in the caller's thread: for tests and for the start."""

    def run(self, work: Callable[[], _T]) -> Deferred[_T]:
        """See L{IThreads}."""
        return succeed(work())
