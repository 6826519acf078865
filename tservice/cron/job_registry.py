"""Registry of all jobs, which keeps them in memory and on disk, and publishes changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.event_payloads import OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.values.payload import Payload
from tservice.cron.model import CronJob, CronRun
from tservice.cron.responses import make_jobs_response, make_run_response
from tservice.cron.store import CronStore

GATHER_SECONDS = 0.1
"""Seconds for which changes of jobs are collected into one event."""


class JobRegistry:
    """Registry of jobs by id.  A change is saved to disk before it is published."""

    def __init__(self, clock: IReactorTime, store: CronStore, hub: EventHub) -> None:
        self._clock = clock
        self.store = store
        self._hub = hub
        self._jobs: dict[str, CronJob] = {}
        # Runs that keep going, which session events look up, and their last changes while the disk
        # is full.
        self._going: dict[str, CronRun] = {}
        self._changed: set[str | None] = set()
        self._telling: IDelayedCall | None = None

    def load_jobs(self) -> None:
        """Load the stored jobs."""
        self._jobs = {job.id: job for job in self.store.list_jobs()}
        self._going = {run.id: run for run in self.store.list_unfinished() if run.keeps_going}

    def close(self) -> None:
        """Stop publishing events."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None

    def __len__(self) -> int:
        return len(self._jobs)

    def list_jobs(self) -> list[CronJob]:
        """Return all jobs, the newest first."""
        return list(reversed(self._jobs.values()))

    def list_visible(self, caller: Identity) -> list[CronJob]:
        """Return the jobs that the caller may see, the newest first."""
        return [job for job in self.list_jobs() if caller.can_access(job.owner)]

    def find_job(self, job_id: str) -> CronJob | None:
        """Return the job; C{None} if it does not exist."""
        return self._jobs.get(job_id)

    def get_job(self, job_id: str, caller: Identity) -> CronJob:
        """Return the job.

        @raise ServiceError: 404: the job does not exist, or the caller may not see it.
        """
        job = self._jobs.get(job_id)
        if job is None or not caller.can_access(job.owner):
            raise make_not_found_error(f"Cron job {job_id}")
        return job

    def save_jobs_and_runs(
        self, jobs: Iterable[CronJob] = (), runs: Iterable[CronRun] = ()
    ) -> None:
        """Save jobs and runs in one transaction, and publish the jobs."""
        jobs, runs = list(jobs), list(runs)
        self.store.save_jobs_and_runs(jobs, runs)
        self._going |= {run.id: run for run in runs if run.keeps_going}
        self._replace_jobs(jobs)

    def save_or_defer_job(self, job: CronJob) -> None:
        """Save a change of a job that cannot be refused, and publish the job.

        On a full disk this is deferred.
        """
        self.store.save_or_defer([job], [])
        self._replace_jobs([job])

    def list_runs(self, job_id: str | None = None) -> list[CronRun]:
        """Return the runs of one job, newest first.

        @param job_id: id of the job; C{None} means the runs of all jobs.
        """
        return [self._going.get(run.id, run) for run in self.store.list_runs(job_id)]

    def list_going_runs(self) -> list[CronRun]:
        """Return the runs that keep going, oldest first."""
        return [run for run in self._going.values() if run.keeps_going]

    def find_run(self, run_id: str) -> CronRun | None:
        """Return the run; C{None} if it does not exist."""
        return self._going.get(run_id) or self.store.find_run(run_id)

    def delete_job(self, job: CronJob) -> None:
        """Delete a job and its runs.

        @raise DiskFull: the disk is full.
        """
        self.store.delete_job(job.id)
        self._publish_after_deletion(job)

    def delete_or_defer_job(self, job: CronJob) -> None:
        """Delete a job whose owner no longer exists.

        On a full disk the deletion is deferred.
        """
        self.store.delete_or_defer_job(job.id)
        self._publish_after_deletion(job)

    def publish_created(self, run: CronRun) -> None:
        """Publish the event for a new run."""
        self._publish_run(EventName.CRON_RUN_CREATED, run)

    def update_and_publish_run(self, run: CronRun, **fields: Any) -> CronRun:
        """Change fields of a run's latest state, save it, and publish it.

        A job gets the status of its newest run.

        A change of C{delivery} alone is not published.  If the job was deleted, nothing happens.

        @raise DiskFull: the disk is full and C{delivery} could not be saved.
        """
        run = evolve(self._going.get(run.id, run), **fields)
        job = self._jobs.get(run.job_id)
        if job is None:
            return run
        jobs = []
        if job.last_status is not run.status and self.store.find_newest_run(job.id) == run.id:
            jobs = [evolve(job, last_status=run.status)]
        if fields.get("delivery") is not None:
            self.save_jobs_and_runs(jobs, [run])
        else:
            # A result without further steps can be saved later.
            self.store.save_or_defer(jobs, [run])
            self._replace_jobs(jobs)
        self._track_going_run(run)
        if set(fields) != {"delivery"}:
            self._publish_run(EventName.CRON_RUN_UPDATED, run)
        return run

    def _track_going_run(self, run: CronRun) -> None:
        """Keep a run in memory while it keeps going, or while its end is not on disk."""
        if run.keep_going is None:
            return
        self._going[run.id] = run
        for one in list(self._going.values()):
            if not one.keeps_going and self.store.is_saved(one.id):
                del self._going[one.id]

    # -- telling

    def _publish_after_deletion(self, job: CronJob) -> None:
        del self._jobs[job.id]
        self._going = {key: run for key, run in self._going.items() if run.job_id != job.id}
        told = OccurrencePayload(id=job.id, at=get_unix_ms(self._clock))
        self._publish_event(EventName.CRON_JOB_DELETED, told, job.owner)
        self._schedule_publishing([job])

    def _replace_jobs(self, jobs: Iterable[CronJob]) -> None:
        for job in jobs:
            self._jobs[job.id] = job
        self._schedule_publishing(jobs)

    def _publish_run(self, name: EventName, run: CronRun) -> None:
        job = self._jobs.get(run.job_id)
        self._publish_event(name, make_run_response(run), None if job is None else job.owner)

    def _schedule_publishing(self, jobs: Iterable[CronJob]) -> None:
        self._changed |= {job.owner for job in jobs}
        if self._changed and self._telling is None:
            self._telling = self._clock.callLater(GATHER_SECONDS, self._publish_jobs)

    def _publish_jobs(self) -> None:
        """Publish each owner's jobs to that owner, then all jobs to admins.

        Admins receive both events.
        """
        self._telling = None
        owners, self._changed = self._changed, set()
        for owner in sorted(owner for owner in owners if owner is not None):
            own = [job for job in self.list_jobs() if job.owner == owner]
            self._publish_event(EventName.CRON_JOBS_CHANGED, make_jobs_response(own), owner)
        self._publish_event(EventName.CRON_JOBS_CHANGED, make_jobs_response(self.list_jobs()), None)

    def _publish_event(self, name: EventName, payload: Payload, owner: str | None) -> None:
        self._hub.publish(Event(name=name, payload=payload, owner=owner))
