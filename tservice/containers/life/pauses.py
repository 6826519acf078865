"""Report that the container of a session is paused or resumed (protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.events import Event, EventName
from tservice.core.kernel.timers import NamedTimers
from tservice.sessions.interfaces import ISessions, Session, SessionStatus

PAUSED = "its container is paused"
RESUMED = "its container runs again"

_MEANT = {EventName.SESSION_IDLE: SessionStatus.IDLE, EventName.SESSION_WORKING: SessionStatus.BUSY}


class PauseReporter:
    """Reports to sessions that their container is paused.

    A change of a session's status during the pause, for example by a start timer, is reported after
    the pause.
    """

    def __init__(
        self,
        clock: IReactorTime,
        *,
        sessions: Callable[[], ISessions],
        get: Callable[[str], Session | None],
    ) -> None:
        self._timers = NamedTimers(clock)
        self._sessions, self._get = sessions, get
        # The status of each session without the pause.
        self._otherwise: dict[str, SessionStatus] = {}

    def report_pause(self, session: Session) -> None:
        """Report that the session's container is paused.

        Harmless if this was already reported.
        """
        if session.id not in self._otherwise:
            self._otherwise[session.id] = session.status
        self._report_paused_status(session.id)

    def report_resume(self, session: Session) -> None:
        """Report the end of a pause, even if an earlier service process reported its start."""
        self._timers.cancel_timer(session.id)
        status = self._otherwise.pop(session.id, None)
        if status is not None or session.status_reason == PAUSED:
            self._update_status(session, status or session.status, RESUMED)

    def handle_event(self, event: Event) -> None:
        """Remember the new status of a paused session, then mark it as paused again."""
        name = event.session_id
        if name is None or name not in self._otherwise:
            return
        self._otherwise[name] = _MEANT.get(event.name, self._otherwise[name])
        # Other subscribers receive the event before the status is corrected.
        self._timers.schedule_call(name, 0, self._report_paused_status, name)

    def stop(self) -> None:
        """Stop reporting pauses."""
        self._timers.cancel_all()

    def _report_paused_status(self, session_id: str) -> None:
        session = self._get(session_id)
        if session is None or session.pid is None:
            self._otherwise.pop(session_id, None)
        elif (session.status, session.status_reason) != (SessionStatus.IDLE, PAUSED):
            self._update_status(session, SessionStatus.IDLE, PAUSED)

    def _update_status(self, session: Session, status: SessionStatus, reason: str) -> None:
        self._sessions().update_record(
            session.id, durable=False, status=status, status_reason=reason
        )
