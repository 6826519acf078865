"""Registry of all sessions, which finds, lists, changes, saves and publishes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.event_payloads import (
    InputLostPayload,
    OccurrencePayload,
    SessionOrderPayload,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.location import LocationId
from tservice.core.values.payload import Payload
from tservice.sessions.live_session import LiveSession
from tservice.sessions.record.model import Session, SessionStatus
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.record.wire import make_session_answer


class SessionRegistry:
    """Sessions by id, in list order.

    A change that a caller requested is on disk before it is published, or it is refused. An
    observed change is published even if the disk is full, and is written when the disk has room.
    """

    def __init__(self, clock: IReactorTime, repository: SessionRepository, hub: EventHub) -> None:
        self._clock = clock
        self._repository = repository
        self._hub = hub
        self._sessions: dict[str, LiveSession] = {}

    def __iter__(self) -> Iterator[LiveSession]:
        """Iterate over every session in list order."""
        return iter(sorted(self._sessions.values(), key=lambda live: live.record.position))

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: str, caller: Identity | None = None) -> LiveSession:
        """Return the session with this id.

        @param caller: who asks; C{None}: the service itself.
        @raise ServiceError: 404: the session does not exist, or C{caller} may not see it.
        """
        live = self._sessions.get(session_id)
        if live is None or not may_see(live.record, caller):
            raise make_not_found_error(f"Session {session_id}")
        return live

    def find(self, session_id: str) -> LiveSession | None:
        """Return the session with this id; C{None} if it does not exist."""
        return self._sessions.get(session_id)

    def list_visible(self, caller: Identity | None) -> list[LiveSession]:
        """Return the sessions that C{caller} may see, in list order."""
        return [live for live in self if may_see(live.record, caller)]

    def find_location_user(self, place: LocationId) -> str | None:
        """Return the description of a session that uses a location; C{None} if no session does."""
        for record in self.list_records():
            if (record.location_id.kind, record.location_id.name) == (place.kind, place.name):
                return f"the session {record.name}"
        return None

    def list_records(self) -> list[Session]:
        """Return the records of all sessions."""
        return [live.record for live in self._sessions.values()]

    def find_child_ids(self, session_id: str) -> frozenset[str]:
        """Return the ids of the sessions whose parent is that session."""
        return frozenset(
            record.id for record in self.list_records() if record.parent_session_id == session_id
        )

    def next_position(self) -> int:
        """Return a list position after every existing session."""
        return max((live.record.position for live in self._sessions.values()), default=-1) + 1

    def count_by_status(self) -> list[tuple[str, SessionStatus, int]]:
        """Return the number of sessions by mode and status."""
        found = Counter((record.mode, record.status) for record in self.list_records())
        return [(mode, status, count) for (mode, status), count in sorted(found.items())]

    def restore(self, live: LiveSession) -> None:
        """Insert a session whose record was read from disk, without saving it."""
        self._sessions[live.record.id] = live

    def add(self, live: LiveSession, *, durable: bool = True) -> None:
        """Insert and save a new session.

        @param durable: as for L{SessionRepository.save}.
        @raise DiskFull: the disk is full.
        """
        self._repository.save(live.record, durable=durable)
        self.restore(live)
        self.publish_event(live, EventName.SESSION_CREATED, make_session_answer(live.session))

    def remove(self, live: LiveSession, *, asked: bool = True) -> None:
        """Remove a session permanently.

        @param asked: true if a caller requested this.
        @raise DiskFull: a caller requested the removal, and the disk is full. The session is
            removed, but a restart brings it back until the change can be written.
        """
        try:
            if asked:
                self._repository.delete_record(live.record.id)
            else:
                self._repository.delete_or_defer_record(live.record.id)
        finally:
            del self._sessions[live.record.id]
            live.inputs.close()
            self.publish_timestamped_event(live, EventName.SESSION_DELETED)

    def update_record(self, live: LiveSession, *, durable: bool = True, **fields: Any) -> Session:
        """Change fields of the record, save it and publish C{session:updated}.

        A session that was removed in the meantime stays removed.

        @param durable: false for values that may be lost in a power loss, such as a status.
        @raise DiskFull: the disk is full and the change must be durable.
        """
        record = evolve(live.session, **fields)
        if record != live.record and self._sessions.get(record.id) is live:
            if durable:
                self._repository.save(record)
            else:
                self._repository.save_or_defer_record(record)
            live.record = record
            self.publish_event(live, EventName.SESSION_UPDATED, make_session_answer(record))
        return record

    def record_observation(self, live: LiveSession, **fields: Any) -> Session:
        """Change fields that describe an observed fact, such as the phase. This works even if the
        disk is full.
        """
        try:
            return self.update_record(live, **fields)
        except DiskFull:
            return self.update_record(live, durable=False, **fields)

    def set_positions(self, positions: Mapping[str, int]) -> None:
        """Set the list positions of these sessions."""
        self._repository.set_positions(positions)
        for session_id, position in positions.items():
            live = self._sessions[session_id]
            live.record = evolve(live.record, position=position)

    def save_activity(self) -> None:
        """Save the times of last activity, which are not saved at each change."""
        for live in self:
            if live.session is not live.record:
                live.record = live.session
                self._repository.save_or_defer_record(live.record)

    def publish_timestamped_event(self, live: LiveSession, name: EventName) -> None:
        """Publish an event of a session with the current time."""
        self.publish_event(
            live, name, OccurrencePayload(id=live.record.id, at=get_unix_ms(self._clock))
        )

    def publish_lost_input(self, live: LiveSession, chunks: int, reason: str) -> None:
        """Publish an event: some buffered input was not typed.

        @param chunks: number of lost inputs.
        """
        at = get_unix_ms(self._clock)
        told = InputLostPayload(id=live.record.id, at=at, chunks=chunks, reason=reason)
        self.publish_event(live, EventName.SESSION_INPUT_LOST, told)

    def publish_order(self, owner: str | None, order: list[str]) -> None:
        """Publish the order of all sessions of an owner. The event does not belong to one
        session.
        """
        told = SessionOrderPayload(order=order)
        self._hub.publish(Event(name=EventName.SESSION_ORDER_CHANGED, payload=told, owner=owner))

    def publish_event(self, live: LiveSession, name: EventName, payload: Payload) -> None:
        """Publish an event to the clients that may see the session."""
        self._hub.publish(
            Event(
                name=name,
                payload=payload,
                session_id=live.record.id,
                owner=live.record.owner,
            )
        )


def may_see(record: Session, caller: Identity | None) -> bool:
    """Return true if C{caller} may see the session. The service itself (C{None}) may see every
    session.
    """
    return caller is None or caller.can_access(record.owner, record.id)


def is_owned_by(record: Session, caller: Identity) -> bool:
    """Return true if the session belongs to C{caller}.

    A session without an owner belongs to every caller who may see it.
    """
    return may_see(record, caller) and record.owner in (None, caller.username)
