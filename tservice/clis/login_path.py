"""C{PATH} of the login shell of the service's user, read once (protocol-clis)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path, PurePath

from attrs import frozen
from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from tservice.clis.environments import remove_service_variables
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.process.child import ChildCommand, ChildFamily, ChildResult, ChildRunner
from tservice.core.process.program_folders import join_path
from tservice.core.users.os_users import NO_LOGIN

TIME_LIMITS = (("-i", 5.0), ("", 3.0))
"""Option and time limit in seconds of each attempt to run the shell.

The first attempt runs an interactive shell, which reads C{.bashrc}. If it fails, a plain login
shell is run.
"""
OUTPUT_LIMIT = 1024 * 1024
"""Maximum number of bytes that the shell may print before it is killed."""
PIPE_SECONDS = 0.2
"""Seconds for which other processes may hold the pipes of a shell that has ended."""
PATH_LIMIT = 32 * 1024
"""Maximum length of an accepted C{PATH} in characters."""

_ASK = 'exec /bin/sh -c \'echo; echo tservice-""path; echo "$PATH"; echo tservice-""end\''
"""Command that prints the C{PATH} in any kind of shell.

The marks around the output are quoted such that a shell that echoes the command does not print
them.
"""
_ANSWER = re.compile(rb"\ntservice-path\n([^\n]*)\ntservice-end\n")


async def _keep_all_folders(path: str) -> str:
    """Return the path unchanged."""
    return path


@frozen(kw_only=True)
class LoginShell:
    """Parameters for finding and running the login shell.

    @ivar program: returns the absolute path of the shell, from C{SHELL} or the user database. It
        may wait for the lookup of the user.
    @ivar answering: removes folders from a C{PATH} that do not respond, such as those of hung
        mounts.
    """

    children: ChildRunner
    environ: Mapping[str, str]
    home: Path
    program: Callable[[], Awaitable[str]]
    answering: Callable[[str], Awaitable[str]] = _keep_all_folders


class LoginPathReader:
    """Reader of the login shell's C{PATH}. It runs the shell when the path is first requested.

    @param on_path: called with the C{PATH} once it is known.
    @ivar problem: reason why reading failed; C{None} if it succeeded or has not been started.
    """

    _log = Logger()

    def __init__(self, shell: LoginShell, on_path: Callable[[str], object]) -> None:
        self.problem: str | None = None
        self._shell = shell
        self._on_path = on_path
        self._reading: Deferred[None] | None = None
        self._known = self._closed = False
        self._waiting: list[Deferred[None]] = []

    def wait_known(self) -> Deferred[None]:
        """Return a Deferred that fires once the path is known or reading has failed.

        Cancelling the Deferred does not stop the reading.
        """
        if self._reading is None:
            self._reading = spawn_logged(
                self._read_path(), self._log, "reading the login shell's PATH"
            )
        if self._known:
            return succeed(None)
        waiter: Deferred[None] = Deferred()
        self._waiting.append(waiter)
        return waiter

    def close(self) -> None:
        """Kill the running shell, and start no other."""
        self._closed = True
        self._shell.children.stop()

    async def _read_path(self) -> None:
        try:
            path = await self._ask_login_shell()
            if path:
                self._on_path(await self._shell.answering(path))
        except ServiceError as error:
            self.problem = error.message
        finally:
            self._known = True
            waiting, self._waiting = self._waiting, []
            for waiter in waiting:
                if not waiter.called:
                    waiter.callback(None)
        if self.problem is not None:
            self._log.info("the login shell's PATH could not be read: {why}", why=self.problem)

    async def _ask_login_shell(self) -> str:
        program = await self._shell.program()
        if not program.startswith("/") or PurePath(program).name in NO_LOGIN:
            self.problem = f"{program or 'nothing'} is not a login shell"
            return ""
        for interactive, seconds in TIME_LIMITS:
            if self._closed:
                break
            path = await self._run_shell(program, interactive, seconds)
            if path:
                self.problem = None
                return path
        return ""

    async def _run_shell(self, program: str, interactive: str, seconds: float) -> str:
        """Return the C{PATH} that the shell prints; empty if it prints none."""
        env = {**remove_service_variables(self._shell.environ), "HOME": str(self._shell.home)}
        command = ChildCommand(
            argv=(program, *filter(None, (interactive,)), "-c", _ASK),
            # A dash before its name turns any shell into a login shell.
            name=f"-{PurePath(program).name}",
            env={**env, "TERM": "dumb"},
            folder=str(self._shell.home),
            family=ChildFamily.GROUP,
            seconds=seconds,
            output_limit=OUTPUT_LIMIT,
            pipe_seconds=PIPE_SECONDS,
        )
        try:
            result = await self._shell.children.run(command)
        except OSError as error:
            self.problem = f"{program}: it cannot be started: {error.strerror}"
            return ""
        found = _ANSWER.search(b"\n" + result.output)
        self.problem = f"{program}: {_describe_end(result, seconds)}"
        if found is None:
            return ""
        path = join_path(found[1].decode("utf-8", "surrogateescape"))
        return path if len(path) <= PATH_LIMIT else ""


def _describe_end(result: ChildResult, seconds: float) -> str:
    """Return the reason why a shell printed no C{PATH}."""
    if result.is_stopped:
        return "the service stops"
    if result.is_timed_out:
        return f"it did not answer within {seconds:g} s"
    return "it prints too much" if result.is_truncated else "it ended without an answer"
