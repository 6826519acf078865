"""Callables that run blocking work in the worker pool for files and return an awaitable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from tservice.core.locations.location import Location
from tservice.core.workers.worker_pool import IThreads

_T = TypeVar("_T")


class RunInThread(Protocol):
    """Callable that runs blocking work in a thread, and returns its result or raises its error."""

    def __call__(self, work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: the folder that C{work} accesses (L{IThreads}).
        """


class RunForOwner(Protocol):
    """Callable like L{RunInThread} that also names the account whose folder is accessed."""

    def __call__(self, work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: see L{RunInThread}.
        @param owner: the account whose folder it is (L{IThreads}).
        """


class RunInLocation(Protocol):
    """Callable like L{RunForOwner} that uses the rights that sessions have in a location."""

    def __call__(
        self, place: Location, work: Callable[[], _T], at: str, owner: str | None, /
    ) -> Awaitable[_T]:
        """Run C{work} in a thread with the rights that sessions have in the location C{place}.

        @param at: see L{RunInThread}.
        @param owner: see L{RunForOwner}.
        """


def make_owner_runner(threads: IThreads) -> RunForOwner:
    """Return a L{RunForOwner} that uses the worker pool C{threads}."""

    def run(work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        return threads.run(work, at=at, owner=owner)

    return run


def make_location_runner(threads: IThreads) -> RunInLocation:
    """Return a L{RunInLocation} that uses the worker pool C{threads}."""

    def run(
        place: Location, work: Callable[[], _T], at: str, owner: str | None, /
    ) -> Awaitable[_T]:
        return threads.run(partial(place.run_file_work, work), at=at, owner=owner)

    return run
