"""Callables that run blocking work in the worker pool for files and return an awaitable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from tservice.core.locations.location import Location
from tservice.core.workers.worker_pool import IThreads

_T = TypeVar("_T")


class RunInThread(Protocol):
    """Runs blocking work and returns its result or raises its error."""

    def __call__(self, work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: the folder that it touches (L{IThreads}).
        """


class RunForOwner(Protocol):
    """Same as L{RunInThread}, for a session's folder."""

    def __call__(self, work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: see L{RunInThread}.
        @param owner: the account whose folder it is (L{IThreads}).
        """


class RunInLocation(Protocol):
    """Same as L{RunInThread}, with the rights that sessions have in a location."""

    def __call__(
        self, place: Location, work: Callable[[], _T], at: str, owner: str | None, /
    ) -> Awaitable[_T]:
        """Run C{work} in a thread with the rights of C{place}.

        @param at: see L{RunInThread}.
        @param owner: see L{RunForOwner}.
        """


def make_owner_runner(threads: IThreads) -> RunForOwner:
    """Return an L{RunForOwner} that uses one worker pool."""

    def run(work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        return threads.run(work, at=at, owner=owner)

    return run


def make_location_runner(threads: IThreads) -> RunInLocation:
    """Return an L{RunInLocation} that uses one worker pool."""

    def run(
        place: Location, work: Callable[[], _T], at: str, owner: str | None, /
    ) -> Awaitable[_T]:
        return threads.run(partial(place.run_file_work, work), at=at, owner=owner)

    return run
