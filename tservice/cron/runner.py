"""Runner of jobs: launches the session, then sends the prompt when the program is ready.

Each step is on disk before the next begins, and each session names the run that it was made for.  A
service that was killed at any point therefore continues where it stopped.  A session is made once,
and a prompt is typed once, because inputs are numbered (protocol-exactly-once).
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
from tservice.core.clock import now_ms, sleep
from tservice.core.doors.worker_pool import IThreads
from tservice.core.errors import ErrorCode, ServiceError, operation_failed
from tservice.core.identity import Identity
from tservice.core.places.location_registry import LocationRegistry
from tservice.core.tasks import spawn_logged
from tservice.core.text import cut_between
from tservice.cron.book import JobBook
from tservice.cron.model import (
    PROMPT_FILE_BYTES,
    Definition,
    InputMode,
    Job,
    PromptMode,
    Run,
    RunDelivery,
    RunStatus,
)
from tservice.cron.promptfile import read_prompt
from tservice.cron.rules import JobRules
from tservice.sessions.interfaces import (
    CreateRequest,
    InputRequest,
    ISessions,
    Session,
    SessionStatus,
    check_started,
)

AT_ONCE = 8
"""Sessions that are being started at a time."""
UNDER_WAY = 200
"""Unfinished runs at which no more can be started by hand: twice the maximum number of jobs."""
READY_SECONDS = 60.0
"""Seconds that an agent may take until it accepts a prompt (protocol-cron-times)."""
SHELL_SECONDS = 1.0
"""Seconds between the start of a shell, its command, and the prompt (protocol-cron-times)."""
RESUME_MS = 10 * 60 * 1000
"""Age in milliseconds up to which a run that a restart interrupted is continued."""
SESSION_NAME = 128

_COMMAND, _PROMPT = 1, 2
"""Sequence numbers of a run's inputs."""


@frozen(kw_only=True)
class RunnerDependencies:
    """Dependencies of L{Runner}.

    @ivar identity: returns the current account of an owner; C{None} if it is gone or disabled.
    @ivar places: locations with whose rights prompt files are read.
    """

    clock: IReactorTime
    book: JobBook
    rules: JobRules
    sessions: ISessions
    agents: IAgents
    threads: IThreads
    audit: IAuditLog
    identity: Callable[[str | None], Identity | None]
    places: LocationRegistry


class Runner:
    """Unfinished runs, and the work on them."""

    _log = Logger()

    def __init__(self, tools: RunnerDependencies) -> None:
        self._tools = tools
        self._book, self._sessions = tools.book, tools.sessions
        self._starts = DeferredSemaphore(AT_ONCE)
        self._work: dict[str, tuple[Job, Deferred[None]]] = {}
        self._starting: dict[str, Job] = {}
        # Runs between start and session record must not be cancelled: their session would have no
        # record.
        self._launching: set[str] = set()
        self._closed = False

    @property
    def under_way(self) -> int:
        """Number of unfinished runs."""
        return len(self._work)

    def begin(
        self, job: Job, run: Run, again: Callable[[], object] = lambda: None
    ) -> Deferred[None]:
        """Carry out a run.

        @param again: authorizes the caller again, before its session is made; raises if that fails.
        @return: fires after its session was started or it failed; the registry has the result.
        """
        launched: Deferred[None] = Deferred()
        self._starting[run.id] = job
        self._spawn(job, run, self._carry_out(job, run, launched, again))
        return launched

    def resume(self) -> None:
        """Continue the runs of the previous process; call it after the sessions are open."""
        for run in self._book.store.unfinished():
            job = self._book.find(run.job_id)
            if job is None:
                continue
            if now_ms(self._tools.clock) - run.started_at > RESUME_MS:
                self._left(run)
            elif run.status is RunStatus.CREATED:
                self.begin(job, run)
            else:
                self._spawn(job, run, self._deliver(job, run))

    def forget(self, job_id: str) -> None:
        """Cancel the runs of a deleted job."""
        self._cancel(lambda job: job.id == job_id)

    def close(self) -> Deferred[Any]:
        """Stop; the next service process continues.

        @return: fires after the starts that could not be cancelled are done.
        """
        self._closed = True
        self._cancel(lambda job: True)
        return DeferredList([task for _, task in self._work.values()])

    def others(self, job: Job) -> int:
        """Return the number of live or starting sessions of the same mode and owner that belong to
        no run of this job.
        """
        live = [
            session
            for session in self._sessions.list()
            if session.mode == job.definition.agent_type
            and session.owner == job.owner
            and session.pid is not None
            and not (session.agent_origin or "").startswith(_origin(job.id, ""))
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

    def _spawn(self, job: Job, run: Run, work: Coroutine[Any, Any, None]) -> None:
        task = spawn_logged(work, self._log, f"run {run.id}")
        if not task.called:
            self._work[run.id] = (job, task)
            task.addBoth(lambda _: self._ended(run.id))

    def _ended(self, run_id: str) -> None:
        del self._work[run_id]

    def _cancel(self, whose: Callable[[Job], bool]) -> None:
        for run_id, (job, task) in list(self._work.items()):
            if whose(job) and run_id not in self._launching:
                task.cancel()

    def _left(self, run: Run) -> None:
        reason = "the service was not running to continue it"
        if run.status is RunStatus.CREATED:
            self._fail(run, reason)
        else:
            self._book.change(run, error_message=reason, delivery=None)

    async def _carry_out(
        self, job: Job, run: Run, launched: Deferred[None], again: Callable[[], object]
    ) -> None:
        try:
            started = await self._starts.run(
                lambda: Deferred.fromCoroutine(self._try_launch(job, run, again))
            )
        finally:
            self._starting.pop(run.id, None)
            if not launched.called:
                launched.callback(None)
        if started is not None and not self._closed and self._book.find(job.id) is not None:
            await self._deliver(job, started)

    async def _try_launch(self, job: Job, run: Run, again: Callable[[], object]) -> Run | None:
        self._launching.add(run.id)
        try:
            return await self._launch(job, run, again)
        except CancelledError:
            raise
        except ServiceError as error:
            self._fail(run, error.message)
        except Exception:
            self._log.failure("run {id} was not launched", id=run.id)
            self._fail(run, "an internal error; see the log")
        finally:
            self._launching.discard(run.id)
        return None

    async def _launch(self, job: Job, run: Run, again: Callable[[], object]) -> Run:
        owner = self._owner(job)
        definition = await self._tools.rules.check(job.definition, owner)
        delivery = await self._delivery(definition, owner)
        session = await self._taken_up(job, run)
        if session is None:
            still = partial(self._still, job, owner, again)
            still()
            if definition.closes_previous:
                await self._close_previous(run)
            request = _request(job, run, definition)
            session = await self._sessions.create(request, owner, still)
            check_started(session)
        started = self._book.change(
            run,
            status=RunStatus.SESSION_STARTED,
            session_id=session.id,
            session_name=session.name,
            delivery=delivery,
        )
        self._note(job, started)
        return started

    def _owner(self, job: Job) -> Identity:
        owner = self._tools.identity(job.owner)
        if owner is None:
            raise operation_failed(f"the account {job.owner or 'of the job'} is gone or disabled")
        return owner

    def _still(self, job: Job, before: Identity, again: Callable[[], object]) -> None:
        """Fail if rights were revoked.

        @raise ServiceError: the owner has lost a right that it had C{before}, or the caller has.
        """
        if not self._owner(job).keeps_rights_of(before):
            raise operation_failed(
                f"a right of the account {job.owner or 'of the job'} was revoked"
            )
        try:
            again()
        except Exception as error:
            raise operation_failed("your permission was revoked before the run started") from error

    async def _delivery(self, definition: Definition, owner: Identity) -> RunDelivery:
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

    async def _taken_up(self, job: Job, run: Run) -> Session | None:
        """Return the session that a previous service process has started for the run."""
        for session in self._sessions.list():
            if session.agent_origin == _origin(job.id, run.id) and session.owner == job.owner:
                if session.pid is not None:
                    return session
                # The process never ran, or has ended: nothing was typed.
                await self._sessions.delete(session.id)
        return None

    async def _close_previous(self, run: Run) -> None:
        session_id = self._book.store.session_before(run)
        session = None if session_id is None else self._session(session_id)
        if session is not None and session.status is not SessionStatus.STOPPED:
            try:
                await self._sessions.stop(session.id, "closed for the next run of its job")
            except ServiceError as error:
                if error.code is not ErrorCode.NOT_FOUND:
                    raise operation_failed(
                        f"the previous session is still there: {error}"
                    ) from error

    async def _deliver(self, job: Job, run: Run) -> None:
        try:
            await self._put_in(job, run)
        except CancelledError:
            raise
        except ServiceError as error:
            self._undelivered(run, error.message)
        except Exception:
            self._log.failure("the prompt of run {id} was not delivered", id=run.id)
            self._fail(run, "an internal error; see the log")
        else:
            now = now_ms(self._tools.clock)
            self._book.change(run, status=RunStatus.PROMPT_SENT, finished_at=now, delivery=None)

    async def _put_in(self, job: Job, run: Run) -> None:
        delivery = run.delivery
        if delivery is None:
            raise operation_failed("its prompt was not stored")
        if not delivery.begun:
            await self._until_ready(job, run, delivery)
            run = self._book.change(run, delivery=evolve(delivery, begun=True))
        await self._type(job, run, _PROMPT, delivery.text, typed=delivery.typed)

    async def _until_ready(self, job: Job, run: Run, delivery: RunDelivery) -> None:
        session = self._sessions.get(run.session_id or "")
        if not self._tools.rules.is_shell(session.mode):
            await self._tools.agents.wait_for_prompt(session.id, READY_SECONDS)
            return
        await sleep(self._tools.clock, SHELL_SECONDS)
        if delivery.command is not None:
            await self._type(job, run, _COMMAND, delivery.command, typed=False)
            await sleep(self._tools.clock, SHELL_SECONDS)

    async def _type(self, job: Job, run: Run, number: int, text: str, *, typed: bool) -> None:
        # Time has passed since the last check, perhaps with a restart of the service.
        self._tools.rules.check_grant(job.definition, self._owner(job))
        request = InputRequest(
            text=text,
            use_mux=True,
            client_id=f"cron-{run.id}",
            seq=number,
            typed=typed,
            longest=PROMPT_FILE_BYTES,
        )
        await self._sessions.send_input(run.session_id or "", request)

    def _undelivered(self, run: Run, reason: str) -> None:
        """Record a failed delivery; if the session was closed, the run keeps its status
        (protocol-cron-run).
        """
        session = self._session(run.session_id or "")
        if session is None or session.status is SessionStatus.STOPPED or session.detached:
            closed = "the session was closed before the prompt was sent"
            self._book.change(run, error_message=closed, delivery=None)
        else:
            self._fail(run, reason)

    def _fail(self, run: Run, reason: str) -> None:
        self._book.change(
            run,
            status=RunStatus.FAILED,
            error_message=reason,
            finished_at=now_ms(self._tools.clock),
            delivery=None,
        )

    def _session(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None

    def _note(self, job: Job, run: Run) -> None:
        detail = {"run": run.id, "trigger": run.trigger, "session": run.session_id}
        entry = AuditEntry(action="cron.run", actor=job.owner or "", target=job.id, detail=detail)
        self._tools.audit.record_entry(entry)


def _origin(job_id: str, run_id: str) -> str:
    """Return the origin that a session of a run records."""
    return f"cron:{job_id}:{run_id}"


def _request(job: Job, run: Run, definition: Definition) -> CreateRequest:
    return CreateRequest(
        mode=definition.agent_type,
        name=cut_between(definition.name, SESSION_NAME).strip(),
        case_name=definition.case_name,
        working_dir=None if definition.case_name is not None else definition.working_dir,
        agent_origin=_origin(job.id, run.id),
        start=True,
    )
