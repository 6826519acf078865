"""Signal C{session:blocked}, sent when the dialog has its item in the inbox (protocol-signals)."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.event_payloads import OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.sessions.interfaces import Session


class BlockedSignals:
    """Sender of the signal C{blocked}.

    A client that receives the signal reads the inbox next. So the signal waits while the inbox
    searches the screen for the dialog.

    @ivar find_search: returns a Deferred that fires when the inbox has found the dialog of a
        session or has given up; C{None} if it does not search.
    """

    def __init__(self, clock: IReactorTime, hub: EventHub) -> None:
        self._clock = clock
        self._hub = hub
        self._held: set[str] = set()
        self.find_search: Callable[[str], Deferred[None] | None] = lambda session_id: None

    def announce_dialog(self, session: Session, at: int, is_waiting: Callable[[], bool]) -> None:
        """Send the signal, after the search for the dialog if there is one.

        A session has at most one signal that waits.

        @param at: time at which the dialog was reported, in Unix milliseconds.
        @param is_waiting: returns true while a dialog waits for an answer. Without one, a signal
            that had to wait is dropped.
        """
        if session.id in self._held:
            return
        search = self.find_search(session.id)
        if search is None:
            self._publish(session, at)
            return
        self._held.add(session.id)

        def send_later(_: None) -> None:
            # The event of the new item must reach every listener before the signal does.
            self._clock.callLater(0, self._send_held, session, at, is_waiting)

        search.addCallback(send_later)

    def _send_held(self, session: Session, at: int, is_waiting: Callable[[], bool]) -> None:
        self._held.discard(session.id)
        if is_waiting():
            self._publish(session, at)

    def _publish(self, session: Session, at: int) -> None:
        self._hub.publish(
            Event(
                name=EventName.SESSION_BLOCKED,
                payload=OccurrencePayload(id=session.id, at=at),
                session_id=session.id,
                owner=session.owner,
            )
        )
