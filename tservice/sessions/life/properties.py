"""Properties that a user sets on a session, such as name, colour, pin, position and priority."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError, make_field_error
from tservice.core.kernel.event_payloads import SessionPinnedPayload, SessionRenamedPayload
from tservice.core.kernel.events import EventName
from tservice.sessions.life.priority import SetPriority, confine_to_location, set_running_priority
from tservice.sessions.live_session import LiveSession
from tservice.sessions.record.display import MODEL_LENGTH, clean_line
from tservice.sessions.record.model import (
    ModelSource,
    NameSource,
    ProcessPriority,
    Session,
    SessionColour,
)
from tservice.sessions.record.names import check_name
from tservice.sessions.record.ordering import reorder_positions
from tservice.sessions.registry import SessionRegistry


class SessionProperties:
    """Changes the properties of sessions for a caller. Each change is on disk when the method
    returns.

    @ivar fallback_name: generates the name of a session that has none.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        roster: SessionRegistry,
        set_priority: SetPriority,
        fallback_name: Callable[[Session], str],
    ) -> None:
        self._clock = clock
        self._roster = roster
        self._set_priority = set_priority
        self._fallback_name = fallback_name

    def rename_session(
        self, live: LiveSession, name: str, source: NameSource = NameSource.MANUAL
    ) -> Session:
        """Set the session's name. An empty name restores a generated one.

        A title from a prompt (C{auto}) never replaces a name that a user chose.
        """
        checked = check_name(name)
        if source is NameSource.AUTO and live.record.name_source is NameSource.MANUAL:
            return live.session
        if not checked:
            checked, source = self._fallback_name(live.record), NameSource.PLACEHOLDER
        session = self._roster.update_record(live, name=checked, name_source=source)
        self._roster.publish_event(
            live,
            EventName.SESSION_RENAMED,
            SessionRenamedPayload(
                id=session.id, name=session.name, name_source=session.name_source
            ),
        )
        return session

    def set_colour(self, live: LiveSession, colour: SessionColour) -> Session:
        """Set the colour in which clients show the session."""
        return self._roster.update_record(live, colour=colour)

    def set_pinned(self, live: LiveSession, pinned: bool) -> Session:
        """Pin or unpin the session. Pinning a pinned session keeps the original time of pinning."""
        at = None
        if pinned:
            at = live.record.pinned_at or get_unix_ms(self._clock)
        session = self._roster.update_record(live, pinned=pinned, pinned_at=at)
        told = SessionPinnedPayload(id=session.id, pinned=pinned)
        self._roster.publish_event(live, EventName.SESSION_PINNED, told)
        return session

    def set_priority(self, live: LiveSession, nice: ProcessPriority) -> Session:
        """Set the priority of the session's process now, if one runs, and at every later start.

        @raise ServiceError: 422: the disk or the system refused; nothing was changed.
        """
        before = live.record.nice
        session = self._roster.update_record(live, nice=nice)
        if (before.enabled or nice.enabled) and before != nice:
            renice = confine_to_location(self._set_priority, live.record.location_id)
            try:
                set_running_priority(renice, live.record.pid, nice)
            except ServiceError:
                self._roster.record_observation(live, nice=before)
                raise
        return session

    def set_list_order(self, order: Sequence[str], caller: Identity) -> list[str]:
        """Arrange the caller's sessions in this order. Sessions that are not listed keep their
        positions.

        @param order: session ids.
        @return: the ids of every session that the caller sees, in the new order.
        @raise ServiceError: 400: an id is listed twice; 404: a session does not exist for the
            caller.
        """
        if len(set(order)) != len(order):
            raise make_field_error("order", "names a session twice")
        lives = {session_id: self._roster.get(session_id, caller) for session_id in order}
        positions = {session_id: live.record.position for session_id, live in lives.items()}
        self._roster.set_positions(reorder_positions(positions, order))
        result = [live.record.id for live in self._roster.list_visible(caller)]
        for owner_live in _first_per_owner(lives.values()):
            owned = [it.record.id for it in self._roster if _have_same_owner(it, owner_live)]
            self._roster.publish_order(owner_live.record.owner, owned)
        return result

    def report_model(self, live: LiveSession, source: ModelSource, text: str | None) -> Session:
        """Record the model name that C{source} reports. The untrusted text is cleaned first."""
        models = {name: said for name, said in live.record.models.items() if name != source}
        cleaned = clean_line(text or "", MODEL_LENGTH)
        if cleaned:
            models[source] = cleaned
        return self._roster.update_record(live, models=models)


def _have_same_owner(one: LiveSession, other: LiveSession) -> bool:
    return one.record.owner == other.record.owner


def _first_per_owner(lives: Iterable[LiveSession]) -> list[LiveSession]:
    found: dict[str | None, LiveSession] = {}
    for live in lives:
        found.setdefault(live.record.owner, live)
    return list(found.values())
