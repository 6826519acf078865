"""Execution of blocking file work with the rights of a workspace's location.

Work runs in a thread of the worker pool for files. While it runs, the thread has the file system
rights of the session's location (L{Location.run_file_work}).
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

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import WorkspaceBounds
from tservice.files.model import Workspace

_T = TypeVar("_T")


class FileWorkerPool(Protocol):
    """Worker pool for files (L{tservice.core.workers.worker_pool.WorkerPool})."""

    def run(
        self, work: Callable[[], _T], place: str = ..., *, at: str = ..., owner: str | None = ...
    ) -> Deferred[_T]: ...


@frozen
class WorkspaceWorkers:
    """Factory of the workers that run file work for a workspace."""

    files: FileWorkerPool
    places: LocationRegistry
    bounds: WorkspaceBounds

    async def get_worker(self, workspace: Workspace) -> WorkspaceWorker:
        """Return the worker for a workspace.

        @raise ServiceError: 400 if the files are not on this machine. 422 or 429 if the system did
            not report the location's OS user. 422 naming C{osUser} if the account has another OS
            user now.
        """
        self.bounds.check_os_user(workspace.owner, workspace.place)
        await self.places.refresh_location(workspace.place)
        place = self.places.find_earlier_location(workspace.place)
        if not place.has_local_files:
            reason = place.unreadable_reason or place.id.kind.value
            raise make_field_error("id", f"{reason}: files of the session are not accessible yet")
        return WorkspaceWorker(self.files, place, workspace.folder, workspace.owner)


@frozen
class WorkspaceWorker:
    """Runner of file work for one workspace. Work that hangs in one location does not delay others.

    @ivar folder: path of the workspace folder.
    @ivar owner: account that owns the workspace.
    """

    files: FileWorkerPool
    place: Location
    folder: str
    owner: str | None

    def run_work(self, work: Callable[[], _T]) -> Awaitable[_T]:
        """Run C{work} in a thread of the worker pool, and return its result.

        An C{OSError} is turned into a L{ServiceError}. A full worker pool raises a L{ServiceError}
        too.
        """
        acting = partial(self.place.run_file_work, partial(_translate_errors, work))
        return self.files.run(acting, at=self.folder, owner=self.owner)


def _translate_errors(work: Callable[[], _T]) -> _T:
    try:
        return work()
    except OSError as error:
        raise to_service_error(error) from error


def to_service_error(error: OSError) -> Exception:
    """Return the error that a caller gets for C{error}. Errors of the disk are returned
    unchanged.
    """
    if find_disk_problem(error) is not None:
        return error
    match error.errno:
        case None | errno.ENOENT | errno.ENOTDIR:
            return make_not_found_error("File")
        case errno.EACCES | errno.EPERM:
            return ServiceError(ErrorCode.FORBIDDEN, "path: permission denied")
        case errno.ELOOP | errno.ENAMETOOLONG | errno.EINVAL:
            return make_field_error("path", os.strerror(error.errno).lower())
        case _:
            return make_failure_error(f"path: {os.strerror(error.errno or 0).lower()}")


@define(eq=False)
class FileResourceHolder:
    """Owner of resources, such as descriptors, that stay open between pieces of work.

    A thread may still use them when the caller has gone. They are then closed when the thread is
    done.
    """

    worker: WorkspaceWorker
    _lock: threading.Lock = field(factory=threading.Lock)
    _held: ExitStack = field(factory=ExitStack)
    _busy: bool = False
    _over: bool = False

    async def run_with_resources(self, work: Callable[[ExitStack], _T]) -> _T:
        """Run C{work} with the stack of resources, to which it may add. Only one call may run at a
        time.
        """
        return await self.worker.run_work(partial(self._run_with_open_resources, work))

    async def close(self) -> None:
        """Close all resources, now or as soon as the thread that uses them is done."""
        try:
            await self.worker.run_work(self._close_or_defer)
        except ServiceError:
            # The pool is closed.  Do not use the reactor's thread: the mount may block it.
            threading.Thread(
                target=self._close_or_defer, name="tservice-close", daemon=True
            ).start()

    def _run_with_open_resources(self, work: Callable[[ExitStack], _T]) -> _T:
        with self._lock:
            if self._over:
                raise CancelledError
            self._busy = True
        try:
            return work(self._held)
        finally:
            with self._lock:
                self._busy = False
                self._close_if_released()

    def _close_if_released(self) -> None:
        if self._over:
            self._held.close()

    def _close_or_defer(self) -> None:
        with self._lock:
            over, self._over = self._over, True
            busy = self._busy
        if not (over or busy):
            self._held.close()
