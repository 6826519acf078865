"""Comparison of a session's working tree with that of another session (protocol-changes).

Both are only read, by git with the restrictions of reading.  They need not be in one location.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
)
from tservice.git.interfaces import IWorkingCopies, WorkingCopy, WorkingFile
from tservice.review.comparison.bases import BaseWish, read_head_commit, resolve_commit
from tservice.review.comparison.changes import DiffOptions, FileDiff, read_changes
from tservice.review.comparison.trees import (
    RecentComparisons,
    TreeComparison,
    compare_trees,
    read_tree_diff,
)
from tservice.review.model import BaseSource, ComparisonBase, RepositoryChanges
from tservice.review.store import ReviewStore
from tservice.sessions.interfaces import ISessions, Session

PREFIX = "session:"
"""Beginning of a base that is the working tree of a session; no reference of git can have it."""
MAX_CANDIDATES = 50
"""Maximum number of sessions that are offered."""
_LIMIT = 64 * 1024


@frozen(kw_only=True)
class _ComparisonKey:
    session_id: str
    other_id: str


def find_other_session(base: str | None) -> str | None:
    """Return the id of the session that a base names; C{None} if it names none."""
    return base.removeprefix(PREFIX) if base is not None and base.startswith(PREFIX) else None


class WorktreeComparer:
    """Compares the working trees of two sessions of one account.

    Every error is a C{ServiceError}.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        sessions: ISessions,
        copies: IWorkingCopies,
        store: ReviewStore,
    ) -> None:
        self._sessions = sessions
        self._copies, self._store = copies, store
        self._recent: RecentComparisons[_ComparisonKey] = RecentComparisons(clock)

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

    async def read_changes(
        self, session_id: str, other_id: str, caller: Caller
    ) -> Sequence[RepositoryChanges]:
        """Return the differences of a session's repositories from those of another session.

        @raise ServiceError: 400: there is no such session of this account, or it has another
            repository; 422: too many files differ.
        """
        found = await self._compare(session_id, other_id, caller)
        return [each.changes for each in found]

    async def read_file_diff(
        self,
        session_id: str,
        other_id: str,
        repo: str | None,
        path: str,
        options: DiffOptions,
        caller: Caller,
    ) -> FileDiff:  # fmt: skip
        """Return one page of the difference of a file in the list of changes.

        @raise ServiceError: 404 if it is not in the list; and see L{read_changes}.
        """
        key = _ComparisonKey(session_id=session_id, other_id=other_id)
        found = self._recent.find(key)
        if found is None:
            found = await self._compare(session_id, other_id, caller)
        else:
            self._check_other(session_id, other_id, caller)
        return await read_tree_diff(found, repo, path, options)

    def _check_other(self, session_id: str, other_id: str, caller: Caller) -> Session:
        """Return the other session, if the caller may see it and it has the same account.

        @raise ServiceError: 400.
        """
        mine = self._sessions.get(session_id)
        try:
            other = self._sessions.get(other_id, caller)
        except ServiceError as error:
            if error.code is not ErrorCode.NOT_FOUND:
                raise
            raise make_field_error("base", "there is no such session") from None
        if other.owner != mine.owner:
            raise make_field_error("base", "there is no such session")
        return other

    async def _compare(
        self, session_id: str, other_id: str, caller: Caller
    ) -> Sequence[TreeComparison]:
        other = self._check_other(session_id, other_id, caller)
        mine = await self._copies.open_working_copies(session_id)
        theirs = await self._copies.open_working_copies(other_id)
        found = []
        for copy in mine:
            pair = await _find_counterpart(copy, theirs)
            if pair is not None:
                commit = pair.commit
                base = ComparisonBase(
                    ref=other.name, commit=commit, source=BaseSource.SESSION, tree=commit
                )
                found.append(await compare_trees(copy, pair, base))
        if not found:
            raise make_field_error("base", "the session works in another repository")
        key = _ComparisonKey(session_id=session_id, other_id=other_id)
        self._recent.save(key, found)
        return found


@frozen
class _OtherWorktree:
    """Working tree of the other session, compared with its HEAD.

    @ivar commit: HEAD of the copy.
    """

    copy: WorkingCopy
    commit: str

    async def list_changed_paths(self) -> Collection[bytes]:
        """See L{ComparedTree}."""
        changes = await read_changes(self.copy, BaseWish(named=self.commit))
        if changes.is_truncated:
            raise make_failure_error("base: the other session changed too many files to compare")
        return {path for file in changes.files for path in (file.path, file.base_path)}

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """See L{ComparedTree}."""
        return await self.copy.read_files(paths, content_limit)


async def _find_counterpart(
    copy: WorkingCopy, theirs: Sequence[WorkingCopy]
) -> _OtherWorktree | None:
    """Return the working tree of the same repository; C{None} if there is none."""
    for other in sorted(theirs, key=lambda each: each.path != copy.path):
        commit = await read_head_commit(other)
        if commit is not None and await resolve_commit(copy, commit) is not None:
            return _OtherWorktree(other, commit)
    return None
