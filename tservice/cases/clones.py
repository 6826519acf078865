"""Creation of cases by cloning a repository (protocol-clone)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall

from tservice.cases.case_folders import (
    move_folder,
    read_folder_state,
    remove_tree,
    to_service_error,
)
from tservice.cases.case_operations import CaseOperations, local_case_path
from tservice.cases.creation import CreatedFiles
from tservice.cases.model import (
    Case,
    CaseLocation,
    CaseRow,
    CloneStatus,
    check_case_name,
    make_taken_error,
)
from tservice.cases.responses import make_case_response
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import CloneProgressPayload
from tservice.core.kernel.events import EventName
from tservice.core.kernel.shared_work import SharedWork
from tservice.git.interfaces import (
    CloneOutcome,
    CloneProgress,
    CloneRequest,
    CloneRun,
    CloneSource,
    IGitWork,
    check_ref,
    parse_source,
)

Hold = Callable[[CloneSource, str], Awaitable[CloneSource]]
"""Restricts a clone's source to public addresses; see L{hold_to_public}."""
STAGING = ".cloning-"
"""Prefix of the name of a staging folder, in which a clone is made next to the cases."""
MAX_CLONES = 8
"""Maximum number of running clones of all users together."""
PROGRESS_SECONDS = 0.25
"""Minimum seconds between two progress events (protocol-clone)."""


@frozen(kw_only=True)
class CaseCloneRequest:
    """Request to clone a repository into a case."""

    name: str
    repository: str
    ref: str | None = None
    shallow: bool = False
    description: str | None = None


@frozen(kw_only=True)
class CaseCloneResult:
    """Result of a clone; see L{CloneOutcome}."""

    name: str
    repository: str
    cloned: CloneOutcome


@define(eq=False)
class _ActiveClone:
    """Running clone.

    @ivar staging: path of the folder in which the clone is made.
    """

    owner: str
    name: str
    path: str
    staging: str
    run: CloneRun
    begun: int
    progress: CloneProgress = field(factory=CloneProgress)
    last_event_at: float = 0.0
    timer: IDelayedCall | None = None
    flight: SharedWork[CaseCloneResult] | None = None


class CaseCloner:
    """Clones repositories into cases, one at a time for each owner."""

    def __init__(self, desk: CaseOperations, git: IGitWork, hold: Hold) -> None:
        """@param hold: restricts a source to public addresses, for accounts that may not run
        commands.
        """
        self._desk = desk
        self._git = git
        self._hold = hold
        self._active: dict[str, _ActiveClone] = {}

    def list_cloning(self, owner: str) -> list[Case]:
        """Return the owner's cases that are being cloned."""
        active = self._active.get(owner)
        if active is None:
            return []
        progress = active.progress
        case = Case(
            name=active.name,
            path=active.path,
            location=CaseLocation.LOCAL,
            created_at=active.begun,
            cloning=CloneStatus(phase=progress.phase, percent=progress.percent),
        )
        return [case]

    def is_in_use(self, path: str) -> bool:
        """Return true if a running clone uses the folder at C{path}."""
        return any(path in (each.staging, each.path) for each in self._active.values())

    async def clone_repository(self, wish: CaseCloneRequest, caller: Caller) -> CaseCloneResult:
        """Clone a repository into a new case.

        The clone continues if the caller disconnects.

        @param caller: authorized again before the clone becomes a case.
        @raise ServiceError: 400 or 403 for the address; 409: the name is taken; 422: the clone
            failed; 429: another clone of the caller is running, or too many of all users.
        """
        check_case_name(wish.name)
        source = parse_source(wish.repository, local=caller.admin)
        if wish.ref is not None:
            check_ref(wish.ref, "ref")
        if not caller.can_bypass_permissions:
            source = await self._hold(source, caller.username)
        await self._desk.check_paths(caller)
        active = self._register_clone(wish, caller)
        active.flight = SharedWork(self._run_clone(active, wish, source, caller))
        return await active.flight.wait_for_result()

    async def cancel_clone(self, name: str, caller: Identity) -> None:
        """Cancel a clone and wait until its files are removed.

        @raise ServiceError: 404: the caller has no running clone of that name.
        """
        active = self._active.get(self._desk.get_owner(caller))
        if active is None or active.name.lower() != name.lower() or active.flight is None:
            raise make_not_found_error(f"Clone {name}")
        active.run.cancel()
        over: Deferred[None] = Deferred()
        active.flight.finished.addCallback(over.callback)
        await over

    def stop_all(self) -> list[Deferred[None]]:
        """Cancel all clones.

        @return: Deferreds, each of which fires after the end of one clone.
        """
        flights = [active.flight for active in self._active.values() if active.flight]
        for active in tuple(self._active.values()):
            active.run.cancel()
        return [flight.finished for flight in flights]

    # -- one clone

    def _register_clone(self, wish: CaseCloneRequest, caller: Caller) -> _ActiveClone:
        desk = self._desk
        owner, cases = desk.get_owner(caller), desk.workspaces.get_cases_folder(caller)
        if owner in self._active or len(self._active) >= MAX_CLONES:
            text = "a clone is already running" if owner in self._active else "too many clones run"
            raise ServiceError(ErrorCode.RATE_LIMITED, f"{text}; wait for its end")
        active = _ActiveClone(
            owner=owner,
            name=wish.name,
            path=local_case_path(cases, wish.name),
            staging=str(cases / f"{STAGING}{wish.name}"),
            run=CloneRun(on_progress=lambda progress: self._record_progress(active, progress)),
            begun=get_unix_ms(desk.clock),
        )
        self._active[owner] = active
        return active

    async def _run_clone(
        self, active: _ActiveClone, wish: CaseCloneRequest, source: CloneSource, caller: Caller
    ) -> CaseCloneResult:
        try:
            with self._desk.reserve_name(active.owner, wish.name, "cloned"):
                await self._desk.check_not_taken(caller, wish.name)
                cloned = await self._clone_to_staging(active, wish, source, caller)
            await self._publish_created(active, wish, caller)
        finally:
            self._active.pop(active.owner, None)
            if active.timer is not None:
                active.timer.cancel()
        return CaseCloneResult(name=wish.name, repository=source.url, cloned=cloned)

    async def _clone_to_staging(
        self, active: _ActiveClone, wish: CaseCloneRequest, source: CloneSource, caller: Caller
    ) -> CloneOutcome:
        desk, place = self._desk, self._desk.workspaces.get_location(caller)
        # If the service crashes now, the sweep removes it.
        desk.store.schedule_removal(active.staging, place.id, get_unix_ms(desk.clock))
        making = None
        try:
            making = await desk.create_files(caller, (), partial(_prepare_staging, active))
            order = CloneRequest(
                source=source,
                target=active.staging,
                ref=wish.ref,
                shallow=wish.shallow,
                place=place,
                owner=desk.workspaces.get_owner(caller),
            )
            caller.reauthorize()
            cloned = await self._git.clone_repository(order, active.run)
            await self._move_to_case(active, wish, caller)
        except Exception as error:
            await self._remove_staging(active, making, caller)
            if isinstance(error, OSError):
                raise to_service_error(error, "the clone could not be stored") from error
            raise
        return cloned

    async def _move_to_case(
        self, active: _ActiveClone, wish: CaseCloneRequest, caller: Caller
    ) -> None:
        """Move a clone from the staging folder to the case's folder, and save the case.

        If one of the two steps fails, the other is undone.
        """
        desk = self._desk
        if active.run.cancelled:
            raise make_failure_error("the clone was cancelled")
        caller.reauthorize()
        try:
            await desk.run_on_folders(caller, (), partial(move_folder, active.staging, active.path))
        except FileExistsError:
            raise make_taken_error(wish.name) from None
        row = CaseRow(
            owner=active.owner,
            name=wish.name,
            description=wish.description,
            created_at=active.begun,
        )
        try:
            caller.reauthorize()
            desk.store.save_row(row, spared=active.staging)
        except Exception:
            await desk.run_on_folders(caller, (), partial(move_folder, active.path, active.staging))
            raise

    async def _publish_created(
        self, active: _ActiveClone, wish: CaseCloneRequest, caller: Caller
    ) -> None:
        looked = await self._desk.run_on_folders(
            caller, (), partial(read_folder_state, active.path)
        )
        case = Case(
            name=wish.name,
            path=active.path,
            location=CaseLocation.LOCAL,
            description=wish.description,
            created_at=active.begun,
            has_instructions=looked.has_instructions,
        )
        self._desk.publish_event(EventName.CASE_CREATED, active.owner, make_case_response(case))

    async def _remove_staging(
        self, active: _ActiveClone, making: CreatedFiles | None, caller: Identity
    ) -> None:
        """Remove the files of a failed clone.

        The trash sweeper removes the rest later if this fails.
        """
        desk = self._desk
        try:
            await desk.run_on_folders(caller, (), partial(remove_tree, active.staging))
            if making is not None:
                await desk.remove_created_files(caller, making)
        except (OSError, ServiceError):
            return
        desk.store.cancel_removal(active.staging)

    # -- progress

    def _record_progress(self, active: _ActiveClone, progress: CloneProgress) -> None:
        active.progress = progress
        if active.timer is None:
            wait = max(0.0, active.last_event_at + PROGRESS_SECONDS - self._desk.clock.seconds())
            active.timer = self._desk.clock.callLater(wait, self._publish_progress, active)

    def _publish_progress(self, active: _ActiveClone) -> None:
        active.timer = None
        active.last_event_at = self._desk.clock.seconds()
        progress = active.progress
        data = CloneProgressPayload(
            name=active.name, phase=progress.phase, percent=progress.percent
        )
        self._desk.publish_event(EventName.CASE_CLONE_PROGRESS, active.owner, data)


def _prepare_staging(active: _ActiveClone, making: CreatedFiles) -> None:
    """Create the folder of cases, and remove the remains of an earlier clone."""
    remove_tree(active.staging)
    making.make_folders(Path(active.staging).parent)
