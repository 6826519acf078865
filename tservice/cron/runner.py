"""Runner of jobs: launches the session, then types the prompt when the program is ready.

Each step is saved before the next one begins, and each session records the run that created it.  A
service that was killed at any point therefore continues there.  A session is created once, and a
prompt is typed once, because inputs are numbered (protocol-exactly-once).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from attrs import evolve, frozen
from twisted.internet.defer import CancelledError, Deferred, DeferredList, DeferredSemaphore
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.interfaces import IAgents
from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms, wait_seconds
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.values.text import cut_between_letters
from tservice.core.workers.worker_pool import IThreads
from tservice.cron.job_registry import JobRegistry
from tservice.cron.keep_going.service import KeepGoingService
from tservice.cron.model import (
    PROMPT_FILE_BYTES,
    CronJob,
    CronRun,
    InputMode,
    JobDefinition,
    PromptMode,
    RunDelivery,
    RunStatus,
)
from tservice.cron.prompt_file import read_prompt
from tservice.cron.rules import JobRules
from tservice.sessions.interfaces import (
    CreateRequest,
    InputRequest,
    ISessions,
    Session,
    SessionStatus,
    require_started,
)

MAX_STARTING = 8
"""Maximum number of sessions that are being started at the same time."""
MAX_UNFINISHED = 200
"""Maximum number of unfinished runs with which a user can start another.

This is twice the maximum number of jobs.
"""
READY_SECONDS = 60.0
"""Maximum seconds until an agent is ready for a prompt (protocol-cron-times)."""
SHELL_SECONDS = 1.0
"""Seconds between the start of a shell and its command, and before the prompt
(protocol-cron-times).
"""
RESUME_MS = 10 * 60 * 1000
"""Maximum age in milliseconds of an interrupted run that is continued after a restart."""
SESSION_NAME = 128

_COMMAND, _PROMPT = 1, 2
"""Sequence numbers of a run's inputs."""


@frozen(kw_only=True)
class JobRunnerDependencies:
    """Dependencies of L{JobRunner}.

    @ivar identity: returns the current account of an owner; C{None} if the account is gone or
        disabled.
    @ivar places: locations as whose OS users prompt files are read.
    """

    clock: IReactorTime
    book: JobRegistry
    rules: JobRules
    sessions: ISessions
    agents: IAgents
    keep_going: KeepGoingService
    threads: IThreads
    audit: IAuditLog
    identity: Callable[[str | None], Identity | None]
    places: LocationRegistry


class JobRunner:
    """Carries out runs, and keeps track of the unfinished ones."""

    _log = Logger()

    def __init__(self, tools: JobRunnerDependencies) -> None:
        self._tools = tools
        self._book, self._sessions = tools.book, tools.sessions
        self._starts = DeferredSemaphore(MAX_STARTING)
        self._work: dict[str, tuple[CronJob, Deferred[None]]] = {}
        self._starting: dict[str, CronJob] = {}
        # Runs between start and session record must not be cancelled: their session would have no
        # record.
        self._launching: set[str] = set()
        self._closed = False

    @property
    def unfinished_count(self) -> int:
        """Number of runs that are in progress."""
        return len(self._work)

    def begin_run(
        self, job: CronJob, run: CronRun, caller: Caller | None
    ) -> Deferred[ServiceError | None]:
        """Start to carry out a run.

        @param caller: authorized again before the session is created; C{None} for the schedule.
        @return: fires after the session was started or the run failed, with the error.  The
            registry has the result.
        """
        launched: Deferred[ServiceError | None] = Deferred()
        self._starting[run.id] = job
        self._spawn_task(job, run, self._launch_and_deliver(job, run, launched, caller))
        return launched

    def resume_runs(self) -> None:
        """Continue unfinished runs of the previous service process.

        Call this after the sessions are loaded.
        """
        for run in self._book.store.list_unfinished():
            job = self._book.find_job(run.job_id)
            if job is None:
                continue
            if run.keeps_going and run.session_id is not None:
                self._tools.keep_going.adopt_run(run)
            elif get_unix_ms(self._tools.clock) - run.started_at > RESUME_MS:
                self._record_abandoned_run(run)
            elif run.status is RunStatus.CREATED:
                self.begin_run(job, run, None)
            else:
                self._spawn_task(job, run, self._deliver_prompt(job, run))

    def cancel_job(self, job_id: str) -> None:
        """Cancel the running runs of a deleted job."""
        self._cancel_tasks(lambda job: job.id == job_id)

    def stop_runner(self) -> Deferred[Any]:
        """Stop all work on runs.  The next service process continues them.

        @return: fires after all work has ended; the launch of a session is not cancelled.
        """
        self._closed = True
        self._cancel_tasks(lambda job: True)
        return DeferredList([task for _, task in self._work.values()])

    def count_other_sessions(self, job: CronJob) -> int:
        """Count sessions of the job's mode and owner that no run of this job created.

        Live sessions are counted, and those that other jobs are starting.
        """
        live = [
            session
            for session in self._sessions.list()
            if session.mode == job.definition.agent_type
            and session.owner == job.owner
            and session.pid is not None
            and not (session.agent_origin or "").startswith(_make_origin(job.id, ""))
        ]
        starts = [
            other
            for other in self._starting.values()
            if other.id != job.id
            and other.owner == job.owner
            and other.definition.agent_type == job.definition.agent_type
        ]
        return len(live) + len(starts)

    # -- inside

    def _spawn_task(self, job: CronJob, run: CronRun, work: Coroutine[Any, Any, None]) -> None:
        task = spawn_logged(work, self._log, f"run {run.id}")
        if not task.called:
            self._work[run.id] = (job, task)
            task.addBoth(lambda _: self._remove_task(run.id))

    def _remove_task(self, run_id: str) -> None:
        del self._work[run_id]

    def _cancel_tasks(self, whose: Callable[[CronJob], bool]) -> None:
        for run_id, (job, task) in list(self._work.items()):
            if whose(job) and run_id not in self._launching:
                task.cancel()

    def _record_abandoned_run(self, run: CronRun) -> None:
        reason = "the service was not running to continue it"
        if run.status is RunStatus.CREATED:
            self._record_failure(run, reason)
        else:
            self._book.update_and_publish_run(run, error_message=reason, delivery=None)

    async def _launch_and_deliver(
        self,
        job: CronJob,
        run: CronRun,
        launched: Deferred[ServiceError | None],
        caller: Caller | None,
    ) -> None:
        started: CronRun | ServiceError | None = None
        try:
            async with self._starts:
                started = await self._launch_recording_failure(job, run, caller)
        finally:
            self._starting.pop(run.id, None)
            if not launched.called:
                launched.callback(started if isinstance(started, ServiceError) else None)
        gone = self._closed or self._book.find_job(job.id) is None
        if gone or not isinstance(started, CronRun):
            return
        if started.keep_going is None:
            await self._deliver_prompt(job, started)
        else:
            self._tools.keep_going.schedule_prompt(started)

    async def _launch_recording_failure(
        self, job: CronJob, run: CronRun, caller: Caller | None
    ) -> CronRun | ServiceError:
        self._launching.add(run.id)
        try:
            return await self._launch_session(job, run, caller)
        except CancelledError:
            raise
        except ServiceError as error:
            found = error
        except Exception:
            self._log.failure("run {id} was not launched", id=run.id)
            found = ServiceError(ErrorCode.INTERNAL_ERROR, "an internal error; see the log")
        finally:
            self._launching.discard(run.id)
        self._record_failure(run, found.message)
        return found

    async def _launch_session(self, job: CronJob, run: CronRun, caller: Caller | None) -> CronRun:
        owner = self._get_owner(job)
        definition = await self._check_definition(job, owner)
        if run.keeps_going:
            self._tools.keep_going.check_room(job.owner, run)
        delivery = await self._read_prompt_delivery(definition, owner)
        session = await self._find_started_session(job, run)
        if session is None:
            by = Caller.from_identity(owner, partial(self._check_rights, job, owner, caller))
            by.reauthorize()
            if definition.closes_previous:
                await self._close_previous(run)
            request = _make_request(job, run, definition)
            session = await self._sessions.create(request, by)
            require_started(session)
        started = self._book.update_and_publish_run(
            run,
            status=RunStatus.SESSION_STARTED,
            session_id=session.id,
            session_name=session.name,
            delivery=delivery,
        )
        self._write_audit_entry(job, started)
        return started

    async def _check_definition(self, job: CronJob, owner: Identity) -> JobDefinition:
        if job.is_timed_run:
            # It may work wherever its owner may create a session, which checks the folder.
            self._tools.rules.check_grant(job.definition, owner)
            return job.definition
        return await self._tools.rules.check_definition(job.definition, owner)

    def _get_owner(self, job: CronJob) -> Identity:
        owner = self._tools.identity(job.owner)
        if owner is None:
            raise make_failure_error(f"the account {job.owner or 'of the job'} is gone or disabled")
        return owner

    def _check_rights(self, job: CronJob, before: Identity, caller: Caller | None) -> None:
        """Fail if permissions were revoked since the run began.

        @param before: the owner's account when the run began.
        @raise ServiceError: the owner or the caller has lost a permission.
        """
        if not self._get_owner(job).keeps_rights_of(before):
            raise make_failure_error(
                f"a right of the account {job.owner or 'of the job'} was revoked"
            )
        if caller is None:
            return
        try:
            caller.reauthorize()
        except Exception as error:
            raise make_failure_error(
                "your permission was revoked before the run started"
            ) from error

    async def _read_prompt_delivery(
        self, definition: JobDefinition, owner: Identity
    ) -> RunDelivery:
        text = definition.prompt_text or ""
        if definition.prompt_mode is PromptMode.FILE:
            path = definition.prompt_file_path or ""
            read = partial(read_prompt, definition.working_dir, path)
            places = self._tools.places
            # The owner chooses the file, so root must not open it.
            await places.refresh_location(owner.location_id)
            place = places.get_caller_location(owner)
            work = partial(place.run_file_work, read)
            text = await self._tools.threads.run(
                work, at=definition.working_dir, owner=owner.username
            )
        return RunDelivery(
            text=text,
            typed=definition.input_mode is InputMode.TYPED,
            command=definition.launch_command,
        )

    async def _find_started_session(self, job: CronJob, run: CronRun) -> Session | None:
        """Return the session that a previous service process started for the run; C{None} without
        one.
        """
        for session in self._sessions.list():
            if session.agent_origin == _make_origin(job.id, run.id) and session.owner == job.owner:
                if session.pid is not None:
                    return session
                # The process never ran, or has ended: nothing was typed.
                await self._sessions.delete(session.id)
        return None

    async def _close_previous(self, run: CronRun) -> None:
        session_id = self._book.store.find_previous_session(run)
        session = None if session_id is None else self._find_session(session_id)
        if session is not None and session.status is not SessionStatus.STOPPED:
            try:
                await self._sessions.stop(session.id, "closed for the next run of its job")
            except ServiceError as error:
                if error.code is not ErrorCode.NOT_FOUND:
                    raise make_failure_error(
                        f"the previous session is still there: {error}"
                    ) from error

    async def _deliver_prompt(self, job: CronJob, run: CronRun) -> None:
        try:
            await self._send_inputs(job, run)
        except CancelledError:
            raise
        except ServiceError as error:
            self._record_undelivered(run, error.message)
        except Exception:
            self._log.failure("the prompt of run {id} was not delivered", id=run.id)
            self._record_failure(run, "an internal error; see the log")
        else:
            now = get_unix_ms(self._tools.clock)
            self._book.update_and_publish_run(
                run, status=RunStatus.PROMPT_SENT, finished_at=now, delivery=None
            )

    async def _send_inputs(self, job: CronJob, run: CronRun) -> None:
        delivery = run.delivery
        if delivery is None:
            raise make_failure_error("its prompt was not stored")
        if not delivery.begun:
            await self._wait_until_ready(job, run, delivery)
            run = self._book.update_and_publish_run(run, delivery=evolve(delivery, begun=True))
        await self._type_text(job, run, _PROMPT, delivery.text, typed=delivery.typed)

    async def _wait_until_ready(self, job: CronJob, run: CronRun, delivery: RunDelivery) -> None:
        session = self._sessions.get(run.session_id or "")
        if not self._tools.rules.is_shell(session.mode):
            await self._tools.agents.wait_for_prompt(session.id, READY_SECONDS)
            return
        await wait_seconds(self._tools.clock, SHELL_SECONDS)
        if delivery.command is not None:
            await self._type_text(job, run, _COMMAND, delivery.command, typed=False)
            await wait_seconds(self._tools.clock, SHELL_SECONDS)

    async def _type_text(
        self, job: CronJob, run: CronRun, number: int, text: str, *, typed: bool
    ) -> None:
        # Time has passed since the last check, perhaps with a restart of the service.
        self._tools.rules.check_grant(job.definition, self._get_owner(job))
        request = InputRequest(
            text=text,
            use_mux=True,
            client_id=f"cron-{run.id}",
            seq=number,
            typed=typed,
            longest=PROMPT_FILE_BYTES,
        )
        await self._sessions.send_input(run.session_id or "", request)

    def _record_undelivered(self, run: CronRun, reason: str) -> None:
        """Record that the prompt could not be delivered.

        If the session was closed, the run keeps its status (protocol-cron-run).
        """
        session = self._find_session(run.session_id or "")
        if session is None or session.status is SessionStatus.STOPPED or session.detached:
            closed = "the session was closed before the prompt was sent"
            self._book.update_and_publish_run(run, error_message=closed, delivery=None)
        else:
            self._record_failure(run, reason)

    def _record_failure(self, run: CronRun, reason: str) -> None:
        if run.keep_going is not None:
            self._tools.keep_going.fail_run(run, reason)
            return
        self._book.update_and_publish_run(
            run,
            status=RunStatus.FAILED,
            error_message=reason,
            finished_at=get_unix_ms(self._tools.clock),
            delivery=None,
        )

    def _find_session(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None

    def _write_audit_entry(self, job: CronJob, run: CronRun) -> None:
        detail = {"run": run.id, "trigger": run.trigger, "session": run.session_id}
        entry = AuditEntry(action="cron.run", actor=job.owner or "", target=job.id, detail=detail)
        self._tools.audit.record_entry(entry)


def _make_origin(job_id: str, run_id: str) -> str:
    """Return the origin by which a session refers to the run that created it."""
    return f"cron:{job_id}:{run_id}"


def _make_request(job: CronJob, run: CronRun, definition: JobDefinition) -> CreateRequest:
    return CreateRequest(
        mode=definition.agent_type,
        name=cut_between_letters(definition.name, SESSION_NAME).strip(),
        case_name=definition.case_name,
        working_dir=None if definition.case_name is not None else definition.working_dir or None,
        agent_origin=_make_origin(job.id, run.id),
        start=True,
    )
