"""Runner of git in a repository.

The runner chooses the user and environment, and interprets the exit status.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping, Sequence
from math import inf

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred

from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.locations.location import Location
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import (
    UNKILLABLE,
    ChildCommand,
    ChildProcess,
    ChildResult,
    ChildRunner,
    Sink,
)
from tservice.core.workers.program_lookup import make_program_finder
from tservice.git.model import GitRepository
from tservice.git.process.error_text import make_error_text
from tservice.git.process.fence import FenceBuilder, GitFence, ProgramThreads, start_fenced
from tservice.git.process.isolation import make_arguments, make_environment, remove_relative_folders
from tservice.git.process.user_settings import UserSettings
from tservice.git.search import find_group, find_owners

OUTPUT_LIMIT = 256 * 1024 * 1024
"""Maximum bytes of output of one command, which is killed beyond it."""

STDERR_LIMIT = 4096
"""Number of leading bytes of standard error that are kept."""

NICENESS = 5
"""Niceness of git processes, so that they do not slow down terminals."""

RETRY_SECONDS = 60.0
"""Seconds until a restriction that did not work is tried again, because the cause may be gone."""

NOT_STARTED = (126, 127)
"""Exit statuses of C{setpriv} if the program cannot be run, as used by shells."""

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class GitError(Exception):
    """Git failed.  The text may be shown to a client."""


class GitMissingError(GitError):
    """Git is not installed."""


@frozen(kw_only=True)
class GitIdentity:
    """User and group of a git process, which has no supplementary groups."""

    uid: int
    gid: int
    groups: tuple[int, ...]


@frozen(kw_only=True)
class GitActor:
    """User as which git runs.

    @ivar uid: id of the user; C{None} means the user of this process.
    @ivar own_settings: true if the git settings of the service's user apply, because git runs as
        that user.
    @ivar within: the only folder that git can read and write if the kernel has Landlock; C{None}
        means every folder that the user may access.
    """

    uid: int | None = None
    gid: int | None = None
    own_settings: bool = True
    within: bytes | None = None

    def get_identity(self) -> GitIdentity | None:
        """Return the user and group of the process; C{None} means those of this process."""
        if self.uid is None or self.gid is None:
            return None
        return GitIdentity(uid=self.uid, gid=self.gid, groups=(self.gid,))


def get_actor(place: Location) -> GitActor:
    """Return the user as which sessions of C{place} run git."""
    return GitActor(uid=place.user.uid, gid=place.user.gid) if place.is_isolated else GitActor()


def choose_actor(
    repository: GitRepository,
    user: UserSettings,
    euid: int,
    primary_group: Callable[[int], int],
    itself: GitActor | None = None,
) -> GitActor:
    """Return the user as which git may read that repository.

    The user's own repositories are read as the user.  Root reads another user's repository as its
    owner, so that hostile content gains no privileges.  Like git, refuse other repositories unless
    the user's C{safe.directory} lists them.

    @param euid: id of the user that reads files.
    @param itself: actor for the user's own repositories; C{None} means this process's user.
    @param primary_group: returns the primary group of a user id; raises C{LookupError} if it has
        none.
    @raise GitError: reading the repository is refused.
    @raise OSError: the repository is missing.
    """
    found = find_owners(repository)
    own = itself or GitActor()
    if found == {euid}:
        return own
    if euid == 0 and len(found) == 1:
        uid = next(iter(found))
        try:
            return GitActor(uid=uid, gid=primary_group(uid), own_settings=False)
        except LookupError:
            return GitActor(uid=uid, gid=find_group(repository), own_settings=False)
    if user.is_trusted(repository.root):
        return own
    raise GitError("detected dubious ownership: the repository belongs to another user")


def get_primary_group(uid: int) -> int:
    """Return the primary group of a user id.

    @raise KeyError: no OS user has this id.
    """
    return pwd.getpwuid(uid).pw_gid


class GitRunner:
    """Starts git processes, waits for their end, and kills them when the service stops.

    Git leads a new session.  It only reads and can lose nothing, so it is killed with SIGKILL.
    """

    def __init__(
        self,
        *,
        children: ChildRunner,
        threads: ProgramThreads,
        environ: Mapping[str, str],
        redactor: SecretRedactor,
    ) -> None:
        """@param threads: runs work that accesses the folders of programs."""
        self._children, self._threads = children, threads
        self._find = make_program_finder(threads)
        self._fences = FenceBuilder(children, threads)
        self._found: SharedWork[_FoundGit] | None = None
        self._valid_until = inf
        self._path = remove_relative_folders(environ.get("PATH", _DEFAULT_PATH))
        self._redactor = redactor

    @property
    def running(self) -> int:
        """Number of running git processes."""
        return self._children.running

    async def run(
        self,
        repository: GitRepository,
        words: Sequence[str | bytes],
        *,
        actor: GitActor,
        timeout: float,
        sink: Sink,
        overrides: Mapping[str, str],
    ) -> ChildResult:
        """Run git with the arguments C{words} and pass its output to C{sink}.

        @param timeout: seconds until git is killed.
        @param overrides: configuration that takes precedence over every file.
        @return: the result of a command that succeeded, or was ended because the sink had enough.
        @raise GitError: git is not installed, was too slow or failed, or its output could not be
            parsed.
        """
        found = await self._find_program()
        errors = OutputCollector(STDERR_LIMIT)
        command = make_git_command(
            [os.fsencode(found.program), *make_arguments(repository, words)],
            make_environment(self._path, overrides),
            actor,
            timeout,
        )
        try:
            child = await start_fenced(
                self._children, self._threads, found.fence, command, actor.within,
                sink, errors.add_piece,
            )  # fmt: skip
            ending = await wait_or_stop(child)
        except ServiceError as error:
            raise GitError(f"git could not be started: {error.message}") from error
        except OSError as error:
            self._found = None
            raise GitError(f"git could not be started: {error.strerror or error}") from None
        self._check_process_result(ending, timeout, errors.get_bytes())
        return ending

    async def read(
        self,
        repository: GitRepository,
        words: Sequence[str | bytes],
        *,
        actor: GitActor,
        timeout: float,
        overrides: Mapping[str, str],
        limit: int,
    ) -> bytes:
        """Run git with the arguments C{words} and return its complete output.

        @param limit: maximum bytes of output.
        @raise GitError: as for L{run}; also if git prints more than C{limit} bytes.
        """
        pieces = OutputCollector(limit)
        ending = await self.run(
            repository,
            words,
            actor=actor,
            timeout=timeout,
            sink=pieces.add_piece,
            overrides=overrides,
        )
        if ending.is_truncated:
            raise GitError(f"git printed more than {limit} bytes")
        return pieces.get_bytes()

    def stop(self) -> Deferred[None]:
        """Kill all processes.  The result fires after the last one has ended."""
        return self._children.stop()

    async def _find_program(self) -> _FoundGit:
        if self._found is None or self._children.clock.seconds() >= self._valid_until:
            self._valid_until = inf
            self._found = SharedWork(self._search_program())
        try:
            found = await self._found.wait_for_result()
        except GitError:
            self._found = None
            raise
        if not found.fence.is_complete and self._valid_until == inf:
            self._valid_until = self._children.clock.seconds() + RETRY_SECONDS
        return found

    async def _search_program(self) -> _FoundGit:
        try:
            program = await self._find("git", self._path)
            if program is None:
                raise GitMissingError("git is not installed")
            return _FoundGit(program, await self._fences.build_fence(program))
        except ServiceError as error:
            raise GitError(f"cannot search for git: {error.message}") from error

    def _check_process_result(self, ending: ChildResult, timeout: float, errors: bytes) -> None:
        if ending.is_timed_out:
            raise GitError(f"git timed out after {timeout:g} s")
        if ending.fault is not None:
            raise GitError(f"git's output could not be read: {ending.fault}")
        if ending.is_abandoned:
            raise GitError(f"git could not be ended: {UNKILLABLE}")
        if ending.is_truncated or ending.status == 0:
            return
        text = make_error_text(self._redactor, errors)
        if ending.status in NOT_STARTED:
            # It may have been updated or moved.
            self._found = None
            text = f"git could not be started: {text}"
        raise GitError(text)


@frozen
class _FoundGit:
    program: str
    fence: GitFence


def make_git_command(
    argv: Sequence[bytes], env: Mapping[bytes, bytes], actor: GitActor, timeout: float
) -> ChildCommand:
    """Return the command that runs git as C{actor}, with a lower priority.

    @param argv: names the folder of git by the option C{-C}.
    """
    return ChildCommand(
        argv=argv,
        env=env,
        folder=None,
        user=actor.get_identity(),
        niceness=NICENESS,
        seconds=timeout,
    )


async def wait_or_stop(child: ChildProcess) -> ChildResult:
    """Return the result of C{child}.  Cancelling kills it."""
    try:
        return await child.wait_ended()
    except CancelledError:
        child.stop()
        raise


class OutputCollector:
    """Sink that collects the output of git up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def add_piece(self, data: bytes) -> bool:
        """Store the next piece and return true; return false if the limit is exceeded."""
        self._pieces.append(data)
        self._size += len(data)
        return self._size <= self._limit

    def get_bytes(self) -> bytes:
        """Return the collected output, cut at the limit."""
        return b"".join(self._pieces)[: self._limit]
