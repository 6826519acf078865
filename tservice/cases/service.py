"""Service for cases, used by the routes and other features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred, gatherResults
from zope.interface import implementer

from tservice.cases.case_folders import (
    check_linkable_folder,
    create_case_at,
    create_local_case,
    to_service_error,
)
from tservice.cases.case_operations import (
    BEING_MADE,
    PROBE_SECONDS,
    CaseOperations,
    local_case_path,
)
from tservice.cases.case_order import CaseOrderStore
from tservice.cases.catalogue import CaseCatalogue
from tservice.cases.clones import CaseCloner, CaseCloneRequest, CaseCloneResult
from tservice.cases.creation import CreatedFiles
from tservice.cases.folder_browsing import FolderListing, list_folders
from tservice.cases.interfaces import (
    AgentMarker,
    CaseContainers,
    CaseWorktreeRequest,
    ContainerSettings,
    ICases,
    NoContainers,
    ResolvedCase,
)
from tservice.cases.model import (
    Case,
    CaseLocation,
    CaseRow,
    check_case_name,
    check_known_name,
    match_name,
)
from tservice.cases.path_rules import check_path, check_remote_path, normalize_path
from tservice.cases.preparation import CasePreparer, PreparationResult
from tservice.cases.removal import CaseRemover
from tservice.cases.responses import make_case_response
from tservice.cases.trash import TrashSweeper
from tservice.cases.worktrees import CaseWorktreeMaker
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_field_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import CaseOrderPayload, CaseRemovedPayload
from tservice.core.kernel.events import EventName
from tservice.core.locations.location import LocationId


@implementer(ICases)
class CaseService:
    """Implementation of L{ICases}, with further methods for the routes."""

    def __init__(
        self,
        *,
        desk: CaseOperations,
        catalogue: CaseCatalogue,
        clones: CaseCloner,
        worktrees: CaseWorktreeMaker,
        removal: CaseRemover,
        orders: CaseOrderStore,
        trash: TrashSweeper,
        preparer: CasePreparer,
        containers: CaseContainers | None = None,
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
        """Begin to remove expired folders from the trash."""
        self._trash.start()

    def stop(self) -> Deferred[list[object]]:
        """Cancel the clones.  The result fires after all running changes are done."""
        return gatherResults([*self._clones.stop_all(), self._desk.stop(), self._trash.stop()])

    # -- reading

    async def list_cases(self, caller: Identity) -> Sequence[Case]:
        """Return the caller's cases, in the caller's order."""
        return await self._catalogue.list_cases(caller)

    async def get_case(self, name: str, caller: Identity) -> Case:
        """Return a case of the caller, or raise a L{ServiceError} 404."""
        return await self._catalogue.get_case(name, caller)

    async def check_visible(self, name: str, caller: Identity) -> None:
        await self._catalogue.get_case(name, caller)

    async def list_agent_cases(self, caller: Identity) -> Sequence[tuple[Case, AgentMarker]]:
        """Return the cases that were created for agents, with their markers, newest first."""
        return await self._catalogue.list_agent_cases(caller)

    async def browse_folders(
        self, path: str | None, caller: Identity, *, hidden: bool
    ) -> FolderListing:
        """Return the folders inside a folder.

        @param path: the folder; C{None} means the home folder, or the caller's workspace.
        @param hidden: true to include names that begin with a dot.
        @raise ServiceError: 400, 403, 404 or 422 for the field C{path}.
        """
        desk, spaces = self._desk, self._workspaces
        await desk.check_paths(caller)
        bounds = spaces.get_bounds(caller)
        free = spaces.is_unrestricted(caller)
        top = None if free else str(spaces.get_cases_folder(caller))
        where = normalize_path(path or top or str(spaces.get_home(caller)), bounds)
        look = partial(list_folders, where, top, hidden=hidden)
        whole, names = partial(look, look=True), partial(look, look=False)
        limit = PROBE_SECONDS
        try:
            return await desk.run_on_folders(caller, [where], whole, seconds=limit, inside=where)
        except ServiceError as error:
            if error.code is not ErrorCode.OPERATION_FAILED:
                raise
        # An entry does not answer, but its name can be listed.
        return await desk.run_on_folders(caller, [where], names, seconds=limit)

    # -- making

    async def create_case(
        self,
        name: str,
        description: str | None,
        path: str | None,
        caller: Caller,
        container: ContainerSettings | None = None,
    ) -> Case:
        """Create a case with its folder and initial files.

        @param path: folder of the case; C{None} means a local case.
        @param caller: authorized again before the case is saved.
        @param container: settings of the container for its sessions; C{None} means no container.
        @raise ServiceError: 400, 403, 404, 409 or 422 (protocol-cases).
        """
        check_case_name(name)
        if path is not None:
            self._require_admin(caller)
        if container is not None:
            self._containers.check_settings(container)
        work = self._create_case(name, description, path, caller, container)
        return await self._desk.run_uninterrupted(work)

    async def _create_case(
        self,
        name: str,
        description: str | None,
        path: str | None,
        caller: Caller,
        container: ContainerSettings | None,
    ) -> Case:
        desk = self._desk
        await desk.check_paths(caller)
        owner, hooks = desk.get_owner(caller), desk.get_hook_writer(caller)
        where = None if path is None else self._check_path_text(path, caller)
        cases = self._workspaces.get_cases_folder(caller)
        with desk.reserve_name(owner, name, BEING_MADE):
            await desk.check_not_taken(caller, name)
            if where is None:
                work = partial(create_local_case, cases=cases, name=name, put_hooks=hooks)
                paths = [str(cases)]
            else:
                bounds = self._workspaces.get_bounds(caller)
                work = partial(
                    create_case_at, path=where, name=name, bounds=bounds, put_hooks=hooks
                )
                paths = [str(Path(where).parent), where]
            making = await self._create_files(caller, paths, work)
            row = self._make_row(owner, name, where, description)
            try:
                await self._save_case(row, where or local_case_path(cases, name), caller, container)
            except Exception:
                await desk.remove_created_files(caller, making)
                raise
            return await self._publish_case(EventName.CASE_CREATED, name, caller)

    async def _create_files(
        self, caller: Identity, paths: Iterable[str], work: Callable[[CreatedFiles], None]
    ) -> CreatedFiles:
        try:
            return await self._desk.create_files(caller, paths, work)
        except FileExistsError as error:
            text = f"something already exists at {error.filename}"
            raise ServiceError(ErrorCode.ALREADY_EXISTS, text) from error
        except OSError as error:
            raise to_service_error(error, "the case cannot be created") from error

    async def _save_case(
        self, row: CaseRow, path: str, caller: Caller, container: ContainerSettings | None
    ) -> None:
        """Save a new case, and create its container if it gets one."""
        caller.reauthorize()
        self._desk.store.save_row(row)
        if container is None:
            return
        try:
            await self._containers.create_container(row.owner, row.name, path, container, caller)
        except Exception:
            self._desk.store.delete_or_defer_row(row.owner, row.name)
            raise

    async def link_folder(
        self, name: str, path: str, caller: Caller, container: ContainerSettings | None = None
    ) -> Case:
        """Add an existing folder as a case.  Nothing is written into the folder.

        @param caller: authorized again before the case is saved.
        @param container: settings of the container for its sessions; C{None} means no container.
        @raise ServiceError: 400, 403, 404, 409 or 422 (protocol-cases).
        """
        check_case_name(name)
        self._require_admin(caller)
        if container is not None:
            self._containers.check_settings(container)
        return await self._desk.run_uninterrupted(self._link_folder(name, path, caller, container))

    async def _link_folder(
        self, name: str, path: str, caller: Caller, container: ContainerSettings | None
    ) -> Case:
        desk = self._desk
        await desk.check_paths(caller)
        owner, where = desk.get_owner(caller), self._check_path_text(path, caller)
        with desk.reserve_name(owner, name, "linked"):
            await desk.check_not_taken(caller, name)
            check = partial(check_linkable_folder, where, self._workspaces.get_bounds(caller))
            try:
                await desk.run_on_folders(caller, [where], check, seconds=PROBE_SECONDS)
            except OSError as error:
                raise to_service_error(error, "path: the folder cannot be read") from error
            await self._save_case(
                self._make_row(owner, name, where, None), where, caller, container
            )
            return await self._publish_case(EventName.CASE_LINKED, name, caller)

    async def link_remote(self, name: str, far: LocationId, path: str, caller: Caller) -> Case:
        """Add a folder of another location as a case.  The folder is not read.

        @param far: location of the folder.
        @param caller: authorized again before the case is saved.
        @raise ServiceError: 400, 403, 404, 409 or 422 (protocol-cases).
        """
        check_case_name(name)
        self._require_admin(caller)
        return await self._desk.run_uninterrupted(self._link_remote(name, far, path, caller))

    async def _link_remote(self, name: str, far: LocationId, path: str, caller: Caller) -> Case:
        desk = self._desk
        await desk.check_paths(caller)
        owner, where = desk.get_owner(caller), check_remote_path(path)
        if self._workspaces.places.find_location(far) is None:
            raise make_not_found_error(f"Host {far.name}")
        with desk.reserve_name(owner, name, "linked"):
            await desk.check_not_taken(caller, name)
            caller.reauthorize()
            desk.store.save_row(evolve(self._make_row(owner, name, where, None), far=far))
            return await self._publish_case(EventName.CASE_LINKED, name, caller)

    async def clone_repository(
        self, wish: CaseCloneRequest, caller: Caller
    ) -> tuple[Case, CaseCloneResult]:
        """Clone a repository into a new case (protocol-clone).

        @param caller: authorized again before the case is saved.
        """
        done = await self._clones.clone_repository(wish, caller)
        return await self._catalogue.get_case(done.name, caller), done

    async def cancel_clone(self, name: str, caller: Identity) -> None:
        """Cancel a running clone; raise a L{ServiceError} 404 if there is none."""
        await self._clones.cancel_clone(name, caller)

    async def make_worktree(self, name: str, wish: CaseWorktreeRequest, caller: Caller) -> Case:
        """Create a case that is a new worktree of a case, as L{ICases.add_worktree} does."""
        place = await self._desk.run_uninterrupted(self.add_worktree(name, wish, caller))
        return await self._catalogue.get_case(place.name, caller)

    async def prepare_case(self, name: str, caller: Caller) -> PreparationResult:
        """Fetch missing parts of a case (protocol-prepare); see L{CasePreparer.prepare_case}."""
        return await self._desk.run_uninterrupted(self._preparer.prepare_case(name, caller))

    # -- changing

    async def delete_case(self, name: str, caller: Caller, *, force: bool) -> None:
        """Remove a case (protocol-cases).

        @param force: true to remove the case although work would be lost.
        @param caller: authorized again before steps that cannot be rolled
            back.
        @raise ServiceError: 404: there is no such case; 409: it is in use, or work would be lost;
            422: the removal failed.
        """
        await self._desk.run_uninterrupted(self._removal.remove_case(name, caller, force=force))

    async def set_order(self, names: Sequence[str], caller: Caller) -> Sequence[str]:
        """Set the order of the caller's cases.

        @param caller: authorized again before the order is stored.
        @return: the new order.
        @raise ServiceError: 400: a name occurs twice; 404: there is no such case.
        """
        known = [case.name for case in await self._catalogue.list_cases(caller)]
        wanted = []
        for name in names:
            meant = match_name(name, known)
            if meant is None:
                raise make_not_found_error(f"Case {name}")
            wanted.append(meant)
        if len(set(wanted)) != len(wanted):
            raise make_field_error("order", "names a case twice")
        caller.reauthorize()
        owner = self._desk.get_owner(caller)
        self._orders.put_order(owner, wanted)
        self._desk.publish_event(
            EventName.CASE_ORDER_CHANGED, owner, CaseOrderPayload(order=tuple(wanted))
        )
        return wanted

    # -- ICases

    def get_owner_name(self, caller: Identity) -> str | None:
        return self._workspaces.get_owner(caller)

    async def resolve_folder(self, text: str, caller: Identity) -> str:
        return await self._desk.resolve_folder(text, caller, "workingDir")

    async def default_folder(self, caller: Identity, chosen: str | None) -> str:
        return await self._desk.default_folder(caller, chosen)

    async def resolve_case(self, name: str, caller: Identity) -> ResolvedCase:
        check_known_name(name, "caseName")
        self.check_not_removed(name, caller)
        found = await self._find_case(name, caller)
        if found is None:
            raise make_not_found_error(f"Case {name}")
        return found

    def check_not_removed(self, name: str, caller: Identity) -> None:
        self._desk.check_not_reserved(self._desk.get_owner(caller), name)

    async def open_or_create(
        self, name: str, caller: Identity, marker: AgentMarker | None = None
    ) -> ResolvedCase:
        check_known_name(name, "caseName")
        owner = self._desk.get_owner(caller)
        await self._desk.wait_until_created(owner, name)
        self.check_not_removed(name, caller)
        found = await self._find_case(name, caller)
        if found is not None:
            return found
        check_case_name(name, "caseName")
        await self._desk.wait_until_created(owner, name)
        with self._desk.reserve_name(owner, name, BEING_MADE):
            # Another caller may have made it since the search.
            found = await self._find_case(name, caller)
            return found or await self._create_opened(owner, name, caller, marker)

    async def _create_opened(
        self, owner: str, name: str, caller: Identity, marker: AgentMarker | None
    ) -> ResolvedCase:
        desk, cases = self._desk, self._workspaces.get_cases_folder(caller)
        row = self._make_row(owner, name, None, None)
        await desk.check_case_limit(caller)
        hooks = desk.get_hook_writer(caller)
        work = partial(create_local_case, cases=cases, name=name, put_hooks=hooks, marker=marker)
        try:
            making = await desk.create_files(caller, [str(cases)], work)
        except FileExistsError as error:
            raise make_field_error(
                "caseName", "its folder cannot be created: something else is there"
            ) from error
        except OSError as error:
            raise to_service_error(error, "caseName: its folder cannot be created") from error
        try:
            path = await desk.resolve_folder(local_case_path(cases, name), caller, "caseName")
            desk.store.save_row(row)
        except ServiceError:
            await desk.remove_created_files(caller, making)
            raise
        self._desk.publish_event(
            EventName.CASE_CREATED, owner, make_case_response(_make_created_case(row, path))
        )

        async def undo_creation() -> None:
            if self._catalogue.list_sessions(name, path, caller):
                return  # another session works in it by now
            await desk.remove_created_files(caller, making)
            desk.store.delete_or_defer_row(owner, name)
            desk.publish_event(EventName.CASE_DELETED, owner, CaseRemovedPayload(name=name))

        return ResolvedCase(name=name, path=path, undo=undo_creation)

    async def add_worktree(
        self, name: str, wish: CaseWorktreeRequest, caller: Caller
    ) -> ResolvedCase:
        return await self._worktrees.add_worktree(name, wish, caller)

    async def add_worktree_of_folder(
        self, folder: str, wish: CaseWorktreeRequest, caller: Caller
    ) -> ResolvedCase:
        return await self._worktrees.add_worktree_of_folder(folder, wish, caller)

    def list_container_folders(self) -> Iterable[str]:
        return self._containers.list_folders()

    # -- inside

    async def _find_case(self, name: str, caller: Identity) -> ResolvedCase | None:
        """Return the case; C{None} if it does not exist."""
        desk = self._desk
        row = desk.store.find_row(desk.get_owner(caller), name)
        if row is not None and row.far is not None:
            self._require_admin(caller)
            return ResolvedCase(name=row.name, path=str(row.path), place=row.far)
        if row is not None and row.path is not None:
            path = await desk.resolve_folder(row.path, caller, "caseName")
            return ResolvedCase(
                name=row.name, path=path, place=self._container_location(caller, row.name)
            )
        await desk.check_paths(caller)
        there = await desk.find_local_name(name, caller)
        if there is None:
            return None
        path = local_case_path(self._workspaces.get_cases_folder(caller), there)
        folder = await desk.resolve_folder(path, caller, "caseName")
        return ResolvedCase(name=there, path=folder, place=self._container_location(caller, there))

    def _container_location(self, caller: Identity, name: str) -> LocationId | None:
        found = self._containers.find_container(self._desk.get_owner(caller), name)
        return None if found is None else found.place

    def _check_path_text(self, path: str, caller: Identity) -> str:
        """Check a path by its text only; symbolic links are checked later, in a thread."""
        bounds = self._workspaces.get_bounds(caller)
        where = normalize_path(path, bounds)
        check_path(where, bounds)
        return where

    def _require_admin(self, caller: Identity) -> None:
        if self._workspaces.multiuser and not caller.admin:
            text = "path: folders outside of the workspace are for admins"
            raise ServiceError(ErrorCode.FORBIDDEN, text)

    def _make_row(
        self, owner: str, name: str, path: str | None, description: str | None
    ) -> CaseRow:
        return CaseRow(
            owner=owner, name=name, path=path, description=description,
            created_at=get_unix_ms(self._desk.clock),
        )  # fmt: skip

    async def _publish_case(self, event: EventName, name: str, caller: Identity) -> Case:
        case = await self._catalogue.get_case(name, caller)
        self._desk.publish_event(event, self._desk.get_owner(caller), make_case_response(case))
        return case


def _make_created_case(row: CaseRow, path: str) -> Case:
    """Return the current state of a local case that was just created."""
    return Case(
        name=row.name, path=path, location=CaseLocation.LOCAL, created_at=row.created_at,
        has_instructions=True,
    )  # fmt: skip
