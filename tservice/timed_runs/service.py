"""Service for timed runs, which starts, continues and ends them (protocol-legacy)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.clis.interfaces import PRIMARY
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import raise_unsaved_change_on_disk_error
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.process.clock_alarm import ClockAlarm
from tservice.sessions.interfaces import (
    CreateRequest,
    ISessions,
    Session,
    require_started,
)
from tservice.timed_runs.driver import TimedRunDriver
from tservice.timed_runs.model import (
    AT_A_TIME,
    OF_ONE,
    TimedRun,
    TimedRunState,
    add_log_line,
    find_excess_runs,
)
from tservice.timed_runs.store import TimedRunStore


@frozen(kw_only=True)
class TimedRunDependencies:
    """Dependencies of L{TimedRunService}.

    @ivar make_alarm: returns an alarm that calls its argument when it goes off.
    @ivar known: returns true if an account of that name exists, even if disabled.
    @ivar multiuser: true if runs have owners.
    @ivar check_prompt: checks that the caller may send a prompt; see L{ICliRegistry.check_prompt}.
    """

    clock: IReactorTime
    hub: EventHub
    store: TimedRunStore
    sessions: ISessions
    driver: TimedRunDriver
    make_alarm: Callable[[Callable[[], None]], ClockAlarm]
    new_id: Callable[[], str]
    known: Callable[[str], bool]
    multiuser: bool
    check_prompt: Callable[..., None]


class TimedRunService:
    """Timed runs.

    Every error is a L{ServiceError}.  A run that is unknown or belongs to another user causes a
    404.
    """

    _log = Logger()

    def __init__(self, parts: TimedRunDependencies) -> None:
        self._parts = parts
        self._runs: dict[str, TimedRun] = {}
        self._alarm: ClockAlarm | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    # -- start and stop

    def start(self) -> None:
        """Load the stored runs and continue those in progress."""
        self._runs = {run.id: run for run in self._parts.store.load_runs()}
        self._alarm = self._parts.make_alarm(self._handle_alarm)
        self._parts.driver.set_callbacks(self.find_run, self._save_change, self._fail_run)
        self._remove_unknown_owners()
        self._unsubscribe = self._parts.hub.subscribe(self._handle_event)
        for run in self._list_running():
            self._adopt_run(run)
        self._handle_alarm()

    async def stop(self) -> None:
        """Stop typing lines.  The next start of the service continues the runs."""
        self._unsubscribe()
        if self._alarm is not None:
            self._alarm.close()
            self._alarm = None
        await self._parts.driver.close()

    # -- reading

    def list_runs(self, caller: Identity) -> list[TimedRun]:
        """Return the runs that the caller may see, newest first."""
        return [run for run in reversed(self._runs.values()) if caller.can_access(run.owner)]

    def get_run(self, run_id: str, caller: Identity) -> TimedRun:
        """Return a run that the caller may see."""
        run = self._runs.get(run_id)
        if run is None or not caller.can_access(run.owner):
            raise make_not_found_error(f"Run {run_id}")
        return run

    def find_run(self, run_id: str) -> TimedRun | None:
        """Return the run; C{None} if it does not exist."""
        return self._runs.get(run_id)

    def count_by_status(self) -> dict[tuple[str, ...], float]:
        """Return the number of stored runs by status."""
        counts = dict.fromkeys(TimedRunState, 0)
        for run in self._runs.values():
            counts[run.status] += 1
        return {(status.value,): count for status, count in counts.items()}

    # -- changing

    async def start_run(
        self,
        prompt: str,
        working_dir: str | None,
        minutes: int,
        caller: Caller,
    ) -> TimedRun:
        """Start a session and keep its agent working for C{minutes}.

        @param caller: authorized again; see L{ISessions.create}.
        @raise ServiceError: 403: the prompt needs a grant that the caller lacks; 422: L{AT_A_TIME}
            runs are in progress, or L{OF_ONE} of this account in multi-user mode; otherwise as for
            L{ISessions.create}.
        """
        granted = caller.can_bypass_permissions
        self._parts.check_prompt(PRIMARY, prompt, "prompt", granted=granted)
        if len(self._list_running()) >= AT_A_TIME:
            raise make_failure_error(f"{AT_A_TIME} timed runs are already in progress")
        owner = caller.username if self._parts.multiuser else None
        if owner is not None and sum(run.owner == owner for run in self._list_running()) >= OF_ONE:
            raise make_failure_error(f"{OF_ONE} timed runs of this account are already in progress")
        now = get_unix_ms(self._parts.clock)
        run = TimedRun(
            id=self._parts.new_id(),
            owner=owner,
            prompt=prompt,
            working_dir=working_dir or "",
            duration_minutes=minutes,
            started_at=now,
            end_at=now + minutes * 60_000,
        )
        self._parts.store.save_run(run)
        self._runs[run.id] = run
        self._remove_excess()
        self._set_alarm()
        # The start continues even if the caller disconnects.
        return await SharedWork(self._launch_session(run, caller)).wait_for_result()

    def end_run(self, run_id: str, caller: Identity) -> None:
        """End a run.  Its session is kept.  A finished run is not changed.

        @raise ServiceError: 404: there is no such run; 422: the run ended, but could not be saved
            because the disk is full.
        """
        run = self.get_run(run_id, caller)
        if run.is_running:
            self._finish_run(
                run, TimedRunState.STOPPED, f"stopped by {caller.username or 'the user'}"
            )
        with raise_unsaved_change_on_disk_error("stopped", "go on with it"):
            self._parts.store.check_saved(run.id)

    # -- internals

    async def _launch_session(self, run: TimedRun, caller: Caller) -> TimedRun:
        request = CreateRequest(
            mode=PRIMARY,
            working_dir=run.working_dir or None,
            agent_origin=_make_agent_origin(run),
            start=True,
        )
        try:
            session = await self._parts.sessions.create(request, caller)
            require_started(session)
        except Exception:
            # The start failed, and the caller gets the error.
            self._runs.pop(run.id, None)
            self._parts.store.delete_run(run.id)
            raise
        return self._assign_session(run, session)

    def _assign_session(self, run: TimedRun, session: Session) -> TimedRun:
        now = self._runs.get(run.id, run)
        now = self._save_change(
            evolve(now, session_id=session.id, working_dir=session.working_dir), "session started"
        )
        if now.is_running:
            self._parts.driver.schedule_line(now)
        return now

    def _adopt_run(self, run: TimedRun) -> None:
        """Continue a run that an earlier process of the service began."""
        if run.session_id is not None:
            self._parts.driver.adopt_run(run)
            return
        for session in self._parts.sessions.list():
            if session.agent_origin == _make_agent_origin(run) and session.owner == run.owner:
                self._assign_session(run, session)
                return
        self._fail_run(run, "the service ended before the session was started")

    def _list_running(self) -> list[TimedRun]:
        return [run for run in self._runs.values() if run.is_running]

    def _handle_alarm(self) -> None:
        now = get_unix_ms(self._parts.clock)
        for run in self._list_running():
            longest = now + run.duration_minutes * 60_000
            if run.end_at <= now:
                self._finish_run(run, TimedRunState.COMPLETED, "the time is over")
            elif run.end_at > longest:
                self._save_change(evolve(run, end_at=longest), "the clock was set back")
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.set_time(min((run.end_at for run in self._list_running()), default=None))

    def _fail_run(self, run: TimedRun, reason: str) -> None:
        self._finish_run(run, TimedRunState.FAILED, reason)

    def _finish_run(self, run: TimedRun, status: TimedRunState, reason: str) -> None:
        self._save_change(evolve(run, status=status), reason)
        self._parts.driver.stop_typing(run.id)
        self._set_alarm()

    def _save_change(self, run: TimedRun, text: str | None = None) -> TimedRun:
        """Save a changed run.

        @param text: new line of the run's log; C{None} adds none.
        """
        if run.id not in self._runs:
            return run
        if text is not None:
            run = add_log_line(run, get_unix_ms(self._parts.clock), text)
        self._runs[run.id] = run
        self._parts.store.save_or_defer_run(run)
        return run

    def _remove_excess(self) -> None:
        for run in find_excess_runs(list(self._runs.values())):
            self._remove_run(run)

    def _remove_run(self, run: TimedRun) -> None:
        self._parts.store.delete_run(run.id)
        self._runs.pop(run.id, None)
        self._parts.driver.stop_typing(run.id)

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.ADMIN_USERS_CHANGED:
            self._remove_unknown_owners()
            return
        run = self._find_run_of_session(event.session_id)
        if run is None:
            return
        if event.name is EventName.SESSION_WORKING:
            self._parts.driver.handle_working(run)
        elif event.name is EventName.SESSION_IDLE:
            self._parts.driver.handle_idle(run)
        elif event.name is EventName.SESSION_STOP:
            self._parts.driver.handle_turn_end(run)
        elif event.name in (EventName.SESSION_EXIT, EventName.SESSION_DELETED):
            self._fail_run(run, "the session ended")

    def _find_run_of_session(self, session_id: str | None) -> TimedRun | None:
        if session_id is None:
            return None
        return next((run for run in self._list_running() if run.session_id == session_id), None)

    def _remove_unknown_owners(self) -> None:
        """Delete the runs of deleted accounts.

        Otherwise a new account of the same name would get them.
        """
        if not self._parts.multiuser:
            return
        for run in list(self._runs.values()):
            if run.owner is not None and not self._parts.known(run.owner):
                self._log.info(
                    "timed run {id} of deleted user {owner} was removed", id=run.id, owner=run.owner
                )
                self._remove_run(run)


def _make_agent_origin(run: TimedRun) -> str:
    """Return the origin by which a session refers to the timed run that created it."""
    return f"timed:{run.id}"
