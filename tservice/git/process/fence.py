"""Restrictions of git processes: the programs that they may run, and the folder that they may open.

They apply whatever a repository configures, also to configuration that changes after the service
read it.  A repository has many ways to refer to files elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from attrs import evolve, frozen
from twisted.logger import Logger

from tservice.core.process.child import ChildCommand, ChildProcess, ChildRunner, Sink
from tservice.core.process.landlock import (
    apply_rules,
    find_loader,
    make_folder_rules,
    make_program_rules,
)
from tservice.core.workers.worker_pool import SynchronousThreads, WorkerPool

ProgramThreads = WorkerPool | SynchronousThreads

SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/localtime", "/etc/nsswitch.conf"),
    *("/etc/passwd", "/etc/group"),
)
"""Paths that programs need to start, and to look up their user."""

TRIAL_SECONDS = 10.0
"""Time limit in seconds of each trial run of git."""


@frozen(kw_only=True)
class GitFence:
    """Restrictions that this system supports.

    @ivar programs: the programs that git may run; C{None} if they cannot be limited.
    @ivar system: the paths that git may read in addition to its folder; C{None} if folders cannot
        be limited.
    """

    programs: tuple[str, ...] | None = None
    system: tuple[str, ...] | None = None

    @property
    def is_complete(self) -> bool:
        """True if both restrictions work."""
        return self.programs is not None and self.system is not None

    def make_rules(self, folder: bytes | None) -> list[int]:
        """Return the rules for one process, as file descriptors.  Blocks.

        @param folder: the only folder that git may access; C{None} means no restriction.
        @raise OSError: the folder or a program does not exist.
        """
        rules = [] if self.programs is None else [make_program_rules(self.programs)]
        try:
            if folder is not None and self.system is not None:
                rules.append(make_folder_rules(folder, self.system))
        except OSError:
            _close_rules(rules)
            raise
        return rules


async def start_fenced(
    children: ChildRunner,
    threads: ProgramThreads,
    fence: GitFence,
    command: ChildCommand,
    folder: bytes | None = None,
    sink: Sink | None = None,
    on_errors: Callable[[bytes], object] = lambda data: None,
) -> ChildProcess:
    """Start C{command} with the restrictions of C{fence}.

    @param folder: the only folder that the process may access; C{None} means no restriction.
    @param sink: see L{ChildRunner.start}.
    @raise OSError: the process cannot be started, or not with these restrictions.
    @raise ServiceError: the folder does not respond.
    """
    # The files may be on a mount that hangs, so the rules are made in a worker thread.
    make_rules = partial(fence.make_rules, folder)
    rules: list[int] = await threads.run(make_rules, "programs", at=os.fsdecode(folder or b""))
    try:
        if rules:
            command = evolve(command, restrict=partial(_apply_all, rules))
        return children.start(command, sink, on_errors)
    finally:
        _close_rules(rules)


def _apply_all(rules: list[int]) -> None:
    """Apply C{rules} to this thread and its children.

    @raise OSError: the kernel refuses.
    """
    try:
        for each in rules:
            apply_rules(each)
    except OSError as error:
        raise OSError(error.errno, "it cannot be restricted to its folder") from None


def _close_rules(rules: list[int]) -> None:
    for each in rules:
        os.close(each)


class FenceBuilder:
    """Finds out by trial runs which restrictions work with a git.  Each fault is logged once."""

    _log = Logger()

    def __init__(self, children: ChildRunner, threads: ProgramThreads) -> None:
        self._children, self._threads = children, threads
        self._said: set[str] = set()

    async def build_fence(self, git: str) -> GitFence:
        """Return the restrictions of processes of C{git}.

        @param git: absolute path of the program.
        """
        fence, folder = GitFence(), ""
        try:
            find_loader(git)
            folder = await self._run_git(fence, [git, "--exec-path"], None)
            tools = self._children.tools
            own = filter(None, (tools.setsid, tools.setpriv))
            limited = evolve(fence, programs=(git, os.path.join(folder, "git"), *own))
            await self._run_git(limited, [git, "--version"], None)
            fence = limited
        except OSError as error:
            self._log_once(f"git can run other programs here: {error}")
        try:
            system = (*SYSTEM, folder, os.path.dirname(git))
            limited = evolve(fence, system=tuple(filter(None, system)))
            await self._run_git(limited, [git, "--version"], os.fsencode(folder or "/usr"))
            fence = limited
        except OSError as error:
            self._log_once(f"git cannot be restricted to folders here: {error}")
        return fence

    async def _run_git(self, fence: GitFence, argv: list[str], folder: bytes | None) -> str:
        """Run git with restrictions and return its output, which is one line.

        @raise OSError: git cannot be run, or fails.
        """
        command = ChildCommand(argv=argv, env={}, folder=None, seconds=TRIAL_SECONDS)
        child = await start_fenced(self._children, self._threads, fence, command, folder)
        result = await child.wait_ended()
        if result.status != 0:
            raise OSError(result.error_text or "git fails")
        return os.fsdecode(result.output.strip())

    def _log_once(self, text: str) -> None:
        if text not in self._said and len(self._said) < 20:
            self._said.add(text)
            self._log.error("{text}", text=text)
