"""Run short programs on the remote end."""

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

from tservice.core.timers import cancel_call
from tservice.mux.preamble import ShellPreamble
from tservice.mux.remote.shell_quoting import HEARING, MARK, SPOKEN
from tservice.mux.transport import PreopenedChild

RUN_TIMEOUT = 10.0
"""Seconds for a short program, including the connection."""

MAX_ANSWER = 1024 * 1024
"""Maximum bytes of its standard output; a program that prints more is killed."""

MAX_ERRORS = 2000
"""Bytes kept from the end of its standard error."""

CUT = 255
"""Exit status of ssh when the connection fails; a container engine's C{exec} uses 125 to 127."""


class RemoteError(Exception):
    """The remote end is out of reach or did not answer in time: the program may or may not have
    run.
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
    """Description of how to run commands on the remote end, as children of this process.

    @ivar prefix: returns the words to put before the command, for each child; the first is an
        absolute path.
    @ivar spoken: the remote end takes one text for a login shell, as ssh does, instead of words.
    @ivar env: the environment of the local child.
    @ivar open: returns true while the connection is open; a closed connection is not tried.
    @ivar ready: waits until an attempt to connect makes sense.
    @ivar wanted: requests an attempt to connect now, because a client needs the connection.
    @ivar spare: provides a preopened child where opening one takes long.
    """

    prefix: Callable[[], Sequence[str]]
    takes_shell_text: bool
    env: Mapping[str, str]
    is_open: Callable[[], bool] = lambda: True
    wait_until_ready: Callable[[], Deferred[None]] | None = None
    request_connection: Callable[[], object] = lambda: None
    preopened: PreopenedChild | None = None

    def build_argv(self) -> list[str]:
        """Return the command that runs one line, which it reads from its standard input, on the
        remote end.
        """
        return [*self.prefix(), *((SPOKEN,) if self.takes_shell_text else HEARING)]


class RemoteEnd(Protocol):
    """Remote end that runs programs."""

    @property
    def channel(self) -> RemoteChannel:
        """Description of how to run commands there."""

    async def run_program(self, program: bytes, data: bytes = b"") -> RemoteResult:
        """Run a line of L{tservice.mux.remote.shell_quoting} with C{data} as its input.

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
        if self.channel.preopened is None or not self.channel.preopened.hand_over(child):
            self._spawn_child(child)
        timer = self.clock.callLater(RUN_TIMEOUT, child.give_up)
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
        self.ended: Deferred[RemoteResult] = Deferred(lambda _: self.give_up())
        self.given_up = False
        self.flooded = False
        self.preamble = ShellPreamble(MARK)
        self._given = given
        self._out = bytearray()
        self._errors = b""

    def give_up(self) -> None:
        """Stop waiting and kill the child."""
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
            self.give_up()

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
