"""Git status and diffs of sessions' workspaces, cached briefly and computed once at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredSemaphore, FirstError, gatherResults
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.doors.thread_runners import RunInThread
from tservice.core.errors import not_found, operation_failed
from tservice.core.kernel_paths import leads_to_kernel
from tservice.core.places.location import OWN_LOCATION, LocationId
from tservice.core.places.workspace_bounds import FolderLimit
from tservice.git.flights import Flights
from tservice.git.inspect import Inspector
from tservice.git.interfaces import ContainerWorkspaces
from tservice.git.locate import SearchBounds, locate
from tservice.git.model import (
    ERROR_LIMIT,
    ChangeKind,
    FileChange,
    FoundRepositories,
    GitOptions,
    Repository,
    Snapshot,
    display,
    failure,
    most,
    snapshot,
)
from tservice.git.runner import GitError, GitMissing

FOUND_SECONDS, STATUS_SECONDS = 30.0, 4.0
"""Seconds that the list of repositories and a repository's status are cached
(protocol-git-status)."""
KEPT = 200
"""Lists, and statuses, that are cached at most."""
AT_ONCE = 4
"""Repositories read at a time (protocol-git-status)."""


@frozen(kw_only=True)
class GitWorkspace:
    """Workspace of a session.

    @ivar folder: as the session has it.
    @ivar place: the location with whose rights it is read, if at all.
    @ivar owner: the account that it is read for; C{None}: there is one user.
    @ivar inside: bounds of the workspace.
    """

    folder: str
    inside: FolderLimit
    place: LocationId = OWN_LOCATION
    owner: str | None = None


@frozen
class _Search:
    """Cache key of a list of repositories: a search depends on its bounds."""

    workspace: bytes
    forbidden: frozenset[bytes]
    top: bytes | None


class GitService:
    """Status and diffs of a workspace, independent of HTTP and sessions."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        inspector: Inspector,
        in_thread: RunInThread,
        home: Path,
        containers: ContainerWorkspaces,
    ) -> None:
        """@param in_thread: runs a function in a thread, with the rights of the reader."""
        self._clock = clock
        self._inspector = inspector
        self._in_thread = in_thread
        self._home = os.fsencode(home)
        self._containers = containers
        self._found: Flights[_Search, FoundRepositories] = Flights(
            clock, ttl=FOUND_SECONDS, size=KEPT
        )
        self._states: Flights[bytes, Snapshot] = Flights(clock, ttl=STATUS_SECONDS, size=KEPT)
        self._turns = DeferredSemaphore(AT_ONCE)

    def unsupported(self, reason: str) -> dict[str, Any]:
        """Return the status answer for a workspace that is never read."""
        return self._answer("unsupported", reason=reason)

    async def status(self, workspace: GitWorkspace, options: GitOptions) -> dict[str, Any]:
        """Return the answer of the status route (protocol-git-status)."""
        try:
            wanted = await self._wanted(workspace)
            found = most(await self._locate(wanted, options), options.max_repos)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            return self._answer("error", error=f"the workspace cannot be read: {reason}")
        if not found.repositories:
            return self._answer("not-a-repo", reposTruncated=found.more)
        states = await self._read_all(found.repositories, options)
        if states[0].git_missing:
            return self._answer("error", error=states[0].error)
        return self._whole(wanted, found, states, options)

    async def diff(
        self, workspace: GitWorkspace, repo: str, path: str, kind: ChangeKind, options: GitOptions
    ) -> dict[str, Any]:
        """Return the answer of the diff route.

        @param repo: a C{repoRoot} and C{path}: a path that the status lists.
        @raise ServiceError: 404 for anything that the status does not list, 422 if git fails.
        """
        repository = await self._match(workspace, repo, options)
        state = await self._read(repository, options)
        if state.error is not None:
            raise operation_failed(state.error)
        change = state.find(path, kind)
        if change is None or (kind is ChangeKind.UNTRACKED and change.path.endswith(b"/")):
            raise not_found("File")
        return await self._compare(repository, change, options.timeout)

    # -- finding

    async def _wanted(self, workspace: GitWorkspace) -> _Search:
        """Resolve the workspace and the bounds of its search.

        @raise OSError: it leads into a folder of the kernel.
        @raise ServiceError: 403: it leads out of the account's folders.
        """
        containers = [os.fsencode(folder) for folder in self._containers()]

        def resolved() -> _Search:
            if leads_to_kernel(workspace.folder):
                # Links in there lead to files that the service has open.
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            forbidden = frozenset(map(os.path.realpath, containers))
            real = os.path.realpath(workspace.folder)
            workspace.inside.check_resolved_folder(real)
            return _Search(os.fsencode(real), forbidden, workspace.inside.resolve_top())

        return await self._in_thread(resolved, workspace.folder)

    async def _locate(self, wanted: _Search, options: GitOptions) -> FoundRepositories:
        kept = None if options.fresh else self._found.peek(wanted)
        if kept is not None:
            return kept
        return await self._found.join(wanted, lambda: self._search(wanted))

    async def _search(self, wanted: _Search) -> FoundRepositories:
        def search() -> FoundRepositories:
            home = os.path.realpath(self._home)
            bounds = SearchBounds(home=home, forbidden=wanted.forbidden, top=wanted.top)
            return locate(wanted.workspace, bounds)

        return await self._in_thread(search, os.fsdecode(wanted.workspace))

    async def _match(self, workspace: GitWorkspace, repo: str, options: GitOptions) -> Repository:
        try:
            found = await self._locate(await self._wanted(workspace), options)
        except OSError:
            raise not_found("Repository") from None
        for repository in most(found, options.max_repos).repositories:
            if repository.shown_root == repo:
                return repository
        raise not_found("Repository")

    # -- reading

    async def _read_all(
        self, repositories: Sequence[Repository], options: GitOptions
    ) -> list[Snapshot]:
        kept = [self._kept_state(each, options) for each in repositories]
        good = [state for state in kept if state is not None]
        if len(good) == len(kept):
            return good
        reads = [Deferred.fromCoroutine(self._read(each, options)) for each in repositories]
        try:
            return await gatherResults(reads, consumeErrors=True)
        except FirstError as error:
            error.subFailure.raiseException()

    def _kept_state(self, repository: Repository, options: GitOptions) -> Snapshot | None:
        return None if options.fresh else self._states.peek(repository.root)

    async def _read(self, repository: Repository, options: GitOptions) -> Snapshot:
        kept = self._kept_state(repository, options)
        if kept is not None:
            return kept
        return await self._states.join(
            repository.root, lambda: self._compute(repository, options.timeout)
        )

    async def _compute(self, repository: Repository, timeout: float) -> Snapshot:
        await self._turns.acquire()
        try:
            return snapshot(await self._inspector.status(repository, timeout))
        except GitError as error:
            text = str(error)[:ERROR_LIMIT]
            missing = isinstance(error, GitMissing)
            return failure(repository, text, now_ms(self._clock), git_missing=missing)
        finally:
            self._turns.release()

    async def _compare(
        self, repository: Repository, change: FileChange, timeout: float
    ) -> dict[str, Any]:
        await self._turns.acquire()
        try:
            return (await self._inspector.diff(repository, change, timeout)).payload()
        except GitError as error:
            raise operation_failed(str(error)[:ERROR_LIMIT]) from None
        finally:
            self._turns.release()

    # -- telling

    def _whole(
        self,
        wanted: _Search,
        found: FoundRepositories,
        states: Sequence[Snapshot],
        options: GitOptions,
    ) -> dict[str, Any]:
        repos = [
            {
                "name": display(os.path.basename(repository.root)),
                "path": repository.path_from(wanted.workspace),
                "status": state.payload,
            }
            for repository, state in zip(found.repositories, states, strict=True)
        ]
        if found.scanned:
            return self._answer(
                "ok", repos=repos, reposTruncated=found.more, repoLimit=options.max_repos
            )
        error = states[0].error
        if error is not None:
            return self._answer("error", repos=repos, error=error)
        return self._answer("ok", repos=repos)

    def _answer(self, state: str, **fields: Any) -> dict[str, Any]:
        return {
            "state": state,
            "repos": [],
            "reposTruncated": False,
            "checkedAt": now_ms(self._clock),
            **fields,
        }
