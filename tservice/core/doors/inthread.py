"""Callables that run blocking work in the worker pool for files and return an awaitable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from tservice.core.doors.threads import IThreads
from tservice.core.places.place import Place

_T = TypeVar("_T")


class InThread(Protocol):
    """Runs blocking work and returns its result or raises its error."""

    def __call__(self, work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: the folder that it touches (L{IThreads}).
        """


class InOwnThread(Protocol):
    """Same as L{InThread}, for a session's folder."""

    def __call__(self, work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: see L{InThread}.
        @param owner: the account whose folder it is (L{IThreads}).
        """


class InPlace(Protocol):
    """Same as L{InThread}, with the rights that sessions have in a location."""

    def __call__(
        self, place: Place, work: Callable[[], _T], at: str, owner: str | None, /
    ) -> Awaitable[_T]:
        """Run C{work} in a thread with the rights of C{place}.

        @param at: see L{InThread}.
        @param owner: see L{InOwnThread}.
        """


def in_own_thread(threads: IThreads) -> InOwnThread:
    """Return an L{InOwnThread} that uses one worker pool."""

    def run(work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        return threads.run(work, at=at, owner=owner)

    return run


def in_place(threads: IThreads) -> InPlace:
    """Return an L{InPlace} that uses one worker pool."""

    def run(place: Place, work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        return threads.run(partial(place.act, work), at=at, owner=owner)

    return run
