"""Runner of engine commands, with limits on their time and output."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Protocol

from attrs import evolve, frozen
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.internet.error import ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IProcessTransport, IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.timers import cancel_call

TIME_LIMIT = 30.0
"""Default time limit of an engine command in seconds.

Pulling and building have longer ones.
"""
OUTPUT_LIMIT = 4 << 20
"""Maximum bytes of output.  A command that prints more counts as failed."""
ERRORS_LIMIT = 16 * 1024
"""Number of trailing bytes of standard error that are kept."""
CAUSE_LENGTH = 1000
"""Maximum characters of a reported cause.  A longer one is cut in the middle."""
MAX_RUNNING = 4
"""Maximum number of commands that run at the same time.  Others wait."""

_HELP = re.compile(r"\(?(?:See|Run) '.*--help'|Usage:")
_ACCOMPANYING_LINE = re.compile(
    r"(?:Error: )?failed to start containers?: |WARN(?:ING)?\b|DEPRECATED:|time=\S+ level=(?!error)"
)
"""Matches lines of error output that are not the cause: warnings, and consequences of the cause."""
_ERROR = re.compile(r"(?:docker: )?Error\b", re.IGNORECASE)


@frozen(kw_only=True)
class EngineCommandResult:
    """Result of an engine command.

    @ivar status: exit code; C{None} if the command was killed by a signal or its time limit.
    @ivar error_text: the cause from standard error; it may be shown to a client.
    """

    status: int | None
    output: str
    error_text: str

    @property
    def is_success(self) -> bool:
        """True if the command succeeded."""
        return self.status == 0


class EngineRunner(Protocol):
    """Runner of engine commands."""

    async def run(self, argv: Sequence[str], *, seconds: float = TIME_LIMIT) -> EngineCommandResult:
        """Run C{argv} and return its result.

        @param argv: the command, whose first element is an absolute path.
        @param seconds: time after which the command is killed.
        """


class EngineProcessRunner:
    """Runs engine commands as child processes of this process.

    @param environ: environment of the commands.
    """

    def __init__(
        self, clock: IReactorTime, processes: IReactorProcess, environ: Mapping[str, str]
    ) -> None:
        self._clock, self._processes = clock, processes
        self._environ = dict(environ)
        self._places = DeferredSemaphore(MAX_RUNNING)
        self._running: set[EngineProcess] = set()

    async def run(self, argv: Sequence[str], *, seconds: float = TIME_LIMIT) -> EngineCommandResult:
        """Run a command; see L{EngineRunner}."""
        await self._places.acquire()
        try:
            return await self._run_command(argv, seconds)
        finally:
            self._places.release()

    def stop(self) -> None:
        """Kill all running commands."""
        for run in tuple(self._running):
            run.kill()

    async def _run_command(self, argv: Sequence[str], seconds: float) -> EngineCommandResult:
        run = EngineProcess()
        try:
            self._processes.spawnProcess(run, argv[0], list(argv), env=self._environ, path="/")
        except OSError as error:
            return EngineCommandResult(
                status=None, output="", error_text=f"{argv[0]}: {error.strerror}"
            )
        self._running.add(run)
        timer = self._clock.callLater(seconds, run.kill)
        try:
            done = await run.ended
            if done.status is None and not timer.active():
                # Its output describes its progress, not the cause.
                return evolve(done, error_text=f"it did not finish in {seconds:g} s")
            return done
        finally:
            cancel_call(timer)
            self._running.discard(run)


class EngineProcess(ProcessProtocol):
    """Process protocol of one running command.

    @ivar ended: fires with the result.  Cancelling it kills the command.
    """

    transport: IProcessTransport | None = None

    def __init__(self, on_output: Callable[[bytes], None] | None = None) -> None:
        """@param on_output: receives the output as it arrives; C{None} means that the result
        contains it.
        """
        self.ended: Deferred[EngineCommandResult] = Deferred(lambda _: self.kill())
        self._heard = on_output or self._store_output
        self._out, self._size, self._errors = [b""], 0, b""

    def kill(self) -> None:
        """Kill the command.  Harmless if it has already ended."""
        if self.transport is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")
            # Its children may hold the pipes open.
            self.transport.loseConnection()

    def connectionMade(self) -> None:
        assert self.transport is not None  # noqa: S101  # Twisted has just set it
        self.transport.closeStdin()

    def outReceived(self, data: bytes) -> None:
        self._heard(data)

    def errReceived(self, data: bytes) -> None:
        self._errors = (self._errors + data)[-ERRORS_LIMIT:]
        if self._heard != self._store_output:
            self._heard(data)

    def processEnded(self, reason: Failure) -> None:
        why = reason.value
        status = why.exitCode if isinstance(why, ProcessTerminated) else 0
        said = extract_cause(self._errors)
        if self._size > OUTPUT_LIMIT:
            status, said = None, f"it printed more than {OUTPUT_LIMIT} bytes"
        if not self.ended.called:
            out = b"".join(self._out).decode(errors="replace")
            self.ended.callback(EngineCommandResult(status=status, output=out, error_text=said))

    def _store_output(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= OUTPUT_LIMIT:
            self._out.append(data)


def extract_cause(errors: bytes) -> str:
    """Return the cause of a failure from a command's standard error, as one printable line.

    Engines print the cause first, followed by consequences or a hint how to get help.
    """
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines()]
    said = list(takewhile(lambda line: not _HELP.match(line), filter(None, lines)))
    told = [line for line in said if not _ACCOMPANYING_LINE.match(line)] or said or lines
    begin = max((at for at, line in enumerate(told) if _ERROR.match(line)), default=-1)
    text = "".join(char for char in " ".join(told[begin:]) if char.isprintable())
    if len(text) <= CAUSE_LENGTH:
        return text
    # The beginning names the failed step, and the end names the cause.
    half = CAUSE_LENGTH // 2
    return f"{text[:half]} […] {text[-half:]}"
