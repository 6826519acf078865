"""Driver of runs that keep going, which types each line when the run's agent is ready.

Lines are numbered inputs, so each is typed once, even after a crash of the service
(protocol-exactly-once).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from twisted.internet.defer import CancelledError, Deferred, DeferredList
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_conflict_error
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.cron.keep_going_model import KeepGoing, make_reminder
from tservice.cron.model import PROMPT_FILE_BYTES, CronRun, RunStatus
from tservice.sessions.interfaces import InputRequest, ISessions, SessionStatus

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

_OVER = (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.FORBIDDEN)
"""Errors that mean that the session was deleted or has no process, or that the owner lost a right.

The run then fails.
"""


class SaveRunChange(Protocol):
    """Callback that saves a changed run and returns it.

    C{text} is a new line of the run's log, C{going} holds changed fields of its L{KeepGoing}, and
    C{fields} changed fields of the run.
    """

    def __call__(
        self, run: CronRun, text: str, going: Mapping[str, Any] | None = None, **fields: Any
    ) -> CronRun: ...


class KeepGoingDriver:
    """Types the lines of runs that keep going, and decides when each is due."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        agents: IAgents,
        check_owner: Callable[[CronRun], None],
    ) -> None:
        """@param check_owner: raises a L{ServiceError} if the owner of a run's job may not type its
        prompt any more.
        """
        self._clock, self._sessions, self._agents = clock, sessions, agents
        self._check_owner = check_owner
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
        find: Callable[[str], CronRun | None],
        change: SaveRunChange,
        fail: Callable[[CronRun, str], None],
    ) -> None:
        """Set the callbacks that the driver uses for runs.

        @param find: returns a run that keeps going; C{None} if it does not exist or has ended.
        @param change: saves a changed run.
        @param fail: ends a run as failed, with a reason.
        """
        self._find, self._change, self._fail = find, change, fail

    def schedule_line(self, run: CronRun) -> None:
        """Type the run's next line as soon as its agent is ready."""
        self._timers.schedule_call(run.id, 0.0, self._start_typing, run.id)

    def adopt_run(self, run: CronRun) -> None:
        """Continue a run that an earlier process of the service began.

        The agent's turn may have ended while no service was running.
        """
        self._taken_up.add(run.id)
        going = require_keep_going(run)
        if going.lines > going.turns:
            self._wait_for_turn_end(run.id)
        else:
            self.schedule_line(run)

    def handle_working(self, run: CronRun) -> None:
        """Record that the run's agent is working."""
        if run.id in self._at_work:
            self._at_work[run.id] = True

    def handle_idle(self, run: CronRun) -> None:
        """Handle that the run's agent is idle.

        If the agent was not seen working before, it may not have begun its turn yet.
        """
        if self._at_work.get(run.id):
            self.handle_turn_end(run)
        elif run.id in self._overdue:
            self._schedule_after_turn(run.id)

    def handle_turn_end(self, run: CronRun) -> None:
        """Count a finished turn and schedule the next line.

        Further calls for the same turn do nothing.
        """
        if self._at_work.pop(run.id, None) is None:
            return
        turns = require_keep_going(run).turns + 1
        self._change(run, f"turn {turns} ended", {"turns": turns})
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
        if run is None:
            return
        if run_id in self._typing:
            self._timers.schedule_call(run_id, AGAIN, self._start_typing, run_id)
            return
        task = spawn_logged(self._type_line_or_retry(run), self._log, f"a line of run {run_id}")
        if not task.called:
            self._typing[run_id] = task
            task.addBoth(lambda _: self._finish_typing_task(run_id))

    def _finish_typing_task(self, run_id: str) -> None:
        del self._typing[run_id]

    async def _type_line_or_retry(self, run: CronRun) -> None:
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
            self._log.failure("a line of run {id} was not typed", id=run.id)
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

    async def _type_line(self, run: CronRun) -> bool:
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
        going = require_keep_going(run)
        request = InputRequest(
            text=make_next_line(run, get_unix_ms(self._clock)),
            use_mux=True,
            typed=run.delivery is not None and run.delivery.typed,
            client_id=f"timed-{run.id}",
            seq=going.lines + 1,
            longest=PROMPT_FILE_BYTES,
            submitting=lambda: self._record_line_submitted(run.id),
        )
        found = await self._sessions.send_input(session.id, request)
        now = self._record_typed_line(run, going.lines)
        if found.duplicate:
            # An earlier run of the service typed it.
            self.adopt_run(now)
        return True

    def _record_typed_line(self, run: CronRun, before: int) -> CronRun:
        if before > 0:
            return self._change(run, "continuation prompt sent", {"lines": before + 1})
        return self._change(
            run,
            "prompt sent",
            {"lines": 1},
            status=RunStatus.PROMPT_SENT,
            finished_at=get_unix_ms(self._clock),
            delivery=None,
        )


def require_keep_going(run: CronRun) -> KeepGoing:
    """Return the record of a run that keeps going.

    @raise ServiceError: 409: the run does not keep going.
    """
    if run.keep_going is None:
        raise make_conflict_error("the run does not keep going")
    return run.keep_going


def make_next_line(run: CronRun, now: int) -> str:
    """Return the next line to type: first the prompt, then the time left and a request to continue.

    @param now: Unix milliseconds.
    @raise ServiceError: 409: the prompt was not stored.
    """
    going = require_keep_going(run)
    if going.lines > 0:
        return make_reminder(going, now)
    if run.delivery is None:
        raise make_conflict_error("its prompt was not stored")
    return run.delivery.text
