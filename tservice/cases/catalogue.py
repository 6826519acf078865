"""Cases of a caller with their current state (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from attrs import evolve
from twisted.internet.defer import Deferred, gatherResults

from tservice.cases.case_folders import read_folder_states, read_local_state, to_service_error
from tservice.cases.case_operations import PROBE_SECONDS, CaseOperations
from tservice.cases.case_order import CaseOrderStore
from tservice.cases.clones import CaseCloner
from tservice.cases.interfaces import CaseContainers, NoContainers
from tservice.cases.model import (
    AgentMarker,
    Case,
    CaseLocation,
    CaseRow,
    FolderState,
    is_same_name,
    is_valid_folder_name,
    sort_cases,
)
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError, make_not_found_error
from tservice.core.locations.location import LocationKind
from tservice.sessions.interfaces import ISessions, Session

Count = Callable[[str, str], int]
"""Returns the number of sessions that work in a case, given the case's name and path."""


class CaseCatalogue:
    """Reader of the caller's cases and their current state."""

    def __init__(
        self,
        desk: CaseOperations,
        clones: CaseCloner,
        orders: CaseOrderStore,
        sessions: Callable[[], ISessions],
        containers: CaseContainers | None = None,
    ) -> None:
        self._containers = containers or NoContainers()
        self._desk = desk
        self._clones = clones
        self._orders = orders
        self._sessions = sessions

    async def list_cases(self, caller: Identity) -> list[Case]:
        """Return the caller's cases, in the caller's order."""
        desk = self._desk
        await desk.check_paths(caller)
        owner = desk.get_owner(caller)
        every = desk.store.list_rows(owner)
        away = [row for row in every if row.far is not None]
        rows = {row.name.lower(): row for row in every if row.far is None}
        cases_dir = desk.workspaces.get_cases_folder(caller)
        linked = [row for row in rows.values() if self._is_visible_to(row, cases_dir, caller)]
        looks = await self._read_folders(caller, cases_dir, [str(row.path) for row in linked])
        live = self._make_counter(caller)
        found = [_make_linked_case(row, looks[str(row.path)], live) for row in linked]
        found += [
            self._make_case_at_other_location(row, live)
            for row in away
            if desk.workspaces.is_unrestricted(caller)
        ]
        there = {case.name.lower() for case in found} | {case.path for case in found}
        for path, looked in looks.items():
            name = PurePosixPath(path).name
            if path not in there and name.lower() not in there:
                found.append(_make_local_case(name, path, looked, rows.get(name.lower()), live))
        found += self._clones.list_cloning(owner)
        found = [self._add_container_to_case(case, owner) for case in found]
        return sort_cases(self._select_visible(found, caller), self._orders.get_order(owner))

    async def get_case(self, name: str, caller: Identity) -> Case:
        """Return a case of the caller.  Upper and lower case in the name are equivalent.

        @raise ServiceError: 404: there is no such case.
        """
        desk = self._desk
        await desk.check_paths(caller)
        owner = desk.get_owner(caller)
        found = [case for case in self._clones.list_cloning(owner) if is_same_name(case.name, name)]
        for case in self._select_visible(
            found or await self._find_cases(owner, name, caller), caller
        ):
            return self._add_container_to_case(case, owner)
        raise make_not_found_error(f"Case {name}")

    async def _find_cases(self, owner: str, name: str, caller: Identity) -> Sequence[Case]:
        desk = self._desk
        cases_dir, row = desk.workspaces.get_cases_folder(caller), desk.store.find_row(owner, name)
        if row is not None and row.far is not None:
            free = desk.workspaces.is_unrestricted(caller)
            return (
                (self._make_case_at_other_location(row, self._make_counter(caller)),)
                if free
                else ()
            )
        if row is not None and row.path is not None:
            if not self._is_visible_to(row, cases_dir, caller):
                return ()
            looks = await self._read_folder(caller, row.path)
            return (_make_linked_case(row, looks[row.path], self._make_counter(caller)),)
        if not is_valid_folder_name(name):
            return ()
        looks = await self._read_in_worker_pool(
            caller, [str(cases_dir)], partial(read_local_state, cases_dir, name)
        )
        return [
            _make_local_case(
                PurePosixPath(path).name, path, looked, row, self._make_counter(caller)
            )
            for path, looked in looks.items()
        ]

    async def list_agent_cases(self, caller: Identity) -> Sequence[tuple[Case, AgentMarker]]:
        """Return the cases that were created for agents, with their markers, newest first."""
        cases = await self.list_cases(caller)
        found = [(case, case.marker) for case in cases if case.marker is not None]
        return sorted(found, key=lambda each: -each[1].created_at)

    def count_live_sessions(self, name: str, path: str, caller: Identity) -> int:
        """Return the number of sessions that have a process and work in the case.

        @param path: path of the case's folder.
        """
        return self._make_counter(caller)(name, path)

    def list_sessions(self, name: str, path: str, caller: Identity) -> Sequence[Session]:
        """Return the sessions that work in the case, including those without a process.

        @param path: path of the case's folder.
        """
        owner = self._desk.workspaces.get_owner(caller)
        every = self._sessions().list()
        return [each for each in every if _session_works_in_case(each, name, path, owner)]

    def _add_container_to_case(self, case: Case, owner: str) -> Case:
        """Return the case with its container added, if it has one."""
        found = self._containers.find_container(owner, case.name)
        if found is None:
            return case
        return evolve(case, location=CaseLocation.CONTAINER, container=found)

    def _make_counter(self, caller: Identity) -> Count:
        """Return a function that counts the sessions with a process in a case.

        The function uses the current list of sessions, so do not keep it.
        """
        owner = self._desk.workspaces.get_owner(caller)
        running = [each for each in self._sessions().list() if each.pid is not None]
        return lambda name, path: sum(
            _session_works_in_case(each, name, path, owner) for each in running
        )

    async def _read_folders(
        self, caller: Identity, cases_dir: Path, linked: list[str]
    ) -> dict[str, FolderState]:
        """Read the states of all folders in one worker call.

        If a folder is not reachable or busy, read each folder in a separate call.
        """
        try:
            return await self._read_folders_in_one_call(caller, cases_dir, linked)
        except ServiceError:
            if not linked:
                raise
        found = await self._read_folders_in_one_call(caller, cases_dir, [])
        alone = [Deferred.fromCoroutine(self._read_folder(caller, path)) for path in linked]
        for each in await gatherResults(alone):
            found |= each
        return found

    async def _read_folder(self, caller: Identity, path: str) -> dict[str, FolderState]:
        try:
            return await self._read_in_worker_pool(
                caller, [path], partial(read_folder_states, None, [path])
            )
        except ServiceError:
            return {path: FolderState()}

    async def _read_folders_in_one_call(
        self, caller: Identity, cases_dir: Path, linked: list[str]
    ) -> dict[str, FolderState]:
        work = partial(read_folder_states, cases_dir, linked)
        inside = str(cases_dir) if linked else ""
        return await self._read_in_worker_pool(caller, [*linked, str(cases_dir)], work, inside)

    async def _read_in_worker_pool(
        self,
        caller: Identity,
        paths: Iterable[str],
        work: Callable[[], dict[str, FolderState]],
        inside: str = "",
    ) -> dict[str, FolderState]:
        try:
            return await self._desk.run_on_folders(
                caller, paths, work, seconds=PROBE_SECONDS, inside=inside
            )
        except OSError as error:
            raise to_service_error(error, "the cases cannot be read") from error

    def _is_visible_to(self, row: CaseRow, cases_dir: Path, caller: Identity) -> bool:
        """Return true if the caller may see the case.

        A former admin may own cases in folders that are no longer allowed.
        """
        if row.path is None:
            return False
        inside = PurePosixPath(row.path).is_relative_to(cases_dir)
        return inside or self._desk.workspaces.is_unrestricted(caller)

    def _make_case_at_other_location(self, row: CaseRow, live: Count) -> Case:
        """Return a case in another location, such as a remote host.

        Its folder is not read.
        """
        known = (
            row.far is not None and self._desk.workspaces.places.find_location(row.far) is not None
        )
        return Case(
            name=row.name,
            path=str(row.path),
            location=_AWAY[row.far.kind] if row.far is not None else CaseLocation.LINKED,
            unreachable=not known,
            description=row.description,
            created_at=row.created_at,
            live_sessions=live(row.name, str(row.path)),
            far=row.far,
        )

    def _select_visible(self, cases: Sequence[Case], caller: Identity) -> Sequence[Case]:
        """Return the cases that are visible to a caller.

        A token that is limited to certain sessions sees only the cases of these sessions.
        """
        if caller.sessions is None:
            return cases
        owner = self._desk.workspaces.get_owner(caller)
        own = [it for it in self._sessions().list(caller) if it.id in caller.sessions]
        return [
            case
            for case in cases
            if any(_session_works_in_case(session, case.name, case.path, owner) for session in own)
        ]


_AWAY = {LocationKind.REMOTE: CaseLocation.REMOTE, LocationKind.CONTAINER: CaseLocation.CONTAINER}


def _make_linked_case(row: CaseRow, looked: FolderState, live: Count) -> Case:
    path = str(row.path)
    return Case(
        name=row.name,
        path=path,
        location=CaseLocation.LINKED,
        unreachable=not looked.there,
        marker=looked.marker if row.worktree is None else None,
        description=row.description,
        created_at=row.created_at,
        has_instructions=looked.has_instructions,
        live_sessions=live(row.name, path),
        worktree=row.worktree,
    )


def _make_local_case(
    name: str, path: str, looked: FolderState, row: CaseRow | None, live: Count
) -> Case:
    made = None if looked.marker is None else looked.marker.created_at
    return Case(
        name=name,
        path=path,
        location=CaseLocation.LOCAL,
        marker=looked.marker,
        description=None if row is None else row.description,
        created_at=made if row is None else row.created_at,
        has_instructions=looked.has_instructions,
        live_sessions=live(name, path),
    )


def _session_works_in_case(session: Session, name: str, path: str, owner: str | None) -> bool:
    """Return true if the session belongs to the case.

    The session then has the case's name, or its working directory is at or below the case's folder.
    """
    by_name = session.case_name is not None and is_same_name(session.case_name, name)
    if by_name and session.owner == owner:
        return True
    return session.working_dir == path or session.working_dir.startswith(f"{path}/")
