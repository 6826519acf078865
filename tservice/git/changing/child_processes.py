"""Git child processes that run as a given OS user, for commands that write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.core.errors import ServiceError
from tservice.core.workers.program_lookup import FindProgram
from tservice.git.fork_client import ForkServerClient
from tservice.git.process import GitProcess, GitProcessResult, Sink
from tservice.git.runner import GitActor, GitError, GitMissingError, OutputCollector

_CONFIG_LIMIT = 4 * 1024 * 1024


class _StderrProcess(GitProcess):
    """Git process that forwards its standard error to a callback as it arrives."""

    def __init__(
        self, clock: IReactorTime, timeout: float, sink: Sink, heard: Callable[[bytes], object]
    ) -> None:
        super().__init__(clock, timeout, sink)
        self._heard = heard

    def stderr_received(self, data: bytes) -> None:
        super().stderr_received(data)
        self._heard(data)


class GitChildRunner:
    """Running git processes whose environment the caller provides.

    L{stop} kills them.
    """

    def __init__(self, clock: IReactorTime, processes: IReactorProcess, find: FindProgram) -> None:
        self._clock, self._find = clock, find
        self._forks = ForkServerClient(clock, processes)
        self._running: set[GitProcess] = set()

    @property
    def running(self) -> int:
        """Number of running git processes."""
        return len(self._running)

    async def run(
        self,
        words: Sequence[str],
        env: dict[bytes, bytes],
        actor: GitActor,
        *,
        timeout: float,
        sink: Sink,
        on_stderr: Callable[[bytes], object],
        on_start: Callable[[Callable[[], None]], object],
    ) -> GitProcessResult:
        """Run git with the arguments C{words} in the root folder, thus outside of any repository.

        @param sink: receives standard output.
        @param on_stderr: receives standard error.
        @param on_start: receives a function that kills the process.
        @return: the exit status or the cause of the end, also for a command that failed.
        @raise GitError: git could not be started.
        """
        git = _StderrProcess(self._clock, timeout, sink, on_stderr)
        try:
            program = await self._find("git", os.fsdecode(env[b"PATH"]))
        except ServiceError as error:
            raise GitError(f"cannot search for git: {error.message}") from error
        if program is None:
            raise GitMissingError("git is not installed")
        self._start_process(git, [program, "-C", "/", *words], env, actor)
        self._running.add(git)
        on_start(git.kill)
        try:
            return await git.ended
        finally:
            self._running.discard(git)

    async def read_output(
        self, words: Sequence[str], env: dict[bytes, bytes], actor: GitActor, timeout: float
    ) -> bytes:
        """Run a short git command and return its standard output.

        @param timeout: seconds until the command is killed.
        @raise GitError: the command failed, was too slow, or printed too much.
        """
        pieces = OutputCollector(_CONFIG_LIMIT)
        ending = await self.run(
            words,
            env,
            actor,
            timeout=timeout,
            sink=pieces.add_piece,
            on_stderr=lambda data: None,
            on_start=lambda end: None,
        )
        if ending.timed_out:
            raise GitError(f"git timed out after {timeout:g} s")
        if ending.status != 0:
            raise GitError("git cannot read its own configuration")
        return pieces.get_bytes()

    def stop(self) -> Deferred[None]:
        """Kill all processes.  The result fires after the last one has ended."""
        return self._forks.stop()

    def _start_process(
        self, git: GitProcess, words: Sequence[str], env: dict[bytes, bytes], actor: GitActor
    ) -> None:
        argv = [os.fsencode(word) for word in words]
        try:
            number = self._forks.start_process(git, argv, env, actor.uid, actor.gid)
        except OSError as error:
            raise GitError(f"git could not be started: {error.strerror}") from None
        git.start_timer(lambda: self._forks.kill_process(number))
