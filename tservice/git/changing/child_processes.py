"""Git child processes that run as a given OS user, for commands that write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from attrs import evolve
from twisted.internet.defer import Deferred

from tservice.core.kernel.errors import ServiceError
from tservice.core.process.child import ChildResult, ChildRunner, Sink
from tservice.core.workers.program_lookup import FindProgram
from tservice.git.process.runner import (
    GitActor,
    GitError,
    GitMissingError,
    OutputCollector,
    make_git_command,
    wait_or_stop,
)

_CONFIG_LIMIT = 4 * 1024 * 1024


class GitChildRunner:
    """Running git processes whose environment the caller provides.

    L{stop} kills them.
    """

    def __init__(self, children: ChildRunner, find: FindProgram) -> None:
        self._children, self._find = children, find

    @property
    def running(self) -> int:
        """Number of running git processes."""
        return self._children.running

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
    ) -> ChildResult:
        """Run git with the arguments C{words} in the root folder, thus outside of any repository.

        @param sink: receives standard output.
        @param on_stderr: receives standard error.
        @param on_start: receives a function that kills the process.
        @return: the exit status or the cause of the end, also for a command that failed.
        @raise GitError: git could not be started.
        """
        try:
            program = await self._find("git", os.fsdecode(env[b"PATH"]))
        except ServiceError as error:
            raise GitError(f"cannot search for git: {error.message}") from error
        if program is None:
            raise GitMissingError("git is not installed")
        argv = [*map(os.fsencode, (program, "-C", "/", *words))]
        try:
            # Git starts ssh and other programs, which must not outlive the service either.
            command = evolve(make_git_command(argv, env, actor, timeout), is_guarded=True)
            child = self._children.start(command, sink, on_stderr)
        except OSError as error:
            raise GitError(f"git could not be started: {error.strerror}") from None
        on_start(child.stop)
        return await wait_or_stop(child)

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
        if ending.is_timed_out:
            raise GitError(f"git timed out after {timeout:g} s")
        if ending.status != 0:
            raise GitError("git cannot read its own configuration")
        return pieces.get_bytes()

    def stop(self) -> Deferred[None]:
        """Kill all processes.  The result fires after the last one has ended."""
        return self._children.stop()
