"""Limits on the number of sessions (protocol-sessions)."""

from __future__ import annotations

from collections.abc import Iterable

from tservice.core.kernel.errors import make_failure_error
from tservice.sessions.record.model import Session, SessionStatus

STOPPED_KEPT = 100
"""Maximum number of stopped session records. Beyond it, the oldest is removed."""


def check_capacity(
    sessions: Iterable[Session], owner: str | None, *, total: int, per_user: int
) -> None:
    """Check that C{owner} may have one more session.

    Every record counts except those of sessions that the service ended and kept (C{stopped}).

    @param total: maximum number of sessions of all users.
    @param per_user: maximum number of sessions of one user.
    @raise ServiceError: 422 if a maximum is reached.
    """
    living = [session for session in sessions if session.status is not SessionStatus.STOPPED]
    if len(living) >= total:
        raise make_failure_error(f"capacity reached: {total} sessions")
    if owner is None:
        return
    if sum(1 for session in living if session.owner == owner) >= per_user:
        raise make_failure_error(f"capacity reached: {per_user} sessions of {owner}")


def find_excess_stopped(sessions: Iterable[Session]) -> list[Session]:
    """Return the stopped sessions beyond L{STOPPED_KEPT}, oldest first."""
    stopped = sorted(
        (session for session in sessions if session.status is SessionStatus.STOPPED),
        key=lambda session: session.last_activity_at,
    )
    return stopped[: max(0, len(stopped) - STOPPED_KEPT)]
