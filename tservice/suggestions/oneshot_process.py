"""Process of an agent CLI that runs once, with limits on time and output.

The process runs in a separate process group.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import (
    IProcessTransport,
    IReactorProcess,
    IReactorTime,
)
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.process.process_group import make_group_command
from tservice.core.timers import NamedTimers

TIME_LIMIT = 85.0
"""Maximum run time in seconds. The HTTP caller gets a response within 90 seconds."""

OUTPUT_LIMIT = 256 * 1024
"""Maximum bytes of standard output. A CLI that prints more is killed."""

ERRORS = 2_000
"""Number of bytes that are kept from the end of standard error."""

PIPES = 1.0
"""Seconds after the CLI's exit at which its pipes are closed, in case another process holds them
open.
"""

_LIMIT, _PIPES = "limit", "pipes"

KillGroup = Callable[[int, int], None]


@frozen(kw_only=True)
class OneShotExit:
    """Result of a finished process.

    @ivar status: exit status; C{None} if a signal ended the process.
    @ivar reason: why this service killed the process; empty if the process ended by itself.
    @ivar printed: bytes of standard output.
    @ivar complained: last bytes of standard error.
    """

    status: int | None
    reason: str
    printed: bytes
    complained: bytes


@frozen(kw_only=True)
class OneShotCommand:
    """Command line of a process that runs once.

    @ivar argv: program and arguments. The program is an absolute path.
    @ivar env: complete environment of the process.
    @ivar own_group_folder: working directory of a command that creates its own process group. If
        C{None}, the service creates the group, and the folder of the prompt file is used.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    own_group_folder: Path | None = None


class OneShotProcess(ProcessProtocol):
    """Protocol of one CLI process. The process has no data to lose, so it is ended by SIGKILL.

    @ivar ended: fires with the result once the process has exited and its pipes are closed.
    """

    transport: IProcessTransport

    def __init__(self, clock: IReactorTime, kill_group: KillGroup = os.killpg) -> None:
        self._kill_group = kill_group
        self._group: int | None = None
        self._printed = bytearray()
        self._complained = b""
        self._reason = ""
        self._status: int | None = None
        self._timers = NamedTimers(clock)
        self.ended: Deferred[OneShotExit] = Deferred()

    def spawn_cli(self, processes: IReactorProcess, asked: OneShotCommand, prompt: Path) -> None:
        """Start the process with the file C{prompt} as read-only standard input.

        @raise OSError: the file cannot be opened, or the process cannot be started.
        """
        command = (
            make_group_command(asked.argv) if asked.own_group_folder is None else [*asked.argv]
        )
        given = os.open(prompt, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            processes.spawnProcess(
                self,
                command[0],
                command,
                env=dict(asked.env),
                path=str(asked.own_group_folder or prompt.parent),
                childFDs={0: given, 1: "r", 2: "r"},
            )
        finally:
            os.close(given)

    def kill_process(self, reason: str) -> None:
        """Kill the process and its whole process group. Do nothing after its exit.

        @param reason: text for L{OneShotExit.reason}.
        """
        self._reason = self._reason or reason
        self._kill_process_group()

    def connectionMade(self) -> None:
        self._group = self.transport.pid
        self._timers.schedule_call(
            _LIMIT, TIME_LIMIT, self.kill_process, f"it took longer than {TIME_LIMIT:g} s"
        )

    def outReceived(self, data: bytes) -> None:
        if len(self._printed) + len(data) > OUTPUT_LIMIT:
            self.kill_process("it printed too much")
        elif not self._reason:
            self._printed += data

    def errReceived(self, data: bytes) -> None:
        self._complained = (self._complained + data)[-ERRORS:]

    def processExited(self, reason: Failure) -> None:
        value = reason.value
        self._status = value.exitCode if isinstance(value, ProcessTerminated) else 0
        # Its children must not outlive it.
        self._kill_process_group()
        self._timers.schedule_call(_PIPES, PIPES, self.transport.loseConnection)

    def processEnded(self, reason: Failure) -> None:
        self._timers.cancel_all()
        ending = OneShotExit(
            status=self._status,
            reason=self._reason,
            printed=bytes(self._printed),
            complained=self._complained,
        )
        self.ended.callback(ending)

    def _kill_process_group(self) -> None:
        if self._group is None:
            return
        try:
            self._kill_group(self._group, signal.SIGKILL)
        except ProcessLookupError:
            # It has not made its group yet, or the group is empty.
            if self.transport.pid is not None:
                with suppress(ProcessExitedAlready):
                    self.transport.signalProcess("KILL")
