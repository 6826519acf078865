"""Interfaces of git operations that other features use, and of functions that they provide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from attrs import define, field, frozen
from zope.interface import Interface

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import Location
from tservice.git.clone_address import CloneSource, check_branch, check_ref, parse_source
from tservice.git.model import BranchHead as GitHead
from tservice.git.model import ChangeKind, hash_blob, is_binary_content
from tservice.git.process.isolation import DIFF, STATUS
from tservice.git.status.porcelain import GitOutputError, StatusParser

__all__ = [
    "DIFF_WORDS",
    "NO_FILE",
    "STATUS_WORDS",
    "ChangedPaths",
    "CloneOutcome",
    "CloneProgress",
    "CloneRequest",
    "CloneRun",
    "CloneSource",
    "GitHead",
    "IGitWork",
    "IUserGit",
    "IWorkingCopies",
    "MissingParts",
    "UserGitResult",
    "UserProgramCommand",
    "UserProgramResult",
    "WorkingCopy",
    "WorkingFile",
    "WorktreeRequest",
    "check_branch",
    "check_ref",
    "hash_blob",
    "is_binary_content",
    "parse_changed_paths",
    "parse_source",
]

DIFF_WORDS = (*DIFF, "--inter-hunk-context=0", "--diff-algorithm=histogram")
"""Arguments of git that compare; nothing that the repository configures changes their output."""
STATUS_WORDS = (
    *(word for word in STATUS if word != "--untracked-files=normal"),
    "--untracked-files=all",
)
"""Arguments of git for L{parse_changed_paths}."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class CloneRequest:
    """Request to clone a repository.

    @ivar target: path of the new folder; its parent folder must exist.
    @ivar place: location of the target; git runs there.
    @ivar owner: account that will own the clone; C{None} in single-user mode.
    """

    source: CloneSource
    target: str
    ref: str | None = None
    shallow: bool = False
    place: Location
    owner: str | None


@frozen(kw_only=True)
class CloneProgress:
    """Progress of a clone (protocol-clone).

    @ivar phase: C{connecting}, C{counting}, C{compressing}, C{receiving}, C{resolving} or
        C{checking-out}.
    @ivar percent: completed part of this phase; C{None} if unknown.
    """

    phase: str = "connecting"
    percent: int | None = None


@frozen(kw_only=True)
class CloneOutcome:
    """Result of a clone.

    @ivar ref: the branch or tag that is checked out; C{None} if HEAD is at neither.
    @ivar warnings: one sentence for each part that was left out.
    """

    ref: str | None = None
    warnings: tuple[str, ...] = ()


@frozen(kw_only=True)
class MissingParts:
    """Missing parts of a checkout that was made without filters and submodules.

    @ivar filters: true if the checkout has files with filters.
    @ivar pointers: true if some of these files are still Git LFS pointers.
    @ivar submodules: true if a submodule is not checked out.
    @ivar unknown: reason why the parts cannot be determined; C{None} if they were.
    """

    filters: bool = False
    pointers: bool = False
    submodules: bool = False
    unknown: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user, one for each kind of missing part."""
        if self.unknown is not None:
            return (f"missing parts could not be determined: {self.unknown}",)
        submodules = ("submodules were not cloned",) if self.submodules else ()
        text = "filters such as Git LFS were not run: their files hold pointers"
        return (*submodules, text) if self.filters else submodules

    @property
    def fetch_commands(self) -> tuple[str, ...]:
        """Shell commands that fetch the missing parts."""
        pull = ("git lfs pull",) if self.pointers else ()
        update = ("git submodule update --init --recursive",) if self.submodules else ()
        return (*pull, *update)


@define(eq=False)
class CloneRun:
    """Running clone, which can be cancelled.

    @ivar on_progress: called with each new progress.
    @ivar cancelled: true after a user cancelled the clone.
    """

    on_progress: Callable[[CloneProgress], object]
    cancelled: bool = False
    _end: Callable[[], object] | None = field(default=None, init=False)

    def cancel(self) -> None:
        """Kill the clone, which then fails."""
        self.cancelled = True
        if self._end is not None:
            self._end()

    def set_kill(self, end: Callable[[], object]) -> None:
        """Register the function C{end}, which kills the clone's process."""
        self._end = end
        if self.cancelled:
            end()


@frozen(kw_only=True)
class WorktreeRequest:
    """Request to add a worktree.

    @ivar folder: top folder of the repository's working tree, or of one of its worktrees.
    @ivar path: path of the new worktree; nothing exists there yet.
    @ivar place: location in which git runs.
    @ivar owner: account that will own the worktree; C{None} in single-user mode.
    @ivar start: branch, tag or commit at which a new branch begins; C{None} means the HEAD of
        C{folder}.
    """

    folder: str
    path: str
    branch: str
    start: str | None = None
    place: Location
    owner: str | None


class IGitWork(Interface):
    """Git operations for other features.

    No program that a repository configures is run.
    """

    async def clone_repository(order: CloneRequest, run: CloneRun) -> CloneOutcome:
        """Clone a repository.  After a failure the caller has to remove the target folder.

        Raises C{ServiceError} 422 with the reason: the repository was not found, access was denied,
        there was no connection, or the ref is unknown.  Other reasons are the time limit (600 s),
        cancellation, or git's error text without credentials.
        """

    async def find_unsaved_work(
        folder: str, place: Location, owner: str | None, repository: str | None = None
    ) -> tuple[str, ...]:
        """Return a sentence for each repository in C{folder} whose work would be lost with the
        folder.

        A repository that cannot be read gets a sentence as well.

        @param owner: account that owns the folder; C{None} in single-user mode.
        @param repository: the main repository if C{folder} is a worktree that is removed for good;
            C{None} if the folder is moved to the trash.
        """

    async def find_missing_parts(folder: str, place: Location, owner: str | None) -> MissingParts:
        """Return the missing parts of the checkout at C{folder}.

        @param owner: account that owns the folder; C{None} in single-user mode.
        """

    async def add_worktree(order: WorktreeRequest) -> Callable[[], Awaitable[None]]:
        """Add a worktree.  A failure is rolled back.

        The worktree gets an existing branch, a branch of a remote, or a new one.

        Raises C{ServiceError} 409 if the branch is checked out elsewhere, or exists although
        C{start} is given; 422 if there is no repository, or git refuses.

        @return: a function that removes the worktree, and the branch if it was created.
        """

    async def remove_worktree(
        path: str, repository: str, place: Location, owner: str | None
    ) -> None:
        """Remove a worktree with its content.  Its branch is kept.

        A folder that is not a worktree is not changed.

        @param repository: path of the repository when the worktree was created.
        @param owner: account that owns the worktree; C{None} in single-user mode.

        Raises C{ServiceError}: 422: git refuses.
        """

    def count_processes() -> int:
        """Return the number of running git processes."""

    def stop() -> Any:
        """Kill all processes.  The result fires after the last one has ended."""


NO_FILE = "0" * 40
"""Hash of a file that does not exist, as git writes it."""


@frozen(kw_only=True)
class WorkingFile:
    """File or symbolic link in a working tree, without any filter of git.

    @ivar mode: file mode as git writes it, for example C{100644}; empty if there is no such file.
    @ivar hash: name of the blob that git would make of the unfiltered content; L{NO_FILE} if there
        is no such file.  A file that is too large to read has a hash of its size and times.
    @ivar lines: number of lines; 0 for a binary file.
    @ivar data: the content, or the target of the link.  C{None} if it was not asked for, or is too
        large.
    """

    mode: str = ""
    hash: str = NO_FILE
    size: int = 0
    lines: int = 0
    is_binary: bool = False
    data: bytes | None = None

    @property
    def exists(self) -> bool:
        """True if there is such a file."""
        return bool(self.mode)


@frozen(kw_only=True)
class ChangedPaths:
    """Paths of a working tree by the way in which they differ from HEAD.

    @ivar untracked: untracked files, in git's order; one with a final slash is a repository.
    @ivar untracked_count: number of all untracked files.
    @ivar is_complete: true if no path is left out.
    """

    staged: frozenset[bytes]
    unstaged: frozenset[bytes]
    conflicted: frozenset[bytes]
    untracked: tuple[bytes, ...]
    untracked_count: int
    is_complete: bool


def parse_changed_paths(output: bytes, limit: int) -> tuple[GitHead, ChangedPaths]:
    """Parse the output of git for L{STATUS_WORDS}.

    @param limit: maximum number of paths of each kind.
    @raise ServiceError: 422: the output has another form.
    """
    parser = StatusParser(limit * len(ChangeKind))
    try:
        parser.feed_bytes(output)
        tree = parser.finish_input()
    except GitOutputError as error:
        raise make_failure_error(f"git's output could not be read: {error}") from None

    def select_paths(kind: ChangeKind) -> tuple[bytes, ...]:
        return tuple(file.path for file in tree.files if file.kind is kind)

    return tree.head, ChangedPaths(
        staged=frozenset(select_paths(ChangeKind.STAGED)),
        unstaged=frozenset(select_paths(ChangeKind.UNSTAGED)),
        conflicted=frozenset(select_paths(ChangeKind.CONFLICTED)),
        untracked=select_paths(ChangeKind.UNTRACKED),
        untracked_count=tree.counts.untracked,
        is_complete=not tree.truncated,
    )


class WorkingCopy(Protocol):
    """Working tree of one repository in a session's workspace, accessed as the session's user.

    Every failure of git is a C{ServiceError} 422.

    @ivar path: top folder of the working tree, relative to the workspace; C{.} for itself.
    @ivar name: name of the top folder.
    """

    @property
    def path(self) -> str: ...

    @property
    def name(self) -> str: ...

    async def run_git(self, words: Sequence[str | bytes], limit: int) -> tuple[bytes, bool]:
        """Run a command of git that only reads, and return its output.

        No program, hook, filter or driver that the repository configures is run.

        @param limit: maximum bytes of output; the output is cut there.
        @return: the output, and true if it was cut.
        """

    async def read_files(
        self, paths: Sequence[bytes], content_limit: int = 0
    ) -> Sequence[WorkingFile]:
        """Return the files at C{paths}, which are relative to the top.

        Symbolic links above a file are not followed: there is no file then.

        @param content_limit: maximum bytes of content that is returned; 0 returns none.
        """

    async def replace_file(self, path: bytes, expected: str, new: WorkingFile) -> WorkingFile:
        """Replace a file if it still has the expected hash, and return the one that was there.

        Nothing is lost if another process writes at the same time: the file that it wrote is put
        back.

        @param expected: hash of the file that is replaced.
        @param new: the mode and content of the new file; without a mode the file is removed.
        @raise ServiceError: 409 if the file was changed; 403 if it may not be written.
        """

    async def run_in_thread(self, work: Callable[[], _T]) -> _T:
        """Run C{work}, which only calculates, in a worker thread."""


class IWorkingCopies(Interface):
    """Working trees of sessions."""

    async def open_working_copies(session_id: str) -> Sequence[WorkingCopy]:
        """Return the L{WorkingCopy}s in the workspace of a session; at most 12.

        @raise ServiceError: 404 for an unknown session; 400 for one in a location in which git
            cannot be run; 422 if its folder cannot be read.
        """


@frozen(kw_only=True)
class UserGitResult:
    """Result of a command of the user's own git.

    @ivar output: what git and its hooks printed, without credentials, cut at 64 KB.
    """

    succeeded: bool
    output: str


@frozen(kw_only=True)
class UserProgramCommand:
    """Command of a program that accompanies git, such as C{gh}.

    @ivar program: the name of the program, which is looked up in the session's C{PATH}.
    @ivar env: variables in addition to those of the user.
    @ivar seconds: time limit.
    @ivar output_limit: maximum bytes of standard output.
    """

    program: str
    words: Sequence[str]
    stdin: bytes = field(default=b"", repr=False)
    env: Mapping[str, str] = field(factory=dict)
    seconds: float
    output_limit: int = 4 * 1024 * 1024


@frozen(kw_only=True)
class UserProgramResult:
    """Result of such a program.

    @ivar status: the exit status; C{None} if the program was killed.
    @ivar errors: the end of standard error or the limit that was exceeded, without credentials.
    """

    status: int | None
    output: bytes = field(repr=False)
    errors: str


class IUserGit(Interface):
    """The user's own git in the workspaces of sessions, with its hooks, identity and signing."""

    async def run_user_git(
        session_id: str,
        repo: str,
        words: Sequence[str | bytes],
        stdin: bytes,
        caller: Caller,
    ) -> UserGitResult:
        """Run git as the user that the session runs as.

        @param repo: path of the repository relative to the workspace.
        @param caller: authorized again just before git starts.
        @raise ServiceError: 422 if git cannot be started there.
        """

    async def run_user_program(
        session_id: str, command: UserProgramCommand, reauthorize: Callable[[], object]
    ) -> UserProgramResult | None:
        """Run a program as the user that the session runs as, outside of the repository.

        @param reauthorize: called just before the program starts.
        @return: C{None} if the program is not installed there.
        @raise ServiceError: 422 if it cannot be started.
        """
