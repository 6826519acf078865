"""Stream of an engine's events, which runs only while events are needed (protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twisted.internet.interfaces import IDelayedCall, IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.containers.command_runner import EngineProcess
from tservice.containers.engine_output import ContainerEvent, parse_event
from tservice.core.clock import get_unix_ms
from tservice.core.errors import ServiceError
from tservice.core.process.parent_death import find_parent_death_prefix
from tservice.core.tasks import spawn_logged
from tservice.core.timers import cancel_call

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
        processes: IReactorProcess,
        environ: dict[str, str],
        *,
        argv: Callable[[int], Sequence[str]],
        on_event: Callable[[ContainerEvent], None],
        on_start: Callable[[], None],
        is_needed: Callable[[], bool],
    ) -> None:
        self._clock, self._processes, self._environ = clock, processes, environ
        self._argv, self._heard = argv, on_event
        self._begun, self._matters = on_start, is_needed
        self._run: EngineProcess | None = None
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
            self._run.kill()

    async def _run_stream(self) -> None:
        self._rest, run = b"", EngineProcess(self._handle_data)
        try:
            # It never ends by itself, and uses 40 MB.
            argv = [*find_parent_death_prefix(self._environ), *self._argv(get_unix_ms(self._clock))]
            self._run = run
            self._processes.spawnProcess(run, argv[0], argv, env=self._environ, path="/")
            self._begun()
            self._log_fault((await run.ended).error_text)
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

    def _handle_data(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-LONGEST_LINE:]
        for line in lines:
            told = parse_event(line.decode(errors="replace"))
            if told is not None:
                self._heard(told)
