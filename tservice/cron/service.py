"""Service for scheduled jobs, which checks, changes and runs them for callers (protocol-cron)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.cron.crontab import find_expression_fault
from tservice.cron.fire_times import list_next_fires
from tservice.cron.interfaces import ICron
from tservice.cron.job_registry import JobRegistry
from tservice.cron.keep_going.service import KeepGoingService
from tservice.cron.keep_going_model import KeepGoingState
from tservice.cron.model import (
    MAX_JOBS,
    MAX_JOBS_OF_ONE,
    CronJob,
    CronRun,
    JobDefinition,
    RunStatus,
    RunTrigger,
    ScheduleType,
    make_run,
    merge_definition,
)
from tservice.cron.rules import JobRules
from tservice.cron.runner import MAX_UNFINISHED, JobRunner
from tservice.cron.scheduler import JobScheduler, plan_first_fire

PREVIEW_FIRES = 5
"""Number of scheduled times in a preview (protocol-cron)."""


@frozen(kw_only=True)
class CronDependencies:
    """Dependencies of L{CronService}.

    @ivar identity: returns the current account of an owner; C{None} if the account is gone or
        disabled.
    @ivar known: returns true if an account of that name exists, even if disabled.
    @ivar multiuser: true if jobs have owners.
    """

    clock: IReactorTime
    hub: EventHub
    book: JobRegistry
    runner: JobRunner
    keep_going: KeepGoingService
    scheduler: JobScheduler
    rules: JobRules
    zone: tzinfo
    new_id: Callable[[], str]
    identity: Callable[[str | None], Identity | None]
    known: Callable[[str], bool]
    multiuser: bool


@implementer(ICron)
class CronService:
    """Scheduled jobs.

    Every error is a L{ServiceError}.  A job that is unknown or belongs to another user causes a
    404.

    @ivar deps: what it is made of, for L{tservice.cron.timed_runs}.
    """

    _log = Logger()

    def __init__(self, deps: CronDependencies) -> None:
        self.deps = deps
        self._book = deps.book
        self._unsubscribe: Callable[[], None] = lambda: None

    # -- its own life

    def start(self) -> None:
        """Load the jobs, continue interrupted runs, and handle jobs that became due in the
        meantime.
        """
        self._book.load_jobs()
        self._delete_orphaned_jobs()
        self._unsubscribe = self.deps.hub.subscribe(self._handle_event)
        self.deps.keep_going.start()
        self.deps.runner.resume_runs()
        self.deps.scheduler.start()

    async def stop(self) -> None:
        """Stop starting jobs and typing prompts.  The next service process continues."""
        self._unsubscribe()
        self.deps.scheduler.stop()
        await self.deps.keep_going.stop()
        await self.deps.runner.stop_runner()
        self._book.close()

    # -- reading

    def list_jobs(self, caller: Identity) -> list[CronJob]:
        return self._book.list_visible(caller)

    def get_job(self, job_id: str, caller: Identity) -> CronJob:
        """Return a job that the caller may see."""
        return self._book.get_job(job_id, caller)

    def list_runs(self, caller: Identity) -> list[CronRun]:
        mine = {job.id for job in self._book.list_visible(caller)}
        return [run for run in self._book.list_runs() if run.job_id in mine]

    def list_job_runs(self, job_id: str, caller: Identity) -> list[CronRun]:
        """Return the runs of one job, newest first."""
        return self._book.list_runs(self._book.get_job(job_id, caller).id)

    async def preview_fires(self, given: Mapping[str, Any], caller: Identity) -> list[int]:
        """Return the next scheduled times of a job that is not saved, even if it is disabled.

        A schedule can be tried before its folder is chosen.

        @param given: fields of the request.
        @raise ServiceError: as for L{create_job}.
        """
        if given.get("working_dir") or given.get("case_name"):
            definition = await self._make_definition(given, None, caller)
        else:
            definition = self._make_folderless_definition(given, caller)
        now = get_unix_ms(self.deps.clock)
        return list_next_fires(definition.schedule, now, self.deps.zone, PREVIEW_FIRES)

    def count_jobs(self) -> dict[tuple[str, ...], float]:
        """Return the number of enabled and of disabled jobs."""
        enabled = sum(1 for job in self._book.list_jobs() if job.definition.enabled)
        return {("true",): enabled, ("false",): len(self._book) - enabled}

    def count_keep_going_runs(self) -> dict[tuple[str, ...], float]:
        """Return the number of stored runs that keep going or did so, by state."""
        counts = dict.fromkeys(KeepGoingState, 0)
        for run in self._book.list_runs():
            if run.keep_going is not None:
                counts[run.keep_going.state] += 1
        return {(state.value,): count for state, count in counts.items()}

    def count_runs(self) -> dict[tuple[str, ...], float]:
        """Return the number of stored runs by status."""
        counts = dict.fromkeys(RunStatus, 0)
        for run in self._book.list_runs():
            counts[run.status] += 1
        return {(status.value,): count for status, count in counts.items()}

    # -- changing

    async def create_job(self, given: Mapping[str, Any], caller: Caller) -> CronJob:
        """Create a job for the caller.

        @param given: fields of the request.
        @param caller: authorized again before the job is saved.
        @raise ServiceError: 400 for the field that is not valid; 403: the caller may not run it;
            422: there are L{MAX_JOBS} jobs, or L{MAX_JOBS_OF_ONE} of this account in multi-user
            mode, or the folder is not reachable.
        """
        definition = await self._make_definition(given, None, caller)
        caller.reauthorize()
        self.make_room_for_job()
        owner = caller.username if self.deps.multiuser else None
        own = sum(job.owner == owner and not job.is_timed_run for job in self._book.list_jobs())
        if owner is not None and own >= MAX_JOBS_OF_ONE:
            raise make_failure_error(
                f"this account already has {MAX_JOBS_OF_ONE} jobs: delete one first"
            )
        now = get_unix_ms(self.deps.clock)
        job = CronJob(
            id=self.deps.new_id(),
            owner=owner,
            definition=definition,
            created_at=now,
            updated_at=now,
            next_run_at=plan_first_fire(definition, now, self.deps.zone),
        )
        return self._save_job(job)

    async def update_job(
        self,
        job_id: str,
        given: Mapping[str, Any],
        caller: Caller,
    ) -> CronJob:
        """Change fields of a job.  The resulting job is checked as a whole.

        The schedule restarts if it was changed, or if the job was disabled before.

        @param given: fields of the request.
        @param caller: authorized again before the job is changed.
        @raise ServiceError: as for L{create_job}; 404: there is no such job; 409: another caller
            changed the job at the same time.
        """
        job = self._book.get_job(job_id, caller)
        if job.is_timed_run:
            raise make_conflict_error("a timed run cannot be changed: create a job instead")
        before = job.definition
        if given == {"enabled": False}:
            # A job can be disabled even if its definition is no longer valid.
            definition = evolve(before, enabled=False)
        else:
            definition = await self._make_definition(given, before, self._get_owner(job, caller))
            caller.reauthorize()
            job = self._book.get_job(job_id, caller)
            if job.definition != before:
                raise make_conflict_error("the job was changed while this request was running")
        now = get_unix_ms(self.deps.clock)
        changed = evolve(job, definition=definition, updated_at=now)
        anew = definition.schedule != before.schedule
        if anew or definition.enabled != before.enabled:
            changed = evolve(
                changed,
                next_run_at=plan_first_fire(definition, now, self.deps.zone),
                completed_once=job.completed_once and not anew,
                skipping=False,
            )
        return self._save_job(changed)

    def delete_job(self, job_id: str, caller: Identity) -> None:
        """Delete a job and its runs.  Sessions that it has started continue.

        @raise ServiceError: 404: there is no such job.
        """
        job = self._book.get_job(job_id, caller)
        self._delete_and_cancel(job, self._book.delete_job)

    async def run_now(self, job_id: str, caller: Caller) -> tuple[CronRun, int]:
        """Run a job now, even if it is disabled.  The schedule does not change.

        @param caller: authorized again before the session is created.
        @return: the run, after its session was started or it failed; and the number of live
            sessions of the same mode that no run of this job created.
        @raise ServiceError: 404: there is no such job; 429: there are L{MAX_UNFINISHED} unfinished
            runs.
        """
        job = self._book.get_job(job_id, caller)
        if self.deps.runner.unfinished_count >= MAX_UNFINISHED:
            raise ServiceError(
                ErrorCode.RATE_LIMITED, f"{MAX_UNFINISHED} runs are already in progress"
            )
        now = get_unix_ms(self.deps.clock)
        run = make_run(job, self.deps.new_id(), RunTrigger.MANUAL, now)
        job = evolve(job, last_run_at=now, last_status=run.status)
        self._book.save_jobs_and_runs([job], [run])
        self._book.publish_created(run)
        others = self.deps.runner.count_other_sessions(job)
        await self.deps.runner.begin_run(job, run, caller)
        return self._book.find_run(run.id) or run, others

    def stop_run(self, run_id: str, caller: Identity) -> None:
        """End a run that keeps going.  Its session is kept.  A finished run is not changed.

        @raise ServiceError: 404: there is no such run; 409: the run does not keep going; 422: it
            ended, but could not be saved because the disk is full.
        """
        run = self._book.find_run(run_id)
        job = None if run is None else self._book.find_job(run.job_id)
        if run is None or job is None or not caller.can_access(job.owner):
            raise make_not_found_error(f"Run {run_id}")
        self.deps.keep_going.stop_run(run, caller)

    def make_room_for_job(self) -> None:
        """Delete the oldest timed runs that are over, until another job may be stored.

        @raise ServiceError: 422: there are L{MAX_JOBS} other jobs.
        """
        going = {run.job_id for run in self._book.list_going_runs()}
        over = [job for job in self._book.list_jobs() if job.is_timed_run and job.id not in going]
        while len(self._book) >= MAX_JOBS:
            if not over:
                raise make_failure_error(f"there are already {MAX_JOBS} jobs: delete one first")
            self._book.delete_or_defer_job(over.pop())

    # -- inside

    async def _make_definition(
        self, given: Mapping[str, Any], before: JobDefinition | None, owner: Identity
    ) -> JobDefinition:
        rules = self.deps.rules
        rules.require_mode(given.get("agent_type") or (before.agent_type if before else ""))
        definition = await rules.check_definition(
            merge_definition(given, before, rules.is_shell), owner
        )
        self._check_schedule(definition, before)
        return definition

    def _make_folderless_definition(
        self, given: Mapping[str, Any], owner: Identity
    ) -> JobDefinition:
        rules = self.deps.rules
        rules.require_mode(given["agent_type"])
        definition = merge_definition({**given, "working_dir": ""}, None, rules.is_shell)
        rules.check_grant(definition, owner)
        self._check_schedule(definition, None)
        return definition

    def _check_schedule(self, definition: JobDefinition, before: JobDefinition | None) -> None:
        schedule = definition.schedule
        if schedule.type is ScheduleType.CRON:
            wrong = find_expression_fault(schedule.cron_expression or "")
            if wrong is not None:
                raise make_field_error("cronExpression", wrong)
        fresh = before is None or schedule != before.schedule
        past = schedule.run_at is not None and schedule.run_at <= get_unix_ms(self.deps.clock)
        if past and (fresh or _enables_job(definition, before)):
            raise make_field_error("runAt", "must be in the future")

    def _get_owner(self, job: CronJob, caller: Identity) -> Identity:
        """Return the account whose permissions apply to the job.

        This is the owner's account, even if an admin changes the job.
        """
        if job.owner is None or job.owner == caller.username:
            return caller
        owner = self.deps.identity(job.owner)
        if owner is None:
            raise make_failure_error(f"the account {job.owner} is gone or disabled")
        return owner

    def _save_job(self, job: CronJob) -> CronJob:
        self._book.save_jobs_and_runs([job])
        self.deps.scheduler.arm_alarm()
        return job

    def _delete_and_cancel(self, job: CronJob, delete: Callable[[CronJob], None]) -> None:
        going = [run for run in self._book.list_going_runs() if run.job_id == job.id]
        delete(job)
        self.deps.runner.cancel_job(job.id)
        self.deps.keep_going.drop_runs(going)
        self.deps.scheduler.arm_alarm()

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.ADMIN_USERS_CHANGED:
            self._delete_orphaned_jobs()
        else:
            self.deps.keep_going.handle_event(event)

    def _delete_orphaned_jobs(self) -> None:
        """Delete the jobs of removed accounts.

        Otherwise a new account of the same name would get them.
        """
        if not self.deps.multiuser:
            return
        for job in self._book.list_jobs():
            if job.owner is not None and not self.deps.known(job.owner):
                self._log.info(
                    "cron: delete job {id}: no account {owner}", id=job.id, owner=job.owner
                )
                self._delete_and_cancel(job, self._book.delete_or_defer_job)


def _enables_job(definition: JobDefinition, before: JobDefinition | None) -> bool:
    return definition.enabled and (before is None or not before.enabled)
