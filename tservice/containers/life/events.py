"""Stream of an engine's events, which runs only while events are needed (protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.containers.command_runner import extract_cause, make_engine_command
from tservice.containers.engine_output import ContainerEvent, parse_event
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.core.process.child import ChildProcess, ChildRunner

AGAIN_SECONDS = 2.0
"""Seconds until an event stream that ended is restarted."""
LONGEST_LINE = 256 * 1024


class EngineEventStream:
    """Event stream of one engine.

    The stream is restarted when it ends, for example because the engine stopped.

    @param environ: environment of the engine commands.
    @param argv: returns the command that prints events since a time in Unix milliseconds; raises
        L{ServiceError} if there is no engine.
    @param on_event: called with each event.
    @param on_start: called when a stream starts.  Events before that are not reported.
    @param is_needed: returns true while events are needed.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        children: ChildRunner,
        environ: dict[str, str],
        *,
        argv: Callable[[int], Sequence[str]],
        on_event: Callable[[ContainerEvent], None],
        on_start: Callable[[], None],
        is_needed: Callable[[], bool],
    ) -> None:
        self._clock, self._children, self._environ = clock, children, environ
        self._argv, self._heard = argv, on_event
        self._begun, self._matters = on_start, is_needed
        self._run: ChildProcess | None = None
        self._again: IDelayedCall | None = None
        self._over = False
        self._rest, self._fault = b"", ""

    def follow_events(self) -> None:
        """Start to follow events.  Harmless if the stream is already running."""
        if self._over or self._run is not None or self._again is not None:
            return
        spawn_logged(self._run_stream(), self._log, "following the events of a container engine")

    def stop(self) -> None:
        """Stop following events."""
        self._over = True
        cancel_call(self._again)
        if self._run is not None:
            self._run.stop()

    async def _run_stream(self) -> None:
        self._rest = b""
        try:
            argv = self._argv(get_unix_ms(self._clock))
            command = make_engine_command(argv, self._environ, None)
            self._run = self._children.start(command, self._handle_data)
            self._begun()
            done = await self._run.wait_ended()
            self._log_fault(extract_cause(done.errors))
        except (ServiceError, OSError) as error:
            self._log_fault(str(error))
        finally:
            self._run = None
            if not self._over:
                self._again = self._clock.callLater(AGAIN_SECONDS, self._restart_stream)

    def _restart_stream(self) -> None:
        self._again = None
        if self._matters():
            self.follow_events()

    def _log_fault(self, fault: str) -> None:
        """Log a fault, unless the previous attempt had the same fault."""
        if fault and fault != self._fault:
            self._log.info("the events of a container engine: {fault}", fault=fault)
        self._fault = fault

    def _handle_data(self, data: bytes) -> bool:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-LONGEST_LINE:]
        for line in lines:
            told = parse_event(line.decode(errors="replace"))
            if told is not None:
                self._heard(told)
        return True
