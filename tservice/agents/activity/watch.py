"""Watch of one agent's pane: looks at its screen and reports the results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.activity.gate import BLIND, SETTLE, SETTLE_UNTOLD, Readiness
from tservice.agents.activity.machine import Course, Doing
from tservice.agents.activity.pacer import Pacer
from tservice.agents.activity.submits import submits
from tservice.agents.activity.tracker import Tracked, Tracker
from tservice.agents.activity.trust import TrustAnswer
from tservice.agents.interfaces import Look
from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError, operation_failed, state_conflict
from tservice.core.tasks import spawn_logged
from tservice.core.timers import NamedTimers
from tservice.mux.interface import IPane, MuxError, PaneCapture, PaneGone
from tservice.sessions.interfaces import ActivitySink, IActivitySource, SessionStatus
from tservice.terminal.screen_frame import ScreenFrame
from tservice.terminal.screen_status import read_screen

START_IDLE = 3.0
"""Seconds after a fresh start at which an external CLI counts as idle (protocol-status)."""


@frozen(kw_only=True)
class Watched:
    """Run of an agent.

    @ivar fresh: its process was just started, not adopted; C{resumed}: to continue a conversation.
    @ivar may_trust: checks, before each key, if the folder-trust dialog may still be answered;
        raises L{ServiceError}. C{None} if the user must answer it.
    @ivar seen: called with each successful look.
    @ivar heard: called for each hook that concerns a turn.
    @ivar over: called once when watching ends.
    """

    agent: Tracked
    pane: IPane
    sink: ActivitySink
    fresh: bool
    resumed: bool
    may_trust: Callable[[], object] | None
    seen: Callable[[Look], None]
    over: Callable[[], None]
    heard: Callable[[], None] = lambda: None


@implementer(IActivitySource)
class AgentWatch:
    """Activity source of one run of an agent.

    @ivar tracker: the agent's activity; hooks are passed to it.
    @ivar readiness: the agent's readiness for prompts.
    @ivar last: the last successful look.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, watched: Watched) -> None:
        self._clock = clock
        self._run = watched
        self._pane = watched.pane
        self._agent = watched.agent
        session = self._agent.session()
        self.readiness = Readiness(
            clock,
            self._agent.rules,
            fresh=watched.fresh,
            prompted=session.last_submit_at is not None,
            resumed=watched.resumed,
            settle=SETTLE if self._agent.hooks else SETTLE_UNTOLD,
        )
        busy = Doing.WORKING if session.status is SessionStatus.BUSY else Doing.IDLE
        self._course = Course(watched.sink, Doing.STARTING if watched.fresh else busy)
        self.tracker = Tracker(
            clock,
            self._agent,
            self.readiness,
            self._course,
            watched.sink,
            self._stir,
            watched.heard,
        )
        self._pacer = Pacer(clock, self._pane.log, lambda: self.tracker.stake, self._look_soon)
        self._timers = NamedTimers(clock)
        self._work: list[Deferred[None]] = []
        self._looking = self._telling = self._asking = self._over = False
        self.last: Look | None = None

    # -- called by the sessions

    def start(self) -> None:
        if self._run.fresh and not self._agent.hooks:
            self._timers.schedule_call("start", START_IDLE, self._came_up)
        if not self.readiness.knowable:
            self._timers.schedule_call("blind", BLIND, self._look_soon)
        if self._run.may_trust is not None:
            look = partial(self._look_judged, self._run.may_trust)
            answer = TrustAnswer(self._clock, self._pane, self._agent.rules, self.readiness, look)
            self._spawn(answer.run(), "answering the trust dialog")
        session = self._agent.session()
        if not self._run.fresh and self.tracker.at_rest and session.turn_open:
            self.tracker.take_up(session.last_submit_at or 0)
        self._pacer.arm()

    def announce_submit(self, text: str | None) -> bool:
        printed, prompt = not self._pacer.current, text is not None
        if self._over or not submits(prompt, self.last, self._agent.rules, printed=printed):
            return False
        self.tracker.submitted(text)
        return True

    def stop(self) -> None:
        if self._over:
            return
        self._over = True
        self._pacer.close()
        self._course.tell.ended()
        self.readiness.close()
        self._timers.cancel_all()
        # A listener must not cancel the look that notifies it, which ends by itself.
        for work in () if self._telling else tuple(self._work):
            work.cancel()
        self._run.over()

    # -- for other features

    async def look(self) -> Look:
        """Look now, and pass the result to all observers.

        @raise ServiceError: 409: the process is gone; 422: it cannot be read now.
        """
        begun = self._clock.seconds()
        try:
            capture = await self._pane.capture_content()
        except PaneGone as error:
            raise state_conflict("the session has no process") from error
        except MuxError as error:
            self._missed()
            raise operation_failed(f"the screen cannot be read: {error}") from error
        self._pacer.captured(capture.offset)
        look = self._read(capture)
        if not self._over:
            self._took(look, capture.title, begun)
        return look

    # -- internal

    async def _look_judged(self, judge: Callable[[], object]) -> Look:
        look = await self.look()
        judge()
        return look

    def _read(self, capture: PaneCapture) -> Look:
        frame = ScreenFrame.from_capture(b"\n".join(capture.lines[capture.history :]), capture.cols)
        return Look(
            session_id=self._agent.session().id,
            at=now_ms(self._clock),
            frame=frame,
            # The pane's own title was read at another moment.
            reading=read_screen(frame, capture.title, self._agent.rules),
        )

    def _took(self, look: Look, title: str, begun: float) -> None:
        self.last = look
        self._pacer.looked()
        quiet = self._pacer.rhythm.settled(self._clock.seconds())
        self._telling = True
        try:
            self.readiness.saw(look, quiet=quiet)
            self.tracker.saw(look, title, begun, self._pacer.rhythm)
            self._run.seen(look)
        finally:
            self._telling = False
            self._pacer.arm()
        self._ask()

    def _ask(self) -> None:
        """Search the agent's conversation for the awaited answer, if there is one."""
        since, answered = self.tracker.unanswered_since, self._agent.answered
        if since is not None and answered is not None and not self._asking and not self._over:
            self._spawn(self._asked(since, answered), "looking for an answer")

    async def _asked(self, since: int, answered: Callable[[int], Awaitable[bool]]) -> None:
        self._asking = True
        try:
            found = await answered(since)
        except ServiceError as error:
            # It is repeated; until then the answer is unknown.
            self._log.debug("{error}", error=error)
            return
        finally:
            self._asking = False
        if found:
            self.tracker.answer_came(since)
            # Not within the look that requested it.
            self._timers.schedule_call("answer", 0.0, self._look_soon)

    def _missed(self) -> None:
        self.tracker.missed()
        self._pacer.looked(failed=True)
        self._pacer.arm()

    def _stir(self) -> None:
        self._pacer.stir()

    def _came_up(self) -> None:
        self.tracker.came_up(None if self.last is None else self.last.reading)

    def _look_soon(self) -> None:
        if not self._looking:
            self._spawn(self._scheduled(), "capturing a screen")

    async def _scheduled(self) -> None:
        self._looking = True
        try:
            await self.look()
        except ServiceError as error:
            # It is repeated; until then the state is unknown.
            self._log.debug("{error}", error=error)
        finally:
            self._looking = False
        self._pacer.arm()

    def _spawn(self, work: Coroutine[Any, Any, None], what: str) -> None:
        task = spawn_logged(work, self._log, what)
        if not task.called:
            self._work.append(task)
            task.addBoth(lambda _: self._work.remove(task))
