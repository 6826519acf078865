"""Runner of one command in a separate process group, with limits on time and output."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import (
    IDelayedCall,
    IProcessTransport,
    IReactorProcess,
    IReactorTime,
)
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.process.process_group import make_group_command
from tservice.core.timers import cancel_call

TIME_LIMIT = 300.0
"""Seconds after which a command is terminated (protocol-clis)."""
GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL. The same time is allowed for pipes that other processes keep
open after the command has exited.
"""
OUTPUT_LIMIT = 16 * 1024
"""Number of bytes that are kept from the end of the output."""

KillGroup = Callable[[int, int], None]


@frozen(kw_only=True)
class CommandResult:
    """Result of a command.

    @ivar status: exit status, or C{None} if a signal ended the command.
    @ivar was_terminated: true if the service ended the command, because of the time limit or a
        shutdown.
    @ivar output: the last L{OUTPUT_LIMIT} bytes of both output streams, decoded.
    """

    status: int | None
    was_terminated: bool
    output: str


class CliCommand(ProcessProtocol):
    """Single run of a command.

    The owner waits for it by L{wait_ended}, and calls L{terminate} to stop it early.
    """

    transport: IProcessTransport

    def __init__(
        self,
        clock: IReactorTime,
        on_output: Callable[[bytes], None],
        kill_group: KillGroup = os.killpg,
    ) -> None:
        self._clock = clock
        self._on_output = on_output
        self._kill_group = kill_group
        self._group: int | None = None
        self._kept = b""
        self._timers: list[IDelayedCall] = []
        self._is_terminating = False
        self._was_killed = False
        self._status: int | None = None
        self._result: CommandResult | None = None
        self._waiting: list[Deferred[CommandResult]] = []

    def start(
        self, processes: IReactorProcess, argv: tuple[str, ...], env: Mapping[str, str], cwd: Path
    ) -> None:
        """Run the command C{argv} without a shell.

        @param argv: program and arguments. The program is an absolute path.
        @raise OSError: the process could not be started.
        """
        command = make_group_command(argv)
        processes.spawnProcess(self, command[0], command, env=dict(env), path=str(cwd))

    def wait_ended(self) -> Deferred[CommandResult]:
        """Return a Deferred that fires with the result when the command has ended.

        Cancelling the Deferred does not stop the command.
        """
        if self._result is not None:
            return succeed(self._result)
        waiter: Deferred[CommandResult] = Deferred()
        self._waiting.append(waiter)
        return waiter

    def terminate(self) -> None:
        """Send SIGTERM to the process group, and SIGKILL 3 s later. Do nothing if the command has
        ended.
        """
        if self._result is not None or self._is_terminating:
            return
        self._is_terminating = True
        self._signal_group(signal.SIGTERM)
        self._call_later(GRACE, self._kill_process_group)

    def connectionMade(self) -> None:
        self._group = self.transport.pid
        self.transport.closeStdin()
        self._call_later(TIME_LIMIT, self.terminate)

    def outReceived(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-OUTPUT_LIMIT:]
        self._on_output(data)

    errReceived = outReceived

    def processExited(self, reason: Failure) -> None:
        if isinstance(reason.value, ProcessTerminated):
            self._status = reason.value.exitCode
        else:
            self._status = 0
        # A process that it left running may hold the pipes open forever.
        self._call_later(GRACE, self.transport.loseConnection)

    def processEnded(self, reason: Failure) -> None:
        if self._is_terminating and not self._was_killed and self._signal_group(0):
            return  # other processes of its group live until the KILL
        self._deliver_result()

    def _kill_process_group(self) -> None:
        self._was_killed = True
        self._signal_group(signal.SIGKILL)
        if self.transport.pid is None:
            self._deliver_result()

    def _signal_group(self, number: int) -> bool:
        """Send a signal to the process group. Return true if the group still had a process."""
        if self._group is None:
            return False
        try:
            self._kill_group(self._group, number)
        except ProcessLookupError:
            self._signal_leader(number)
            return False
        return True

    def _signal_leader(self, number: int) -> None:
        """Send a signal to the process itself, as it may not have created its process group yet."""
        if self.transport.pid is not None and number:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess(number)

    def _call_later(self, seconds: float, call: Callable[[], object]) -> None:
        self._timers.append(self._clock.callLater(seconds, call))

    def _deliver_result(self) -> None:
        if self._result is not None:
            return
        for timer in self._timers:
            cancel_call(timer)
        output = self._kept.decode(errors="replace")
        self._result = CommandResult(
            status=self._status, was_terminated=self._is_terminating, output=output
        )
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            waiter.callback(self._result)
