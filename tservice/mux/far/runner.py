"""Running one short program at the far end."""

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

from tservice.core.timers import cancel
from tservice.mux.far.shell import HEARING, MARK, SPOKEN
from tservice.mux.preamble import Preamble
from tservice.mux.transport import ISpare

RUN_TIMEOUT = 10.0
"""Seconds that a short program may take, the way there included."""

MAX_ANSWER = 1024 * 1024
"""Bytes kept of what it prints; more ends it."""

MAX_ERRORS = 2000
"""Bytes kept of its standard error, the last ones."""

CUT = 255
"""What ssh ends with when the connection does; C{exec} of an engine uses 125 to 127."""


class FarError(Exception):
    """It is out of reach, or said nothing in time: what was asked may or may not be done."""


@frozen(kw_only=True)
class Answer:
    """What a program said.

    @ivar status: what it ended with; C{None}: by a signal, or nobody knows.
    """

    status: int | None
    out: bytes
    errors: str


@frozen(kw_only=True)
class Way:
    """How a command runs at the far end, as a child of this process.

    @ivar prefix: words before it, made anew for each child; its first is an absolute path.
    @ivar spoken: the far end takes one text for a login shell, as ssh does, instead of words.
    @ivar env: the child's environment here.
    @ivar open: whether the way is open now; one that is not is not tried.
    @ivar ready: returns once an attempt is worth making.
    @ivar wanted: somebody wants something there: an attempt is worth making now.
    @ivar spare: has a child that waits, where it takes long to make one.
    """

    prefix: Callable[[], Sequence[str]]
    spoken: bool
    env: Mapping[str, str]
    open: Callable[[], bool] = lambda: True
    ready: Callable[[], Deferred[None]] | None = None
    wanted: Callable[[], object] = lambda: None
    spare: ISpare | None = None

    def argv(self) -> list[str]:
        """What runs the one line that comes by its standard input there."""
        return [*self.prefix(), *((SPOKEN,) if self.spoken else HEARING)]


class IFar(Protocol):
    """Somewhere else."""

    @property
    def way(self) -> Way:
        """How to get there."""

    async def run(self, program: bytes, data: bytes = b"") -> Answer:
        """Run a line of L{tservice.mux.far.shell} with C{data} as its input.

        @raise FarError: nobody knows what became of it.
        """


@frozen
class Far:
    """Runs programs by a way, each by a child of this process."""

    clock: IReactorTime
    processes: IReactorProcess
    way: Way

    async def run(self, program: bytes, data: bytes = b"") -> Answer:
        """See L{IFar.run}."""
        if not self.way.open():
            raise FarError("it is out of reach")
        child = _Child(program + data)
        if self.way.spare is None or not self.way.spare.take(child):
            self._spawn(child)
        timer = self.clock.callLater(RUN_TIMEOUT, child.give_up)
        try:
            answer = await child.ended
        finally:
            cancel(timer)
        if child.flooded:
            raise FarError(f"it said more than {MAX_ANSWER} bytes")
        if child.given_up:
            raise FarError(answer.errors or "it did not answer in time")
        if answer.status in (None, CUT):
            raise FarError(answer.errors or "its connection ended")
        if not child.preamble.over:
            said = answer.errors or child.preamble.last_words
            raise FarError(f"it has no POSIX shell that could be asked{said and f': {said}'}")
        return answer

    def _spawn(self, child: _Child) -> None:
        argv = self.way.argv()
        try:
            self.processes.spawnProcess(child, argv[0], argv, dict(self.way.env), "/")
        except OSError as error:
            raise FarError(f"{argv[0]} cannot be started: {error.strerror}") from error


class _Child(ProcessProtocol):
    transport: Any

    def __init__(self, given: bytes) -> None:
        self.ended: Deferred[Answer] = Deferred(lambda _: self.give_up())
        self.given_up = False
        self.flooded = False
        self.preamble = Preamble(MARK)
        self._given = given
        self._out = bytearray()
        self._errors = b""

    def give_up(self) -> None:
        """Wait no longer."""
        self.given_up = True
        if self.transport is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")
            # What it started may hold its pipes.
            self.transport.loseConnection()

    def connectionMade(self) -> None:
        self.transport.write(self._given)
        self.transport.closeStdin()

    def outReceived(self, data: bytes) -> None:
        self._out += self.preamble.drop_from(data)
        if len(self._out) > MAX_ANSWER:
            self.flooded = True
            self.give_up()

    def errReceived(self, data: bytes) -> None:
        self._errors = self.preamble.drop_from_errors(self._errors + data)[-MAX_ERRORS:]

    def processEnded(self, reason: Failure) -> None:
        failed = reason.value
        answer = Answer(
            status=failed.exitCode if isinstance(failed, ProcessTerminated) else 0,
            out=bytes(self._out),
            errors=self._errors.decode("utf-8", "replace").strip(),
        )
        if not self.ended.called:
            self.ended.callback(answer)
