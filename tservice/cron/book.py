"""Registry of all jobs: in memory, on disk, and published as events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.clock import now_ms
from tservice.core.errors import not_found
from tservice.core.event_payloads import OccurrencePayload
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.core.payload import Payload
from tservice.cron.model import Job, Run
from tservice.cron.shown import jobs_answer, run_answer
from tservice.cron.store import CronStore

GATHER = 0.1
"""Seconds for which changes of jobs are gathered into one event."""


class JobBook:
    """Jobs by id.  A change is on disk before it is published."""

    def __init__(self, clock: IReactorTime, store: CronStore, hub: EventHub) -> None:
        self._clock = clock
        self.store = store
        self._hub = hub
        self._jobs: dict[str, Job] = {}
        self._changed: set[str | None] = set()
        self._telling: IDelayedCall | None = None

    def load(self) -> None:
        """Read the stored jobs."""
        self._jobs = {job.id: job for job in self.store.jobs()}

    def close(self) -> None:
        """Publish nothing more."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None

    def __len__(self) -> int:
        return len(self._jobs)

    def every(self) -> list[Job]:
        """Return all jobs, the newest first."""
        return list(reversed(self._jobs.values()))

    def visible(self, caller: Identity) -> list[Job]:
        """Return the jobs that the caller may see, the newest first."""
        return [job for job in self.every() if caller.can_access(job.owner)]

    def find(self, job_id: str) -> Job | None:
        """Return the job if it exists."""
        return self._jobs.get(job_id)

    def get(self, job_id: str, caller: Identity) -> Job:
        """Return the job.

        @raise ServiceError: 404: it does not exist, or not for C{caller}.
        """
        job = self._jobs.get(job_id)
        if job is None or not caller.can_access(job.owner):
            raise not_found(f"Cron job {job_id}")
        return job

    def keep(self, jobs: Iterable[Job] = (), runs: Iterable[Run] = ()) -> None:
        """Save jobs and runs, all or none, and publish the jobs."""
        jobs, runs = list(jobs), list(runs)
        self.store.save(jobs, runs)
        self._use(jobs)

    def delete(self, job: Job) -> None:
        """Delete a job and its runs.

        @raise DiskFull: the disk is full.
        """
        self.store.delete(job.id)
        self._gone(job)

    def drop(self, job: Job) -> None:
        """Delete a job that has no owner any more; this works on a full disk."""
        self.store.drop(job.id)
        self._gone(job)

    def made(self, run: Run) -> None:
        """Publish a new run."""
        self._tell_run(EventName.CRON_RUN_CREATED, run)

    def change(self, run: Run, **fields: Any) -> Run:
        """Change a run, save and publish it; its job takes the status of its newest run.

        A change of C{delivery} alone is not published.  If the job was deleted, nothing happens.

        @raise DiskFull: the disk is full, and a delivery could not be saved.
        """
        run = evolve(run, **fields)
        job = self._jobs.get(run.job_id)
        if job is None:
            return run
        jobs = []
        if job.last_status is not run.status and self.store.newest(job.id) == run.id:
            jobs = [evolve(job, last_status=run.status)]
        if run.delivery is not None:
            self.keep(jobs, [run])
        else:
            # A result without further steps can be saved later.
            self.store.note(jobs, [run])
            self._use(jobs)
        if set(fields) != {"delivery"}:
            self._tell_run(EventName.CRON_RUN_UPDATED, run)
        return run

    # -- telling

    def _gone(self, job: Job) -> None:
        del self._jobs[job.id]
        told = OccurrencePayload(id=job.id, at=now_ms(self._clock))
        self._publish(EventName.CRON_JOB_DELETED, told, job.owner)
        self._tell_jobs([job])

    def _use(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self._jobs[job.id] = job
        self._tell_jobs(jobs)

    def _tell_run(self, name: EventName, run: Run) -> None:
        job = self._jobs.get(run.job_id)
        self._publish(name, run_answer(run), None if job is None else job.owner)

    def _tell_jobs(self, jobs: Iterable[Job]) -> None:
        self._changed |= {job.owner for job in jobs}
        if self._changed and self._telling is None:
            self._telling = self._clock.callLater(GATHER, self._tell_gathered)

    def _tell_gathered(self) -> None:
        """Publish the jobs: to each owner its own, then all to admins, who receive both."""
        self._telling = None
        owners, self._changed = self._changed, set()
        for owner in sorted(owner for owner in owners if owner is not None):
            own = [job for job in self.every() if job.owner == owner]
            self._publish(EventName.CRON_JOBS_CHANGED, jobs_answer(own), owner)
        self._publish(EventName.CRON_JOBS_CHANGED, jobs_answer(self.every()), None)

    def _publish(self, name: EventName, payload: Payload, owner: str | None) -> None:
        self._hub.publish(Event(name=name, payload=payload, owner=owner))
