"""Supervision of turns: checks run when a turn has ended, and their result decides what follows.

A session is I{judged} when no turn waits for a verdict.  From the end of a turn until the verdict
the notices of that end are held (L{tservice.core.kernel.notice_gate})::

    turn begins       -> not judged, running checks are cancelled
    turn ends         -> workspace unchanged: notices are released
                      -> checks run -> green: notices are released
                                    -> red:   the agent gets a prompt, or a person is notified

A run is on disk before its first process starts.  A run that the service could not end is reported
as interrupted after a restart, and never runs again by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from attrs import define, evolve
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.checks.model import (
    CaseChecks,
    CheckProgress,
    CheckRun,
    FollowUp,
    RunState,
    RunTrigger,
    RunVerdict,
    judge_run,
    select_checks,
    settle_progress,
    stop_by_person,
)
from tservice.checks.publisher import CheckPublisher
from tservice.checks.report import format_failures
from tservice.checks.run_executor import CheckRunExecutor, close_interrupted
from tservice.checks.service import CaseCheckService
from tservice.checks.store import CheckStore
from tservice.checks.workspace_state import WorkspaceState, WorkspaceStates
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.notice_gate import TURN_ENDS, NoticeGate
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.sessions.interfaces import InputRequest, ISessions, Session

_BEGINS = frozenset({EventName.SESSION_WORKING, EventName.HOOK_PROMPT_SUBMITTED})
_OVER = frozenset({EventName.SESSION_EXIT, EventName.SESSION_DELETED})


@define(eq=False)
class _SessionWatch:
    """Session whose turn is being judged, or whose checks run.

    @ivar task: the work in progress; it can be cancelled once.
    @ivar soon: the start of the next verdict.
    @ivar is_judged: false from the beginning of a turn until its verdict.
    @ivar is_sending: true while a failure is sent to the agent, whose new turn is our own.
    """

    task: Deferred[Any] | None = None
    soon: IDelayedCall | None = None
    is_judged: bool = True
    is_sending: bool = False
    is_cancelled: bool = False
    is_waiting: bool = False


class CheckSupervisor:
    """Runs the checks of sessions at the end of their turns, and on request."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        gate: NoticeGate,
        sessions: ISessions,
        store: CheckStore,
        cases: CaseCheckService,
        states: WorkspaceStates,
        executor: CheckRunExecutor,
        publisher: CheckPublisher,
        make_id: Callable[[], str],
    ) -> None:
        self._clock, self._hub, self._gate = clock, hub, gate
        self._sessions, self._store, self._cases = sessions, store, cases
        self._states, self._executor, self._publisher = states, executor, publisher
        self._make_id = make_id
        self._watched: dict[str, _SessionWatch] = {}
        self._ends: list[Callable[[], None]] = []
        self._is_stopping = False

    # -- start and stop

    def start(self) -> None:
        """Report the runs that an earlier process did not end, and follow the sessions."""
        self._gate.set_holder(self._holds_notice)
        self._ends = [
            self._hub.subscribe(self._handle_event),
            self._sessions.observe_input(self._handle_typing),
        ]
        for session in self._sessions.list():
            if session.turn_open:
                # Its end, which no event may report any more, is seen by the idle agent.
                self._watched[session.id] = _SessionWatch(is_judged=False)
        for run in self._store.list_open_runs():
            if run.follow_up is FollowUp.SENDING:
                self._begin(run.session_id, self._send_again(run))
            else:
                self._report_interrupted(run)

    def stop(self) -> Deferred[list[Any]]:
        """End the running checks.  The result fires after their processes have ended."""
        self._is_stopping = True
        self._executor.stop()
        for end in self._ends:
            end()
        tasks = []
        for watch in self._watched.values():
            cancel_call(watch.soon)
            if watch.task is not None:
                tasks.append(watch.task)
        for watch in tuple(self._watched.values()):
            self._cancel(watch)
        return gatherResults(tasks, consumeErrors=True)

    # -- requests

    def list_runs(self, session_id: str) -> list[CheckRun]:
        """Return the runs of a session's checks, newest first."""
        return self._store.list_runs(session_id)

    def find_state_since(self, session_id: str, since: int) -> str | None:
        """Return the state of the last run that ended after a time; C{None} if none did.

        @param since: Unix milliseconds.
        """
        for run in self._store.list_runs(session_id):
            if run.finished_at is not None and run.finished_at > since:
                return run.state.value
        return None

    def find_checks(self, session_id: str) -> CaseChecks | None:
        """Return the checks that apply to a session; C{None} if there are none."""
        return self._cases.find_session_checks(self._sessions.get(session_id))

    def is_under_way(self, session_id: str) -> bool:
        """Return true if the checks of a session run or wait."""
        watch = self._watched.get(session_id)
        return watch is not None and watch.task is not None

    def has_verdict(self, session_id: str) -> bool:
        """Return true if the checks have run, and neither they nor the agent are at work."""
        watch = self._watched.get(session_id, _SessionWatch())
        if watch.task is not None or watch.soon is not None or not watch.is_judged:
            return False
        runs = self._store.list_runs(session_id)
        return bool(runs) and not runs[0].is_under_way

    def request_run(self, session_id: str) -> CheckRun:
        """Run all checks of a session now.

        @raise ServiceError: 409: they run already; 422: there are none.
        """
        session = self._sessions.get(session_id)
        checks = self.find_checks(session_id)
        if checks is None:
            raise make_failure_error("the session's case has no checks")
        if self.is_under_way(session_id):
            raise make_conflict_error("the checks run already")
        run = CheckRun(
            id=self._make_id(), session_id=session_id, trigger=RunTrigger.REQUEST,
            created_at=get_unix_ms(self._clock),
            results=tuple(select_checks(checks.checks, (), None)),
        )  # fmt: skip
        self._store.save_run(run)
        self._begin(session_id, self._run_requested(run, session, checks))
        return run

    def cancel_run(self, session_id: str) -> None:
        """Cancel the run that is in progress.  The notices of the turn are dropped.

        @raise ServiceError: 409: none is.
        """
        self._sessions.get(session_id)
        watch = self._watched.get(session_id)
        if watch is None or watch.task is None or watch.is_sending:
            raise make_conflict_error("no checks run")
        watch.is_judged = True
        self._cancel(watch)
        self._gate.drop(session_id)

    # -- events

    def _handle_event(self, event: Event) -> None:
        self._cases.handle_event(event)
        session_id = event.session_id
        if session_id is None:
            return
        if event.name in _BEGINS:
            self._handle_turn_begin(session_id)
            self._gate.drop_reminders(session_id)
        elif event.name in TURN_ENDS:
            self._judge_soon(session_id)
        elif event.name is EventName.SESSION_IDLE:
            watch = self._watched.get(session_id)
            if watch is not None and not watch.is_judged:
                self._judge_soon(session_id)
        elif event.name in _OVER:
            self._handle_end(session_id)

    def _handle_turn_begin(self, session_id: str) -> None:
        watch = self._watched.setdefault(session_id, _SessionWatch())
        watch.is_judged = watch.is_waiting = False
        cancel_call(watch.soon)
        watch.soon = None
        if not watch.is_sending:
            self._cancel(watch)

    def _handle_end(self, session_id: str) -> None:
        watch = self._watched.get(session_id)
        if watch is None:
            return
        cancel_call(watch.soon)
        watch.soon, watch.is_judged, watch.is_waiting = None, True, False
        self._cancel(watch)
        self._gate.drop(session_id)
        self._forget_if_done(session_id, watch)

    def _handle_typing(self, session_id: str) -> None:
        progress = self._store.get_progress(session_id)
        changed = stop_by_person(progress, is_under_way=self.is_under_way(session_id))
        if changed != progress:
            self._store.save_progress(changed)

    def _holds_notice(self, event: Event) -> bool:
        session_id = event.session_id or ""
        watch = self._watched.get(session_id)
        if event.name not in TURN_ENDS and (watch is None or watch.is_judged):
            return False
        return not self._is_stopping and self._find_checks(session_id) is not None

    def _find_checks(self, session_id: str) -> tuple[Session, CaseChecks] | None:
        try:
            session = self._sessions.get(session_id)
        except ServiceError:
            return None
        checks = self._cases.find_session_checks(session)
        return None if checks is None else (session, checks)

    # -- tasks

    def _judge_soon(self, session_id: str) -> None:
        """Judge the turn that has ended, after all its events were published."""
        watch = self._watched.setdefault(session_id, _SessionWatch())
        watch.is_judged = False
        if watch.task is not None:
            watch.is_waiting = True
        elif watch.soon is None:
            watch.soon = self._clock.callLater(0, self._begin_verdict, session_id)

    def _begin_verdict(self, session_id: str) -> None:
        watch = self._watched[session_id]
        watch.soon = None
        self._begin(session_id, self._judge_turn(session_id, watch))

    def _begin(self, session_id: str, work: Coroutine[Any, Any, None]) -> None:
        watch = self._watched.setdefault(session_id, _SessionWatch())
        watch.is_cancelled = False
        guarded = self._release_after_failure(session_id, watch, work)
        task = watch.task = spawn_logged(guarded, self._log, "the checks of a session")
        task.addCallback(lambda _: self._handle_task_end(session_id, watch))

    async def _release_after_failure(
        self, session_id: str, watch: _SessionWatch, work: Coroutine[Any, Any, None]
    ) -> None:
        try:
            await work
        except CancelledError:
            raise
        except Exception:
            # No notice is lost because of a full disk, say.
            self._release(session_id, watch)
            raise

    def _handle_task_end(self, session_id: str, watch: _SessionWatch) -> None:
        watch.task = None
        if watch.is_waiting and not self._is_stopping:
            watch.is_waiting = False
            self._judge_soon(session_id)
        self._forget_if_done(session_id, watch)

    def _forget_if_done(self, session_id: str, watch: _SessionWatch) -> None:
        if watch.is_judged and watch.task is None and watch.soon is None:
            self._watched.pop(session_id, None)

    def _cancel(self, watch: _SessionWatch) -> None:
        if watch.task is not None and not watch.is_cancelled:
            watch.is_cancelled = True
            watch.task.cancel()

    # -- verdicts

    async def _judge_turn(self, session_id: str, watch: _SessionWatch) -> None:
        found = self._find_checks(session_id)
        if found is None:
            self._release(session_id, watch)
            return
        session, checks = found
        state = await self._states.read_state(session_id)
        progress = self._store.get_progress(session_id)
        runs = self._store.list_runs(session_id)
        if state is not None and progress.workspace == state.to_text():
            self._judge_unchanged(session_id, watch, progress, runs)
            return
        changed = await self._list_changed(session_id, progress, state)
        earlier = runs[0].results if runs else ()
        run = CheckRun(
            id=self._make_id(), session_id=session_id, attempt=progress.attempts,
            created_at=get_unix_ms(self._clock),
            results=tuple(select_checks(checks.checks, earlier, changed)),
        )  # fmt: skip
        self._store.save_run(run)
        self._publisher.publish_started(run)
        run = await self._executor.execute_run(run, session, checks)
        await self._settle_run(run, checks, state, watch)

    def _judge_unchanged(
        self, session_id: str, watch: _SessionWatch, progress: CheckProgress, runs: list[CheckRun]
    ) -> None:
        """Judge a turn that changed no file: the last result still holds."""
        if not runs or progress.attempts == 0 or runs[0].state is not RunState.RED:
            self._release(session_id, watch)
            if runs:
                self._publisher.publish_finished(runs[0])
            return
        ended = evolve(runs[0], follow_up=FollowUp.NOTIFIED, reason="the agent changed nothing")
        self._store.save_progress(settle_progress(progress, ended, RunVerdict.NOTIFY))
        self._notify_person(ended, watch)

    async def _list_changed(
        self, session_id: str, progress: CheckProgress, state: WorkspaceState | None
    ) -> frozenset[str] | None:
        if state is None or progress.workspace is None:
            return None
        before = WorkspaceState.from_text(progress.workspace)
        return await self._states.list_changed(session_id, before, state)

    async def _run_requested(self, run: CheckRun, session: Session, checks: CaseChecks) -> None:
        watch = self._watched[run.session_id]
        try:
            state = await self._states.read_state(run.session_id)
        except CancelledError:
            self._publisher.publish_finished(self._executor.close_cancelled(run))
            return
        self._publisher.publish_started(run)
        run = await self._executor.execute_run(run, session, checks)
        await self._settle_run(run, checks, state, watch)

    async def _settle_run(
        self, run: CheckRun, checks: CaseChecks, state: WorkspaceState | None, watch: _SessionWatch
    ) -> None:
        """Do what follows a run.  What the service could not end is reported when it is back."""
        if self._is_stopping:
            return
        progress = self._store.get_progress(run.session_id)
        verdict = judge_run(run, checks, progress)
        progress = settle_progress(progress, run, verdict)
        if run.state in (RunState.GREEN, RunState.RED):
            text = None if state is None else state.to_text()
            progress = evolve(progress, workspace=text)
        if verdict is RunVerdict.SEND_BACK:
            run = evolve(run, follow_up=FollowUp.SENDING)
        self._store.save_run(run)
        self._store.save_progress(progress)
        if verdict is RunVerdict.NOTIFY:
            self._notify_person(run, watch)
            return
        if verdict is RunVerdict.RELEASE:
            self._release(run.session_id, watch)
        self._publisher.publish_finished(run)
        if verdict is RunVerdict.SEND_BACK:
            await self._send_back(run, watch)

    async def _send_back(self, run: CheckRun, watch: _SessionWatch) -> None:
        """Send the failures to the agent as one prompt, typed exactly once."""
        self._gate.drop(run.session_id)
        request = InputRequest(
            text=format_failures(run.failures), use_mux=True, client_id=f"checks-{run.id}", seq=1,
            may_wait=True,
        )  # fmt: skip
        watch.is_sending = True
        try:
            delivery = await self._sessions.send_input(run.session_id, request)
            reason = "the session's host is out of reach" if delivery.dropped else None
        except ServiceError as error:
            reason = error.message
        finally:
            watch.is_sending = False
        if reason is not None:
            self._notify_person(evolve(run, reason=f"not sent to the agent: {reason}"), watch)
            return
        self._store.save_run(evolve(run, follow_up=FollowUp.SENT))

    async def _send_again(self, run: CheckRun) -> None:
        """Send a failure of which an earlier process may have typed the prompt already."""
        await self._send_back(run, self._watched.setdefault(run.session_id, _SessionWatch()))

    def _notify_person(self, run: CheckRun, watch: _SessionWatch) -> None:
        run = evolve(run, follow_up=FollowUp.NOTIFIED)
        self._store.save_run(run)
        self._gate.drop(run.session_id)
        watch.is_judged = True
        self._publisher.publish_finished(run, needs_person=run.trigger is RunTrigger.TURN)

    def _release(self, session_id: str, watch: _SessionWatch) -> None:
        watch.is_judged = True
        self._gate.release(session_id)

    def _report_interrupted(self, run: CheckRun) -> None:
        closed = close_interrupted(run, get_unix_ms(self._clock)) if run.is_under_way else run
        self._notify_person(closed, _SessionWatch())
