"""Changes of sessions, with what a person has seen of them and the counts of comments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_conflict_error, make_not_found_error
from tservice.git.interfaces import IWorkingCopies, WorkingCopy
from tservice.review.comparison.bases import BaseWish
from tservice.review.comparison.changes import (
    DiffOptions,
    FileDiff,
    find_file,
    read_changes,
    read_file_diff,
)
from tservice.review.model import ChangedFile, ChangeTotals, RepositoryChanges
from tservice.review.store import ReviewStore

RECENT_SECONDS = 5.0
"""Seconds for which the list of changed files is reused to find one of them."""
MAX_RECENT = 50
"""Maximum number of lists that are kept for that."""


@frozen(kw_only=True)
class SessionChanges:
    """Changes in all repositories of a session's workspace."""

    repositories: Sequence[RepositoryChanges]

    @property
    def totals(self) -> ChangeTotals:
        """Numbers over all repositories."""
        return sum((each.totals for each in self.repositories), ChangeTotals())


@frozen(kw_only=True)
class OpenedFile:
    """Changed file with the repository that it is in."""

    copy: WorkingCopy
    changes: RepositoryChanges
    file: ChangedFile


class ReviewService:
    """Reader of the changes of sessions.

    Every error is a C{ServiceError}.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        copies: IWorkingCopies,
        store: ReviewStore,
        on_read: Callable[[str, SessionChanges], object] = lambda session_id, changes: None,
        chosen_base: Callable[[str, str], str | None] = lambda session_id, repo: None,
    ) -> None:
        """@param chosen_base: returns the base that a person chose for a session's repository.
        @param on_read: called with the id of a session and its changes whenever they were read
        against the base that the service chose.
        """
        self._clock, self._copies, self._store = clock, copies, store
        self.on_read, self._chosen_base = on_read, chosen_base
        self._last: OrderedDict[str, tuple[float, SessionChanges]] = OrderedDict()
        self._recent: OrderedDict[tuple[str, str, str | None], tuple[float, RepositoryChanges]] = (
            OrderedDict()
        )

    async def read_changes(self, session_id: str, base: str | None = None) -> SessionChanges:
        """Return what the session changed.

        @param base: branch, tag or commit to compare with; C{None} to choose one.
        """
        copies = await self._copies.open_working_copies(session_id)
        found = [await self._read_repository(session_id, copy, base) for copy in copies]
        changes = SessionChanges(repositories=found)
        if base is None:
            self._last.pop(session_id, None)
            self._last[session_id] = (self._clock.seconds(), changes)
            while len(self._last) > MAX_RECENT:
                self._last.popitem(last=False)
            self.on_read(session_id, changes)
        return changes

    async def read_recent_changes(self, session_id: str) -> SessionChanges:
        """Return what the session changed, as it was at most L{RECENT_SECONDS} ago."""
        at, changes = self._last.get(session_id, (0.0, None))
        if changes is not None and self._clock.seconds() - at < RECENT_SECONDS:
            return changes
        return await self.read_changes(session_id)

    def make_wish(self, session_id: str, repo: str, named: str | None) -> BaseWish:
        """Return the base that is wanted for a repository.

        @param named: the base that a caller named.
        """
        return BaseWish(
            named=named,
            chosen=self._chosen_base(session_id, repo),
            start_commit=self._store.find_start(session_id, repo),
        )

    def forget_recent(self) -> None:
        """Drop the lists that are reused, because their base changed."""
        self._last.clear()
        self._recent.clear()

    async def open_file(
        self, session_id: str, repo: str | None, path: str, base: str | None
    ) -> OpenedFile:
        """Find a changed file.

        @param repo: path of the repository relative to the workspace; C{None} for the first.
        @param path: path of the file as the list of changes has it.
        @raise ServiceError: 404 if it is not a changed file.
        """
        copy = await self.open_copy(session_id, repo)
        recent = self._find_recent((session_id, copy.path, base))
        if recent is not None and any(file.display_path == path for file in recent.files):
            changes = recent
        else:
            changes = await self._read_repository(session_id, copy, base)
        return OpenedFile(copy=copy, changes=changes, file=find_file(changes, path))

    async def open_copy(self, session_id: str, repo: str | None) -> WorkingCopy:
        """Return a repository of a session's workspace.

        @raise ServiceError: 404 if there is none with this path.
        """
        copies = await self._copies.open_working_copies(session_id)
        for copy in copies:
            if repo is None or copy.path == repo:
                return copy
        raise make_not_found_error("Repository")

    async def read_file_diff(
        self, session_id: str, repo: str | None, path: str, base: str | None, options: DiffOptions
    ) -> FileDiff:
        """Return one page of the difference of a file.

        The answer's hash is that of the content which was compared.
        """
        opened = await self.open_file(session_id, repo, path, base)
        for _ in range(3):
            before = await self._refresh_hash(opened)
            found = await read_file_diff(opened.copy, opened.changes.base, before, options)
            after = await self._refresh_hash(opened)
            if after.hash == before.hash:
                return found
        raise make_conflict_error("the file changes all the time: try again later")

    async def set_viewed(
        self, session_id: str, repo: str | None, path: str, hash_: str | None,
        caller: Caller,
    ) -> None:  # fmt: skip
        """Record that a person has seen the content with this hash; C{None} takes it back."""
        copy = await self.open_copy(session_id, repo)
        caller.reauthorize()
        if hash_ is None:
            self._store.delete_viewed(session_id, copy.path, path)
        else:
            now = get_unix_ms(self._clock)
            self._store.save_viewed(session_id, copy.path, path, hash_, now)

    async def _refresh_hash(self, opened: OpenedFile) -> ChangedFile:
        (now,) = await opened.copy.read_files([opened.file.path.rstrip(b"/")])
        return evolve(opened.file, hash=now.hash)

    async def _read_repository(
        self, session_id: str, copy: WorkingCopy, base: str | None
    ) -> RepositoryChanges:
        changes = await read_changes(copy, self.make_wish(session_id, copy.path, base))
        key = (session_id, copy.path, base)
        self._recent.pop(key, None)
        self._recent[key] = (self._clock.seconds(), changes)
        while len(self._recent) > MAX_RECENT:
            self._recent.popitem(last=False)
        return changes

    def _find_recent(self, key: tuple[str, str, str | None]) -> RepositoryChanges | None:
        at, changes = self._recent.get(key, (0.0, None))
        return changes if self._clock.seconds() - at < RECENT_SECONDS else None
