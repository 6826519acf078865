"""Runs short programs on a remote host or in a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.kernel.timers import cancel_call
from tservice.mux.preamble import ShellPreambleFilter
from tservice.mux.remote.shell_quoting import HEARING, MARK, SPOKEN
from tservice.mux.transport import PreopenedChild

RUN_TIMEOUT = 10.0
"""Maximum seconds for a short remote program, including the connection."""

MAX_ANSWER = 1024 * 1024
"""Maximum bytes of standard output. A program that prints more is killed."""

MAX_ERRORS = 2000
"""Number of bytes that are kept from the end of standard error."""

CUT = 255
"""Exit status of ssh if the connection fails. A container engine's C{exec} uses 125 to 127."""


class RemoteError(Exception):
    """Raised if the remote host cannot be reached or did not answer in time. The program may have
    run or not.
    """


@frozen(kw_only=True)
class RemoteResult:
    """Result of a remote program.

    @ivar status: the exit status; C{None} if a signal ended it or the status is unknown.
    """

    status: int | None
    out: bytes
    errors: str


@frozen(kw_only=True)
class RemoteChannel:
    """Settings for running commands on a remote host through local child processes.

    @ivar prefix: returns the program and arguments that precede the remote command, for each child.
        The program is an absolute path.
    @ivar takes_shell_text: true if the remote command is one text for a login shell, as with ssh;
        false if it is a list of arguments.
    @ivar env: the environment of the local child.
    @ivar is_open: returns true while the connection is open. Nothing is run while it is closed.
    @ivar wait_until_ready: waits until an attempt to connect makes sense; C{None}: never wait.
    @ivar request_connection: requests an attempt to connect now, because a client needs the
        connection.
    @ivar preopened: provides a child that was started in advance; C{None} if starting one is fast.
    """

    prefix: Callable[[], Sequence[str]]
    takes_shell_text: bool
    env: Mapping[str, str]
    is_open: Callable[[], bool] = lambda: True
    wait_until_ready: Callable[[], Deferred[None]] | None = None
    request_connection: Callable[[], object] = lambda: None
    preopened: PreopenedChild | None = None

    def build_argv(self) -> list[str]:
        """Return the local command that runs one command line on the remote host.

        The remote end reads that line from its standard input.
        """
        return [*self.prefix(), *((SPOKEN,) if self.takes_shell_text else HEARING)]


class RemoteEnd(Protocol):
    """Remote host or container on which programs can be run."""

    @property
    def channel(self) -> RemoteChannel:
        """Settings for running commands on this remote host."""

    async def run_program(self, program: bytes, data: bytes = b"") -> RemoteResult:
        """Run a command line on the remote host, with C{data} as its standard input.

        @param program: shell text made with L{tservice.mux.remote.shell_quoting}.
        @raise RemoteError: the result is unknown.
        """


@frozen
class RemoteRunner:
    """Runs remote programs, each as a child of this process."""

    clock: IReactorTime
    processes: IReactorProcess
    channel: RemoteChannel

    async def run_program(self, program: bytes, data: bytes = b"") -> RemoteResult:
        """See L{RemoteEnd.run_program}."""
        if not self.channel.is_open():
            raise RemoteError("the connection to it is closed")
        child = _RemoteProgramProtocol(program + data)
        if self.channel.preopened is None or not self.channel.preopened.hand_over_child(child):
            self._spawn_child(child)
        timer = self.clock.callLater(RUN_TIMEOUT, child.abort_program)
        try:
            answer = await child.ended
        finally:
            cancel_call(timer)
        if child.flooded:
            raise RemoteError(f"it said more than {MAX_ANSWER} bytes")
        if child.given_up:
            raise RemoteError(answer.errors or "it did not answer in time")
        if answer.status in (None, CUT):
            raise RemoteError(answer.errors or "its connection ended")
        if not child.preamble.has_begun:
            said = answer.errors or child.preamble.last_line
            raise RemoteError(f"no POSIX shell found on the host{said and f': {said}'}")
        return answer

    def _spawn_child(self, child: _RemoteProgramProtocol) -> None:
        argv = self.channel.build_argv()
        try:
            self.processes.spawnProcess(child, argv[0], argv, dict(self.channel.env), "/")
        except OSError as error:
            raise RemoteError(f"{argv[0]} cannot be started: {error.strerror}") from error


class _RemoteProgramProtocol(ProcessProtocol):
    transport: Any

    def __init__(self, given: bytes) -> None:
        self.ended: Deferred[RemoteResult] = Deferred(lambda _: self.abort_program())
        self.given_up = False
        self.flooded = False
        self.preamble = ShellPreambleFilter(MARK)
        self._given = given
        self._out = bytearray()
        self._errors = b""

    def abort_program(self) -> None:
        """Stop waiting for the program and kill the local child."""
        self.given_up = True
        if self.transport is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")
            # Processes started by the child may hold its pipes.
            self.transport.loseConnection()

    def connectionMade(self) -> None:
        self.transport.write(self._given)
        self.transport.closeStdin()

    def outReceived(self, data: bytes) -> None:
        self._out += self.preamble.strip_output(data)
        if len(self._out) > MAX_ANSWER:
            self.flooded = True
            self.abort_program()

    def errReceived(self, data: bytes) -> None:
        self._errors = self.preamble.strip_errors(self._errors + data)[-MAX_ERRORS:]

    def processEnded(self, reason: Failure) -> None:
        failed = reason.value
        answer = RemoteResult(
            status=failed.exitCode if isinstance(failed, ProcessTerminated) else 0,
            out=bytes(self._out),
            errors=self._errors.decode("utf-8", "replace").strip(),
        )
        if not self.ended.called:
            self.ended.callback(answer)
