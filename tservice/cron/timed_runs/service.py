"""Timed runs: jobs that run once, when they are made, and keep going (protocol-legacy)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from tservice.clis.interfaces import PRIMARY
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.values.text import cut_between_letters
from tservice.cron.keep_going_model import KeepGoing
from tservice.cron.model import (
    TIMED_RUN,
    ConcurrencyPolicy,
    CronJob,
    CronRun,
    InputMode,
    JobDefinition,
    JobSchedule,
    PromptMode,
    RunStatus,
    RunTrigger,
    ScheduleType,
    make_run,
)
from tservice.cron.service import CronService
from tservice.sessions.interfaces import ISessions

NAME_LENGTH = 80
"""Maximum characters of the name of a timed run's job."""


@frozen(kw_only=True)
class TimedRun:
    """Timed run: a job, its newest run, and that run's state."""

    job: CronJob
    run: CronRun
    going: KeepGoing


class TimedRunService:
    """Timed runs, as the deprecated operations show them.

    Every error is a L{ServiceError}.  A run that is unknown or belongs to another user causes a
    404.
    """

    def __init__(
        self, cron: CronService, sessions: ISessions, check_prompt: Callable[..., None]
    ) -> None:
        """@param check_prompt: checks that the caller may send a prompt; see
        L{ICliRegistry.check_prompt}.
        """
        self._cron, self._deps, self._book = cron, cron.deps, cron.deps.book
        self._sessions, self._check_prompt = sessions, check_prompt

    def list_runs(self, caller: Identity) -> list[TimedRun]:
        """Return the runs that the caller may see, newest first."""
        found = [self._find_newest(job) for job in self._book.list_visible(caller)]
        return [each for each in found if each is not None]

    def get_run(self, run_id: str, caller: Identity) -> TimedRun:
        """Return a run that the caller may see."""
        job = self._book.find_job(TIMED_RUN + run_id)
        found = None if job is None or not caller.can_access(job.owner) else self._find_newest(job)
        if found is None:
            raise make_not_found_error(f"Run {run_id}")
        return found

    async def start_run(
        self, prompt: str, working_dir: str | None, minutes: int, caller: Caller
    ) -> TimedRun:
        """Start a session and keep its agent working for C{minutes}.

        @param caller: authorized again; see L{ISessions.create}.
        @raise ServiceError: 403: the prompt needs a grant that the caller lacks; 422: too many runs
            keep going; otherwise as for L{ISessions.create}.
        """
        granted = caller.can_bypass_permissions
        self._check_prompt(PRIMARY, prompt, "prompt", granted=granted)
        owner = caller.username if self._deps.multiuser else None
        self._deps.keep_going.check_room(owner)
        self._cron.make_room_for_job()
        now = get_unix_ms(self._deps.clock)
        run_id = self._deps.new_id()
        job = CronJob(
            id=TIMED_RUN + run_id,
            owner=owner,
            definition=_make_definition(prompt, working_dir, minutes, now),
            created_at=now,
            updated_at=now,
            last_run_at=now,
            last_status=RunStatus.CREATED,
            completed_once=True,
            covered=now,
        )
        run = make_run(job, run_id, RunTrigger.MANUAL, now)
        self._book.save_jobs_and_runs([job], [run])
        self._book.publish_created(run)
        # The start continues even if the caller disconnects.
        await SharedWork(self._launch_run(job, run, caller)).wait_for_result()
        return self.get_run(run_id, caller)

    def end_run(self, run_id: str, caller: Identity) -> None:
        """End a run.  Its session is kept.  A finished run is not changed.

        @raise ServiceError: 404: there is no such run; 422: the run ended, but could not be saved
            because the disk is full.
        """
        self._deps.keep_going.stop_run(self.get_run(run_id, caller).run, caller)

    # -- internals

    def _find_newest(self, job: CronJob) -> TimedRun | None:
        run = next(iter(self._book.list_runs(job.id)), None) if job.is_timed_run else None
        if run is None or run.keep_going is None:
            return None
        return TimedRun(job=job, run=run, going=run.keep_going)

    async def _launch_run(self, job: CronJob, run: CronRun, caller: Caller) -> None:
        error = await self._deps.runner.begin_run(job, run, caller)
        if error is not None:
            # The start failed, and the caller gets the error: of the lost right, if that is it.
            self._book.delete_or_defer_job(job)
            caller.reauthorize()
            raise error
        started, latest = self._book.find_run(run.id), self._book.find_job(job.id)
        if started is None or latest is None:
            return
        folder = self._sessions.get(started.session_id or "").working_dir
        definition = evolve(latest.definition, working_dir=folder)
        self._book.save_or_defer_job(evolve(latest, definition=definition))


def _make_definition(prompt: str, working_dir: str | None, minutes: int, now: int) -> JobDefinition:
    return JobDefinition(
        name=cut_between_letters(" ".join(prompt.split()), NAME_LENGTH),
        agent_type=PRIMARY,
        working_dir=working_dir or "",
        prompt_mode=PromptMode.INLINE,
        prompt_text=prompt,
        input_mode=InputMode.PASTE,
        schedule=JobSchedule(type=ScheduleType.ONCE, run_at=now),
        enabled=False,
        concurrency_policy=ConcurrencyPolicy.WARN,
        keep_going_minutes=minutes,
    )
