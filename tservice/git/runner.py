"""Runner of git in a repository.

The runner chooses the user and environment, and interprets the exit status.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.core.errors import ServiceError
from tservice.core.locations.location import Location
from tservice.core.logs.redact import SecretRedactor
from tservice.core.workers.program_lookup import FindProgram
from tservice.git.error_text import make_error_text
from tservice.git.fork_client import ForkServerClient
from tservice.git.isolation import make_arguments, make_environment, remove_relative_folders
from tservice.git.model import GitRepository
from tservice.git.process import GitProcess, GitProcessResult, Sink
from tservice.git.search import find_group, find_owners
from tservice.git.user_settings import UserSettings

OUTPUT_LIMIT = 256 * 1024 * 1024
"""Maximum bytes of output of one command, which is killed beyond it."""

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class GitError(Exception):
    """Git failed.  The text may be shown to a client."""


class GitMissingError(GitError):
    """Git is not installed."""


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
    """Starts git processes, waits for their end, and kills them when the service stops."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        environ: Mapping[str, str],
        redactor: SecretRedactor,
        find: FindProgram,
    ) -> None:
        """@param find: finds the program git.  The result is reused until it cannot be started."""
        self._find, self._program = find, ""
        self._clock = clock
        self._forks = ForkServerClient(clock, processes, alone=True)
        self._path = remove_relative_folders(environ.get("PATH", _DEFAULT_PATH))
        self._redactor = redactor
        self._running: set[GitProcess] = set()

    @property
    def running(self) -> int:
        """Number of running git processes."""
        return len(self._running)

    async def run(
        self,
        repository: GitRepository,
        words: Sequence[str | bytes],
        *,
        actor: GitActor,
        timeout: float,
        sink: Sink,
        overrides: Mapping[str, str],
    ) -> GitProcessResult:
        """Run git with the arguments C{words} and pass its output to C{sink}.

        @param timeout: seconds until git is killed.
        @param overrides: configuration that takes precedence over every file.
        @return: the result of a command that succeeded, or was ended because the sink had enough.
        @raise GitError: git is not installed, was too slow or failed, or its output could not be
            parsed.
        """
        program = await self._find_program()
        git = GitProcess(self._clock, timeout, sink)
        self._start_process(git, [program, *make_arguments(repository, words)], actor, overrides)
        self._running.add(git)
        try:
            ending = await git.ended
        finally:
            self._running.discard(git)
        self._check_process_result(ending, timeout)
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
        if ending.enough:
            raise GitError(f"git printed more than {limit} bytes")
        return pieces.get_bytes()

    def stop(self) -> Deferred[None]:
        """Kill all processes.  The result fires after the last one has ended."""
        return self._forks.stop()

    async def _find_program(self) -> bytes:
        if not self._program:
            try:
                found = await self._find("git", self._path)
            except ServiceError as error:
                raise GitError(f"cannot search for git: {error.message}") from error
            if found is None:
                raise GitMissingError("git is not installed")
            self._program = found
        return os.fsencode(self._program)

    def _start_process(
        self,
        git: GitProcess,
        argv: list[bytes],
        actor: GitActor,
        overrides: Mapping[str, str],
    ) -> None:
        env = make_environment(self._path, overrides)
        try:
            number = self._forks.start_process(git, argv, env, actor.uid, actor.gid, actor.within)
        except OSError as error:
            raise GitError(f"git could not be started: {error.strerror}") from None
        git.start_timer(lambda: self._forks.kill_process(number))

    def _check_process_result(self, ending: GitProcessResult, timeout: float) -> None:
        if ending.timed_out:
            raise GitError(f"git timed out after {timeout:g} s")
        if ending.fault is not None:
            raise GitError(f"git's output could not be read: {ending.fault}")
        if ending.status is None:
            self._program = ""
            raise GitError(f"git could not be started: {ending.reason}")
        if ending.enough or ending.status == 0:
            return
        raise GitError(make_error_text(self._redactor, ending.stderr))


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
