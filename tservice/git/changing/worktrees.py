"""Creation and removal of worktrees next to a repository (protocol-worktrees)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from attrs import evolve, frozen

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.core.locations.location import Location
from tservice.core.workers.thread_runners import RunInLocation
from tservice.git.interfaces import WorktreeRequest
from tservice.git.model import GitRepository
from tservice.git.process.runner import GitError
from tservice.git.search import recognise_repository
from tservice.git.status.inspector import (
    ReadingContext,
    RepositoryAccessRefusedError,
    RepositoryInspector,
)

SECONDS = 120.0
"""Time limit in seconds of a git command that checks out a whole tree."""
READ_SECONDS = 30.0
"""Time limit in seconds of a git command that only reads or rolls back."""
_LIMIT = 1024 * 1024
_UNKNOWN = "is not a working tree"
_TAKEN = ("is already checked out at", "is already used by worktree", "a branch named")


@frozen(kw_only=True)
class _RepositoryCommands:
    """Runner of git commands in one repository."""

    inspector: RepositoryInspector
    visit: ReadingContext

    async def run_reading_command(self, *words: str) -> bytes:
        """Run git with the limit L{READ_SECONDS} and return its output.

        @raise GitError: the command failed.
        """
        return await self.inspector.run_git(self.visit, words, _LIMIT)

    async def run_checkout_command(self, *words: str) -> bytes:
        """Run git with the limit L{SECONDS} and return its output.

        @raise GitError: the command failed.
        """
        return await self.inspector.run_git(evolve(self.visit, timeout=SECONDS), words, _LIMIT)

    async def remove_worktree(self, path: str, *, known: bool) -> None:
        """Remove the worktree at C{path}; if its folder is missing, remove git's record of it.

        Other worktrees are not affected.  C{git worktree prune} would remove the record of every
        worktree whose folder is missing.

        @param known: true if git must have a record of the worktree; otherwise a missing record is
            no error.
        @raise ServiceError: 422: git refuses.
        """
        try:
            await self.run_checkout_command("worktree", "remove", "--force", "--force", "--", path)
        except GitError as error:
            if known or _UNKNOWN not in str(error):
                raise _to_service_error(error) from None


class WorktreeManager:
    """Adds and removes worktrees; see L{tservice.git.interfaces.IGitWork}."""

    def __init__(
        self,
        in_place: RunInLocation,
        inspector_of: Callable[[Location, str | None], RepositoryInspector],
    ) -> None:
        self._in_place = in_place
        self._inspector_of = inspector_of

    async def add_worktree(self, order: WorktreeRequest) -> Callable[[], Awaitable[None]]:
        """Add a worktree and return a function that undoes this."""
        try:
            shop = await self._open_repository(order.folder, order.place, order.owner)
        except RepositoryAccessRefusedError as error:
            raise _to_service_error(error) from None
        if shop is None:
            raise make_failure_error(f"{order.folder} is not a git repository")
        try:
            there, elsewhere = await self._find_branch(shop, order.branch)
            if there and order.start is not None:
                text = f"the branch {order.branch} already exists: leave from out"
                raise ServiceError(ErrorCode.ALREADY_EXISTS, text)
            # Git accepts an empty folder, and the rollback may remove a folder made here.
            claim = partial(_create_folder, order.path)
            await self._in_place(order.place, claim, order.path, order.owner)
            try:
                await shop.run_checkout_command(
                    "worktree", "add", *_make_add_arguments(order, there, elsewhere)
                )
            except GitError as error:
                made = not there and "a branch named" not in str(error)
                await self._undo_addition(shop, order, made)
                raise
        except GitError as error:
            raise _to_service_error(error) from None
        return partial(self._undo_addition, shop, order, not there)

    async def remove_worktree(
        self, path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        """Remove a worktree.  Its branch is kept."""
        found = await self._in_place(place, partial(_recognise_folder, path), path, owner)
        if found is not None and found.control == found.common:
            return  # a separate repository was made there
        try:
            shop = await self._open_repository(repository, place, owner)
        except RepositoryAccessRefusedError:
            # The git inside the container can remove the rest of it.
            if found is not None:
                work = partial(shutil.rmtree, path, ignore_errors=True)
                await self._in_place(place, work, path, owner)
            return
        if shop is None:
            if found is not None:
                raise make_failure_error(
                    f"the repository of this worktree is no longer at {repository}"
                )
            return
        if found is None:
            there = await self._in_place(place, partial(os.path.lexists, path), path, owner)
            if there:
                return  # it is no worktree any more
        elif found.common != shop.visit.repository.common:
            return
        await shop.remove_worktree(path, known=found is not None)

    async def _open_repository(
        self, folder: str, place: Location, owner: str | None
    ) -> _RepositoryCommands | None:
        repository = await self._in_place(place, partial(_recognise_folder, folder), folder, owner)
        if repository is None:
            return None
        inspector = self._inspector_of(place, owner)
        try:
            visit = await inspector.open_repository(repository, READ_SECONDS)
        except RepositoryAccessRefusedError:
            raise
        except GitError as error:
            raise _to_service_error(error) from None
        return _RepositoryCommands(inspector=inspector, visit=visit)

    async def _find_branch(self, shop: _RepositoryCommands, branch: str) -> tuple[bool, str | None]:
        """Look for a branch, locally and on the remotes.

        @return: true if the local branch exists; and its remote-tracking reference if exactly one
            remote has the branch, otherwise C{None}.
        """
        own, others = f"refs/heads/{branch}", f"refs/remotes/*/{branch}"
        output = await shop.run_reading_command(
            "for-each-ref", "--format=%(refname)", "--", own, others
        )
        names = output.decode("utf-8", "replace").splitlines()
        far = [name for name in names if name.startswith("refs/remotes/")]
        # Git itself does not choose between several remotes.
        only = far[0] if len(far) == 1 and far[0].split("/", 3)[-1] == branch else None
        return own in names, only

    async def _undo_addition(
        self, shop: _RepositoryCommands, order: WorktreeRequest, made: bool
    ) -> None:
        """Undo a failed addition.

        Attempt every step, each with the time limit L{READ_SECONDS}.

        @param made: true if the branch was created and has to be deleted.
        """
        with suppress(GitError):
            await shop.run_reading_command(
                "worktree", "remove", "--force", "--force", "--", order.path
            )
        work = partial(shutil.rmtree, order.path, ignore_errors=True)
        await self._in_place(order.place, work, order.path, order.owner)
        # A killed git may have left its record of the folder.
        with suppress(GitError):
            await shop.run_reading_command(
                "worktree", "remove", "--force", "--force", "--", order.path
            )
        if made:
            with suppress(GitError):
                await shop.run_reading_command("branch", "-D", "--", order.branch)


def _make_add_arguments(order: WorktreeRequest, there: bool, elsewhere: str | None) -> list[str]:
    """Return the arguments of C{git worktree add}.

    @param there: true if the local branch exists; the worktree then gets that branch.
    @param elsewhere: remote-tracking reference from which the branch is created; C{None} if no
        remote branch is used.
    """
    if there and order.start is None:
        return ["--quiet", "--", order.path, order.branch]
    if elsewhere is not None and order.start is None:
        # The full name, because a tag of the short name would be checked out detached.
        return ["--quiet", "--track", "-b", order.branch, "--", order.path, elsewhere]
    start = order.start or "HEAD"
    return ["--quiet", "--no-track", "-b", order.branch, "--", order.path, start]


def _create_folder(path: str) -> None:
    """Create the folder of a new worktree.

    @raise ServiceError: 409 if the folder exists; 422 if it cannot be created.
    """
    try:
        os.mkdir(path)
    except FileExistsError:
        text = f"{path} already exists"
        raise ServiceError(ErrorCode.ALREADY_EXISTS, text) from None
    except OSError as error:
        raise make_failure_error(
            f"{path} cannot be created: {find_disk_problem(error) or error.strerror}"
        ) from error


def _recognise_folder(folder: str) -> GitRepository | None:
    try:
        return recognise_repository(os.path.realpath(os.fsencode(folder)))
    except OSError:
        return None  # a link was replaced


def _to_service_error(error: GitError) -> ServiceError:
    text = str(error)
    return (
        make_conflict_error(text)
        if any(words in text for words in _TAKEN)
        else make_failure_error(text)
    )
