"""Events that inform the owners of sessions about the connection to their remote host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import (
    HostDroppedPayload,
    HostWakeFailedPayload,
    HostWakingPayload,
    OccurrencePayload,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.location import LocationKind
from tservice.core.values.payload import Payload
from tservice.sessions.interfaces import ISessions


@frozen
class HostEventPublisher:
    """Publisher of the events of one host.

    It implements L{tservice.hosts.connection.ConnectionListener} and the listener of wake attempts.
    """

    clock: IReactorTime
    hub: EventHub
    sessions: Callable[[], ISessions]
    host_id: str

    def host_waking(self, method: Literal["mac", "command"]) -> None:
        told = HostWakingPayload(host_id=self.host_id, method=method)
        self.hub.publish(Event(name=EventName.REMOTE_HOST_WAKING, payload=told))

    def host_wake_failed(self, reason: str) -> None:
        told = HostWakeFailedPayload(host_id=self.host_id, reason=reason)
        self.hub.publish(Event(name=EventName.REMOTE_HOST_WAKE_FAILED, payload=told))

    def host_connected(self) -> None:
        self._publish_to_sessions(EventName.REMOTE_SESSION_RECONNECTED, self._occurrence_payload)

    def host_disconnected(self, attempt: int, next_at: int | None) -> None:
        if next_at is None:
            self._publish_to_sessions(
                EventName.REMOTE_RECONNECT_EXHAUSTED, self._occurrence_payload
            )
            return

        def dropped_payload(session_id: str) -> Payload:
            return HostDroppedPayload(id=session_id, attempt=attempt, next_at=next_at)

        self._publish_to_sessions(EventName.REMOTE_SESSION_DROPPED, dropped_payload)

    def _occurrence_payload(self, session_id: str) -> Payload:
        return OccurrencePayload(id=session_id, at=get_unix_ms(self.clock))

    def _publish_to_sessions(self, name: EventName, payload: Callable[[str], Payload]) -> None:
        for session in self.sessions().list():
            place = session.location_id
            if place.kind is LocationKind.REMOTE and place.name == self.host_id:
                told = payload(session.id)
                self.hub.publish(
                    Event(name=name, payload=told, session_id=session.id, owner=session.owner)
                )
