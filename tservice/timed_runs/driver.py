"""Driver of timed runs, which types each line when the run's agent is ready.

Lines are numbered inputs, so each is typed once, even after a crash of the service
(protocol-exactly-once).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred, DeferredList
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.sessions.interfaces import InputRequest, ISessions, SessionStatus
from tservice.timed_runs.model import PROMPT_LENGTH, TimedRun, make_next_line

BREATH = 5.0
"""Seconds between the end of a turn and the next line.

The pause limits the number of turns of an agent that fails immediately.
"""
AGAIN = 15.0
"""Seconds until a line that could not be typed is retried."""
UNSEEN = 60.0
"""Seconds after a line after which the turn of an idle agent counts as ended."""
RESTED = 1.0
"""Seconds between the service's start and the first check of an agent whose turn may have ended."""
READY_SECONDS = 60.0
"""Maximum seconds to wait until an agent is ready for a line."""

_OVER = (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT)
"""Errors that mean that the session was deleted or has no process.

The run then fails.
"""


class SaveTimedRun(Protocol):
    """Callback that saves a changed run.

    C{text} is a new line of the run's log; C{None} adds none.
    """

    def __call__(self, run: TimedRun, text: str | None = None) -> TimedRun: ...


class TimedRunDriver:
    """Types the lines of timed runs, and decides when each is due."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        agents: IAgents,
        identity: Callable[[str | None], Identity | None],
    ) -> None:
        """@param identity: returns the current account of an owner; C{None} if it is gone or
        disabled.
        """
        self._clock, self._sessions, self._agents = clock, sessions, agents
        self._identity = identity
        self._timers = NamedTimers(clock)
        self._typing: dict[str, Deferred[None]] = {}
        # By run: true if its agent worked since the last line.
        self._at_work: dict[str, bool] = {}
        # Runs that this service adopted and has typed no line for yet.
        self._taken_up: set[str] = set()
        # Runs whose next line could not be typed when it was due.
        self._overdue: set[str] = set()

    def set_callbacks(
        self,
        find: Callable[[str], TimedRun | None],
        change: SaveTimedRun,
        fail: Callable[[TimedRun, str], None],
    ) -> None:
        """Set the callbacks that the driver uses for runs.

        @param find: returns a run by its id; C{None} if it does not exist.
        @param change: saves a changed run.
        @param fail: ends a run as failed, with a reason.
        """
        self._find, self._change, self._fail = find, change, fail

    def schedule_line(self, run: TimedRun) -> None:
        """Type the run's next line as soon as its agent is ready."""
        self._timers.schedule_call(run.id, 0.0, self._start_typing, run.id)

    def adopt_run(self, run: TimedRun) -> None:
        """Continue a run that an earlier process of the service began.

        The agent's turn may have ended while no service was running.
        """
        self._taken_up.add(run.id)
        if run.lines > run.turns:
            self._wait_for_turn_end(run.id)
        else:
            self.schedule_line(run)

    def handle_working(self, run: TimedRun) -> None:
        """Record that the run's agent is working."""
        if run.id in self._at_work:
            self._at_work[run.id] = True

    def handle_idle(self, run: TimedRun) -> None:
        """Handle that the run's agent is idle.

        If the agent was not seen working before, it may not have begun its turn yet.
        """
        if self._at_work.get(run.id):
            self.handle_turn_end(run)
        elif run.id in self._overdue:
            self._schedule_after_turn(run.id)

    def handle_turn_end(self, run: TimedRun) -> None:
        """Count a finished turn and schedule the next line.

        Further calls for the same turn do nothing.
        """
        if self._at_work.pop(run.id, None) is None:
            return
        run = self._change(evolve(run, turns=run.turns + 1), f"turn {run.turns + 1} ended")
        self._schedule_after_turn(run.id)

    def stop_typing(self, run_id: str) -> None:
        """Stop typing lines of the run."""
        self._timers.cancel_timer(run_id)
        self._at_work.pop(run_id, None)
        self._taken_up.discard(run_id)
        self._overdue.discard(run_id)
        typing = self._typing.get(run_id)
        if typing is not None:
            typing.cancel()

    async def close(self) -> None:
        """Stop typing lines, and wait until no line is being typed."""
        self._timers.cancel_all()
        typing = list(self._typing.values())
        for each in typing:
            each.cancel()
        await DeferredList(typing)

    # -- internals

    def _schedule_after_turn(self, run_id: str) -> None:
        """Schedule the next line after a pause.

        There is no pause if the turn ended before this service process began.
        """
        pause = 0.0 if run_id in self._taken_up else BREATH
        self._timers.schedule_call(run_id, pause, self._start_typing, run_id)

    def _start_typing(self, run_id: str) -> None:
        self._overdue.discard(run_id)
        run = self._find(run_id)
        if run is None or not run.is_running:
            return
        if run_id in self._typing:
            self._timers.schedule_call(run_id, AGAIN, self._start_typing, run_id)
            return
        task = spawn_logged(
            self._type_line_or_retry(run), self._log, f"a line of timed run {run_id}"
        )
        if not task.called:
            self._typing[run_id] = task
            task.addBoth(lambda _: self._finish_typing_task(run_id))

    def _finish_typing_task(self, run_id: str) -> None:
        del self._typing[run_id]

    async def _type_line_or_retry(self, run: TimedRun) -> None:
        try:
            typed = await self._type_line(run)
        except CancelledError:
            self._at_work.pop(run.id, None)
            raise
        except ServiceError as error:
            self._at_work.pop(run.id, None)
            now = self._find(run.id) or run
            if error.code in _OVER:
                self._fail(now, error.message)
                return
            self._change(now, error.message)
            typed = False
        except Exception:
            self._log.failure("a line of timed run {id} was not typed", id=run.id)
            self._fail(self._find(run.id) or run, "internal error; see the service's log")
            return
        if not typed:
            self._overdue.add(run.id)
            self._timers.schedule_call(run.id, AGAIN, self._start_typing, run.id)

    def _record_line_submitted(self, run_id: str) -> None:
        self._at_work[run_id] = False
        self._taken_up.discard(run_id)
        self._timers.schedule_call(run_id, UNSEEN, self._check_turn, run_id)

    def _wait_for_turn_end(self, run_id: str) -> None:
        """Wait for the end of a turn, which may have ended before this service process began."""
        self._at_work[run_id] = True
        self._timers.schedule_call(run_id, RESTED, self._check_turn, run_id)

    def _check_turn(self, run_id: str) -> None:
        """Check for a turn that ended unnoticed, because it was short or the service was down."""
        run = self._find(run_id)
        if run is None or run_id not in self._at_work:
            return
        try:
            session = self._sessions.get(run.session_id or "")
        except ServiceError as error:
            self._fail(run, error.message)
            return
        rests = session.status is SessionStatus.IDLE and not session.turn_open
        if rests and not session.limit_paused:
            self.handle_turn_end(run)
        else:
            self._timers.schedule_call(run_id, UNSEEN, self._check_turn, run_id)

    async def _type_line(self, run: TimedRun) -> bool:
        """Type the run's next line.

        @return: true if the line was typed; false if this is not possible now.
        """
        self._check_owner(run)
        session = self._sessions.get(run.session_id or "")
        if session.pid is None:
            raise ServiceError(ErrorCode.CONFLICT, "the session has no process")
        if session.limit_paused or session.status is SessionStatus.BUSY:
            return False
        await self._agents.wait_for_prompt(session.id, READY_SECONDS)
        self._check_owner(run)
        request = InputRequest(
            text=make_next_line(run, get_unix_ms(self._clock)),
            use_mux=True,
            client_id=f"timed-{run.id}",
            seq=run.lines + 1,
            longest=PROMPT_LENGTH,
            submitting=lambda: self._record_line_submitted(run.id),
        )
        found = await self._sessions.send_input(session.id, request)
        now = self._find(run.id) or run
        said = "prompt sent" if run.lines == 0 else "continuation prompt sent"
        now = self._change(evolve(now, lines=run.lines + 1), said)
        if found.duplicate:
            # An earlier run of the service typed it.
            self.adopt_run(now)
        return True

    def _check_owner(self, run: TimedRun) -> None:
        if self._identity(run.owner) is None:
            raise ServiceError(ErrorCode.CONFLICT, f"the account {run.owner} is gone or disabled")
