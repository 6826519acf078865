"""All sessions: found, listed, changed, saved and told of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.disk import NotKept
from tservice.core.errors import not_found
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.core.payload import Payload
from tservice.core.payloads import Happened, InputLostTold, OrderTold
from tservice.core.places.place import PlaceId
from tservice.sessions.live import Live
from tservice.sessions.record.model import Session, Status
from tservice.sessions.record.repository import SessionRepository
from tservice.sessions.record.wire import session_answer


class Roster:
    """The sessions by id, in the order of the list.

    A change that somebody asks for is on disk before it is told to anybody, or refused.  What has
    happened is told whether a full disk took it or not, and reaches the disk when it can.
    """

    def __init__(self, clock: IReactorTime, repository: SessionRepository, hub: EventHub) -> None:
        self._clock = clock
        self._repository = repository
        self._hub = hub
        self._sessions: dict[str, Live] = {}

    def __iter__(self) -> Iterator[Live]:
        """Every session in the order of the list."""
        return iter(sorted(self._sessions.values(), key=lambda live: live.record.position))

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: str, caller: Identity | None = None) -> Live:
        """The session.

        @raise ServiceError: 404: it does not exist, or not for C{caller}.
        """
        live = self._sessions.get(session_id)
        if live is None or not may_see(live.record, caller):
            raise not_found(f"Session {session_id}")
        return live

    def find(self, session_id: str) -> Live | None:
        """The session, if it exists."""
        return self._sessions.get(session_id)

    def visible(self, caller: Identity | None) -> list[Live]:
        """What C{caller} may see, in the order of the list."""
        return [live for live in self if may_see(live.record, caller)]

    def tenant(self, place: PlaceId) -> str | None:
        """A session that lives in a place, in words; C{None}: none does."""
        for record in self.records():
            if (record.place.kind, record.place.name) == (place.kind, place.name):
                return f"the session {record.name}"
        return None

    def records(self) -> list[Session]:
        """Every record."""
        return [live.record for live in self._sessions.values()]

    def children(self, session_id: str) -> frozenset[str]:
        """The sessions whose parent that one is."""
        return frozenset(
            record.id for record in self.records() if record.parent_session_id == session_id
        )

    def next_position(self) -> int:
        """A place behind every other session."""
        return max((live.record.position for live in self._sessions.values()), default=-1) + 1

    def counts(self) -> list[tuple[str, Status, int]]:
        """How many there are by mode and status."""
        found = Counter((record.mode, record.status) for record in self.records())
        return [(mode, status, count) for (mode, status), count in sorted(found.items())]

    def recall(self, live: Live) -> None:
        """Put in one whose record was read from disk."""
        self._sessions[live.record.id] = live

    def add(self, live: Live, *, durable: bool = True) -> None:
        """Put in a new one.

        @param durable: as for L{SessionRepository.save}.
        @raise NotKept: the disk does not take it.
        """
        self._repository.save(live.record, durable=durable)
        self.recall(live)
        self.publish(live, EventName.SESSION_CREATED, session_answer(live.session))

    def remove(self, live: Live, *, asked: bool = True) -> None:
        """Take it out for good.

        @raise NotKept: somebody asked for it, and the disk does not take it yet: it is out, but
            until the disk does a restart brings it back.
        """
        try:
            if asked:
                self._repository.remove(live.record.id)
            else:
                self._repository.drop(live.record.id)
        finally:
            del self._sessions[live.record.id]
            live.inputs.close()
            self.tell(live, EventName.SESSION_DELETED)

    def change(self, live: Live, *, durable: bool = True, **fields: Any) -> Session:
        """Change fields of the record, save it and publish C{session:updated}.

        A session that was removed meanwhile stays removed.

        @param durable: false for what nobody would miss after a power loss, such as a status.
        @raise NotKept: the disk does not take what is to be durable.
        """
        record = evolve(live.session, **fields)
        if record != live.record and self._sessions.get(record.id) is live:
            if durable:
                self._repository.save(record)
            else:
                self._repository.note(record)
            live.record = record
            self.publish(live, EventName.SESSION_UPDATED, session_answer(record))
        return record

    def happened(self, live: Live, **fields: Any) -> Session:
        """As L{change}, for what is so whether the disk takes it or not: where a process stands."""
        try:
            return self.change(live, **fields)
        except NotKept:
            return self.change(live, durable=False, **fields)

    def place(self, positions: Mapping[str, int]) -> None:
        """Give these sessions new places in the list."""
        self._repository.place(positions)
        for session_id, position in positions.items():
            live = self._sessions[session_id]
            live.record = evolve(live.record, position=position)

    def save_activity(self) -> None:
        """Save when each session last did something, which is not saved each time."""
        for live in self:
            if live.session is not live.record:
                live.record = live.session
                self._repository.note(live.record)

    def tell(self, live: Live, name: EventName) -> None:
        """Publish that something happened to it just now."""
        self.publish(live, name, Happened(id=live.record.id, at=now_ms(self._clock)))

    def tell_lost(self, live: Live, chunks: int, reason: str) -> None:
        """Tell that input which was kept for it was not typed."""
        at = now_ms(self._clock)
        told = InputLostTold(id=live.record.id, at=at, chunks=chunks, reason=reason)
        self.publish(live, EventName.SESSION_INPUT_LOST, told)

    def publish_order(self, owner: str | None, order: list[str]) -> None:
        """Tell an owner of the order of all of its sessions; it is of no single one of them."""
        told = OrderTold(order=order)
        self._hub.publish(Event(name=EventName.SESSION_ORDER_CHANGED, payload=told, owner=owner))

    def publish(self, live: Live, name: EventName, payload: Payload) -> None:
        """Publish an event that belongs to the session's owner."""
        self._hub.publish(
            Event(
                name=name,
                payload=payload,
                session_id=live.record.id,
                owner=live.record.owner,
            )
        )


def may_see(record: Session, caller: Identity | None) -> bool:
    """Whether the session exists for C{caller}; C{None} is the service itself."""
    return caller is None or caller.may_reach(record.owner, record.id)


def is_own(record: Session, caller: Identity) -> bool:
    """Whether it belongs to C{caller}; what nobody owns belongs to whoever may see it."""
    return may_see(record, caller) and record.owner in (None, caller.username)
