"""Cases that are worktrees of another case's repository (protocol-worktrees)."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from attrs import field, frozen

from tservice.cases.case_operations import BEING_MADE, PROBE_SECONDS, CaseOperations
from tservice.cases.catalogue import CaseCatalogue
from tservice.cases.interfaces import CaseWorktreeRequest, ResolvedCase
from tservice.cases.model import (
    Case,
    CaseLocation,
    CaseRow,
    WorktreeOrigin,
    is_same_name,
    make_folder_case_name,
    make_taken_error,
    make_worktree_names,
)
from tservice.cases.responses import make_case_response
from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.event_payloads import CaseRemovedPayload
from tservice.core.kernel.events import EventName
from tservice.core.workers.concurrency_limit import ConcurrencyLimit
from tservice.git.interfaces import IGitWork, WorktreeRequest, check_branch, check_ref

MAX_MAKING = 4
"""Maximum number of worktrees of one owner that are created at the same time.

Git can take minutes for each.
"""

FULL = f"{MAX_MAKING} worktrees are being made already; wait for one"


@frozen
class CaseWorktreeMaker:
    """Creates cases that are worktrees, in folders next to the original case."""

    _desk: CaseOperations
    _catalogue: CaseCatalogue
    _git: IGitWork
    _making: ConcurrencyLimit = field(
        factory=lambda: ConcurrencyLimit(MAX_MAKING, FULL), init=False
    )

    async def add_worktree(
        self, name: str, wish: CaseWorktreeRequest, caller: Caller
    ) -> ResolvedCase:
        """Create a worktree; see L{tservice.cases.interfaces.ICases.add_worktree}.

        Git, and sessions in a worktree, run on this machine.  A case in a container or on a remote
        host therefore cannot have worktrees.

        @raise ServiceError: 400 for the field C{branch} or C{from}; 404: there is no such case;
            409: the name or folder is taken, or the branch is in use; 422: the case is no
            repository, is not on this machine, or git refuses; 429: L{MAX_MAKING} worktrees of the
            owner are being created.
        """
        _check_wish(wish)
        case = await self._catalogue.get_case(name, caller)
        if case.container is not None or case.far is not None:
            where = "in a container" if case.far is None else "on another machine"
            raise make_failure_error(
                f"the case {case.name} is {where}: worktrees need a case on this machine"
            )
        return await self._add_named_worktree(case, wish, caller)

    async def add_worktree_of_folder(
        self, folder: str, wish: CaseWorktreeRequest, caller: Caller
    ) -> ResolvedCase:
        """Create a worktree; see L{tservice.cases.interfaces.ICases.add_worktree_of_folder}.

        The new folder is next to the repository, so the caller must have the right to the parent
        folder too.

        @raise ServiceError: 403: the parent folder is not in the caller's workspace; otherwise as
            L{add_worktree}.
        """
        _check_wish(wish)
        await self._desk.resolve_folder(str(Path(folder).parent), caller, "workingDir")
        name = make_folder_case_name(folder)
        case = Case(name=name, path=folder, location=CaseLocation.LINKED)
        return await self._add_named_worktree(case, wish, caller)

    async def _add_named_worktree(
        self, case: Case, wish: CaseWorktreeRequest, caller: Caller
    ) -> ResolvedCase:
        owner = self._desk.get_owner(caller)
        new = self._choose_name(owner, case, wish.branch)
        self._desk.check_not_reserved(owner, case.name)
        with self._making.hold_slot(owner), self._desk.reserve_name(owner, new, BEING_MADE):
            await self._desk.check_not_taken(caller, new)
            return await self._add_worktree(case, new, wish, caller)

    def _choose_name(self, owner: str, case: Case, branch: str) -> str:
        """Return the readable name for a worktree, or the unique name if the readable one is taken.

        A name counts as taken while a case of that name is being created.
        """
        readable, unique = make_worktree_names(case.name, branch)
        if self._desk.is_reserved(owner, readable):
            return unique
        rows = (
            row for row in self._desk.store.list_rows(owner) if is_same_name(row.name, readable)
        )
        found = next((row.worktree for row in rows), None)
        wanted = WorktreeOrigin(repository=_find_origin_folder(case), branch=branch)
        return readable if found is None or found == wanted else unique

    async def _add_worktree(
        self,
        case: Case,
        new: str,
        wish: CaseWorktreeRequest,
        caller: Caller,
    ) -> ResolvedCase:
        desk = self._desk
        place = desk.workspaces.get_location(caller)
        path = str(Path(case.path).parent / new)
        await desk.run_on_folders(
            caller, [case.path], partial(_check_not_taken, path, new), seconds=PROBE_SECONDS
        )
        order = WorktreeRequest(
            folder=case.path,
            path=path,
            branch=wish.branch,
            start=wish.start,
            place=place,
            owner=desk.workspaces.get_owner(caller),
        )
        # Effects of the repository's hooks cannot be rolled back.
        caller.reauthorize()
        take_back = await self._git.add_worktree(order)
        owner = desk.get_owner(caller)
        row = CaseRow(
            owner=owner,
            name=new,
            path=path,
            created_at=get_unix_ms(desk.clock),
            worktree=WorktreeOrigin(repository=_find_origin_folder(case), branch=wish.branch),
        )
        try:
            await desk.resolve_folder(path, caller, "branch")
            lacking = await self._git.find_missing_parts(path, order.place, order.owner)
            caller.reauthorize()
            desk.store.save_row(row)
            made = await self._catalogue.get_case(new, caller)
        except Exception:
            await take_back()
            desk.store.delete_or_defer_row(owner, new)
            raise
        desk.publish_event(EventName.CASE_LINKED, owner, make_case_response(made))
        for warning in lacking.warnings:
            wish.warn(warning)

        async def undo_worktree() -> None:
            if self._catalogue.list_sessions(new, path, caller):
                return  # another session works in it by now
            await take_back()
            desk.store.delete_or_defer_row(owner, new)
            desk.publish_event(EventName.CASE_DELETED, owner, CaseRemovedPayload(name=new))

        return ResolvedCase(name=new, path=path, undo=undo_worktree)


def _check_wish(wish: CaseWorktreeRequest) -> None:
    """Fail with 400 if the names of the branch and its start are not valid."""
    check_branch(wish.branch, "branch")
    if wish.start is not None:
        check_ref(wish.start, "from")


def _find_origin_folder(case: Case) -> str:
    """Return the folder of the case whose repository a new worktree of C{case} uses."""
    return case.path if case.worktree is None else case.worktree.repository


def _check_not_taken(path: str, name: str) -> None:
    """Fail if C{path} exists.

    @raise ServiceError: 409: the path exists.
    """
    if os.path.lexists(path):
        raise make_taken_error(name)
