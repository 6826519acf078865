"""Cases that are worktrees of another case's repository (protocol-worktrees)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from attrs import field, frozen

from tservice.cases.catalogue import Catalogue
from tservice.cases.desk import MADE, PROBE_SECONDS, Desk
from tservice.cases.interfaces import CasePlace, WorktreeWish
from tservice.cases.model import Case, CaseRow, Worktree, same, taken, worktree_names
from tservice.cases.shown import case_answer
from tservice.core.clock import now_ms
from tservice.core.doors.concurrency_limit import ConcurrencyLimit
from tservice.core.errors import operation_failed
from tservice.core.event_payloads import CaseRemovedPayload
from tservice.core.events import EventName
from tservice.core.identity import Identity
from tservice.git.interfaces import IGitWork, WorktreeRequest, check_branch, check_ref

MAKING_OF_ONE = 4
"""Worktrees of one owner that are made at a time: git can take minutes for each."""

FULL = f"{MAKING_OF_ONE} worktrees are being made already; wait for one"


@frozen
class CaseWorktrees:
    """Makes worktrees next to their original case."""

    _desk: Desk
    _catalogue: Catalogue
    _git: IGitWork
    _making: ConcurrencyLimit = field(
        factory=lambda: ConcurrencyLimit(MAKING_OF_ONE, FULL), init=False
    )

    async def add(
        self, name: str, wish: WorktreeWish, caller: Identity, again: Callable[[], object]
    ) -> CasePlace:
        """See L{tservice.cases.interfaces.ICases.add_worktree}.

        Sessions in a worktree, and the git that makes it, run on this machine.  A case in a
        container or on a remote host therefore gets none.

        @raise ServiceError: 400 naming C{branch} or C{from}; 404: no such case; 409: the name or
            folder is taken, or the branch is in use; 422: no repository, in a container or on
            another machine, or git refuses; 429: L{MAKING_OF_ONE} of the owner's are being made.
        """
        check_branch(wish.branch, "branch")
        if wish.start is not None:
            check_ref(wish.start, "from")
        case = await self._catalogue.get(name, caller)
        if case.container is not None or case.far is not None:
            where = "in a container" if case.far is None else "on another machine"
            raise operation_failed(
                f"the case {case.name} is {where}: worktrees need a case on this machine"
            )
        owner = self._desk.owner(caller)
        new = self._name(owner, case, wish.branch)
        self._desk.refuse_reserved(owner, case.name)
        with self._making.hold_slot(owner), self._desk.reserve(owner, new, MADE):
            await self._desk.refuse_taken(caller, new)
            return await self._add(case, new, wish, caller, again)

    def _name(self, owner: str, case: Case, branch: str) -> str:
        """Return the readable name, unless the worktree of another branch has it, or is getting it
        now.
        """
        readable, unique = worktree_names(case.name, branch)
        if self._desk.is_reserved(owner, readable):
            return unique
        rows = (row for row in self._desk.store.of(owner) if same(row.name, readable))
        found = next((row.worktree for row in rows), None)
        wanted = Worktree(repository=_origin(case), branch=branch)
        return readable if found is None or found == wanted else unique

    async def _add(
        self,
        case: Case,
        new: str,
        wish: WorktreeWish,
        caller: Identity,
        again: Callable[[], object],
    ) -> CasePlace:
        desk = self._desk
        place = desk.workspaces.place_of(caller)
        path = str(Path(case.path).parent / new)
        await desk.at(caller, [case.path], partial(_check_free, path, new), seconds=PROBE_SECONDS)
        order = WorktreeRequest(
            folder=case.path,
            path=path,
            branch=wish.branch,
            start=wish.start,
            place=place,
            owner=desk.workspaces.owner_of(caller),
        )
        # Effects of the repository's hooks cannot be rolled back.
        again()
        take_back = await self._git.add_worktree(order)
        owner = desk.owner(caller)
        row = CaseRow(
            owner=owner,
            name=new,
            path=path,
            created_at=now_ms(desk.clock),
            worktree=Worktree(repository=_origin(case), branch=wish.branch),
        )
        try:
            await desk.folder(path, caller, "branch")
            lacking = await self._git.find_missing_parts(path, order.place, order.owner)
            again()
            desk.store.save(row)
            made = await self._catalogue.get(new, caller)
        except Exception:
            await take_back()
            desk.store.drop(owner, new)
            raise
        desk.publish(EventName.CASE_LINKED, owner, case_answer(made))
        for warning in lacking.warnings:
            wish.warn(warning)

        async def undo() -> None:
            if self._catalogue.sessions_in(new, path, caller):
                return  # another session works in it by now
            await take_back()
            desk.store.drop(owner, new)
            desk.publish(EventName.CASE_DELETED, owner, CaseRemovedPayload(name=new))

        return CasePlace(name=new, path=path, undo=undo)


def _origin(case: Case) -> str:
    """Return the folder of the case that owns the repository of a worktree of C{case}."""
    return case.path if case.worktree is None else case.worktree.repository


def _check_free(path: str, name: str) -> None:
    """Fail if something is at C{path}.

    @raise ServiceError: 409.
    """
    if os.path.lexists(path):
        raise taken(name)
