"""C{PATH} of the login shell of the service's user, read once (protocol-clis)."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from attrs import field, frozen
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import IProcessTransport, IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.clis.environments import remove_service_variables
from tservice.core.errors import ServiceError
from tservice.core.process.process_group import make_group_command
from tservice.core.process.program_folders import join_path
from tservice.core.tasks import spawn_logged
from tservice.core.timers import cancel_call
from tservice.core.users.os_users import NO_LOGIN

TIME_LIMITS = (("-i", 5.0), ("", 3.0))
"""Option and time limit in seconds of each attempt to run the shell.

The first attempt runs an interactive shell, which reads C{.bashrc}. If it fails, a plain login
shell is run.
"""
OUTPUT_LIMIT = 1024 * 1024
"""Maximum number of bytes that the shell may print before it is killed."""
PATH_LIMIT = 32 * 1024
"""Maximum length of an accepted C{PATH} in characters."""

_ASK = 'exec /bin/sh -c \'echo; echo tservice-""path; echo "$PATH"; echo tservice-""end\''
"""Command that prints the C{PATH} in any kind of shell.

The marks around the output are quoted such that a shell that echoes the command does not print
them.
"""
_ANSWER = re.compile(rb"\ntservice-path\n([^\n]*)\ntservice-end\n")

KillGroup = Callable[[int, int], None]


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

    clock: IReactorTime
    processes: IReactorProcess
    environ: Mapping[str, str]
    home: Path
    program: Callable[[], Awaitable[str]]
    answering: Callable[[str], Awaitable[str]] = _keep_all_folders
    kill_group: KillGroup = field(default=os.killpg)


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
        self._child: _LoginShellProcess | None = None

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
        if self._child is not None:
            self._child.kill("the service stops")

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
            child = self._child = _LoginShellProcess(self._shell.kill_group)
            path = await self._run_shell(child, program, interactive, seconds)
            self._child = None
            if path:
                self.problem = None
                return path
            self.problem = f"{program}: {child.why}"
        return ""

    async def _run_shell(
        self, child: _LoginShellProcess, program: str, interactive: str, seconds: float
    ) -> str:
        env = {**remove_service_variables(self._shell.environ), "HOME": str(self._shell.home)}
        # A dash before its name turns any shell into a login shell.
        words = [f"-{PurePath(program).name}", *filter(None, (interactive,)), "-c", _ASK]
        command = make_group_command([program, *words[1:]], name=words[0])
        late = f"it did not answer within {seconds:g} s"
        timer = self._shell.clock.callLater(seconds, child.kill, late)
        try:
            self._shell.processes.spawnProcess(
                child, command[0], command, {**env, "TERM": "dumb"}, str(self._shell.home)
            )
            return await child.answer
        except OSError as error:
            child.why = f"it cannot be started: {error.strerror}"
            return ""
        finally:
            cancel_call(timer)


class _LoginShellProcess(ProcessProtocol):
    """Process of one login shell.

    @ivar answer: Deferred that fires with the C{PATH}, or with an empty string if the shell printed
        none.
    @ivar why: reason why the shell printed no C{PATH}.
    """

    transport: IProcessTransport | None = None

    def __init__(self, kill_group: KillGroup) -> None:
        self.answer: Deferred[str] = Deferred(lambda _: self.kill("the wait was cancelled"))
        self.why = "it ended without an answer"
        self._kill_group = kill_group
        self._printed = b"\n"

    def kill(self, why: str) -> None:
        """Kill the shell and the processes that it started. Do nothing if the shell has exited.

        @param why: reason to report.
        """
        if self.answer.called:
            return
        self.why = why
        pid = None if self.transport is None else self.transport.pid
        if pid is not None:
            try:
                self._kill_group(pid, signal.SIGKILL)
            except ProcessLookupError:
                self._kill_leader()
        self._deliver_answer("")

    def connectionMade(self) -> None:
        assert self.transport is not None  # noqa: S101  # Twisted has just set it
        self.transport.closeStdin()

    def outReceived(self, data: bytes) -> None:
        self._printed += data
        found = _ANSWER.search(self._printed)
        if found is not None:
            path = join_path(found[1].decode("utf-8", "surrogateescape"))
            self._deliver_answer(path if len(path) <= PATH_LIMIT else "")
        elif len(self._printed) > OUTPUT_LIMIT:
            self.kill("it prints too much")

    def errReceived(self, data: bytes) -> None:
        """Ignore the warnings that an interactive shell prints without a terminal."""

    def processEnded(self, reason: Failure) -> None:
        self._deliver_answer("")

    def _deliver_answer(self, path: str) -> None:
        if not self.answer.called:
            self.answer.callback(path)
            # A process that it left running may hold the pipes.
            if self.transport is not None:
                self.transport.loseConnection()

    def _kill_leader(self) -> None:
        """Kill the process itself, as it may not have created its process group yet."""
        if self.transport is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")
