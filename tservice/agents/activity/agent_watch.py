"""Watch of one agent's pane, which captures the screen and reports the agent's activity."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.activity.activity_machine import ActivityMachine, AgentState
from tservice.agents.activity.activity_tracker import ActivityTracker, TrackedAgent
from tservice.agents.activity.input_gate import BLIND, SETTLE, SETTLE_UNTOLD, PromptReadiness
from tservice.agents.activity.poll_timer import PollTimer
from tservice.agents.activity.submission_end import is_submission
from tservice.agents.activity.trust_answerer import TrustAnswerer
from tservice.agents.interfaces import AgentScreen
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError, make_conflict_error, make_failure_error
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.mux.interface import IPane, MuxError, PaneCapture, PaneGone
from tservice.sessions.interfaces import ActivitySink, IActivitySource, SessionStatus
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_status import read_screen

START_IDLE = 3.0
"""Seconds after its start at which a new external CLI counts as idle (protocol-status)."""


@frozen(kw_only=True)
class WatchedRun:
    """Run of an agent, from the start or adoption of its process to the end of watching.

    @ivar sink: receives the changes of the agent's activity.
    @ivar fresh: the process was just started, not adopted.
    @ivar resumed: the process was just started to continue a conversation.
    @ivar may_trust: called before each key; raises L{ServiceError} if the folder-trust dialog may
        no longer be answered. C{None} if the user must answer it.
    @ivar on_look: called with each successful capture of the screen.
    @ivar on_end: called once when watching ends.
    @ivar on_turn_hook: called for each hook that concerns a turn.
    """

    agent: TrackedAgent
    pane: IPane
    sink: ActivitySink
    fresh: bool
    resumed: bool
    may_trust: Callable[[], object] | None
    on_look: Callable[[AgentScreen], None]
    on_end: Callable[[], None]
    on_turn_hook: Callable[[], None] = lambda: None


@implementer(IActivitySource)
class AgentWatch:
    """Activity source of one run of an agent.

    @ivar tracker: determines the agent's activity; hooks must be passed to it.
    @ivar readiness: the agent's readiness for prompts.
    @ivar last: the last successful capture of the screen.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, watched: WatchedRun) -> None:
        self._clock = clock
        self._run = watched
        self._pane = watched.pane
        self._agent = watched.agent
        session = self._agent.session()
        self.readiness = PromptReadiness(
            clock,
            self._agent.rules,
            fresh=watched.fresh,
            prompted=session.last_submit_at is not None,
            resumed=watched.resumed,
            settle=SETTLE if self._agent.has_hooks else SETTLE_UNTOLD,
        )
        busy = AgentState.WORKING if session.status is SessionStatus.BUSY else AgentState.IDLE
        self._course = ActivityMachine(watched.sink, AgentState.STARTING if watched.fresh else busy)
        self.tracker = ActivityTracker(
            clock,
            self._agent,
            self.readiness,
            self._course,
            watched.sink,
            self._record_activity,
            watched.on_turn_hook,
        )
        self._pacer = PollTimer(
            clock, self._pane.log, lambda: self.tracker.poll_context, self._start_scheduled_capture
        )
        self._timers = NamedTimers(clock)
        self._work: list[Deferred[None]] = []
        self._looking = self._telling = self._asking = self._over = False
        self.last: AgentScreen | None = None
        self._trust_answerer: TrustAnswerer | None = None

    @property
    def is_answering_trust(self) -> bool:
        """True while the service answers the folder-trust dialog if it appears."""
        return self._trust_answerer is not None and self._trust_answerer.is_active

    # -- called by the sessions

    def start(self) -> None:
        if self._run.fresh and not self._agent.has_hooks:
            self._timers.schedule_call("start", START_IDLE, self._record_startup)
        if not self.readiness.has_known_composer:
            self._timers.schedule_call("blind", BLIND, self._start_scheduled_capture)
        if self._run.may_trust is not None:
            look = partial(self._capture_after_permission_check, self._run.may_trust)
            self._trust_answerer = TrustAnswerer(
                self._clock, self._pane, self._agent.rules, self.readiness, look
            )
            self._spawn_work(self._trust_answerer.answer_dialog(), "answering the trust dialog")
        session = self._agent.session()
        if not self._run.fresh and self.tracker.is_idle and session.turn_open:
            self.tracker.adopt_submission(session.last_submit_at or 0)
        self._pacer.arm_timer()

    def announce_submit(self, text: str | None) -> bool:
        printed, prompt = not self._pacer.is_current, text is not None
        if self._over or not is_submission(prompt, self.last, self._agent.rules, printed=printed):
            return False
        self.tracker.record_submission(text)
        return True

    def stop(self) -> None:
        if self._over:
            return
        self._over = True
        self._pacer.close()
        self._course.evidence.process_ended()
        self.readiness.close()
        self._timers.cancel_all()
        # A listener must not cancel the look that notifies it, which ends by itself.
        for work in () if self._telling else tuple(self._work):
            work.cancel()
        self._run.on_end()

    # -- for other features

    async def capture_screen(self) -> AgentScreen:
        """Capture the screen now, and pass the capture to all observers.

        @raise ServiceError: 409: the process is gone; 422: the screen cannot be read now.
        """
        begun = self._clock.seconds()
        try:
            capture = await self._pane.capture_content()
        except PaneGone as error:
            raise make_conflict_error("the session has no process") from error
        except MuxError as error:
            self._record_failed_capture()
            raise make_failure_error(f"the screen cannot be read: {error}") from error
        self._pacer.record_capture(capture.offset)
        look = self._interpret_capture(capture)
        if not self._over:
            self._apply_screen(look, capture.title, begun)
        return look

    # -- internal

    async def _capture_after_permission_check(self, judge: Callable[[], object]) -> AgentScreen:
        look = await self.capture_screen()
        judge()
        return look

    def _interpret_capture(self, capture: PaneCapture) -> AgentScreen:
        frame = ScreenFrame.from_capture(b"\n".join(capture.lines[capture.history :]), capture.cols)
        return AgentScreen(
            session_id=self._agent.session().id,
            at=get_unix_ms(self._clock),
            frame=frame,
            # The pane's own title was read at another moment.
            reading=read_screen(frame, capture.title, self._agent.rules),
        )

    def _apply_screen(self, look: AgentScreen, title: str, begun: float) -> None:
        self.last = look
        self._pacer.record_capture_end()
        quiet = self._pacer.rhythm.is_settled(self._clock.seconds())
        self._telling = True
        try:
            self.readiness.update_from_screen(look, quiet=quiet)
            self.tracker.handle_screen(look, title, begun, self._pacer.rhythm)
            self._run.on_look(look)
        finally:
            self._telling = False
            self._pacer.arm_timer()
        self._search_answer()

    def _search_answer(self) -> None:
        """Search the agent's conversation for the awaited answer; do nothing if none is awaited."""
        since, answered = self.tracker.unanswered_since, self._agent.has_answer
        if since is not None and answered is not None and not self._asking and not self._over:
            self._spawn_work(self._search_recorded_answer(since, answered), "looking for an answer")

    async def _search_recorded_answer(
        self, since: int, answered: Callable[[int], Awaitable[bool]]
    ) -> None:
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
            self.tracker.record_answer(since)
            # Not within the look that requested it.
            self._timers.schedule_call("answer", 0.0, self._start_scheduled_capture)

    def _record_failed_capture(self) -> None:
        self.tracker.record_failed_capture()
        self._pacer.record_capture_end(failed=True)
        self._pacer.arm_timer()

    def _record_activity(self) -> None:
        self._pacer.record_activity()

    def _record_startup(self) -> None:
        self.tracker.record_startup(None if self.last is None else self.last.reading)

    def _start_scheduled_capture(self) -> None:
        if not self._looking:
            self._spawn_work(self._run_scheduled_capture(), "capturing a screen")

    async def _run_scheduled_capture(self) -> None:
        self._looking = True
        try:
            await self.capture_screen()
        except ServiceError as error:
            # It is repeated; until then the state is unknown.
            self._log.debug("{error}", error=error)
        finally:
            self._looking = False
        self._pacer.arm_timer()

    def _spawn_work(self, work: Coroutine[Any, Any, None], what: str) -> None:
        task = spawn_logged(work, self._log, what)
        if not task.called:
            self._work.append(task)
            task.addBoth(lambda _: self._work.remove(task))
