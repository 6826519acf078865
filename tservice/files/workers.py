"""As whom, and where, the work on a workspace is done: the one place that knows.

Everything is done behind the door for files, in a thread to which the kernel gives the rights of
the session's place for as long as it takes (L{Place.act}).
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from typing import Protocol, TypeVar

from attrs import define, field, frozen
from twisted.internet.defer import CancelledError, Deferred

from tservice.core.disk import trouble
from tservice.core.errors import ErrorCode, ServiceError, failed, invalid, not_found
from tservice.core.places.bounds import WorkspaceBounds
from tservice.core.places.place import Place
from tservice.core.places.places import Places
from tservice.files.model import Workspace

_T = TypeVar("_T")


class Files(Protocol):
    """The door for files (L{tservice.core.doors.threads.Door})."""

    def run(
        self, work: Callable[[], _T], place: str = ..., *, at: str = ..., owner: str | None = ...
    ) -> Deferred[_T]: ...


@frozen
class Workers:
    """Who works on workspaces."""

    files: Files
    places: Places
    bounds: WorkspaceBounds

    async def of(self, workspace: Workspace) -> Worker:
        """Who works on that one.

        @raise ServiceError: 400: its files are not this machine's; 422, 429: the system does not
            say who its user is; 422 naming C{osUser}: its account has another one now.
        """
        self.bounds.judge(workspace.owner, workspace.place)
        await self.places.ask(workspace.place)
        place = self.places.recall(workspace.place)
        if not place.near:
            reason = place.closed or place.id.kind.value
            raise invalid("id", f"{reason}: files of the session cannot be reached yet")
        return Worker(self.files, place, workspace.folder, workspace.owner)


@frozen
class Worker:
    """Works in one place, in one workspace: what hangs there holds up nobody else.

    @ivar folder: the workspace's.
    @ivar owner: the account whose it is.
    """

    files: Files
    place: Place
    folder: str
    owner: str | None

    def run(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Do C{work}.

        Fails with a L{ServiceError} for what an C{OSError} means to a caller, and where the door
        lets nothing in.
        """
        acting = partial(self.place.act, partial(_told, work))
        return self.files.run(acting, at=self.folder, owner=self.owner)


def _told(work: Callable[[], _T]) -> _T:
    try:
        return work()
    except OSError as error:
        raise refusal(error) from error


def refusal(error: OSError) -> Exception:
    """What a caller is told of C{error}; itself where it is about the disk."""
    if trouble(error) is not None:
        return error
    match error.errno:
        case None | errno.ENOENT | errno.ENOTDIR:
            return not_found("File")
        case errno.EACCES | errno.EPERM:
            return ServiceError(ErrorCode.FORBIDDEN, "path: the system does not permit it")
        case errno.ELOOP | errno.ENAMETOOLONG | errno.EINVAL:
            return invalid("path", os.strerror(error.errno).lower())
        case _:
            return failed(f"path: {os.strerror(error.errno or 0).lower()}")


@define(eq=False)
class Handle:
    """What stays open from one piece of work to the next, and is closed whatever happens.

    A thread whose caller has left may still be at work: then it closes.
    """

    worker: Worker
    _lock: threading.Lock = field(factory=threading.Lock)
    _held: ExitStack = field(factory=ExitStack)
    _busy: bool = False
    _over: bool = False

    async def use(self, work: Callable[[ExitStack], _T]) -> _T:
        """Do C{work}, which puts what it opens into the stack; one at a time."""
        return await self.worker.run(partial(self._use, work))

    async def close(self) -> None:
        """Close everything, now or when the thread that uses it is done."""
        try:
            await self.worker.run(self._close)
        except ServiceError:
            # The door is shut.  The reactor's thread must not: a close waits for its mount too.
            threading.Thread(target=self._close, name="tservice-close", daemon=True).start()

    def _use(self, work: Callable[[ExitStack], _T]) -> _T:
        with self._lock:
            if self._over:
                raise CancelledError
            self._busy = True
        try:
            return work(self._held)
        finally:
            with self._lock:
                self._busy = False
                self._close_late()

    def _close_late(self) -> None:
        if self._over:
            self._held.close()

    def _close(self) -> None:
        with self._lock:
            over, self._over = self._over, True
            busy = self._busy
        if not (over or busy):
            self._held.close()
