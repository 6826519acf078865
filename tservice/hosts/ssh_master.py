"""ssh processes that hold a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.kernel.clock import wait_seconds
from tservice.hosts.connection import HostUnreachable

OPEN_TIMEOUT = 14.0
"""Seconds that opening a connection may take, with its jump hosts and keys. ssh allows 10 for each
step.
"""

POLL_INTERVAL = 0.05

KEPT_ERRORS = 2000


class SshProcess(ProcessProtocol):
    """ssh child process. Only its exit and its error output are used.

    @ivar ended: Deferred that fires with the last error output when the process has exited.
    """

    transport: Any

    def __init__(self) -> None:
        self.ended: Deferred[str] = Deferred()
        self.has_ended = False
        self._error_output = b""

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        if not self.has_ended and self.transport is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")
            # The ssh of a jump may hold the pipes.
            self.transport.loseConnection()

    def connectionMade(self) -> None:
        self.transport.closeStdin()

    def errReceived(self, data: bytes) -> None:
        self._error_output = (self._error_output + data)[-KEPT_ERRORS:]

    def processEnded(self, reason: Failure) -> None:
        self.has_ended = True
        self.ended.callback(join_error_lines(self._error_output) or reason.getErrorMessage())


class SshMaster:
    """ssh process that holds one connection; see L{tservice.hosts.connection.MasterConnection}.

    @param argv: command line of ssh.
    @param socket: path of the control socket, which exists once the connection is usable.
    @param env: environment of the process.
    """

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        argv: Sequence[str],
        socket: Path,
        env: Mapping[str, str],
    ) -> None:
        self._clock = clock
        self._processes = processes
        self._argv = argv
        self._socket = socket
        self._env = env
        self._child = SshProcess()

    async def open(self) -> None:
        try:
            self._socket.unlink(missing_ok=True)
            argv = [*self._argv]
            self._processes.spawnProcess(self._child, argv[0], argv, dict(self._env), "/")
        except OSError as error:
            raise HostUnreachable(f"ssh cannot be started: {error.strerror}") from error
        deadline = self._clock.seconds() + OPEN_TIMEOUT
        while not self._socket.exists():
            if self._child.has_ended:
                raise HostUnreachable(await self._child.ended)
            if self._clock.seconds() > deadline:
                raise HostUnreachable(f"no connection within {OPEN_TIMEOUT:g} s")
            await wait_seconds(self._clock, POLL_INTERVAL)

    def wait_lost(self) -> Deferred[str]:
        return self._child.ended

    def close(self) -> None:
        self._child.kill()
        self._socket.unlink(missing_ok=True)


def join_error_lines(errors: bytes) -> str:
    """Return the error output of ssh as one line."""
    lines = errors.decode("utf-8", "replace").split("\n")
    return " ".join(line.strip() for line in lines if line.strip())
