"""Snoozes of sessions, which end at a time or when the session asks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.timers import NamedTimers
from tservice.notifications.snoozes.rules import SnoozeChoice, is_asking, is_in_force, make_snooze
from tservice.sessions.interfaces import ISessions, Session, Snooze

_ENDS_QUESTION = frozenset(
    {
        EventName.APPROVAL_RESOLVED,
        EventName.SESSION_STOP,
        EventName.SESSION_IDLE,
        EventName.SESSION_EXIT,
        EventName.SESSION_DELETED,
    }
)
LONGEST_TIMER = 24 * 3600.0
"""Seconds after which a timer looks at the clock again, which may have been set."""


class SnoozeService:
    """Starts and ends snoozes.  They are part of the sessions' records, so restarts keep them."""

    def __init__(
        self, clock: IReactorTime, hub: EventHub, sessions: ISessions, zone: tzinfo
    ) -> None:
        """@param zone: time zone for callers that name none."""
        self._clock = clock
        self._hub = hub
        self._sessions = sessions
        self._zone = zone
        self._timers = NamedTimers(clock)
        self._paused: dict[str, Event] = {}
        self._listeners: list[Callable[[Event], None]] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """End the snoozes that expired while the service was stopped, and set timers for others."""
        self._unsubscribe = self._hub.subscribe(self._handle_event)
        for session in self._sessions.list():
            self._check_end(session.id)

    def stop(self) -> None:
        """Cancel the timers.  The records stay as they are."""
        self._unsubscribe()
        self._timers.cancel_all()

    def add_resume_listener(self, listener: Callable[[Event], None]) -> None:
        """Call C{listener} with the last question of a session whose pause is over.

        Features that send notices get it again then, because L{may_announce} refused it before.
        """
        self._listeners.append(listener)

    def set_snooze(
        self, session_id: str, wanted: SnoozeChoice | int | None, zone: tzinfo | None
    ) -> Snooze | None:
        """Pause the notices of a session, or end the pause.

        @param wanted: a choice, the end in Unix milliseconds, or C{None} to end the pause.
        @param zone: time zone of the reader; C{None}: that of the service.
        @raise ServiceError: 400: the end is not valid.
        """
        snooze = None
        if wanted is not None:
            snooze = make_snooze(wanted, zone or self._zone, get_unix_ms(self._clock))
        session = self._sessions.update_record(session_id, snooze=snooze)
        self._schedule_end(session)
        if snooze is None:
            self._resume(session_id)
        return snooze

    def may_announce(self, event: Event) -> bool:
        """Return false if notices about the event's session are paused now."""
        session = None if event.session_id is None else self._find(event.session_id)
        return session is None or not is_in_force(session.snooze, get_unix_ms(self._clock))

    def _handle_event(self, event: Event) -> None:
        if event.session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._timers.cancel_timer(event.session_id)
        if event.name in _ENDS_QUESTION:
            self._paused.pop(event.session_id, None)
        if is_asking(event):
            self._handle_question(event, event.session_id)

    def _handle_question(self, event: Event, session_id: str) -> None:
        session = self._find(session_id)
        if session is None or session.snooze is None:
            return
        if session.snooze == Snooze():
            self._end(session)
        elif event.name is not EventName.SESSION_BLOCKED:
            # The signal only repeats the item or the hook before it.
            self._paused[session_id] = event

    def _check_end(self, session_id: str) -> None:
        session = self._find(session_id)
        if session is None or session.snooze is None:
            return
        if is_in_force(session.snooze, get_unix_ms(self._clock)):
            self._schedule_end(session)
        else:
            self._end(session)

    def _schedule_end(self, session: Session) -> None:
        if session.snooze is None or session.snooze.until is None:
            self._timers.cancel_timer(session.id)
            return
        seconds = (session.snooze.until - get_unix_ms(self._clock)) / 1000
        wait = min(max(seconds, 0.0), LONGEST_TIMER)
        self._timers.schedule_call(session.id, wait, self._check_end, session.id)

    def _end(self, session: Session) -> None:
        # The write need not be durable: a restart ends an expired snooze again.
        self._sessions.update_record(session.id, durable=False, snooze=None)
        self._resume(session.id)

    def _resume(self, session_id: str) -> None:
        event = self._paused.pop(session_id, None)
        if event is not None:
            for listener in self._listeners:
                listener(event)

    def _find(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None
