"""Cases of a caller with their current state (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from attrs import evolve
from twisted.internet.defer import Deferred, gatherResults

from tservice.cases.clones import Clones
from tservice.cases.desk import PROBE_SECONDS, Desk
from tservice.cases.folders import explain, look_at_all, look_for
from tservice.cases.interfaces import IContainers, NoContainers
from tservice.cases.model import (
    Case,
    CaseLocation,
    CaseRow,
    FolderLook,
    Marker,
    in_order,
    is_case_name,
    same,
)
from tservice.cases.orders import Orders
from tservice.core.errors import ServiceError, not_found
from tservice.core.identity import Identity
from tservice.core.places.location import LocationKind
from tservice.sessions.interfaces import ISessions, Session

Count = Callable[[str, str], int]
"""Returns the number of sessions that work in the case of a name and a path."""


class Catalogue:
    """Reader of cases; it changes nothing."""

    def __init__(
        self,
        desk: Desk,
        clones: Clones,
        orders: Orders,
        sessions: Callable[[], ISessions],
        containers: IContainers | None = None,
    ) -> None:
        self._containers = containers or NoContainers()
        self._desk = desk
        self._clones = clones
        self._orders = orders
        self._sessions = sessions

    async def every(self, caller: Identity) -> list[Case]:
        """Return the caller's cases, in their order."""
        desk = self._desk
        await desk.ready(caller)
        owner = desk.owner(caller)
        every = desk.store.of(owner)
        away = [row for row in every if row.far is not None]
        rows = {row.name.lower(): row for row in every if row.far is None}
        cases_dir = desk.workspaces.cases_of(caller)
        linked = [row for row in rows.values() if self._may_see(row, cases_dir, caller)]
        looks = await self._look(caller, cases_dir, [str(row.path) for row in linked])
        live = self._live(caller)
        found = [_linked(row, looks[str(row.path)], live) for row in linked]
        found += [self._away(row, live) for row in away if desk.workspaces.is_free(caller)]
        there = {case.name.lower() for case in found} | {case.path for case in found}
        for path, looked in looks.items():
            name = PurePosixPath(path).name
            if path not in there and name.lower() not in there:
                found.append(_local(name, path, looked, rows.get(name.lower()), live))
        found += self._clones.of(owner)
        found = [self._contained(case, owner) for case in found]
        return in_order(self._reached(found, caller), self._orders.of(owner))

    async def get(self, name: str, caller: Identity) -> Case:
        """Return a case of the caller; upper and lower case of its name do not matter.

        @raise ServiceError: 404: there is none.
        """
        desk = self._desk
        await desk.ready(caller)
        owner = desk.owner(caller)
        found = [case for case in self._clones.of(owner) if same(case.name, name)]
        for case in self._reached(found or await self._find(owner, name, caller), caller):
            return self._contained(case, owner)
        raise not_found(f"Case {name}")

    async def _find(self, owner: str, name: str, caller: Identity) -> Sequence[Case]:
        desk = self._desk
        cases_dir, row = desk.workspaces.cases_of(caller), desk.store.find(owner, name)
        if row is not None and row.far is not None:
            free = desk.workspaces.is_free(caller)
            return (self._away(row, self._live(caller)),) if free else ()
        if row is not None and row.path is not None:
            if not self._may_see(row, cases_dir, caller):
                return ()
            looks = await self._alone(caller, row.path)
            return (_linked(row, looks[row.path], self._live(caller)),)
        if not is_case_name(name):
            return ()
        looks = await self._at(caller, [str(cases_dir)], partial(look_for, cases_dir, name))
        return [
            _local(PurePosixPath(path).name, path, looked, row, self._live(caller))
            for path, looked in looks.items()
        ]

    async def agent_made(self, caller: Identity) -> Sequence[tuple[Case, Marker]]:
        """Return the cases that agents had made, with their markers, the newest first."""
        cases = await self.every(caller)
        found = [(case, case.marker) for case in cases if case.marker is not None]
        return sorted(found, key=lambda each: -each[1].created_at)

    def live_in(self, name: str, path: str, caller: Identity) -> int:
        """Return the number of sessions with a process that work in a case."""
        return self._live(caller)(name, path)

    def sessions_in(self, name: str, path: str, caller: Identity) -> Sequence[Session]:
        """Return the sessions that work in a case, with a process or without."""
        owner = self._desk.workspaces.owner_of(caller)
        every = self._sessions().list()
        return [each for each in every if _works_in(each, name, path, owner)]

    def _contained(self, case: Case, owner: str) -> Case:
        """Return the case with its container, if it has one."""
        found = self._containers.of(owner, case.name)
        if found is None:
            return case
        return evolve(case, location=CaseLocation.CONTAINER, container=found)

    def _live(self, caller: Identity) -> Count:
        """Return a function that counts the sessions with a process in a case; valid for this call
        only.
        """
        owner = self._desk.workspaces.owner_of(caller)
        running = [each for each in self._sessions().list() if each.pid is not None]
        return lambda name, path: sum(_works_in(each, name, path, owner) for each in running)

    async def _look(
        self, caller: Identity, cases_dir: Path, linked: list[str]
    ) -> dict[str, FolderLook]:
        """Read all folders in one call, or each separately if one does not answer or is busy."""
        try:
            return await self._all(caller, cases_dir, linked)
        except ServiceError:
            if not linked:
                raise
        found = await self._all(caller, cases_dir, [])
        alone = [Deferred.fromCoroutine(self._alone(caller, path)) for path in linked]
        for each in await gatherResults(alone):
            found |= each
        return found

    async def _alone(self, caller: Identity, path: str) -> dict[str, FolderLook]:
        try:
            return await self._at(caller, [path], partial(look_at_all, None, [path]))
        except ServiceError:
            return {path: FolderLook()}

    async def _all(
        self, caller: Identity, cases_dir: Path, linked: list[str]
    ) -> dict[str, FolderLook]:
        work = partial(look_at_all, cases_dir, linked)
        inside = str(cases_dir) if linked else ""
        return await self._at(caller, [*linked, str(cases_dir)], work, inside)

    async def _at(
        self,
        caller: Identity,
        paths: Iterable[str],
        work: Callable[[], dict[str, FolderLook]],
        inside: str = "",
    ) -> dict[str, FolderLook]:
        try:
            return await self._desk.at(caller, paths, work, seconds=PROBE_SECONDS, inside=inside)
        except OSError as error:
            raise explain(error, "the cases cannot be read") from error

    def _may_see(self, row: CaseRow, cases_dir: Path, caller: Identity) -> bool:
        """Return true if the caller may see the case; a former admin may have cases that it can no
        longer reach.
        """
        if row.path is None:
            return False
        inside = PurePosixPath(row.path).is_relative_to(cases_dir)
        return inside or self._desk.workspaces.is_free(caller)

    def _away(self, row: CaseRow, live: Count) -> Case:
        """Return a case at another location; its folder is not read."""
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

    def _reached(self, cases: Sequence[Case], caller: Identity) -> Sequence[Case]:
        """Return the cases visible to a caller: a token that is limited to sessions sees only their
        cases.
        """
        if caller.sessions is None:
            return cases
        owner = self._desk.workspaces.owner_of(caller)
        own = [it for it in self._sessions().list(caller) if it.id in caller.sessions]
        return [
            case
            for case in cases
            if any(_works_in(session, case.name, case.path, owner) for session in own)
        ]


_AWAY = {LocationKind.REMOTE: CaseLocation.REMOTE, LocationKind.CONTAINER: CaseLocation.CONTAINER}


def _linked(row: CaseRow, looked: FolderLook, live: Count) -> Case:
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


def _local(name: str, path: str, looked: FolderLook, row: CaseRow | None, live: Count) -> Case:
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


def _works_in(session: Session, name: str, path: str, owner: str | None) -> bool:
    """Return true if the session has that case name, or works in the case's folder or below it."""
    by_name = session.case_name is not None and same(session.case_name, name)
    if by_name and session.owner == owner:
        return True
    return session.working_dir == path or session.working_dir.startswith(f"{path}/")
