"""Removal of cases, with checks against the loss of unsaved work (protocol-cases)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from attrs import field, frozen

from tservice.cases.case_folders import TRASH, move_folder, to_service_error
from tservice.cases.case_operations import CaseOperations
from tservice.cases.catalogue import CaseCatalogue
from tservice.cases.interfaces import CaseContainers, NoContainers
from tservice.cases.model import Case
from tservice.cases.trash import RETENTION_MS
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_conflict_error
from tservice.core.kernel.event_payloads import CaseRemovedPayload
from tservice.core.kernel.events import EventName
from tservice.git.interfaces import IGitWork

MAX_LISTED = 5
"""Maximum number of repositories listed in an error text."""


@frozen
class CaseRemover:
    """Removes cases.

    Local cases are moved to the trash, and worktrees are deleted.  The folders of other cases are
    kept.
    """

    _desk: CaseOperations
    _catalogue: CaseCatalogue
    _git: IGitWork
    _containers: CaseContainers = field(factory=NoContainers)

    async def remove_case(self, name: str, caller: Caller, *, force: bool) -> None:
        """Remove a case; see L{tservice.cases.service.CaseService.delete_case}."""
        case = await self._catalogue.get_case(name, caller)
        owner = self._desk.get_owner(caller)
        with self._desk.reserve_name(owner, case.name, "removed"):
            self._check_not_busy(case, caller)
            self._check_no_worktrees(owner, case)
            goes = case.container is None and (not case.is_linked or case.worktree is not None)
            if goes and not force:
                await self._check_nothing_unsaved(case, caller)
            self._check_not_busy(case, caller)
            self._desk.store.check_disk_space()
            caller.reauthorize()
            if case.container is not None:
                await self._containers.remove_container(owner, case.name)
            elif not case.is_linked:
                await self._move_to_trash(owner, case, caller)
            elif case.worktree is not None:
                await self._remove_worktree(case, case.worktree.repository, caller)
            self._desk.store.delete_row(owner, case.name)
        self._desk.publish_event(EventName.CASE_DELETED, owner, CaseRemovedPayload(name=case.name))

    def _check_not_busy(self, case: Case, caller: Identity) -> None:
        live = self._catalogue.count_live_sessions(case.name, case.path, caller)
        if live:
            sessions = "a session works" if live == 1 else f"{live} sessions work"
            text = f"{sessions} in the case {case.name}; end it first"
            raise ServiceError(ErrorCode.SESSION_BUSY, text)

    def _check_no_worktrees(self, owner: str, case: Case) -> None:
        """Fail if other cases are worktrees of this case's repository.

        C{force} does not skip this check.
        """
        found = [] if case.is_linked else self._desk.store.list_worktrees(owner, case.path)
        if found:
            raise make_conflict_error(
                f"its worktrees are cases of their own: remove {', '.join(found)} first"
            )

    async def _check_nothing_unsaved(self, case: Case, caller: Identity) -> None:
        workspaces = self._desk.workspaces
        place, owner = workspaces.get_location(caller), workspaces.get_owner(caller)
        # The repository holds the worktree's commits even if its folder is missing.
        repository = None if case.worktree is None else case.worktree.repository
        try:
            lost = await self._git.find_unsaved_work(case.path, place, owner, repository)
        except OSError as error:
            raise to_service_error(error, "the case cannot be checked for unsaved work") from error
        if lost:
            more = f" and {len(lost) - MAX_LISTED} more" if len(lost) > MAX_LISTED else ""
            said = "; ".join(lost[:MAX_LISTED])
            raise make_conflict_error(f"{said}{more}; remove it all the same with force=1")

    async def _move_to_trash(self, owner: str, case: Case, caller: Identity) -> None:
        """Move a case's folder to the trash.

        The removal is recorded before the move, so that the trash is emptied even after a crash.
        """
        desk = self._desk
        now = get_unix_ms(desk.clock)
        path = Path(case.path)
        target = str(path.parent / TRASH / f"{path.name}-{now}")
        desk.store.schedule_removal(
            target, desk.workspaces.get_location(caller).id, now + RETENTION_MS
        )
        try:
            await desk.run_on_folders(caller, [case.path], partial(move_folder, case.path, target))
        except (OSError, ServiceError) as error:
            desk.store.cancel_removal(target)
            raise to_service_error(error, "the case cannot be moved to the trash") from error

    async def _remove_worktree(self, case: Case, repository: str, caller: Identity) -> None:
        workspaces = self._desk.workspaces
        place, owner = workspaces.get_location(caller), workspaces.get_owner(caller)
        await self._desk.run_on_folders(caller, [case.path, repository], lambda: None)
        await self._git.remove_worktree(case.path, repository, place, owner)
