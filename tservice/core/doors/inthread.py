"""The door to folders as most callers know it: one call that is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from tservice.core.doors.threads import IThreads
from tservice.core.places.place import Place

_T = TypeVar("_T")


class InThread(Protocol):
    """Runs something that blocks; what it returns or raises comes back."""

    def __call__(self, work: Callable[[], _T], at: str, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: the folder that it touches (L{IThreads}).
        """


class InOwnThread(Protocol):
    """As L{InThread}, for a session's folder."""

    def __call__(self, work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        """Run C{work} in a thread.

        @param at: as L{InThread} has it.
        @param owner: the account whose folder it is (L{IThreads}).
        """


class InPlace(Protocol):
    """As L{InThread}, with the rights that sessions have in a place."""

    def __call__(
        self, place: Place, work: Callable[[], _T], at: str, owner: str | None, /
    ) -> Awaitable[_T]:
        """Run C{work} in a thread with the rights of C{place}.

        @param at: as L{InThread} has it.
        @param owner: as L{InOwnThread} has it.
        """


def in_own_thread(threads: IThreads) -> InOwnThread:
    """Through one door."""

    def run(work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        return threads.run(work, at=at, owner=owner)

    return run


def in_place(threads: IThreads) -> InPlace:
    """Through one door."""

    def run(place: Place, work: Callable[[], _T], at: str, owner: str | None, /) -> Awaitable[_T]:
        return threads.run(partial(place.act, work), at=at, owner=owner)

    return run
