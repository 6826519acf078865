"""Pauses of sessions that reached a usage limit, and their resumption after the reset
(protocol-automatic).

A limit counts if the agent itself records it: by its C{StopFailure} hook, an error in its
transcript, or its status line. A row of text that looks like one is often part of an answer. So
such a row only adds details to a recorded limit (protocol-automatic).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.approvals.answer_screen import AnswerScreen, GuardedScreen
from tservice.agents.approvals.answer_steps import PressStep
from tservice.agents.approvals.model import is_raised
from tservice.agents.interfaces import AgentScreen, IAgents
from tservice.agents.limits.reset_time import (
    UsageLimit,
    compute_resume_time,
    find_full_window,
    parse_reset,
)
from tservice.agents.transcripts.model import TranscriptTally, TurnFailure
from tservice.core.kernel.clock import get_unix_ms, wait_seconds
from tservice.core.kernel.errors import ServiceError, make_conflict_error
from tservice.core.kernel.event_payloads import (
    HookEventPayload,
    LimitPausePayload,
    OccurrencePayload,
    TelemetryPayload,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.core.values.payload import Payload
from tservice.mux.interface import MuxError
from tservice.sessions.interfaces import InputRequest, ISessions, Session, SessionStatus
from tservice.terminal.screen_status import parse_limit

ESCAPE_PAUSE = 0.6
"""Seconds between Escape and the prompt (protocol-automatic)."""
PROMPT = "continue"
LONGEST_SLEEP = 600.0
"""Maximum seconds of a timer. Then the clock is read again, because it may have been changed."""
TRIES = 3
SETTLE = 3.0
"""Seconds after the service's start until sessions resume. In this time adopted sessions show their
activity, and pending input is typed.
"""
CLIENT = "limit-resume"
"""Client id of the input C{continue}. Its sequence number is L{compute_resume_time}, so it is typed
only once (protocol-exactly-once).
"""

_FAILURE = "StopFailure"

LIMIT_RESUME = EventName.SESSION_LIMIT_RESUME
LIMIT_RESUME_CANCELLED = EventName.SESSION_LIMIT_RESUME_CANCELLED


class UsageLimitService:
    """Service that detects usage limits and resumes sessions after their reset."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        agents: IAgents,
        hub: EventHub,
        local: tzinfo,
    ) -> None:
        self._clock = clock
        self._sessions = sessions
        self._agents = agents
        self._hub = hub
        self._local = local
        self._timers = NamedTimers(clock)
        # The current limit, and the sentence of a limit that a later turn has proved to be over.
        self._limits: dict[str, UsageLimit] = {}
        self._past: dict[str, str] = {}
        # Windows that status lines reported as used up, and sessions whose last turn ended well.
        self._full: dict[str, UsageLimit] = {}
        self._well: set[str] = set()
        self._failures: dict[str, TurnFailure] = {}
        self._resuming: set[str] = set()
        self._ends: list[Callable[[], None]] = []

    def start(self) -> None:
        """Set the stored timers; call this once the sessions are loaded."""
        for session in self._sessions.list():
            self._arm_timer(session, SETTLE)
        self._ends = [
            self._hub.subscribe(self._handle_event),
            self._agents.add_observer(self._handle_screen),
        ]

    def stop(self) -> None:
        """Stop the timers; their times stay stored on disk."""
        for end in self._ends:
            end()
        self._ends = []
        self._timers.cancel_all()

    # -- changes from screens and reports

    def handle_tally(self, session_id: str, tally: TranscriptTally) -> None:
        """Handle a new tally of the session's transcript; an error is examined immediately."""
        failure = tally.failure
        if failure is None or self._failures.get(session_id) == failure:
            return
        self._failures[session_id] = failure
        self._handle_failed_turn(session_id, failure.text, failure.at)

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        match event.name, event.payload:
            case EventName.HOOK_STOP, HookEventPayload(data=data):
                self._handle_stop(session_id, data)
            case _, TelemetryPayload() as told:
                self._handle_telemetry(session_id, told)
            case EventName.SESSION_WORKING, _:
                self._end_pause_on_work(session_id)
            case EventName.SESSION_UPDATED, _:
                self._handle_setting_change(session_id)
            case EventName.SESSION_DELETED, _:
                self._disarm_timer(session_id)
                self._well.discard(session_id)
                for known in (self._limits, self._past, self._full, self._failures):
                    known.pop(session_id, None)

    def _handle_stop(self, session_id: str, data: Mapping[str, Any]) -> None:
        if data.get("hook_event_name") != _FAILURE:
            self._well.add(session_id)
            limit = self._limits.pop(session_id, None)
            if limit is not None:
                self._past[session_id] = limit.text
            return
        self._handle_failed_turn(session_id, str(data.get("message") or ""))

    def _handle_failed_turn(self, session_id: str, text: str, at: int | None = None) -> None:
        """Handle a turn that the agent records as failed.

        @param text: the agent's error text.
        @param at: time of the failure, in Unix milliseconds; C{None} for now.
        """
        self._well.discard(session_id)
        found = parse_limit(text)
        if found is not None:
            self._past.pop(session_id, None)
            self._record_limit(session_id, *found, at=at)

    def _handle_telemetry(self, session_id: str, told: TelemetryPayload) -> None:
        """Handle a status line's report.

        A limit that it shows is not reached if the last turn ended well.
        """
        full = find_full_window(told, get_unix_ms(self._clock))
        if full is None:
            self._full.pop(session_id, None)
            return
        self._full[session_id] = full
        session = self._find_session(session_id)
        at_rest = session is not None and session.status is SessionStatus.IDLE
        if at_rest and session_id not in self._well:
            self._pause_session(session_id, full)

    def _handle_screen(self, look: AgentScreen) -> None:
        reading = look.reading
        if reading.working:
            self._end_pause_on_work(look.session_id)
        elif reading.limit is not None and self._past.get(look.session_id) != reading.limit:
            self._handle_limit_notice(look.session_id, reading.limit, reading.limit_resets)

    def _handle_limit_notice(self, session_id: str, text: str, resets: str | None) -> None:
        """Handle a screen with a text that looks like a usage limit.

        @param resets: the reset time as the screen shows it; C{None} if it shows none.
        """
        session, known = self._find_session(session_id), self._limits.get(session_id)
        if session is None:
            return
        if session.limit_paused and (known is None or known.reset_at is None):
            self._record_limit(session_id, text, resets)
        elif not session.limit_paused and session_id in self._full:
            self._pause_session(session_id, self._full[session_id])

    def _record_limit(
        self, session_id: str, text: str, resets: str | None, at: int | None = None
    ) -> None:
        session = self._find_session(session_id)
        before = self._limits.get(session_id)
        if session is None or (session.limit_paused and before is not None and before.text == text):
            return
        now = get_unix_ms(self._clock)
        # A time written while the service was down is relative to the time of writing.
        said = now if at is None else min(at, now)
        reset = parse_reset(resets or text, said, self._local)
        if reset is None and before is not None and session.limit_paused:
            # The same limit, in less detail.
            return
        self._pause_session(session_id, UsageLimit(text=text, reset_at=reset))

    def _pause_session(self, session_id: str, limit: UsageLimit) -> None:
        session = self._find_session(session_id)
        if session is None or (session.limit_paused and self._limits.get(session_id) == limit):
            return
        self._limits[session_id] = limit
        if not session.limit_paused:
            self._sessions.update_record(session_id, limit_paused=True)
        self._schedule_resume(session_id)

    def _schedule_resume(self, session_id: str) -> None:
        """Set the session's timer, if auto-resume is enabled and the reset time is known."""
        session, limit = self._find_session(session_id), self._limits.get(session_id)
        at = None if limit is None else compute_resume_time(limit)
        if session is None or at is None or not session.auto_resume.enabled:
            return
        # A time in the past is due now, even if it was tried before.
        at = max(at, get_unix_ms(self._clock))
        if session.auto_resume.resume_at != at:
            auto = evolve(session.auto_resume, resume_at=at)
            self._arm_timer(self._sessions.update_record(session_id, auto_resume=auto))
            reason = limit.text if limit else ""
            now = get_unix_ms(self._clock)
            told = LimitPausePayload(id=session_id, at=now, resume_at=at, reason=reason)
            self._publish_event(session, EventName.SESSION_LIMIT_PAUSE_SCHEDULED, told)

    def _end_pause_on_work(self, session_id: str) -> None:
        """End the session's pause, because its agent works."""
        session = self._find_session(session_id)
        if session is not None and session.limit_paused:
            limit = self._limits.pop(session_id, None)
            if limit is not None:
                self._past[session_id] = limit.text
            resumed = session_id in self._resuming
            self._clear_limit_pause(session, LIMIT_RESUME if resumed else LIMIT_RESUME_CANCELLED)

    def _handle_setting_change(self, session_id: str) -> None:
        """Handle a possible change of the session's auto-resume setting."""
        session = self._find_session(session_id)
        if session is None:
            return
        if session.limit_paused and session.auto_resume.enabled:
            if session.auto_resume.resume_at is None:
                self._schedule_resume(session_id)
        elif session_id in self._timers:
            self._disarm_timer(session_id)
            if session.auto_resume.resume_at is not None:
                auto = evolve(session.auto_resume, resume_at=None)
                self._sessions.update_record(session_id, auto_resume=auto)
            self._publish_occurrence(session, EventName.SESSION_LIMIT_RESUME_CANCELLED)

    # -- resuming

    def _arm_timer(self, session: Session, least: float = 0.0) -> None:
        """Set the timer that resumes the session.

        @param least: minimum delay in seconds.
        """
        self._disarm_timer(session.id)
        at = session.auto_resume.resume_at
        if at is None or not session.limit_paused or not session.auto_resume.enabled:
            return
        left = max(least, (at - get_unix_ms(self._clock)) / 1000)
        call = (
            self._start_resuming_session if left <= LONGEST_SLEEP else self._rearm_after_clock_check
        )
        self._timers.schedule_call(session.id, min(left, LONGEST_SLEEP), call, session.id)

    def _disarm_timer(self, session_id: str) -> None:
        self._timers.cancel_timer(session_id)

    def _rearm_after_clock_check(self, session_id: str) -> None:
        session = self._find_session(session_id)
        if session is not None:
            self._arm_timer(session)

    def _start_resuming_session(self, session_id: str) -> None:
        spawn_logged(self._resume_session(session_id), self._log, "resuming after a limit")

    async def _resume_session(self, session_id: str) -> None:
        session = self._find_session(session_id)
        if session is None or not session.limit_paused:
            return
        try:
            await self._continue_session(session)
        except (ServiceError, MuxError) as error:
            self._log.warn("{id} was not resumed: {error}", id=session_id, error=error)
            self._end_pause(session_id, LIMIT_RESUME_CANCELLED)

    async def _continue_session(self, session: Session) -> None:
        """Type C{continue}, unless the service did so before a restart; then end the session's
        pause.

        @raise ServiceError: the prompt cannot be typed.
        """
        self._sessions.check_sender(session.id)
        if not await self._has_continued(session):
            await self._close_menu(session)
            await wait_seconds(self._clock, ESCAPE_PAUSE)
            look = await self._agents.capture_screen(session.id)
            if look.reading.dialog is not None:
                raise make_conflict_error("a dialog waits for an answer")
            now = self._find_session(session.id)
            if now is None or not now.limit_paused:
                return
            await self._type_prompt(session)
        self._end_pause(session.id, LIMIT_RESUME)

    async def _type_prompt(self, session: Session) -> None:
        request = InputRequest(
            text=PROMPT, use_mux=True, client_id=CLIENT, seq=session.auto_resume.resume_at
        )
        self._resuming.add(session.id)
        try:
            await self._sessions.send_input(session.id, request)
        finally:
            self._resuming.discard(session.id)

    async def _has_continued(self, session: Session) -> bool:
        """Return true if something was submitted after the resume time, or the agent works."""
        at = session.auto_resume.resume_at
        submitted = session.last_submit_at
        if at is not None and submitted is not None and submitted >= at:
            return True
        look: AgentScreen = await self._agents.capture_screen(session.id)
        return bool(look.reading.working)

    def _end_pause(self, session_id: str, event: EventName) -> None:
        session = self._find_session(session_id)
        if session is not None and session.limit_paused:
            self._clear_limit_pause(session, event)

    async def _close_menu(self, session: Session) -> None:
        """Close a menu of the CLI about the limit; a dialog that the agent raised stays open."""
        pane = self._sessions.get_pane(session.id)
        if pane is None or session.pid is None:
            raise make_conflict_error("the session has no process")
        screen = AnswerScreen(self._clock, pane, self._agents.get_screen_rules(session.mode))
        for _ in range(TRIES):
            seen: GuardedScreen = await screen.capture_unchanging()
            if is_raised(seen.dialog):
                raise make_conflict_error("a dialog waits for an answer")
            if await screen.perform_step(PressStep(key="Escape"), seen):
                return
        raise make_conflict_error("the screen keeps changing")

    # -- internal

    def _clear_limit_pause(self, session: Session, event: EventName) -> None:
        armed = session.auto_resume.resume_at is not None
        self._disarm_timer(session.id)
        self._limits.pop(session.id, None)
        auto = evolve(session.auto_resume, resume_at=None)
        self._sessions.update_record(session.id, limit_paused=False, auto_resume=auto)
        if armed:
            self._publish_occurrence(session, event)

    def _find_session(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None

    def _publish_occurrence(self, session: Session, name: EventName) -> None:
        self._publish_event(
            session, name, OccurrencePayload(id=session.id, at=get_unix_ms(self._clock))
        )

    def _publish_event(self, session: Session, name: EventName, payload: Payload) -> None:
        self._hub.publish(
            Event(
                name=name,
                payload=payload,
                session_id=session.id,
                owner=session.owner,
            )
        )
