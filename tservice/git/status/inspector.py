"""Reader of the status of one repository, and of the diff of one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.core.workers.thread_runners import RunInThread
from tservice.git.model import (
    DIFF_LIMIT,
    BranchHead,
    ChangeKind,
    ContainerWorkspaces,
    FileChange,
    FileDiff,
    GitRepository,
    RepositoryStatus,
    UnpushedCommit,
    UnpushedCommits,
    WorkTree,
)
from tservice.git.process.isolation import (
    CONFIG_NAMES,
    DIFF,
    STATUS,
    RepositoryConfigKeys,
    TooManyOverridesError,
    parse_config_keys,
)
from tservice.git.process.runner import (
    OUTPUT_LIMIT,
    GitActor,
    GitError,
    GitRunner,
    OutputCollector,
    choose_actor,
    get_primary_group,
)
from tservice.git.process.user_settings import UserSettings, read_user_settings
from tservice.git.references import has_reference
from tservice.git.search import SearchBounds, find_current_repository, has_symlink_in_path
from tservice.git.status.added_diff import format_added_diff, read_content
from tservice.git.status.commits import (
    COUNT,
    COUNT_LIMIT,
    LIST,
    ON_NO_REMOTE,
    SINCE_UPSTREAM,
    parse_commits,
    parse_count,
)
from tservice.git.status.porcelain import GitOutputError, StatusParser

CONFIG_SECONDS = 5.0
"""Time limit in seconds for reading git's configuration, before any command.

Reading takes little time, but an included file may be a pipe that blocks.
"""
_CONFIG_LIMIT = 4 * 1024 * 1024
_COMMITS_LIMIT = 4 * 1024 * 1024


class RepositoryAccessRefusedError(GitError):
    """The repository must not be read: git is never run in it."""


class RepositoryOutsideError(RepositoryAccessRefusedError):
    """Part of the repository is outside of the account's workspace."""

    def __init__(self) -> None:
        super().__init__("the repository is outside the workspace of this account")


class RepositoryInContainerError(RepositoryAccessRefusedError):
    """The repository is shared with a container.

    A process in the container could make git run a program outside of it.
    """

    def __init__(self) -> None:
        super().__init__("the repository is in a container: git is never run on it from outside")


@frozen(kw_only=True)
class ReadingContext:
    """Settings, user and time limit shared by all git commands of one reading of a repository."""

    repository: GitRepository
    timeout: float
    actor: GitActor
    configured: RepositoryConfigKeys
    overrides: Mapping[str, str]


class RepositoryInspector:
    """Reads the status and diffs of repositories.  Every failure is a L{GitError}."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        runner: GitRunner,
        in_thread: RunInThread,
        environ: Mapping[str, str],
        home: Path,
        euid: int,
        itself: GitActor | None = None,
        containers: ContainerWorkspaces = tuple,
        inside: Callable[[], FolderLimit],
    ) -> None:
        """@param euid: id of the user that reads files.
        @param itself: the user that runs git in repositories that belong to C{euid}.
        @param containers: returns folders shared with containers; git is never run at or inside
            them.
        @param inside: returns the current bounds of a repository, including all files that git
            reads and writes for it.
        """
        self._containers = containers
        self._inside = inside
        self._itself = itself or GitActor()
        self._clock = clock
        self._runner = runner
        self._in_thread = in_thread
        self._environ = environ
        self._home = home
        self._euid = euid

    async def read_status(self, repository: GitRepository, timeout: float) -> RepositoryStatus:
        """Return the status of C{repository}.

        @param timeout: time limit in seconds of each git command.
        @raise GitError: the status could not be read.
        """
        visit = await self.open_repository(repository, timeout)
        tree = await self._read_work_tree(visit)
        gone = await self._is_upstream_gone(repository, tree.head)
        return RepositoryStatus(
            tree=tree,
            has_remote=visit.configured.has_remote,
            upstream_gone=gone,
            unpushed=await self._read_unpushed(visit, tree.head),
            repo_root=repository.wire_root,
            checked_at=get_unix_ms(self._clock),
        )

    async def read_diff(
        self, repository: GitRepository, change: FileChange, timeout: float
    ) -> FileDiff:
        """Return the diff of the file in C{change}, at most L{DIFF_LIMIT} bytes.

        @param timeout: time limit in seconds of each git command.
        @raise GitError: the file could not be read, or no longer exists.
        """
        if change.kind is ChangeKind.UNTRACKED:
            return await self._read_added_diff(repository, change.path)
        visit = await self.open_repository(repository, timeout)
        paths = [change.path] if change.original is None else [change.original, change.path]
        staged = ["--cached"] if change.kind is ChangeKind.STAGED else []
        pieces = OutputCollector(DIFF_LIMIT)
        ending = await self._runner.run(
            repository,
            [*DIFF, *staged, "--", *paths],
            actor=visit.actor,
            timeout=timeout,
            sink=pieces.add_piece,
            overrides=visit.overrides,
        )
        return parse_tracked_diff(pieces.get_bytes(), truncated=ending.is_truncated)

    async def open_repository(self, repository: GitRepository, timeout: float) -> ReadingContext:
        """Check access, read the configuration, and return the context for commands in
        C{repository}.

        @param timeout: time limit in seconds of each command.  L{CONFIG_SECONDS} applies to the
            first one, which reads the configuration.
        @raise GitError: the repository must not or cannot be read.
        """
        try:
            admit = partial(self._check_access, repository, [*map(os.fsencode, self._containers())])
            user, actor = await self._in_thread(admit, repository.folder)
        except OSError as error:
            raise GitError(f"the repository is gone: {error.strerror}") from None
        names = await self._runner.read(
            repository,
            CONFIG_NAMES,
            actor=actor,
            timeout=min(timeout, CONFIG_SECONDS),
            overrides={},
            limit=_CONFIG_LIMIT,
        )
        configured = parse_config_keys(names)
        beneath = user.get_defaults(configured) if actor.own_settings else {}
        try:
            overrides = {**beneath, **configured.make_overrides()}
        except TooManyOverridesError:
            raise GitError("the repository configures too many drivers") from None
        return ReadingContext(
            repository=repository,
            timeout=timeout,
            actor=actor,
            configured=configured,
            overrides=overrides,
        )

    def _check_access(
        self, repository: GitRepository, containers: Sequence[bytes]
    ) -> tuple[UserSettings, GitActor]:
        """Check from the file system that C{repository} may be read now.  Blocks.

        @return: the user's settings, and the user that runs git.
        @raise GitError: the repository must not be read.
        """
        forbidden = frozenset(map(os.path.realpath, containers))
        top = self._inside().resolve_top()
        bounds = SearchBounds(home=b"/", forbidden=forbidden, top=top)
        if bounds.is_in_container(repository):
            raise RepositoryInContainerError
        if bounds.is_outside(repository):
            raise RepositoryOutsideError
        if find_current_repository(repository, top) != repository or has_symlink_in_path(
            repository
        ):
            raise GitError("the repository was moved or replaced")
        user = read_user_settings(self._home, self._environ)
        actor = choose_actor(repository, user, self._euid, get_primary_group, self._itself)
        if top is None:
            return user, actor
        # The settings belong to the service's user and name files outside.
        return user, evolve(actor, within=top, own_settings=False)

    async def _read_work_tree(self, visit: ReadingContext) -> WorkTree:
        parser = StatusParser()
        seen = 0

        def feed_parser(data: bytes) -> bool:
            nonlocal seen
            seen += len(data)
            parser.feed_bytes(data)
            return seen <= OUTPUT_LIMIT

        ending = await self._runner.run(
            visit.repository,
            STATUS,
            actor=visit.actor,
            timeout=visit.timeout,
            sink=feed_parser,
            overrides=visit.overrides,
        )
        if ending.is_truncated:
            raise GitError(f"git printed more than {OUTPUT_LIMIT} bytes")
        try:
            return parser.finish_input()
        except GitOutputError as error:
            raise GitError(f"git's output could not be read: {error}") from None

    async def _is_upstream_gone(self, repository: GitRepository, head: BranchHead) -> bool:
        """Return true if the upstream branch no longer exists.

        Git then omits the numbers of commits ahead and behind, but also does so before the first
        commit.
        """
        upstream = head.upstream
        if upstream is None or head.ahead is not None:
            return False
        if not head.unborn:
            return True
        there = partial(has_reference, repository, upstream)
        return not await self._in_thread(there, repository.folder)

    async def _read_unpushed(self, visit: ReadingContext, head: BranchHead) -> UnpushedCommits:
        if head.unborn or not visit.configured.has_remote:
            return UnpushedCommits()
        if head.ahead is not None:
            commits = await self._list_commits(visit, SINCE_UPSTREAM) if head.ahead else ()
            return UnpushedCommits(count=head.ahead, commits=commits)
        count = await self.run_git(visit, (*COUNT, *ON_NO_REMOTE), COUNT_LIMIT)
        try:
            total = parse_count(count)
        except GitOutputError as error:
            raise GitError(f"git's output could not be read: {error}") from None
        commits = await self._list_commits(visit, ON_NO_REMOTE) if total else ()
        return UnpushedCommits(count=total, commits=commits)

    async def _list_commits(
        self, visit: ReadingContext, which: tuple[str, ...]
    ) -> tuple[UnpushedCommit, ...]:
        output = await self.run_git(visit, (*LIST, *which), _COMMITS_LIMIT)
        try:
            return parse_commits(output)
        except GitOutputError as error:
            raise GitError(f"git's output could not be read: {error}") from None

    async def run_git(
        self, visit: ReadingContext, words: Sequence[str | bytes], limit: int
    ) -> bytes:
        """Run git with the arguments C{words} and return its complete output.

        @param limit: maximum bytes of output.
        @raise GitError: git failed, or printed more.
        """
        return await self._runner.read(
            visit.repository,
            words,
            actor=visit.actor,
            timeout=visit.timeout,
            overrides=visit.overrides,
            limit=limit,
        )

    async def run_git_up_to(
        self, visit: ReadingContext, words: Sequence[str | bytes], limit: int
    ) -> tuple[bytes, bool]:
        """Run git with the arguments C{words} and return its output, cut at C{limit} bytes.

        @return: the output, and true if it was cut.
        @raise GitError: git failed.
        """
        pieces = OutputCollector(limit)
        ending = await self._runner.run(
            visit.repository,
            words,
            actor=visit.actor,
            timeout=visit.timeout,
            sink=pieces.add_piece,
            overrides=visit.overrides,
        )
        return pieces.get_bytes(), ending.is_truncated

    async def _read_added_diff(self, repository: GitRepository, path: bytes) -> FileDiff:
        try:
            read = partial(read_content, repository.root, path)
            content = await self._in_thread(read, repository.folder)
        except OSError as error:
            raise GitError(f"the file cannot be read: {os.strerror(error.errno or 0)}") from None
        if content is None:
            raise GitError("the path is neither a file nor a symlink")
        return format_added_diff(path, content)


def parse_tracked_diff(output: bytes, *, truncated: bool) -> FileDiff:
    """Parse the output of C{git diff}.

    @param truncated: true if C{output} was cut; the incomplete last line is then removed if
        possible.
    """
    if truncated:
        output = output[: output.rfind(b"\n") + 1] or output
    before_hunks = output.partition(b"\n@@")[0].split(b"\n")
    binary = any(
        line.startswith(b"Binary files ") and line.endswith(b" differ") for line in before_hunks
    )
    return FileDiff(diff=output.decode("utf-8", "replace"), truncated=truncated, binary=binary)
