"""Cases, for routes and other features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred, gatherResults
from zope.interface import implementer

from tservice.cases.browsing import Listing, browse
from tservice.cases.catalogue import Catalogue
from tservice.cases.clones import CloneResult, Clones, CloneWish
from tservice.cases.desk import MADE, PROBE_SECONDS, Desk, local_path
from tservice.cases.folders import check_link, explain, make_at, make_local
from tservice.cases.interfaces import (
    CasePlace,
    ContainerWish,
    ICases,
    IContainers,
    Marker,
    NoContainers,
    WorktreeWish,
)
from tservice.cases.making import Making
from tservice.cases.model import (
    Case,
    CaseLocation,
    CaseRow,
    check_case_name,
    check_known_name,
    named,
)
from tservice.cases.orders import Orders
from tservice.cases.paths import check_far_path, check_place, plain_path
from tservice.cases.preparing import Preparation, Preparer
from tservice.cases.removal import Removal
from tservice.cases.shown import case_answer
from tservice.cases.trash import Trash
from tservice.cases.worktrees import CaseWorktrees
from tservice.core.clock import now_ms
from tservice.core.errors import ErrorCode, ServiceError, invalid_field, not_found
from tservice.core.event_payloads import CaseOrderPayload, CaseRemovedPayload
from tservice.core.events import EventName
from tservice.core.identity import Identity
from tservice.core.places.location import LocationId


@implementer(ICases)
class CaseService:
    """Implementation of L{ICases}, with further methods for the routes."""

    def __init__(
        self,
        *,
        desk: Desk,
        catalogue: Catalogue,
        clones: Clones,
        worktrees: CaseWorktrees,
        removal: Removal,
        orders: Orders,
        trash: Trash,
        preparer: Preparer,
        containers: IContainers | None = None,
    ) -> None:
        self._containers = containers or NoContainers()
        self._desk = desk
        self._workspaces = desk.workspaces
        self._catalogue = catalogue
        self._clones = clones
        self._worktrees = worktrees
        self._removal = removal
        self._orders = orders
        self._trash = trash
        self._preparer = preparer

    def start(self) -> None:
        """Start to sweep the trash."""
        self._trash.start()

    def stop(self) -> Deferred[list[object]]:
        """Cancel the clones; fires after all changes are done."""
        return gatherResults([*self._clones.stop(), self._desk.stop(), self._trash.stop()])

    # -- reading

    async def every(self, caller: Identity) -> Sequence[Case]:
        """Return the caller's cases, in their order."""
        return await self._catalogue.every(caller)

    async def get(self, name: str, caller: Identity) -> Case:
        """Return a case of the caller.

        @raise ServiceError: 404.
        """
        return await self._catalogue.get(name, caller)

    async def reached(self, name: str, caller: Identity) -> None:
        await self._catalogue.get(name, caller)

    async def agent_made(self, caller: Identity) -> Sequence[tuple[Case, Marker]]:
        """Return the cases that agents had made, with their markers, the newest first."""
        return await self._catalogue.agent_made(caller)

    async def browse(self, path: str | None, caller: Identity, *, hidden: bool) -> Listing:
        """Return the folders in a folder; without C{path} those at home, or in the caller's
        workspace.

        @raise ServiceError: 400, 403, 404, 422 naming C{path}.
        """
        desk, spaces = self._desk, self._workspaces
        await desk.ready(caller)
        bounds = spaces.bounds(caller)
        free = spaces.is_free(caller)
        top = None if free else str(spaces.cases_of(caller))
        where = plain_path(path or top or str(spaces.home_of(caller)), bounds)
        look = partial(browse, where, top, hidden=hidden)
        try:
            whole = partial(look, look=True)
            return await desk.at(caller, [where], whole, seconds=PROBE_SECONDS, inside=where)
        except ServiceError as error:
            if error.code is not ErrorCode.OPERATION_FAILED:
                raise
        # An entry does not answer, but its name can be listed.
        return await desk.at(caller, [where], partial(look, look=False), seconds=PROBE_SECONDS)

    # -- making

    async def create(
        self,
        name: str,
        description: str | None,
        path: str | None,
        caller: Identity,
        again: Callable[[], None],
        container: ContainerWish | None = None,
    ) -> Case:
        """Make and fill a case.

        @param again: authorizes the caller again, before the case is saved.
        @param container: the container of its sessions.
        @raise ServiceError: 400, 403, 404, 409, 422 (protocol-cases).
        """
        check_case_name(name)
        if path is not None:
            self._require_admin(caller)
        if container is not None:
            self._containers.judge(container)
        work = self._create(name, description, path, caller, again, container)
        return await self._desk.whole(work)

    async def _create(
        self,
        name: str,
        description: str | None,
        path: str | None,
        caller: Identity,
        again: Callable[[], None],
        container: ContainerWish | None,
    ) -> Case:
        desk = self._desk
        await desk.ready(caller)
        owner, hooks = desk.owner(caller), desk.hooks_for(caller)
        where = None if path is None else self._judged(path, caller)
        cases = self._workspaces.cases_of(caller)
        with desk.reserve(owner, name, MADE):
            await desk.refuse_taken(caller, name)
            if where is None:
                work = partial(make_local, cases=cases, name=name, put_hooks=hooks)
                paths = [str(cases)]
            else:
                bounds = self._workspaces.bounds(caller)
                work = partial(make_at, path=where, name=name, bounds=bounds, put_hooks=hooks)
                paths = [str(Path(where).parent), where]
            making = await self._made(caller, paths, work)
            row = self._row(owner, name, where, description)
            try:
                await self._keep(row, where or local_path(cases, name), again, container)
            except Exception:
                await desk.undo(caller, making)
                raise
            return await self._told(EventName.CASE_CREATED, name, caller)

    async def _made(
        self, caller: Identity, paths: Iterable[str], work: Callable[[Making], None]
    ) -> Making:
        try:
            return await self._desk.make(caller, paths, work)
        except FileExistsError as error:
            text = f"something already exists at {error.filename}"
            raise ServiceError(ErrorCode.ALREADY_EXISTS, text) from error
        except OSError as error:
            raise explain(error, "the case cannot be created") from error

    async def _keep(
        self, row: CaseRow, path: str, again: Callable[[], None], container: ContainerWish | None
    ) -> None:
        """Save a new case, with its container."""
        again()
        self._desk.store.save(row)
        if container is None:
            return
        try:
            await self._containers.attach(row.owner, row.name, path, container, again)
        except Exception:
            self._desk.store.drop(row.owner, row.name)
            raise

    async def link(
        self,
        name: str,
        path: str,
        caller: Identity,
        again: Callable[[], None],
        container: ContainerWish | None = None,
    ) -> Case:
        """Name an existing folder as a case; nothing is written into it.

        @param again: authorizes the caller again, before the case is saved.
        @param container: the container of its sessions.
        @raise ServiceError: 400, 403, 404, 409, 422 (protocol-cases).
        """
        check_case_name(name)
        self._require_admin(caller)
        if container is not None:
            self._containers.judge(container)
        return await self._desk.whole(self._link(name, path, caller, again, container))

    async def _link(
        self,
        name: str,
        path: str,
        caller: Identity,
        again: Callable[[], None],
        container: ContainerWish | None,
    ) -> Case:
        desk = self._desk
        await desk.ready(caller)
        owner, where = desk.owner(caller), self._judged(path, caller)
        with desk.reserve(owner, name, "linked"):
            await desk.refuse_taken(caller, name)
            check = partial(check_link, where, self._workspaces.bounds(caller))
            try:
                await desk.at(caller, [where], check, seconds=PROBE_SECONDS)
            except OSError as error:
                raise explain(error, "path: the folder cannot be read") from error
            await self._keep(self._row(owner, name, where, None), where, again, container)
            return await self._told(EventName.CASE_LINKED, name, caller)

    async def link_far(
        self, name: str, far: LocationId, path: str, caller: Identity, again: Callable[[], None]
    ) -> Case:
        """Name a folder of another location as a case; the folder is not read.

        @param again: authorizes the caller again, before the case is saved.
        @raise ServiceError: 400, 403, 404, 409, 422 (protocol-cases).
        """
        check_case_name(name)
        self._require_admin(caller)
        return await self._desk.whole(self._link_far(name, far, path, caller, again))

    async def _link_far(
        self, name: str, far: LocationId, path: str, caller: Identity, again: Callable[[], None]
    ) -> Case:
        desk = self._desk
        await desk.ready(caller)
        owner, where = desk.owner(caller), check_far_path(path)
        if self._workspaces.places.find_location(far) is None:
            raise not_found(f"Host {far.name}")
        with desk.reserve(owner, name, "linked"):
            await desk.refuse_taken(caller, name)
            again()
            desk.store.save(evolve(self._row(owner, name, where, None), far=far))
            return await self._told(EventName.CASE_LINKED, name, caller)

    async def clone(
        self, wish: CloneWish, caller: Identity, again: Callable[[], None]
    ) -> tuple[Case, CloneResult]:
        """Clone a repository into a case (protocol-clone).

        @param again: authorizes the caller again, before the case is saved.
        """
        done = await self._clones.clone(wish, caller, again)
        return await self._catalogue.get(done.name, caller), done

    async def cancel_clone(self, name: str, caller: Identity) -> None:
        """Cancel a clone.

        @raise ServiceError: 404.
        """
        await self._clones.cancel(name, caller)

    async def make_worktree(
        self, name: str, wish: WorktreeWish, caller: Identity, again: Callable[[], None]
    ) -> Case:
        """Return a case on a new worktree of another (protocol-worktrees).

        @param again: authorizes the caller again, before the case is saved.
        """
        return await self._desk.whole(self._make_worktree(name, wish, caller, again))

    async def _make_worktree(
        self, name: str, wish: WorktreeWish, caller: Identity, again: Callable[[], None]
    ) -> Case:
        place = await self._worktrees.add(name, wish, caller, again)
        return await self._catalogue.get(place.name, caller)

    async def prepare(
        self, name: str, caller: Identity, again: Callable[[], object]
    ) -> Preparation:
        """Fetch the missing parts of a case (protocol-prepare); see L{Preparer.prepare}."""
        return await self._desk.whole(self._preparer.prepare(name, caller, again))

    # -- changing

    async def delete(
        self, name: str, caller: Identity, *, force: bool, again: Callable[[], None]
    ) -> None:
        """Remove a case (protocol-cases).

        @param again: authorizes the caller again, before steps that cannot be rolled back.
        @raise ServiceError: 404, 409, 422.
        """
        await self._desk.whole(self._removal.remove(name, caller, force=force, again=again))

    async def order(
        self, names: Sequence[str], caller: Identity, again: Callable[[], None]
    ) -> Sequence[str]:
        """Set the order of the caller's cases.

        @param again: authorizes the caller again, before the order is stored.
        @return: the new order.
        @raise ServiceError: 400: a case is named twice; 404: there is no such case.
        """
        known = [case.name for case in await self._catalogue.every(caller)]
        wanted = []
        for name in names:
            meant = named(name, known)
            if meant is None:
                raise not_found(f"Case {name}")
            wanted.append(meant)
        if len(set(wanted)) != len(wanted):
            raise invalid_field("order", "names a case twice")
        again()
        owner = self._desk.owner(caller)
        self._orders.put(owner, wanted)
        self._desk.publish(
            EventName.CASE_ORDER_CHANGED, owner, CaseOrderPayload(order=tuple(wanted))
        )
        return wanted

    # -- ICases

    def owner_of(self, caller: Identity) -> str | None:
        return self._workspaces.owner_of(caller)

    async def folder(self, text: str, caller: Identity) -> str:
        return await self._desk.folder(text, caller, "workingDir")

    async def default(self, caller: Identity, chosen: str | None) -> str:
        return await self._desk.default(caller, chosen)

    async def case(self, name: str, caller: Identity) -> CasePlace:
        check_known_name(name, "caseName")
        self.refuse_removed(name, caller)
        found = await self._find(name, caller)
        if found is None:
            raise not_found(f"Case {name}")
        return found

    def refuse_removed(self, name: str, caller: Identity) -> None:
        self._desk.refuse_reserved(self._desk.owner(caller), name)

    async def open(self, name: str, caller: Identity, marker: Marker | None = None) -> CasePlace:
        check_known_name(name, "caseName")
        owner = self._desk.owner(caller)
        await self._desk.made(owner, name)
        self.refuse_removed(name, caller)
        found = await self._find(name, caller)
        if found is not None:
            return found
        check_case_name(name, "caseName")
        await self._desk.made(owner, name)
        with self._desk.reserve(owner, name, MADE):
            # Another caller may have made it since the search.
            found = await self._find(name, caller)
            return found or await self._opened(owner, name, caller, marker)

    async def _opened(
        self, owner: str, name: str, caller: Identity, marker: Marker | None
    ) -> CasePlace:
        desk, cases = self._desk, self._workspaces.cases_of(caller)
        row = self._row(owner, name, None, None)
        await desk.refuse_too_many(caller)
        hooks = desk.hooks_for(caller)
        work = partial(make_local, cases=cases, name=name, put_hooks=hooks, marker=marker)
        try:
            making = await desk.make(caller, [str(cases)], work)
        except FileExistsError as error:
            raise invalid_field(
                "caseName", "its folder cannot be created: something else is there"
            ) from error
        except OSError as error:
            raise explain(error, "caseName: its folder cannot be created") from error
        try:
            path = await desk.folder(local_path(cases, name), caller, "caseName")
            desk.store.save(row)
        except ServiceError:
            await desk.undo(caller, making)
            raise
        self._desk.publish(EventName.CASE_CREATED, owner, case_answer(_new(row, path)))

        async def undo() -> None:
            if self._catalogue.sessions_in(name, path, caller):
                return  # another session works in it by now
            await desk.undo(caller, making)
            desk.store.drop(owner, name)
            desk.publish(EventName.CASE_DELETED, owner, CaseRemovedPayload(name=name))

        return CasePlace(name=name, path=path, undo=undo)

    async def add_worktree(
        self, name: str, wish: WorktreeWish, caller: Identity, again: Callable[[], object]
    ) -> CasePlace:
        return await self._worktrees.add(name, wish, caller, again)

    def container_folders(self) -> Iterable[str]:
        return self._containers.folders()

    # -- inside

    async def _find(self, name: str, caller: Identity) -> CasePlace | None:
        """Return the case if it exists."""
        desk = self._desk
        row = desk.store.find(desk.owner(caller), name)
        if row is not None and row.far is not None:
            self._require_admin(caller)
            return CasePlace(name=row.name, path=str(row.path), place=row.far)
        if row is not None and row.path is not None:
            path = await desk.folder(row.path, caller, "caseName")
            return CasePlace(name=row.name, path=path, place=self._contained(caller, row.name))
        await desk.ready(caller)
        there = await desk.local_name(name, caller)
        if there is None:
            return None
        path = local_path(self._workspaces.cases_of(caller), there)
        folder = await desk.folder(path, caller, "caseName")
        return CasePlace(name=there, path=folder, place=self._contained(caller, there))

    def _contained(self, caller: Identity, name: str) -> LocationId | None:
        found = self._containers.of(self._desk.owner(caller), name)
        return None if found is None else found.place

    def _judged(self, path: str, caller: Identity) -> str:
        """Check a path by its text only; its target is checked later, in a thread."""
        bounds = self._workspaces.bounds(caller)
        where = plain_path(path, bounds)
        check_place(where, bounds)
        return where

    def _require_admin(self, caller: Identity) -> None:
        if self._workspaces.multiuser and not caller.admin:
            text = "path: folders outside of the workspace are for admins"
            raise ServiceError(ErrorCode.FORBIDDEN, text)

    def _row(self, owner: str, name: str, path: str | None, description: str | None) -> CaseRow:
        return CaseRow(
            owner=owner,
            name=name,
            path=path,
            description=description,
            created_at=now_ms(self._desk.clock),
        )

    async def _told(self, event: EventName, name: str, caller: Identity) -> Case:
        case = await self._catalogue.get(name, caller)
        self._desk.publish(event, self._desk.owner(caller), case_answer(case))
        return case


def _new(row: CaseRow, path: str) -> Case:
    """Return a local case that was just filled."""
    return Case(
        name=row.name,
        path=path,
        location=CaseLocation.LOCAL,
        created_at=row.created_at,
        has_instructions=True,
    )
