"""Manages the processes of sessions: start, observation, stop, detachment and adoption."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.core.kernel.event_payloads import SessionExited
from tservice.core.kernel.events import EventName
from tservice.mux.interface import IPane, LeftoverProcess, PaneExit
from tservice.sessions.interfaces import (
    FolderApprovalRequired,
    IActivitySources,
    IAgentTokens,
)
from tservice.sessions.life.conversation import check_conversation_free
from tservice.sessions.life.exit_breaker import add_failure, has_tripped
from tservice.sessions.life.launcher import PaneLauncher, end_pane
from tservice.sessions.life.pane_watcher import PaneEventHandlers, PaneWatcher
from tservice.sessions.life.priority import (
    SetPriority,
    confine_to_location,
    set_priority_after_start,
)
from tservice.sessions.life.viewport_manager import ViewportManager
from tservice.sessions.live_session import LiveSession
from tservice.sessions.output.last_screen import LastScreen
from tservice.sessions.record.model import (
    ProcessExit,
    ProcessPhase,
    Session,
    SessionLocationKind,
    SessionStatus,
)
from tservice.sessions.registry import SessionRegistry

_T = TypeVar("_T")


class SessionProcesses:
    """Operations on the processes of sessions.  Operations on one session never overlap."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        roster: SessionRegistry,
        launcher: PaneLauncher,
        activity: IActivitySources,
        set_priority: SetPriority,
        windows: ViewportManager,
    ) -> None:
        self._clock = clock
        self._roster = roster
        self._launcher = launcher
        self._activity = activity
        self._set_priority = set_priority
        self._windows = windows
        self._handlers = PaneEventHandlers(
            over=self._handle_exit,
            resized=self._record_pane_size,
            working=self._record_working_status,
            idle=self._record_idle_status,
            noted=self._record_status_reason,
        )

    async def start_process(
        self,
        live: LiveSession,
        caller: Caller,
        *,
        clear_breaker: bool = False,
        resume: str | None = None,
    ) -> Session:
        """Start the process, or attach to the detached one.

        @param caller: authorized again once the location is ready, and just before the program is
            started.
        @param resume: the agent's own id of the conversation to continue; C{None} for a new one.
        @raise ServiceError: 409: the process runs, the breaker tripped, or the conversation is in
            use in another session; 400, 403, 422: the process cannot be started, as the text says.
        """
        return await _run_session_operation_alone(
            live, lambda: self._start_locked(live, caller, clear_breaker, resume)
        )

    async def stop_process(self, live: LiveSession, reason: str) -> Session:
        """End the process and keep the record as C{stopped}.

        @raise ServiceError: 422: the process's server does not answer; nothing was changed.
        """
        return await _run_session_operation_alone(live, lambda: self._stop_locked(live, reason))

    async def kill_session(self, live: LiveSession) -> tuple[LeftoverProcess, ...]:
        """End the process in any phase, and remove the session.

        @return: the processes that outlive the session.
        @raise DiskFull: the session was removed, but a restart brings it back until the change can
            be written.
        @raise ServiceError: 422: the process's server does not answer; nothing was changed.
        """
        return await _run_session_operation_alone(live, lambda: self._kill_locked(live))

    async def detach_session(self, live: LiveSession) -> tuple[LeftoverProcess, ...]:
        """Detach from the running process. A session without a process is removed instead.

        @return: as L{kill_session}.
        """
        return await _run_session_operation_alone(live, lambda: self._detach_locked(live))

    async def resolve_unknown_phase(self, live: LiveSession) -> bool:
        """Adopt the process of a session that ran before this service started, or record its end.

        @return: false if the server does not answer. Nothing was changed, and the caller tries
            again later.
        """
        return await _run_session_operation_alone(
            live, lambda: self._resolve_unknown_phase_locked(live)
        )

    # -- operations, one at a time

    async def _start_locked(
        self,
        live: LiveSession,
        caller: Caller,
        clear_breaker: bool,
        resume: str | None,
    ) -> Session:
        parked = (
            await self._find_detached_pane(live, granted=caller.can_bypass_permissions)
            if live.lifecycle.phase is ProcessPhase.DETACHED
            else None
        )
        if clear_breaker:
            live.lifecycle.move.clear_breaker()
            live.failures = ()
        if parked is None and resume is not None:
            self._check_conversation(live, resume)
        live.lifecycle.move.begin_start()
        try:
            pane = parked or await self._launch_pane(live, caller, resume)
        except Exception as error:
            live.lifecycle.move.mark_start_failed()
            held = (
                {"status_reason": error.message}
                if isinstance(error, FolderApprovalRequired)
                else {}
            )
            self._roster.record_observation(
                live, phase=live.lifecycle.phase, status=SessionStatus.IDLE, pid=None, **held
            )
            raise
        resumed = parked is None and resume is not None
        self._assign_pane(live, pane, fresh=parked is None, resumed=resumed)
        return live.session

    def _check_conversation(self, live: LiveSession, conversation: str) -> None:
        """Refuse to start a second agent on one conversation. No other code runs between check and
        start.
        """
        owner = live.record.owner
        others = [other for other in self._roster if other is not live]
        check_conversation_free(conversation, others, lambda record: record.owner in (None, owner))

    async def _launch_pane(self, live: LiveSession, caller: Caller, resume: str | None) -> IPane:
        # Waking a host takes up to 40 s, and building an image takes minutes.
        await self._launcher.check_folders_reachable(live.record)
        caller.reauthorize()
        if not live.record.is_owned:
            self._roster.update_record(live, phase=ProcessPhase.STARTING)
            live.detach_pane()
            return await self._launcher.attach_pane(live.record)
        granted = caller.can_bypass_permissions
        plan = self._launcher.make_plan(live.record, granted=granted, resume=resume)
        # The dead pane of the last start still has its server. On a remote host the look-up takes
        # longer than the start.
        first = live.record.phase is ProcessPhase.CREATED
        # The phase is on disk before there is a server, so adoption handles a crash in between.
        self._roster.update_record(live, phase=ProcessPhase.STARTING, params=dict(plan.params))
        old = live.detach_pane() or (
            None if first else await self._launcher.adopt_pane(live.record)
        )
        if old is not None:
            await end_pane(old)
        colours = live.reported_colours = self._windows.get_starting_colours(live)
        return await self._launcher.launch_pane(live.record, plan, caller, colours)

    async def _find_detached_pane(self, live: LiveSession, *, granted: bool) -> IPane | None:
        """Return the running pane of a detached session; C{None} if its process has ended."""
        if live.record.is_owned:
            self._launcher.check_may_start_program(live.record, granted=granted)
        pane = live.detach_pane() or await self._launcher.adopt_pane(live.record)
        if pane is None or pane.ending is None:
            return pane
        await end_pane(pane)
        return None

    async def _stop_locked(self, live: LiveSession, reason: str) -> Session:
        ran = live.record.pid is not None
        await self._end_process(live)
        live.lifecycle.move.mark_stopped()
        self._roster.record_observation(
            live,
            phase=ProcessPhase.STOPPED,
            status=SessionStatus.STOPPED,
            status_reason=reason,
            pid=None,
        )
        if ran:
            self._roster.publish_event(
                live, EventName.SESSION_EXIT, SessionExited(id=live.record.id)
            )
        return live.session

    async def _kill_locked(self, live: LiveSession) -> tuple[LeftoverProcess, ...]:
        left = await self._end_process(live)
        self._roster.remove(live)
        return left

    async def _end_process(self, live: LiveSession) -> tuple[LeftoverProcess, ...]:
        pane = live.pane
        if (
            pane is None
            and live.lifecycle.phase is not ProcessPhase.CREATED
            and live.record.is_owned
        ):
            pane = await self._launcher.adopt_pane(live.record)
        left = () if pane is None else await end_pane(pane)
        live.detach_pane()
        return left

    async def _detach_locked(self, live: LiveSession) -> tuple[LeftoverProcess, ...]:
        if live.lifecycle.phase is ProcessPhase.UNKNOWN:
            raise make_failure_error("the session's terminal does not answer")
        if live.lifecycle.phase is not ProcessPhase.RUNNING:
            return await self._kill_locked(live)
        live.lifecycle.move.detach_process()
        # The multiplexer cannot drop a single client, so the pane is kept for the next start.
        live.pane = live.detach_pane()
        self._roster.record_observation(
            live, phase=ProcessPhase.DETACHED, status=SessionStatus.IDLE, pid=None
        )
        return ()

    async def _resolve_unknown_phase_locked(self, live: LiveSession) -> bool:
        if live.lifecycle.phase is not ProcessPhase.UNKNOWN:
            return True
        try:
            pane = await self._launcher.adopt_pane(live.record)
        except ServiceError as error:
            self._log.warn("session {id}: {error}", id=live.record.id, error=error)
            return False
        if pane is None:
            self._record_exit(live, None)
            live.inputs.abandon_input()
            return True
        self._assign_pane(live, pane, fresh=False)
        return True

    def set_token_issuer(self, tokens: IAgentTokens) -> None:
        """Set the issuer of agents' own tokens."""
        self._launcher.set_token_issuer(tokens)

    # -- state changes of processes

    def _assign_pane(
        self, live: LiveSession, pane: IPane, *, fresh: bool, resumed: bool = False
    ) -> None:
        """Assign a pane with a running process to the session.

        @param fresh: true if the process was just started, false if it was adopted.
        @param resumed: true if the process was started to continue a conversation.
        """
        live.lifecycle.move.mark_running()
        live.pane = pane
        watcher = PaneWatcher(live, self._handlers)
        screen = LastScreen(
            self._clock, pane, lambda: live.record.location is not SessionLocationKind.LOCAL
        )
        live.last_screen = screen
        live.unlisten = _combine_functions(
            pane.add_listener(watcher),
            pane.log.subscribe(lambda: self._record_pane_output(live, screen)),
            screen.close,
        )
        screen.schedule_capture()
        if pane.ending is not None:
            self._handle_exit(live, pane.ending)
            live.inputs.abandon_input()
            return
        self._record_running_process(live, pane, watcher, fresh, resumed)

    def _record_running_process(
        self, live: LiveSession, pane: IPane, watcher: PaneWatcher, fresh: bool, resumed: bool
    ) -> None:
        status = SessionStatus.IDLE if fresh else live.record.status
        self._roster.update_record(
            live,
            # A power loss ends the process too, and the next start reconciles the record.
            durable=False,
            phase=ProcessPhase.RUNNING,
            pid=pane.pid,
            pane_exit=None,
            status=status,
            status_reason="started" if fresh else live.record.status_reason,
            turn_open=not fresh and live.record.turn_open,
            cols=pane.cols,
            rows=pane.rows,
        )
        if not fresh:
            live.reported_colours = None
        self._windows.update_reported_colours(live)
        if fresh:
            renice = confine_to_location(self._set_priority, live.record.location_id)
            set_priority_after_start(renice, pane.pid, live.record.nice)
            self._roster.publish_timestamped_event(live, EventName.SESSION_INTERACTIVE)
        else:
            live.inputs.recover_input()
        live.activity = self._activity.make_source(live.record, pane, watcher, fresh, resumed)
        live.activity.start()

    def _handle_exit(self, live: LiveSession, ending: PaneExit | None) -> None:
        if live.activity is not None:
            live.activity.stop()
        if ending is None:
            live.detach_pane()
            self._record_exit(live, None)
            return
        self._record_exit(
            live, ProcessExit(status=ending.status, signal=ending.signal, at=ending.at)
        )

    def _record_exit(self, live: LiveSession, ending: ProcessExit | None) -> None:
        if ending is not None and ending.has_failed:
            live.failures = add_failure(live.failures, ending.at)
        broke = has_tripped(live.failures)
        if broke:
            live.lifecycle.move.trip_breaker()
        else:
            live.lifecycle.move.mark_exited()
        self._roster.record_observation(
            live,
            phase=live.lifecycle.phase,
            status=SessionStatus.ERROR if broke else SessionStatus.IDLE,
            status_reason=_describe_exit(ending),
            turn_open=False,
            pid=None,
            pane_exit=ending if _is_exit_known(ending) else None,
        )
        told = SessionExited(id=live.record.id, status=None if ending is None else ending.status)
        self._roster.publish_event(live, EventName.SESSION_EXIT, told)
        if broke:
            self._roster.publish_timestamped_event(live, EventName.SESSION_BREAKER_TRIPPED)
            self._roster.publish_timestamped_event(live, EventName.SESSION_ERROR)

    def _record_pane_size(self, live: LiveSession, cols: int, rows: int) -> None:
        self._roster.update_record(live, durable=False, cols=cols, rows=rows)

    def _record_pane_output(self, live: LiveSession, screen: LastScreen) -> None:
        live.last_output = get_unix_ms(self._clock)
        screen.schedule_capture()

    def _record_working_status(self, live: LiveSession, reason: str) -> None:
        self._roster.update_record(
            live, durable=False, status=SessionStatus.BUSY, status_reason=reason
        )
        self._roster.publish_timestamped_event(live, EventName.SESSION_WORKING)

    def _record_idle_status(self, live: LiveSession, reason: str) -> None:
        self._roster.update_record(
            live, durable=False, status=SessionStatus.IDLE, status_reason=reason, turn_open=False
        )
        self._roster.publish_timestamped_event(live, EventName.SESSION_IDLE)

    def _record_status_reason(self, live: LiveSession, reason: str) -> None:
        if reason != live.record.status_reason:
            self._roster.update_record(live, durable=False, status_reason=reason)


async def _run_session_operation_alone(live: LiveSession, move: Callable[[], Awaitable[_T]]) -> _T:
    """Run C{move} while no other operation on that session runs."""
    await live.lock.acquire()
    try:
        return await move()
    finally:
        live.lock.release()


def _combine_functions(*calls: Callable[[], None]) -> Callable[[], None]:
    def call_all() -> None:
        for call in calls:
            call()

    return call_all


def _is_exit_known(ending: ProcessExit | None) -> bool:
    """Return true if the process's exit status or signal is known. An unknown status is never 0."""
    return ending is not None and ending != ProcessExit(at=ending.at)


def _describe_exit(ending: ProcessExit | None) -> str:
    if ending is None or not _is_exit_known(ending):
        return "the process is gone"
    if ending.signal is not None:
        return f"the process was ended by {ending.signal}"
    return f"the process exited with status {ending.status}"
