"""Gate between the events and the features that notify people.

A feature that wants to look at a turn before a person is notified of its end holds the events of
that end.  It releases or drops them later.
"""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.kernel.event_payloads import ApprovalPayload
from tservice.core.kernel.events import Event, EventHub, EventName, Listener
from tservice.core.kernel.listeners import ListenerList

TURN_ENDS = frozenset({EventName.SESSION_STOP, EventName.HOOK_STOP})
HELD_EVENTS = TURN_ENDS | {EventName.HOOK_IDLE_PROMPT}
"""Events that report the end of a turn.  Questions, errors and exits are never held."""

IDLE_ITEM = "idle"
"""Kind of an approval item that only reports that the agent waits for a prompt."""

HoldsEvent = Callable[[Event], bool]
"""Callable that returns true if an event that reports the end of a turn is held."""


class NoticeGate:
    """Events for the features that notify people, without those that are held.

    At most one event of each name is held for a session.
    """

    def __init__(self, hub: EventHub) -> None:
        self._listeners = ListenerList[Listener]("the notices")
        self._holds: HoldsEvent = lambda event: False
        self._held: dict[str, dict[EventName, Event]] = {}
        hub.subscribe(self._handle_event)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call C{listener} for every event that is not held, and for held ones when they are
        released.

        @return: a function that ends the subscription and may be called twice.
        """
        return self._listeners.add(listener)

    def set_holder(self, holds: HoldsEvent) -> None:
        """Hold the events of a turn's end for which C{holds} returns true."""
        self._holds = holds

    def release(self, session_id: str) -> None:
        """Pass the held events of a session on."""
        for event in self._held.pop(session_id, {}).values():
            self._pass_on(event)

    def drop(self, session_id: str) -> None:
        """Drop the held events of a session."""
        self._held.pop(session_id, None)

    def drop_reminders(self, session_id: str) -> None:
        """Drop the held events that report an idle agent, because a new turn has begun.

        The end of the turn itself stays: its hook may arrive before that of its beginning.
        """
        held = self._held.get(session_id, {})
        for name in tuple(held):
            if name not in TURN_ENDS:
                del held[name]

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED:
            self.drop(event.session_id or "")
        if event.session_id and _reports_turn_end(event) and self._holds(event):
            self._held.setdefault(event.session_id, {})[event.name] = event
            return
        self._pass_on(event)

    def _pass_on(self, event: Event) -> None:
        self._listeners.notify_all(lambda listener: listener(event))


def _reports_turn_end(event: Event) -> bool:
    if event.name is EventName.APPROVAL_PENDING:
        return isinstance(event.payload, ApprovalPayload) and event.payload.kind == IDLE_ITEM
    return event.name in HELD_EVENTS
