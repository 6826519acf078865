"""Removal of cases that loses nothing by accident (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from attrs import field, frozen

from tservice.cases.catalogue import Catalogue
from tservice.cases.desk import Desk
from tservice.cases.folders import TRASH, explain, move
from tservice.cases.interfaces import IContainers, NoContainers
from tservice.cases.model import Case
from tservice.cases.trash import KEPT_MS
from tservice.core.clock import now_ms
from tservice.core.errors import ErrorCode, ServiceError, state_conflict
from tservice.core.event_payloads import CaseRemovedPayload
from tservice.core.events import EventName
from tservice.core.identity import Identity
from tservice.git.interfaces import IGitWork

SAID = 5
"""Repositories that an error text lists."""


@frozen
class Removal:
    """Removes cases: local ones go to the trash, worktrees are removed, others are unlinked."""

    _desk: Desk
    _catalogue: Catalogue
    _git: IGitWork
    _containers: IContainers = field(factory=NoContainers)

    async def remove(
        self, name: str, caller: Identity, *, force: bool, again: Callable[[], None]
    ) -> None:
        """See L{tservice.cases.service.CaseService.delete}."""
        case = await self._catalogue.get(name, caller)
        owner = self._desk.owner(caller)
        with self._desk.reserve(owner, case.name, "removed"):
            self._refuse_busy(case, caller)
            self._refuse_depended_on(owner, case)
            goes = case.container is None and (not case.linked or case.worktree is not None)
            if goes and not force:
                await self._refuse_unsaved(case, caller)
            self._refuse_busy(case, caller)
            self._desk.store.check_disk()
            again()
            if case.container is not None:
                await self._containers.detach(owner, case.name)
            elif not case.linked:
                await self._to_trash(owner, case, caller)
            elif case.worktree is not None:
                await self._remove_worktree(case, case.worktree.repository, caller)
            self._desk.store.forget(owner, case.name)
        self._desk.publish(EventName.CASE_DELETED, owner, CaseRemovedPayload(name=case.name))

    def _refuse_busy(self, case: Case, caller: Identity) -> None:
        live = self._catalogue.live_in(case.name, case.path, caller)
        if live:
            sessions = "a session works" if live == 1 else f"{live} sessions work"
            text = f"{sessions} in the case {case.name}; end it first"
            raise ServiceError(ErrorCode.SESSION_BUSY, text)

    def _refuse_depended_on(self, owner: str, case: Case) -> None:
        """Fail if worktrees need this repository, even with C{force}."""
        found = [] if case.linked else self._desk.store.worktrees_of(owner, case.path)
        if found:
            raise state_conflict(
                f"its worktrees are cases of their own: remove {', '.join(found)} first"
            )

    async def _refuse_unsaved(self, case: Case, caller: Identity) -> None:
        workspaces = self._desk.workspaces
        place, owner = workspaces.place_of(caller), workspaces.owner_of(caller)
        # The repository holds the worktree's commits even if its folder is missing.
        repository = None if case.worktree is None else case.worktree.repository
        try:
            lost = await self._git.find_unsaved_work(case.path, place, owner, repository)
        except OSError as error:
            raise explain(error, "the case cannot be checked for unsaved work") from error
        if lost:
            more = f" and {len(lost) - SAID} more" if len(lost) > SAID else ""
            said = "; ".join(lost[:SAID])
            raise state_conflict(f"{said}{more}; remove it all the same with force=1")

    async def _to_trash(self, owner: str, case: Case, caller: Identity) -> None:
        """Move a case to the trash; it is recorded first, so that the sweep removes it after a
        crash as well.
        """
        desk = self._desk
        now = now_ms(desk.clock)
        path = Path(case.path)
        target = str(path.parent / TRASH / f"{path.name}-{now}")
        desk.store.doom(target, desk.workspaces.place_of(caller).id, now + KEPT_MS)
        try:
            await desk.at(caller, [case.path], partial(move, case.path, target))
        except (OSError, ServiceError) as error:
            desk.store.spare(target)
            raise explain(error, "the case cannot be moved to the trash") from error

    async def _remove_worktree(self, case: Case, repository: str, caller: Identity) -> None:
        workspaces = self._desk.workspaces
        place, owner = workspaces.place_of(caller), workspaces.owner_of(caller)
        await self._desk.at(caller, [case.path, repository], lambda: None)
        await self._git.remove_worktree(case.path, repository, place, owner)
