"""Comparison of a session's working tree with that of another session (protocol-changes).

Both are only read, by git with the restrictions of reading.  They need not be in one location.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.git.interfaces import IWorkingCopies, WorkingCopy, WorkingFile
from tservice.review.comparison.bases import BaseWish, read_head_commit, resolve_commit
from tservice.review.comparison.changes import DiffOptions, FileDiff, find_file, read_changes
from tservice.review.comparison.hunks import HunkPage, RowKind, compare_texts, select_page
from tservice.review.model import (
    MAX_FILES,
    BaseSource,
    ChangedFile,
    ChangeTotals,
    ComparisonBase,
    FileStatus,
    RepositoryChanges,
)
from tservice.review.store import ReviewStore
from tservice.sessions.interfaces import ISessions, Session

PREFIX = "session:"
"""Beginning of a base that is the working tree of a session; no reference of git can have it."""
MAX_CANDIDATES = 50
"""Maximum number of sessions that are offered."""
MAX_COMPARED = 300
"""Maximum number of files whose contents in both working trees are compared."""
CONTENT_BYTES = 1024 * 1024
"""Maximum bytes of a file whose lines are compared."""
RECENT_SECONDS = 5.0
"""Seconds for which a comparison is reused to find one of its files."""
MAX_RECENT = 10
"""Maximum number of comparisons that are kept for that."""
_BATCH = 25
"""Number of files whose contents are in memory at the same time, on each side."""
_LIMIT = 64 * 1024


@frozen(kw_only=True)
class _ComparisonKey:
    session_id: str
    other_id: str


@frozen(kw_only=True)
class _Comparison:
    """Changes of a repository, with both working trees."""

    mine: WorkingCopy
    other: WorkingCopy
    changes: RepositoryChanges


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
        self._clock, self._sessions = clock, sessions
        self._copies, self._store = copies, store
        self._recent: OrderedDict[_ComparisonKey, tuple[float, Sequence[_Comparison]]] = (
            OrderedDict()
        )

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
        at, found = self._recent.get(key, (0.0, ()))
        if self._clock.seconds() - at < RECENT_SECONDS:
            self._check_other(session_id, other_id, caller)
        else:
            found = await self._compare(session_id, other_id, caller)
        chosen = next((each for each in found if repo in (None, each.mine.path)), None)
        if chosen is None:
            raise make_not_found_error("Repository")
        file = find_file(chosen.changes, path)
        (old,) = await chosen.other.read_files([file.path], CONTENT_BYTES)
        (new,) = await chosen.mine.read_files([file.path], CONTENT_BYTES)
        file = evolve(file, hash=new.hash, is_binary=old.is_binary or new.is_binary)
        if file.is_binary or _lacks_content(old) or _lacks_content(new):
            is_cut = not file.is_binary
            return FileDiff(file=file, page=HunkPage(hunks=()), is_cut=is_cut)
        work = partial(
            compare_texts, old.data or b"", new.data or b"", options.context, options.whitespace
        )
        hunks = await chosen.mine.run_in_thread(work)
        page = await chosen.mine.run_in_thread(partial(select_page, hunks, options.start))
        return FileDiff(file=file, page=page)

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
    ) -> Sequence[_Comparison]:
        other = self._check_other(session_id, other_id, caller)
        mine = await self._copies.open_working_copies(session_id)
        theirs = await self._copies.open_working_copies(other_id)
        found = []
        for copy in mine:
            pair = await _find_counterpart(copy, theirs)
            if pair is not None:
                changes = await compare_worktrees(copy, *pair, name=other.name)
                found.append(_Comparison(mine=copy, other=pair[0], changes=changes))
        if not found:
            raise make_field_error("base", "the session works in another repository")
        key = _ComparisonKey(session_id=session_id, other_id=other_id)
        self._recent.pop(key, None)
        self._recent[key] = (self._clock.seconds(), found)
        while len(self._recent) > MAX_RECENT:
            self._recent.popitem(last=False)
        return found


async def compare_worktrees(
    mine: WorkingCopy, other: WorkingCopy, commit: str, *, name: str
) -> RepositoryChanges:
    """Return the differences of one working tree from another one.

    Git compares both with C{commit}.  A file that only C{mine} changed differs as git says; the
    contents of the others are compared here.  Renames are a removed and an added file.

    @param commit: HEAD of C{other}, which C{mine} has too.
    @param name: name of the other session.
    @raise ServiceError: 422: git fails, or too many files differ.
    """
    changes = await read_changes(mine, BaseWish(named=commit))
    theirs = await read_changes(other, BaseWish(named=commit))
    own = {file.path: file for file in changes.files if file.original is None}
    compared = {path for file in theirs.files for path in (file.path, file.base_path)}
    compared |= {
        path for file in changes.files if file.original is not None
        for path in (file.path, file.base_path)
    }  # fmt: skip
    if theirs.is_truncated or len(compared) > MAX_COMPARED:
        raise make_failure_error("base: the other session changed too many files to compare")
    paths = sorted(path for path in compared if not path.endswith(b"/"))
    files = [file for path, file in own.items() if path not in compared]
    for at in range(0, len(paths), _BATCH):
        files += await _compare_files(mine, other, paths[at : at + _BATCH], own)
    files.sort(key=lambda file: file.path)
    totals = ChangeTotals(
        files=len(files) + max(0, changes.totals.files - len(changes.files)),
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
    )
    return evolve(
        changes,
        base=ComparisonBase(ref=name, commit=commit, source=BaseSource.SESSION, tree=commit),
        files=files[:MAX_FILES],
        totals=totals,
        is_truncated=changes.is_truncated or len(files) > MAX_FILES,
    )


async def _find_counterpart(
    copy: WorkingCopy, theirs: Sequence[WorkingCopy]
) -> tuple[WorkingCopy, str] | None:
    """Return the working tree of the same repository and its commit; C{None} if there is none."""
    for other in sorted(theirs, key=lambda each: each.path != copy.path):
        commit = await read_head_commit(other)
        if commit is not None and await resolve_commit(copy, commit) is not None:
            return other, commit
    return None


async def _compare_files(
    mine: WorkingCopy, other: WorkingCopy, paths: Sequence[bytes], own: dict[bytes, ChangedFile]
) -> list[ChangedFile]:
    olds = await other.read_files(paths, CONTENT_BYTES)
    news = await mine.read_files(paths, CONTENT_BYTES)

    def compare_all() -> list[ChangedFile]:
        triples = zip(paths, olds, news, strict=True)
        found = (_compare_file(path, old, new, own.get(path)) for path, old, new in triples)
        return [file for file in found if file is not None]

    return await mine.run_in_thread(compare_all)


def _compare_file(
    path: bytes, old: WorkingFile, new: WorkingFile, known: ChangedFile | None
) -> ChangedFile | None:
    """Return the difference of a file; C{None} if it is the same in both working trees."""
    if (old.mode, old.hash) == (new.mode, new.hash):
        return None
    status = FileStatus.MODIFIED
    if not old.exists:
        status = FileStatus.ADDED
    elif not new.exists:
        status = FileStatus.DELETED
    elif old.mode[:2] != new.mode[:2]:
        status = FileStatus.TYPE_CHANGED
    is_binary = old.is_binary or new.is_binary
    rows = []
    if not is_binary and not _lacks_content(old) and not _lacks_content(new):
        hunks = compare_texts(old.data or b"", new.data or b"", 0, "show")
        rows = [row for hunk in hunks for row in hunk.rows]
    return ChangedFile(
        path=path,
        status=status,
        old_mode=old.mode,
        new_mode=new.mode,
        added=sum(row.kind is RowKind.ADDED for row in rows),
        removed=sum(row.kind is RowKind.REMOVED for row in rows),
        is_binary=is_binary,
        is_generated=known is not None and known.is_generated,
        kinds=() if known is None else known.kinds,
        hash=new.hash,
    )


def _lacks_content(file: WorkingFile) -> bool:
    """Return true if a file is too large to be compared."""
    return file.exists and file.data is None
