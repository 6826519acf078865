"""Git status and diffs of workspaces, cached briefly.

Simultaneous requests for the same data share one computation.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredSemaphore, FirstError, gatherResults
from twisted.internet.interfaces import IReactorTime

from tservice.core.disk.kernel_paths import leads_to_kernel
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.core.locations.location import OWN_LOCATION, LocationId
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.core.workers.thread_runners import RunInThread
from tservice.git.computation_cache import ComputationCache
from tservice.git.model import (
    ERROR_LIMIT,
    ChangeKind,
    ContainerWorkspaces,
    FileChange,
    FoundRepositories,
    GitOptions,
    GitRepository,
    StatusSnapshot,
    limit_repositories,
    make_failed_snapshot,
    make_snapshot,
    to_display_text,
)
from tservice.git.process.runner import GitError, GitMissingError
from tservice.git.search import SearchBounds, find_repositories
from tservice.git.status.inspector import RepositoryInspector
from tservice.git.working_copies.working_copy import LocalWorkingCopy

FOUND_SECONDS, STATUS_SECONDS = 30.0, 4.0
"""Seconds that the list of repositories and a repository's status are cached
(protocol-git-status)."""
CACHE_SIZE = 200
"""Maximum number of cached lists of repositories, and of cached statuses."""
MAX_CONCURRENT_READS = 4
"""Maximum number of repositories read at the same time (protocol-git-status)."""


@frozen(kw_only=True)
class GitWorkspace:
    """Workspace of a session or case.

    @ivar folder: path of the workspace, as the session has it.
    @ivar place: location whose OS user reads the workspace.  Some locations forbid reading.
    @ivar owner: account for which the workspace is read; C{None} in single-user mode.
    @ivar inside: limit that keeps reading inside the folders of the account.
    """

    folder: str
    inside: FolderLimit
    place: LocationId = OWN_LOCATION
    owner: str | None = None


@frozen
class _SearchKey:
    """Cache key of a list of repositories, which includes the bounds of the search."""

    workspace: bytes
    forbidden: frozenset[bytes]
    top: bytes | None


class GitService:
    """Status and diffs of workspaces, independent of HTTP and sessions."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        inspector: RepositoryInspector,
        in_thread: RunInThread,
        home: Path,
        containers: ContainerWorkspaces,
    ) -> None:
        """@param in_thread: runs a function in a worker thread with the file permissions of the
        reading user.
        """
        self._clock = clock
        self._inspector = inspector
        self._in_thread = in_thread
        self._home = os.fsencode(home)
        self._containers = containers
        self._found: ComputationCache[_SearchKey, FoundRepositories] = ComputationCache(
            clock, ttl=FOUND_SECONDS, size=CACHE_SIZE
        )
        self._states: ComputationCache[bytes, StatusSnapshot] = ComputationCache(
            clock, ttl=STATUS_SECONDS, size=CACHE_SIZE
        )
        self._turns = DeferredSemaphore(MAX_CONCURRENT_READS)

    def make_unsupported_response(self, reason: str) -> dict[str, Any]:
        """Return the status response for a workspace in which git must not be run."""
        return self._make_status_response("unsupported", reason=reason)

    async def get_status(self, workspace: GitWorkspace, options: GitOptions) -> dict[str, Any]:
        """Return the response of the status route (protocol-git-status)."""
        try:
            wanted = await self._resolve_search(workspace)
            found = limit_repositories(
                await self._find_repositories(wanted, options), options.max_repos
            )
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            return self._make_status_response(
                "error", error=f"the workspace cannot be read: {reason}"
            )
        if not found.repositories:
            return self._make_status_response("not-a-repo", reposTruncated=found.more)
        states = await self._read_all(found.repositories, options)
        if states[0].git_missing:
            return self._make_status_response("error", error=states[0].error)
        return self._make_full_status_response(wanted, found, states, options)

    async def get_diff(
        self, workspace: GitWorkspace, repo: str, path: str, kind: ChangeKind, options: GitOptions
    ) -> dict[str, Any]:
        """Return the response of the diff route.

        @param repo: a C{repoRoot} that the status lists.
        @param path: a path that the status lists.
        @raise ServiceError: 404 if the status does not list the repository or path; 422 if git
            fails.
        """
        repository = await self._find_requested_repository(workspace, repo, options)
        state = await self._read_state(repository, options)
        if state.error is not None:
            raise make_failure_error(state.error)
        change = state.find_change(path, kind)
        if change is None or (kind is ChangeKind.UNTRACKED and change.path.endswith(b"/")):
            raise make_not_found_error("File")
        return await self._compute_diff(repository, change, options.timeout)

    async def open_working_copies(self, workspace: GitWorkspace) -> Sequence[LocalWorkingCopy]:
        """Open the repositories of a workspace for reading and for exact changes of files.

        @raise ServiceError: 422: the workspace or a repository cannot be read.
        """
        options = GitOptions()
        try:
            wanted = await self._resolve_search(workspace)
            found = limit_repositories(
                await self._find_repositories(wanted, options), options.max_repos
            )
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise make_failure_error(f"the workspace cannot be read: {reason}") from None
        return [await self._open_working_copy(wanted, each) for each in found.repositories]

    async def _open_working_copy(
        self, wanted: _SearchKey, repository: GitRepository
    ) -> LocalWorkingCopy:
        try:
            visit = await self._inspector.open_repository(repository, GitOptions().timeout)
        except GitError as error:
            raise make_failure_error(str(error)[:ERROR_LIMIT]) from None
        return LocalWorkingCopy(
            repository=repository,
            path=repository.path_relative_to(wanted.workspace),
            inspector=self._inspector,
            visit=visit,
            in_thread=self._in_thread,
        )

    # -- finding

    async def _resolve_search(self, workspace: GitWorkspace) -> _SearchKey:
        """Resolve symbolic links of the workspace and return the key of its search.

        @raise OSError: the workspace is in a folder of the kernel, such as C{/proc}.
        @raise ServiceError: 403: the workspace is outside of the account's folders.
        """
        containers = [os.fsencode(folder) for folder in self._containers()]

        def resolve_paths() -> _SearchKey:
            if leads_to_kernel(workspace.folder):
                # Links in there lead to files that the service has open.
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            forbidden = frozenset(map(os.path.realpath, containers))
            real = os.path.realpath(workspace.folder)
            workspace.inside.check_resolved_folder(real)
            return _SearchKey(os.fsencode(real), forbidden, workspace.inside.resolve_top())

        return await self._in_thread(resolve_paths, workspace.folder)

    async def _find_repositories(
        self, wanted: _SearchKey, options: GitOptions
    ) -> FoundRepositories:
        kept = None if options.fresh else self._found.get_cached(wanted)
        if kept is not None:
            return kept
        return await self._found.get_or_compute(wanted, lambda: self._search_in_worker(wanted))

    async def _search_in_worker(self, wanted: _SearchKey) -> FoundRepositories:
        def search_in_thread() -> FoundRepositories:
            home = os.path.realpath(self._home)
            bounds = SearchBounds(home=home, forbidden=wanted.forbidden, top=wanted.top)
            return find_repositories(wanted.workspace, bounds)

        return await self._in_thread(search_in_thread, os.fsdecode(wanted.workspace))

    async def _find_requested_repository(
        self, workspace: GitWorkspace, repo: str, options: GitOptions
    ) -> GitRepository:
        try:
            found = await self._find_repositories(await self._resolve_search(workspace), options)
        except OSError:
            raise make_not_found_error("Repository") from None
        for repository in limit_repositories(found, options.max_repos).repositories:
            if repository.wire_root == repo:
                return repository
        raise make_not_found_error("Repository")

    # -- reading

    async def _read_all(
        self, repositories: Sequence[GitRepository], options: GitOptions
    ) -> list[StatusSnapshot]:
        kept = [self._get_cached_state(each, options) for each in repositories]
        good = [state for state in kept if state is not None]
        if len(good) == len(kept):
            return good
        reads = [Deferred.fromCoroutine(self._read_state(each, options)) for each in repositories]
        try:
            return await gatherResults(reads, consumeErrors=True)
        except FirstError as error:
            error.subFailure.raiseException()

    def _get_cached_state(
        self, repository: GitRepository, options: GitOptions
    ) -> StatusSnapshot | None:
        return None if options.fresh else self._states.get_cached(repository.root)

    async def _read_state(self, repository: GitRepository, options: GitOptions) -> StatusSnapshot:
        kept = self._get_cached_state(repository, options)
        if kept is not None:
            return kept
        return await self._states.get_or_compute(
            repository.root, lambda: self._compute_state(repository, options.timeout)
        )

    async def _compute_state(self, repository: GitRepository, timeout: float) -> StatusSnapshot:
        await self._turns.acquire()
        try:
            return make_snapshot(await self._inspector.read_status(repository, timeout))
        except GitError as error:
            text = str(error)[:ERROR_LIMIT]
            missing = isinstance(error, GitMissingError)
            return make_failed_snapshot(
                repository, text, get_unix_ms(self._clock), git_missing=missing
            )
        finally:
            self._turns.release()

    async def _compute_diff(
        self, repository: GitRepository, change: FileChange, timeout: float
    ) -> dict[str, Any]:
        await self._turns.acquire()
        try:
            return (await self._inspector.read_diff(repository, change, timeout)).to_wire()
        except GitError as error:
            raise make_failure_error(str(error)[:ERROR_LIMIT]) from None
        finally:
            self._turns.release()

    # -- telling

    def _make_full_status_response(
        self,
        wanted: _SearchKey,
        found: FoundRepositories,
        states: Sequence[StatusSnapshot],
        options: GitOptions,
    ) -> dict[str, Any]:
        repos = [
            {
                "name": to_display_text(os.path.basename(repository.root)),
                "path": repository.path_relative_to(wanted.workspace),
                "status": state.payload,
            }
            for repository, state in zip(found.repositories, states, strict=True)
        ]
        if found.scanned:
            return self._make_status_response(
                "ok", repos=repos, reposTruncated=found.more, repoLimit=options.max_repos
            )
        error = states[0].error
        if error is not None:
            return self._make_status_response("error", repos=repos, error=error)
        return self._make_status_response("ok", repos=repos)

    def _make_status_response(self, state: str, **fields: Any) -> dict[str, Any]:
        return {
            "state": state,
            "repos": [],
            "reposTruncated": False,
            "checkedAt": get_unix_ms(self._clock),
            **fields,
        }
