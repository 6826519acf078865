"""Processes of sessions: start, observation, stop, detachment and adoption."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError, operation_failed
from tservice.core.event_payloads import SessionExited
from tservice.core.events import EventName
from tservice.mux.interface import IPane, LeftoverProcess, PaneExit
from tservice.sessions.interfaces import (
    Again,
    FolderHeld,
    IActivitySources,
    IAgentTokens,
    lasting,
)
from tservice.sessions.life.breaker import add_failure, tripped
from tservice.sessions.life.conversation import check_free
from tservice.sessions.life.launcher import Launcher, end
from tservice.sessions.life.priority import SetPriority, apply_at_start, confined
from tservice.sessions.life.watcher import Handlers, Watcher
from tservice.sessions.life.windows import Windows
from tservice.sessions.live import Live
from tservice.sessions.output.lastscreen import LastScreen
from tservice.sessions.record.model import Exit, Location, Phase, Session, Status
from tservice.sessions.roster import Roster

_T = TypeVar("_T")


class Processes:
    """Operations on the processes of sessions.  Operations on one session never overlap."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        roster: Roster,
        launcher: Launcher,
        activity: IActivitySources,
        set_priority: SetPriority,
        windows: Windows,
    ) -> None:
        self._clock = clock
        self._roster = roster
        self._launcher = launcher
        self._activity = activity
        self._set_priority = set_priority
        self._windows = windows
        self._handlers = Handlers(
            over=self._over,
            resized=self._resized,
            working=self._working,
            idle=self._idle,
            noted=self._noted,
        )

    async def start(
        self,
        live: Live,
        *,
        granted: bool,
        clear_breaker: bool = False,
        resume: str | None = None,
        again: Again = lasting,
    ) -> Session:
        """Start the process, or attach to the detached one.

        @param resume: the agent's conversation to continue.
        @param again: called once the location is ready, and again just before the program is
            started.
        @raise ServiceError: 409: it runs, the breaker tripped, or the conversation is alive in
            another session; 400, 403, 422: it cannot be started, as the text says.
        """
        return await _alone(live, lambda: self._start(live, clear_breaker, granted, resume, again))

    async def stop(self, live: Live, reason: str) -> Session:
        """End the process and keep the record as C{stopped}.

        @raise ServiceError: 422: it does not answer; nothing was changed.
        """
        return await _alone(live, lambda: self._stop(live, reason))

    async def kill(self, live: Live) -> tuple[LeftoverProcess, ...]:
        """End the process in any phase, and remove the session.

        @return: the processes that outlive it.
        @raise DiskFull: done, but a restart brings the session back until the disk takes the
            change.
        @raise ServiceError: 422: it does not answer; nothing was changed.
        """
        return await _alone(live, lambda: self._kill(live))

    async def let_go(self, live: Live) -> tuple[LeftoverProcess, ...]:
        """Detach from the running process; remove a session without a process.

        @return: as L{kill}.
        """
        return await _alone(live, lambda: self._let_go(live))

    async def reconcile(self, live: Live) -> bool:
        """Adopt the process of a session that ran before this service started.

        @return: false: it does not answer, so nothing was changed; try again later.
        """
        return await _alone(live, lambda: self._reconcile(live))

    # -- operations, one at a time

    async def _start(
        self,
        live: Live,
        clear_breaker: bool,
        granted: bool,
        resume: str | None,
        again: Again,
    ) -> Session:
        parked = await self._parked(live, granted) if live.stage.phase is Phase.DETACHED else None
        if clear_breaker:
            live.stage.move.clear_breaker()
            live.failures = ()
        if parked is None and resume is not None:
            self._check_free(live, resume)
        live.stage.move.begin()
        try:
            pane = parked or await self._launch(live, granted, resume, again)
        except Exception as error:
            live.stage.move.begin_failed()
            held = {"status_reason": error.message} if isinstance(error, FolderHeld) else {}
            self._roster.happened(
                live, phase=live.stage.phase, status=Status.IDLE, pid=None, **held
            )
            raise
        resumed = parked is None and resume is not None
        self._hold(live, pane, fresh=parked is None, resumed=resumed)
        return live.session

    def _check_free(self, live: Live, conversation: str) -> None:
        """Refuse a second agent on one conversation. There is no wait between this check and the
        start.
        """
        owner = live.record.owner
        others = [other for other in self._roster if other is not live]
        check_free(conversation, others, lambda record: record.owner in (None, owner))

    async def _launch(self, live: Live, granted: bool, resume: str | None, again: Again) -> IPane:
        # Waking a host takes up to 40 s, and building an image takes minutes.
        await self._launcher.answers(live.record)
        again()
        if not live.record.owned:
            self._roster.change(live, phase=Phase.STARTING)
            live.forget_pane()
            return await self._launcher.attach(live.record)
        plan = self._launcher.plan(live.record, granted=granted, resume=resume)
        # The dead pane of the last start still has its server. On a remote host the look-up takes
        # longer than the start.
        first = live.record.phase is Phase.CREATED
        # The phase is on disk before there is a server, so adoption handles a crash in between.
        self._roster.change(live, phase=Phase.STARTING, params=dict(plan.params))
        old = live.forget_pane() or (None if first else await self._launcher.take_up(live.record))
        if old is not None:
            await end(old)
        colours = live.told_colours = self._windows.colours_of(live)
        return await self._launcher.launch(live.record, plan, again, colours)

    async def _parked(self, live: Live, granted: bool) -> IPane | None:
        """Return the live pane of a detached session; C{None} if it has ended."""
        if live.record.owned:
            self._launcher.judge(live.record, granted=granted)
        pane = live.forget_pane() or await self._launcher.take_up(live.record)
        if pane is None or pane.ending is None:
            return pane
        await end(pane)
        return None

    async def _stop(self, live: Live, reason: str) -> Session:
        ran = live.record.pid is not None
        await self._end(live)
        live.stage.move.stop()
        self._roster.happened(
            live,
            phase=Phase.STOPPED,
            status=Status.STOPPED,
            status_reason=reason,
            pid=None,
        )
        if ran:
            self._roster.publish(live, EventName.SESSION_EXIT, SessionExited(id=live.record.id))
        return live.session

    async def _kill(self, live: Live) -> tuple[LeftoverProcess, ...]:
        left = await self._end(live)
        self._roster.remove(live)
        return left

    async def _end(self, live: Live) -> tuple[LeftoverProcess, ...]:
        pane = live.pane
        if pane is None and live.stage.phase is not Phase.CREATED and live.record.owned:
            pane = await self._launcher.take_up(live.record)
        left = () if pane is None else await end(pane)
        live.forget_pane()
        return left

    async def _let_go(self, live: Live) -> tuple[LeftoverProcess, ...]:
        if live.stage.phase is Phase.UNKNOWN:
            raise operation_failed("the session's terminal does not answer")
        if live.stage.phase is not Phase.RUNNING:
            return await self._kill(live)
        live.stage.move.let_go()
        # The multiplexer cannot drop a single client, so the pane is kept for the next start.
        live.pane = live.forget_pane()
        self._roster.happened(live, phase=Phase.DETACHED, status=Status.IDLE, pid=None)
        return ()

    async def _reconcile(self, live: Live) -> bool:
        if live.stage.phase is not Phase.UNKNOWN:
            return True
        try:
            pane = await self._launcher.take_up(live.record)
        except ServiceError as error:
            self._log.warn("session {id}: {error}", id=live.record.id, error=error)
            return False
        if pane is None:
            self._gone(live, None)
            live.inputs.abandon()
            return True
        self._hold(live, pane, fresh=False)
        return True

    def hand_out(self, tokens: IAgentTokens) -> None:
        """Set the issuer of agents' own tokens."""
        self._launcher.hand_out(tokens)

    # -- state changes of processes

    def _hold(self, live: Live, pane: IPane, *, fresh: bool, resumed: bool = False) -> None:
        """Assign a pane with a process, new or adopted, to the session."""
        live.stage.move.began()
        live.pane = pane
        watcher = Watcher(live, self._handlers)
        screen = LastScreen(self._clock, pane, lambda: live.record.location is not Location.LOCAL)
        live.last_screen = screen
        live.unlisten = _all(
            pane.add_listener(watcher),
            pane.log.subscribe(lambda: self._printed(live, screen)),
            screen.close,
        )
        screen.printed()
        if pane.ending is not None:
            self._over(live, pane.ending)
            live.inputs.abandon()
            return
        self._running(live, pane, watcher, fresh, resumed)

    def _running(
        self, live: Live, pane: IPane, watcher: Watcher, fresh: bool, resumed: bool
    ) -> None:
        status = Status.IDLE if fresh else live.record.status
        self._roster.change(
            live,
            # A power loss ends the process too, and the next start reconciles the record.
            durable=False,
            phase=Phase.RUNNING,
            pid=pane.pid,
            pane_exit=None,
            status=status,
            status_reason="started" if fresh else live.record.status_reason,
            turn_open=not fresh and live.record.turn_open,
            cols=pane.cols,
            rows=pane.rows,
        )
        if not fresh:
            live.told_colours = None
        self._windows.recolour(live)
        if fresh:
            renice = confined(self._set_priority, live.record.place)
            apply_at_start(renice, pane.pid, live.record.nice)
            self._roster.tell(live, EventName.SESSION_INTERACTIVE)
        else:
            live.inputs.recover()
        live.activity = self._activity.source(live.record, pane, watcher, fresh, resumed)
        live.activity.start()

    def _over(self, live: Live, ending: PaneExit | None) -> None:
        if live.activity is not None:
            live.activity.stop()
        if ending is None:
            live.forget_pane()
            self._gone(live, None)
            return
        self._gone(live, Exit(status=ending.status, signal=ending.signal, at=ending.at))

    def _gone(self, live: Live, ending: Exit | None) -> None:
        if ending is not None and ending.failed:
            live.failures = add_failure(live.failures, ending.at)
        broke = tripped(live.failures)
        if broke:
            live.stage.move.trip()
        else:
            live.stage.move.over()
        self._roster.happened(
            live,
            phase=live.stage.phase,
            status=Status.ERROR if broke else Status.IDLE,
            status_reason=_reason(ending),
            turn_open=False,
            pid=None,
            pane_exit=ending if _is_known(ending) else None,
        )
        told = SessionExited(id=live.record.id, status=None if ending is None else ending.status)
        self._roster.publish(live, EventName.SESSION_EXIT, told)
        if broke:
            self._roster.tell(live, EventName.SESSION_BREAKER_TRIPPED)
            self._roster.tell(live, EventName.SESSION_ERROR)

    def _resized(self, live: Live, cols: int, rows: int) -> None:
        self._roster.change(live, durable=False, cols=cols, rows=rows)

    def _printed(self, live: Live, screen: LastScreen) -> None:
        live.last_output = now_ms(self._clock)
        screen.printed()

    def _working(self, live: Live, reason: str) -> None:
        self._roster.change(live, durable=False, status=Status.BUSY, status_reason=reason)
        self._roster.tell(live, EventName.SESSION_WORKING)

    def _idle(self, live: Live, reason: str) -> None:
        self._roster.change(
            live, durable=False, status=Status.IDLE, status_reason=reason, turn_open=False
        )
        self._roster.tell(live, EventName.SESSION_IDLE)

    def _noted(self, live: Live, reason: str) -> None:
        if reason != live.record.status_reason:
            self._roster.change(live, durable=False, status_reason=reason)


async def _alone(live: Live, move: Callable[[], Awaitable[_T]]) -> _T:
    """Run C{move} while no other operation of that session runs."""
    await live.lock.acquire()
    try:
        return await move()
    finally:
        live.lock.release()


def _all(*calls: Callable[[], None]) -> Callable[[], None]:
    def do() -> None:
        for call in calls:
            call()

    return do


def _is_known(ending: Exit | None) -> bool:
    """Return whether it is known how the process ended; an unknown status is never 0."""
    return ending is not None and ending != Exit(at=ending.at)


def _reason(ending: Exit | None) -> str:
    if ending is None or not _is_known(ending):
        return "the process is gone"
    if ending.signal is not None:
        return f"the process was ended by {ending.signal}"
    return f"the process exited with status {ending.status}"
