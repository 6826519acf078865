"""Runner of engine commands, with limits on time and output."""

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
"""Seconds that an engine has to answer; pulling and building take longer."""
OUTPUT_LIMIT = 4 << 20
"""Bytes of output that are kept; a command that prints more counts as failed."""
ERRORS_LIMIT = 16 * 1024
"""Bytes of standard error that are kept: the last ones."""
CAUSE_LENGTH = 1000
"""Characters of the cause that are reported: its beginning and its end."""
MAX_RUNNING = 4
"""Commands that run at a time; others wait."""

_HELP = re.compile(r"\(?(?:See|Run) '.*--help'|Usage:")
_ACCOMPANYING_LINE = re.compile(
    r"(?:Error: )?failed to start containers?: |WARN(?:ING)?\b|DEPRECATED:|time=\S+ level=(?!error)"
)
"""Matches lines that accompany a cause: its consequences, and warnings."""
_ERROR = re.compile(r"(?:docker: )?Error\b", re.IGNORECASE)


@frozen(kw_only=True)
class EngineCommandResult:
    """Result of a command.

    @ivar status: exit code; C{None}: it was killed, by a signal or by the time limit.
    @ivar said: the cause from its standard error, fit for a client.
    """

    status: int | None
    output: str
    error_text: str

    @property
    def is_success(self) -> bool:
        """True if the command succeeded."""
        return self.status == 0


class EngineRunner(Protocol):
    """Runs commands."""

    async def run(self, argv: Sequence[str], *, seconds: float = TIME_LIMIT) -> EngineCommandResult:
        """Run C{argv}, whose first word is an absolute path."""


class EngineProcessRunner:
    """Runs commands as children of this process.

    @param environ: their environment.
    """

    def __init__(
        self, clock: IReactorTime, processes: IReactorProcess, environ: Mapping[str, str]
    ) -> None:
        self._clock, self._processes = clock, processes
        self._environ = dict(environ)
        self._places = DeferredSemaphore(MAX_RUNNING)
        self._running: set[EngineProcess] = set()

    async def run(self, argv: Sequence[str], *, seconds: float = TIME_LIMIT) -> EngineCommandResult:
        """See L{EngineRunner}."""
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

    @ivar ended: fires with the result; cancelling it kills the command.
    """

    transport: IProcessTransport | None = None

    def __init__(self, on_output: Callable[[bytes], None] | None = None) -> None:
        """@param heard: receives the output, which is not kept then."""
        self.ended: Deferred[EngineCommandResult] = Deferred(lambda _: self.kill())
        self._heard = on_output or self._store_output
        self._out, self._size, self._errors = [b""], 0, b""

    def kill(self) -> None:
        """Kill the command; harmless after its end."""
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
    """Return the cause from a command's standard error, as one printable line.

    Engines print the cause first, then its consequences or how to get help.
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
