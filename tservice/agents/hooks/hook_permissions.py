"""Check that a hook may report on a session (protocol-hook-secret)."""

from __future__ import annotations

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.locations.location import LocationKind
from tservice.sessions.interfaces import ISessions, Session


def get_reported_session(sessions: ISessions, session_id: str, caller: Identity | None) -> Session:
    """Return the session on which C{caller} reports.

    A hook's secret is valid for the sessions of one OS user. The instance's secret covers those of
    the service's user, an OS user's secret those of that user, and a container's secret those in
    the container. Other callers can report on their own sessions.

    @param caller: C{None} for the service itself.
    @raise ServiceError: 404: no such session, or not visible to C{caller}.
    """
    if caller is None or caller.method != "hook":
        return sessions.get(session_id, caller)
    session = sessions.get(session_id)
    place = session.location_id
    container = place.part if place.kind is LocationKind.CONTAINER else None
    if (caller.os_uid, caller.container) != (place.uid, container):
        raise make_not_found_error(f"Session {session_id}")
    return session
