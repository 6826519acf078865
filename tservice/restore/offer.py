"""Which sessions are offered, to whom, and which of them may run again (protocol-restore).

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from tservice.core.identity import Identity
from tservice.restore.model import OFFERED_MS
from tservice.sessions.interfaces import Location, Phase, Session

SHUTDOWN_MS = 120_000
"""Milliseconds before its own stop in which a process that was lost counts as ended by the
machine's shutdown: systemd gives units 90 s."""

_RAN = frozenset({Phase.STARTING, Phase.RUNNING, Phase.UNKNOWN, Phase.DETACHED})


@frozen(kw_only=True)
class Offered:
    """One session that can be brought back.

    @ivar resumes: its agent goes on with a conversation; else it begins anew.
    @ivar scrollback: what it had shown was kept.
    """

    session: Session
    resumes: bool
    scrollback: bool


@frozen(kw_only=True)
class Offer:
    """What can be brought back for one caller.

    @ivar expires_at: Unix milliseconds when the first of it goes; C{None}: there is none.
    @ivar restoring: it is being brought back now.
    """

    sessions: tuple[Offered, ...] = field(default=())
    expires_at: int | None = None
    restoring: bool = False


def taken(
    records: Iterable[Session], losses: Mapping[str, int], stopped_at: int | None
) -> list[Session]:
    """The sessions that ran when the machine went down.

    @param losses: when processes were lost while the service ran, by session.
    """

    def at_shutdown(record: Session) -> bool:
        lost = losses.get(record.id)
        in_time = lost is not None and stopped_at is not None and lost >= stopped_at - SHUTDOWN_MS
        return record.phase is Phase.EXITED and in_time

    return [
        record
        for record in records
        if record.location is not Location.REMOTE and (record.phase in _RAN or at_shutdown(record))
    ]


def expiry(found: Iterable[Session], boot_id: str | None, now: int) -> int:
    """Until when an offer stands, Unix milliseconds; perhaps no longer than C{now}."""
    if boot_id is not None:
        return now + OFFERED_MS
    return max((record.last_activity_at for record in found), default=0) + OFFERED_MS


def belongs_to(record: Session, caller: Identity) -> bool:
    """Whether C{record} is offered to C{caller}: to its owner, no admin's other ones."""
    return caller.may_reach(record.owner, record.id) and record.owner in (None, caller.username)


def open_elsewhere(record: Session, others: Iterable[Session]) -> bool:
    """Whether the conversation that C{record} would go on with runs in a live session."""
    if not record.conversation_ids:
        return False
    last = record.conversation_ids[-1]
    return any(
        other.pid is not None and other.id != record.id and last in other.conversation_ids
        for other in others
    )


def has_room(sessions: Iterable[Session], owner: str | None, total: int, per_user: int) -> bool:
    """Whether one more process of C{owner} is within the caps, which count processes."""
    running = [session for session in sessions if session.pid is not None]
    if len(running) >= total:
        return False
    return owner is None or sum(1 for one in running if one.owner == owner) < per_user
