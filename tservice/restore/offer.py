"""Selection of the sessions to offer, their owners, and the right to restart them
(protocol-restore).

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from tservice.core.identity import Identity
from tservice.restore.model import OFFERED_MS
from tservice.sessions.interfaces import ProcessPhase, Session, SessionLocationKind

SHUTDOWN_MS = 120_000
"""Milliseconds before the service's own stop in which a lost process counts as ended by the
machine's shutdown: systemd gives units 90 s.
"""

_RAN = frozenset(
    {ProcessPhase.STARTING, ProcessPhase.RUNNING, ProcessPhase.UNKNOWN, ProcessPhase.DETACHED}
)


@frozen(kw_only=True)
class RestorableSession:
    """Session that can be restored.

    @ivar resumes: its agent continues a conversation; otherwise it begins a new one.
    @ivar scrollback: its scrollback was saved.
    """

    session: Session
    resumes: bool
    scrollback: bool


@frozen(kw_only=True)
class RestoreOffer:
    """Restorable sessions of one caller.

    @ivar expires_at: Unix milliseconds of the first expiry; C{None}: the offer is empty.
    @ivar restoring: a restore is in progress.
    """

    sessions: tuple[RestorableSession, ...] = field(default=())
    expires_at: int | None = None
    restoring: bool = False


def find_ended_by_reboot(
    records: Iterable[Session], losses: Mapping[str, int], stopped_at: int | None
) -> list[Session]:
    """Return the sessions that ran when the machine went down.

    @param losses: times of lost processes while the service ran, by session.
    """

    def ended_at_shutdown(record: Session) -> bool:
        lost = losses.get(record.id)
        in_time = lost is not None and stopped_at is not None and lost >= stopped_at - SHUTDOWN_MS
        return record.phase is ProcessPhase.EXITED and in_time

    return [
        record
        for record in records
        if record.location is not SessionLocationKind.REMOTE
        and (record.phase in _RAN or ended_at_shutdown(record))
    ]


def offer_expiry(found: Iterable[Session], boot_id: str | None, now: int) -> int:
    """Return when an offer expires, Unix milliseconds; possibly before C{now}."""
    if boot_id is not None:
        return now + OFFERED_MS
    return max((record.last_activity_at for record in found), default=0) + OFFERED_MS


def is_offered_to(record: Session, caller: Identity) -> bool:
    """Return whether C{record} is offered to C{caller}: only to its owner, even if the caller is
    an admin.
    """
    return caller.can_access(record.owner, record.id) and record.owner in (None, caller.username)


def is_open_elsewhere(record: Session, others: Iterable[Session]) -> bool:
    """Return whether the conversation that C{record} would continue runs in a live session."""
    if not record.conversation_ids:
        return False
    last = record.conversation_ids[-1]
    return any(
        other.pid is not None and other.id != record.id and last in other.conversation_ids
        for other in others
    )


def has_room(sessions: Iterable[Session], owner: str | None, total: int, per_user: int) -> bool:
    """Return whether one more process of C{owner} is within the caps, which count processes."""
    running = [session for session in sessions if session.pid is not None]
    if len(running) >= total:
        return False
    return owner is None or sum(1 for one in running if one.owner == owner) < per_user
