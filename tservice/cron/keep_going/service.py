"""Service for runs that keep going, which ends, continues and limits them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import raise_unsaved_change_on_disk_error
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.events import Event, EventName
from tservice.core.process.clock_alarm import ClockAlarm
from tservice.cron.job_registry import JobRegistry
from tservice.cron.keep_going.driver import KeepGoingDriver, require_keep_going
from tservice.cron.keep_going_model import AT_A_TIME, OF_ONE, KeepGoingState, add_log_line
from tservice.cron.model import CronRun, RunStatus


class KeepGoingService:
    """Runs that keep going (protocol-cron-keep-going).

    The registry holds them; the driver types their lines.
    """

    def __init__(
        self,
        clock: IReactorTime,
        book: JobRegistry,
        driver: KeepGoingDriver,
        make_alarm: Callable[[Callable[[], None]], ClockAlarm],
    ) -> None:
        """@param make_alarm: returns an alarm that calls its argument when it goes off."""
        self._clock, self._book, self._driver = clock, book, driver
        self._make_alarm = make_alarm
        self._alarm: ClockAlarm | None = None

    def start(self) -> None:
        """End the runs whose time is over, and set the alarm."""
        self._driver.set_callbacks(self.find_run, self._save_change, self.fail_run)
        self._alarm = self._make_alarm(self._handle_alarm)
        self._handle_alarm()

    async def stop(self) -> None:
        """Stop typing lines.  The next start of the service continues the runs."""
        if self._alarm is not None:
            self._alarm.close()
            self._alarm = None
        await self._driver.close()

    def find_run(self, run_id: str) -> CronRun | None:
        """Return a run that keeps going; C{None} if it does not exist or has ended."""
        return next((run for run in self._book.list_going_runs() if run.id == run_id), None)

    def check_room(self, owner: str | None, starting: CronRun | None = None) -> None:
        """Fail if no further run may keep going.

        @param owner: account of the new run; C{None} in single-user mode.
        @param starting: the new run, if it is already stored.
        @raise ServiceError: 422: L{AT_A_TIME} runs keep going, or L{OF_ONE} of this account.
        """
        others = [
            run for run in self._book.list_going_runs() if starting is None or run.id != starting.id
        ]
        if len(others) >= AT_A_TIME:
            raise make_failure_error(f"{AT_A_TIME} timed runs are already in progress")
        jobs = [self._book.find_job(run.job_id) for run in others]
        own = sum(job is not None and job.owner == owner for job in jobs)
        if owner is not None and own >= OF_ONE:
            raise make_failure_error(f"{OF_ONE} timed runs of this account are already in progress")

    def schedule_prompt(self, run: CronRun) -> None:
        """Type the prompt of a run whose session was started, as soon as its agent is ready."""
        if not run.keeps_going:
            # It was stopped while its session was being started.
            self._book.update_and_publish_run(run, delivery=None)
            return
        run = self._save_change(run, "session started")
        self._set_alarm()
        self._driver.schedule_line(run)

    def adopt_run(self, run: CronRun) -> None:
        """Continue a run that an earlier process of the service began."""
        self._driver.adopt_run(run)

    def stop_run(self, run: CronRun, caller: Identity) -> None:
        """End a run.  Its session is kept.  A finished run is not changed.

        @raise ServiceError: 409: the run does not keep going; 422: it ended, but could not be saved
            because the disk is full.
        """
        require_keep_going(run)
        if run.keeps_going:
            reason = f"stopped by {caller.username or 'the user'}"
            self._finish_run(run, KeepGoingState.STOPPED, reason)
        with raise_unsaved_change_on_disk_error("stopped", "go on with it"):
            self._book.store.check_saved(run.id)

    def fail_run(self, run: CronRun, reason: str) -> None:
        """End a run as failed."""
        status = run.status if run.status is RunStatus.PROMPT_SENT else RunStatus.FAILED
        self._finish_run(run, KeepGoingState.FAILED, reason, status=status, error_message=reason)

    def drop_runs(self, runs: Iterable[CronRun]) -> None:
        """Stop typing lines of runs whose job was deleted."""
        for run in runs:
            self._driver.stop_typing(run.id)
        self._set_alarm()

    def handle_event(self, event: Event) -> None:
        """Handle what an agent did, or the end of a session."""
        run = self._find_run_of_session(event.session_id)
        if run is None:
            return
        if event.name is EventName.SESSION_WORKING:
            self._driver.handle_working(run)
        elif event.name is EventName.SESSION_IDLE:
            self._driver.handle_idle(run)
        elif event.name is EventName.SESSION_STOP:
            self._driver.handle_turn_end(run)
        elif event.name in (EventName.SESSION_EXIT, EventName.SESSION_DELETED):
            self.fail_run(run, "the session ended")

    # -- internals

    def _find_run_of_session(self, session_id: str | None) -> CronRun | None:
        if session_id is None:
            return None
        going = self._book.list_going_runs()
        return next((run for run in going if run.session_id == session_id), None)

    def _handle_alarm(self) -> None:
        now = get_unix_ms(self._clock)
        for run in self._book.list_going_runs():
            going = require_keep_going(run)
            longest = now + going.minutes * 60_000
            if going.end_at <= now:
                self._finish_run(run, KeepGoingState.COMPLETED, "the time is over")
            elif going.end_at > longest:
                self._save_change(run, "the clock was set back", {"end_at": longest})
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            ends = [require_keep_going(run).end_at for run in self._book.list_going_runs()]
            self._alarm.set_time(min(ends, default=None))

    def _finish_run(self, run: CronRun, state: KeepGoingState, reason: str, **fields: Any) -> None:
        found = self.find_run(run.id)
        if found is None:
            return
        finished = found.finished_at or get_unix_ms(self._clock)
        self._save_change(
            found, reason, {"state": state}, delivery=None, finished_at=finished, **fields
        )
        self._driver.stop_typing(run.id)
        self._set_alarm()

    def _save_change(
        self, run: CronRun, text: str, going: Mapping[str, Any] | None = None, **fields: Any
    ) -> CronRun:
        """Save a changed run; see L{SaveRunChange}."""
        latest = self._book.find_run(run.id)
        if latest is None or latest.keep_going is None:
            return run
        record = evolve(latest.keep_going, **(going or {}))
        record = add_log_line(record, get_unix_ms(self._clock), text)
        return self._book.update_and_publish_run(latest, keep_going=record, **fields)
