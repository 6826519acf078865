"""Working trees of other sessions, as sides of a comparison (protocol-changes).

They are only read, by git with the restrictions of reading.  They need not be in one location.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import frozen

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
)
from tservice.git.interfaces import IWorkingCopies, WorkingCopy, WorkingFile
from tservice.review.comparison.bases import BaseWish, read_head_commit, resolve_commit
from tservice.review.comparison.changes import read_changes
from tservice.review.comparison.comparer import SideName
from tservice.review.comparison.trees import ComparedTree
from tservice.review.model import BaseSource, ComparisonBase
from tservice.review.store import ReviewStore
from tservice.sessions.interfaces import ISessions, Session

MAX_CANDIDATES = 50
"""Maximum number of sessions that are offered."""
_LIMIT = 64 * 1024


class SessionTrees:
    """Working trees of the sessions of one account.

    Every error is a C{ServiceError}.
    """

    prefix = "session:"

    def __init__(self, sessions: ISessions, copies: IWorkingCopies, store: ReviewStore) -> None:
        self._sessions, self._copies, self._store = sessions, copies, store

    async def list_candidates(
        self, session_id: str, copy: WorkingCopy, caller: Caller
    ) -> Sequence[Session]:
        """Return the sessions that began at a commit of this repository, in other folders."""
        mine = self._sessions.get(session_id)
        place = (mine.location_id, mine.working_dir)
        starts = {
            each.id: (each, self._store.list_starts(each.id))
            for each in self._sessions.list(caller)
            if each.owner == mine.owner and (each.location_id, each.working_dir) != place
        }
        offered = [(each, found) for each, found in starts.values() if found][:MAX_CANDIDATES]
        commits = sorted({commit for _, found in offered for commit in found})
        if not commits:
            return []
        words = ("rev-list", "--no-walk", "--ignore-missing", *commits)
        known = {*(await copy.run_git(words, _LIMIT))[0].decode("ascii", "replace").split()}
        return [each for each, found in offered if not known.isdisjoint(found)]

    def check_access(self, session_id: str, side: SideName, caller: Caller) -> None:
        """See L{TreeSource}: it must be a session of the same account that the caller may see."""
        mine = self._sessions.get(session_id)
        try:
            other = self._sessions.get(side.name.removeprefix(self.prefix), caller)
        except ServiceError as error:
            if error.code is not ErrorCode.NOT_FOUND:
                raise
            raise make_field_error(side.field, "there is no such session") from None
        if other.owner != mine.owner:
            raise make_field_error(side.field, "there is no such session")

    async def open_trees(
        self, session_id: str, side: SideName, copies: Sequence[WorkingCopy]
    ) -> Mapping[str, ComparedTree]:
        """See L{TreeSource}."""
        other = self._sessions.get(side.name.removeprefix(self.prefix))
        theirs = await self._copies.open_working_copies(other.id)
        trees = [await _find_counterpart(copy, theirs, other.name) for copy in copies]
        found = {
            copy.path: tree for copy, tree in zip(copies, trees, strict=True) if tree is not None
        }
        if not found:
            raise make_field_error(side.field, "the session works in another repository")
        return found


@frozen(kw_only=True)
class _OtherWorktree:
    """Working tree of another session, and its HEAD."""

    copy: WorkingCopy
    described: ComparisonBase

    async def list_changed_paths(self) -> Collection[bytes]:
        """See L{ComparedTree}."""
        changes = await read_changes(self.copy, BaseWish(named=self.described.commit))
        if changes.is_truncated:
            raise make_failure_error("base, target: a session changed too many files to compare")
        return {path for file in changes.files for path in (file.path, file.base_path)}

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """See L{ComparedTree}."""
        return await self.copy.read_files(paths, content_limit)


async def _find_counterpart(
    copy: WorkingCopy, theirs: Sequence[WorkingCopy], name: str
) -> _OtherWorktree | None:
    """Return the working tree of the same repository; C{None} if there is none.

    @param name: the name of the session that it belongs to.
    """
    for other in sorted(theirs, key=lambda each: each.path != copy.path):
        commit = await read_head_commit(other)
        if commit is not None and await resolve_commit(copy, commit) is not None:
            described = ComparisonBase(
                ref=name, commit=commit, source=BaseSource.SESSION, tree=commit
            )
            return _OtherWorktree(copy=other, described=described)
    return None
