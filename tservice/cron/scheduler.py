"""Scheduler of jobs, which sets one alarm for the earliest due job."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.process.clock_alarm import ClockAlarm
from tservice.cron.fire_times import correct_next_fire, find_fire_after_planned, find_next_fire
from tservice.cron.job_registry import JobRegistry
from tservice.cron.model import (
    ConcurrencyPolicy,
    CronJob,
    CronRun,
    JobDefinition,
    RunStatus,
    RunTrigger,
    ScheduleType,
    make_due_key,
    make_run,
)
from tservice.cron.runner import JobRunner

RETRY_MS = 10_000
"""Milliseconds after which a failed check for due jobs is repeated."""


@frozen(kw_only=True)
class DueJobResult:
    """Result of handling one due job.

    @ivar job: the job's new state.
    @ivar run: the run to save; C{None} if the job was skipped again, which is not recorded.
    """

    job: CronJob
    run: CronRun | None


def plan_first_fire(definition: JobDefinition, now: int, zone: tzinfo) -> int | None:
    """Return the first scheduled time of a job that was just created or enabled; C{None} if
    disabled.
    """
    return find_next_fire(definition.schedule, now, zone) if definition.enabled else None


class JobScheduler:
    """Starts due jobs when the alarm goes off."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        book: JobRegistry,
        runner: JobRunner,
        zone: tzinfo,
        new_id: Callable[[], str],
        make_alarm: Callable[[Callable[[], None]], ClockAlarm],
    ) -> None:
        self._clock = clock
        self._book = book
        self._runner = runner
        self._zone = zone
        self._new_id = new_id
        self._make_alarm = make_alarm
        self._alarm: ClockAlarm | None = None

    def start(self) -> None:
        """Handle jobs that became due while the service was down, and set the alarm."""
        self._alarm = self._make_alarm(self.fire_due_jobs)
        self.fire_due_jobs()

    def stop(self) -> None:
        """Stop the alarm.  No more jobs are started."""
        if self._alarm is not None:
            self._alarm.close()
            self._alarm = None

    def fire_due_jobs(self) -> None:
        """Start the due jobs, and set the alarm for the next one."""
        try:
            self._correct_due_times()
            fired = self._fire_due()
        except Exception:
            # An exception that leaves this method would end the alarm.
            self._log.failure("cron: the due jobs could not be fired")
            self._set_alarm(get_unix_ms(self._clock) + RETRY_MS)
            return
        self.arm_alarm()
        for one in fired:
            if one.run is not None:
                self._book.publish_created(one.run)
                if one.run.status is RunStatus.CREATED:
                    self._runner.begin_run(one.job, one.run, None)

    def arm_alarm(self) -> None:
        """Set the alarm for the earliest due time.  Call this after every change of a job."""
        times = [job.next_run_at for job in self._book.list_jobs() if job.next_run_at is not None]
        self._set_alarm(min(times, default=None))

    def _set_alarm(self, at: int | None) -> None:
        if self._alarm is not None:
            self._alarm.set_time(at)

    def _correct_due_times(self) -> None:
        """Compute the due times again, because the clock or the rules of the time zone may have
        changed.
        """
        now = get_unix_ms(self._clock)
        moved: list[CronJob] = []
        for job in self._book.list_jobs():
            schedule = job.definition.schedule
            at = correct_next_fire(schedule, job.next_run_at, job.covered, now, self._zone)
            if at != job.next_run_at:
                moved.append(evolve(job, next_run_at=at))
        if moved:
            self._book.save_jobs_and_runs(moved)

    def _fire_due(self) -> list[DueJobResult]:
        now = get_unix_ms(self._clock)
        fired: list[DueJobResult] = []
        starting: list[CronJob] = []
        for at, job in sorted(
            (
                (job.next_run_at, job)
                for job in self._book.list_jobs()
                if job.next_run_at is not None
            ),
            key=lambda pair: (pair[0], pair[1].id),
        ):
            if at <= now:
                one = self._fire_job(job, at, now, starting)
                fired.append(one)
                if one.run is not None and one.run.status is RunStatus.CREATED:
                    starting.append(job)
        if fired:
            runs = [one.run for one in fired if one.run is not None]
            # Due times and runs are saved together, so that each fire happens once even after a
            # crash.
            self._book.save_jobs_and_runs([one.job for one in fired], runs)
        return fired

    def _fire_job(self, job: CronJob, at: int, now: int, starting: list[CronJob]) -> DueJobResult:
        fresh = self._find_unhandled_time(job, at, now)
        moment = at if fresh is None else fresh
        key = make_due_key(job.id, moment)
        moved = self._advance_job(job, moment, now, key)
        if fresh is None:
            return DueJobResult(job=moved, run=None)
        if self._must_skip(job, starting):
            return self._skip_fire(moved, now, key)
        run = make_run(job, self._new_id(), RunTrigger.SCHEDULED, now, key)
        moved = evolve(moved, last_run_at=now, last_status=run.status, skipping=False)
        return DueJobResult(job=moved, run=run)

    def _find_unhandled_time(self, job: CronJob, at: int, now: int) -> int | None:
        """Return the first due time that has no run yet; C{None} if all of them have one.

        If the clock was set back by more than a day, runs may already exist for later times.  The
        search is short, because only a limited number of runs is stored.
        """
        schedule = job.definition.schedule
        moment: int | None = at
        while moment is not None and moment <= now:
            if not self._book.store.has_run(make_due_key(job.id, moment)):
                return moment
            moment = find_fire_after_planned(schedule, moment, moment, self._zone)
        return None

    def _must_skip(self, job: CronJob, starting: list[CronJob]) -> bool:
        if job.definition.concurrency_policy is not ConcurrencyPolicy.SKIP:
            return False
        agent = job.definition.agent_type
        now_starting = [
            one for one in starting if one.definition.agent_type == agent and one.owner == job.owner
        ]
        return bool(now_starting) or self._runner.count_other_sessions(job) > 0

    def _skip_fire(self, job: CronJob, now: int, key: str) -> DueJobResult:
        """Skip a scheduled run.

        Only the first of consecutive skips is recorded (protocol-cron-times).
        """
        run = None
        if not job.skipping:
            reason = f"another {job.definition.agent_type} session is running"
            run = CronRun(
                id=self._new_id(),
                job_id=job.id,
                trigger=RunTrigger.SCHEDULED,
                status=RunStatus.SKIPPED,
                started_at=now,
                finished_at=now,
                error_message=reason,
                due_key=key,
            )
        return DueJobResult(job=evolve(job, last_status=RunStatus.SKIPPED, skipping=True), run=run)

    def _advance_job(self, job: CronJob, at: int, now: int, key: str) -> CronJob:
        """Return the job with its next due time, after the run scheduled for C{at} was handled."""
        schedule = job.definition.schedule
        once = schedule.type is ScheduleType.ONCE
        definition = evolve(job.definition, enabled=False) if once else job.definition
        return evolve(
            job,
            definition=definition,
            completed_once=job.completed_once or once,
            next_run_at=None if once else find_fire_after_planned(schedule, at, now, self._zone),
            covered=max(at, now),
            last_due_key=key,
        )
