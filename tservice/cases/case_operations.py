"""Steps shared by all changes of cases.

They reserve names, work on folders as the owner, and publish events.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime

from tservice.cases.case_folders import PutHooks, list_local_names, to_service_error
from tservice.cases.creation import CreatedFiles
from tservice.cases.interfaces import WorkspaceHookWriter
from tservice.cases.model import MAX_CASES, make_taken_error
from tservice.cases.store import CaseStore
from tservice.cases.workspaces import WorkspaceFolders
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_conflict_error, make_failure_error
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.values.payload import Payload
from tservice.core.workers.reachability import PROBE_SECONDS as START_SECONDS
from tservice.core.workers.reachability import ReachabilityCheck
from tservice.core.workers.worker_pool import WorkerPool

PROBE_SECONDS = 3.0
"""Seconds within which a folder must be readable (protocol-case-paths)."""

BEING_MADE = "made"
"""Name of the operation that creates a case, for L{CaseOperations.reserve_name}."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class CaseOperationsDependencies:
    """Dependencies of L{CaseOperations}.

    @ivar files: worker pool for work on users' folders.
    @ivar hooks: writes agents' hooks into new folders.
    """

    clock: IReactorTime
    hub: EventHub
    store: CaseStore
    workspaces: WorkspaceFolders
    reach: ReachabilityCheck
    files: WorkerPool
    hooks: WorkspaceHookWriter


@define(eq=False)
class _NameReservation:
    """Running operation on a case name, and the callers that wait for its end."""

    what: str
    waiting: list[Deferred[None]] = field(factory=list)


class CaseOperations:
    """Steps shared by all changes of cases."""

    def __init__(self, deps: CaseOperationsDependencies) -> None:
        self.clock, self.store = deps.clock, deps.store
        self.workspaces = deps.workspaces
        self._deps = deps
        self._reserved: dict[tuple[str, str], _NameReservation] = {}
        self._flights: set[SharedWork[Any]] = set()

    def get_owner(self, caller: Identity) -> str:
        """Return the account that owns the caller's cases; empty in single-user mode."""
        return self.workspaces.get_owner(caller) or ""

    async def check_paths(self, caller: Identity, paths: Iterable[str] = ()) -> None:
        """Check that C{paths}, and the caller's home, are reachable, so that reading them does not
        hang.

        Afterwards the system's data about the caller's OS user is cached.

        @raise ServiceError: 422: a folder is not reachable; 429: too many checks are running.
        """
        reach = self._deps.reach
        await reach.check_paths(caller.location_id, paths, caller.username, PROBE_SECONDS)

    # -- names

    @contextmanager
    def reserve_name(self, owner: str, name: str, what: str) -> Iterator[None]:
        """Reserve the name of a case.  Concurrent operations on that name fail with 409.

        @param what: past participle for the operation, such as C{removed}, for the error text.
        @raise ServiceError: 409: another operation has reserved the name.
        """
        self.check_not_reserved(owner, name)
        mine = self._reserved[owner, name.lower()] = _NameReservation(what)
        try:
            yield
        finally:
            del self._reserved[owner, name.lower()]
            for waiter in mine.waiting:
                waiter.callback(None)

    async def wait_until_created(self, owner: str, name: str) -> None:
        """Wait until no case of that name is being created."""
        while (other := self._reserved.get((owner, name.lower()))) and other.what == BEING_MADE:
            waiter: Deferred[None] = Deferred(other.waiting.remove)
            other.waiting.append(waiter)
            await waiter

    def is_reserved(self, owner: str, name: str) -> bool:
        """Return true if an operation on the case of that name is running."""
        return (owner, name.lower()) in self._reserved

    def check_not_reserved(self, owner: str, name: str) -> None:
        """Fail if an operation on the case of that name is running.

        @raise ServiceError: 409: an operation is running.
        """
        other = self._reserved.get((owner, name.lower()))
        if other is not None:
            raise make_conflict_error(f"The case {name} is being {other.what}")

    async def check_not_taken(self, caller: Identity, name: str) -> None:
        """Fail if the caller cannot add a case of that name.

        @raise ServiceError: 409: the name is taken; 422: the maximum number of cases is reached.
        """
        row = self.store.find_row(self.get_owner(caller), name)
        if row is not None and row.path is not None:
            raise make_taken_error(row.name)
        there = await self.find_local_name(name, caller)
        if there is not None:
            raise make_taken_error(there)
        await self.check_case_limit(caller)

    async def check_case_limit(self, caller: Identity) -> None:
        """Fail if the owner already has the maximum number of cases.

        @raise ServiceError: 422: the maximum is reached.
        """
        owner, cases = self.get_owner(caller), self.workspaces.get_cases_folder(caller)
        rows = self.store.list_rows(owner)
        if len(rows) < MAX_CASES:
            return
        there = set(
            await self.run_on_folders(caller, [str(cases)], partial(list_local_names, cases))
        )
        # Rows whose folder was removed by hand are deleted.
        gone = [row for row in rows if row.path is None and row.name not in there]
        for row in gone:
            self.store.delete_row(owner, row.name)
        if len(rows) - len(gone) >= MAX_CASES:
            raise make_failure_error(f"there are already {MAX_CASES} cases: remove one first")

    # -- folders

    async def run_on_folders(
        self,
        caller: Identity,
        paths: Iterable[str],
        work: Callable[[], _T],
        *,
        seconds: float | None = None,
        acting: bool = False,
        inside: str = "",
    ) -> _T:
        """Run C{work} in a worker thread, as the OS user of the caller's location, and return its
        result.

        @param paths: paths that C{work} accesses.  Each must be reachable.
        @param seconds: time limit of C{work}; C{None} means the default of the worker pool.
        @param acting: true if C{work} itself switches to the OS user.
        @param inside: folder whose entries C{work} reads.  If one of them hangs, further calls for
            this folder's entries fail early, while the folder itself remains usable.
        @raise ServiceError: 422: a folder is not reachable; 429: too many calls are running.
        """
        named = tuple(paths)
        await self.check_paths(caller, named)
        place = self.workspaces.get_location(caller)
        whole = work if acting else partial(place.run_file_work, work)
        only = named[0] if len(named) == 1 else ""
        at = os.path.join(inside, "*") if inside else only
        found: _T = await self._deps.files.run(whole, caller.username, seconds, at=at)
        return found

    async def resolve_folder(self, text: str, caller: Identity, named: str) -> str:
        """Call L{WorkspaceFolders.resolve_folder} in a worker thread.

        @raise ServiceError: also 422 and 429, as for L{run_on_folders}.
        """
        look = partial(self.workspaces.resolve_folder, text, caller, named)
        return await self._resolve_in_pool(caller, text, look)

    async def default_folder(self, caller: Identity, chosen: str | None) -> str:
        """Call L{WorkspaceFolders.default_folder} in a worker thread.

        @raise ServiceError: also 422 and 429, as for L{run_on_folders}.
        """
        find = partial(self.workspaces.default_folder, caller, chosen)
        return await self._resolve_in_pool(caller, chosen or "", find)

    async def _resolve_in_pool(self, caller: Identity, path: str, look: Callable[[], str]) -> str:
        """Call C{look} in a worker thread, with the time limit of a session's start."""
        await self._deps.reach.check_paths(caller.location_id, [path], caller.username)
        found: str = await self._deps.files.run(look, caller.username, START_SECONDS, at=path)
        return found

    async def find_local_name(self, name: str, caller: Identity) -> str | None:
        """Call L{WorkspaceFolders.find_local_name} in a worker thread.

        @raise ServiceError: 422: the folder of cases cannot be read; otherwise as for
            L{run_on_folders}.
        """
        find = partial(self.workspaces.find_local_name, name, caller)
        paths = [str(self.workspaces.get_cases_folder(caller))]
        try:
            return await self.run_on_folders(caller, paths, find, acting=True)
        except OSError as error:
            raise to_service_error(error, "the cases cannot be read") from error

    async def create_files(
        self, caller: Identity, paths: Iterable[str], work: Callable[[CreatedFiles], None]
    ) -> CreatedFiles:
        """Run C{work} and return the record of created files.

        The files are removed again if C{work} fails or exceeds its time limit.

        @raise OSError: raised by C{work}.
        @raise ServiceError: as for L{run_on_folders}.
        """
        making = CreatedFiles()
        try:
            await self.run_on_folders(caller, paths, partial(making.run_work, work))
        except Exception:
            if making.abandon_work():
                await self.remove_created_files(caller, making)
            raise
        return making

    async def remove_created_files(self, caller: Identity, making: CreatedFiles) -> None:
        """Remove the files and folders that C{making} has recorded."""
        await self.run_on_folders(caller, (), making.remove_created_paths)

    def get_hook_writer(self, caller: Identity) -> PutHooks:
        """Return a function that writes agents' hooks into the caller's folders."""
        workspaces = self.workspaces
        return self._deps.hooks.get_writer(
            workspaces.get_location(caller), workspaces.get_owner(caller)
        )

    # -- whatever becomes of who asked

    async def run_uninterrupted(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return the result of C{work}, which is not interrupted if the caller is cancelled."""
        flight = SharedWork(work)
        if not flight.is_finished:
            self._flights.add(flight)
            flight.finished.addCallback(lambda _: self._flights.discard(flight))
        return await flight.wait_for_result()

    def stop(self) -> Deferred[Any]:
        """Return a Deferred that fires after all running changes are done."""
        return gatherResults([flight.finished for flight in self._flights])

    # -- telling

    def publish_event(self, name: EventName, owner: str, told: Payload) -> None:
        """Publish an event to the owner and to admins."""
        self._deps.hub.publish(Event(name=name, payload=told, owner=owner or None))


def local_case_path(cases: Path, name: str) -> str:
    """Return the path of the local case C{name}."""
    return str(cases / name)
