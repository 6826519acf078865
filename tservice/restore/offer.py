"""Rules that select the sessions to offer for restoration, and the callers that may restore them
(protocol-restore).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from tservice.core.callers.identity import Identity
from tservice.restore.model import OFFERED_MS
from tservice.sessions.interfaces import ProcessPhase, Session, SessionLocationKind

SHUTDOWN_MS = 120_000
"""Milliseconds before the service's stop in which a lost process counts as ended by the shutdown.

systemd gives each unit 90 s to stop.
"""

_RAN = frozenset(
    {ProcessPhase.STARTING, ProcessPhase.RUNNING, ProcessPhase.UNKNOWN, ProcessPhase.DETACHED}
)


@frozen(kw_only=True)
class RestorableSession:
    """Session that can be restored.

    @ivar resumes: true if the agent continues its conversation; false if it begins a new one.
    @ivar scrollback: true if the scrollback was saved.
    """

    session: Session
    resumes: bool
    scrollback: bool


@frozen(kw_only=True)
class RestoreOffer:
    """Sessions that one caller can restore.

    @ivar expires_at: time of the first expiry, Unix milliseconds; C{None} if the offer is empty.
    @ivar restoring: true while a restore is in progress.
    """

    sessions: tuple[RestorableSession, ...] = field(default=())
    expires_at: int | None = None
    restoring: bool = False


def find_ended_by_reboot(
    records: Iterable[Session], losses: Mapping[str, int], stopped_at: int | None
) -> list[Session]:
    """Return the sessions that had a process when the machine went down.

    @param losses: by session id, times at which processes were lost while the service ran, Unix
        milliseconds.
    @param stopped_at: time of the service's clean stop, Unix milliseconds; C{None} if there was
        none.
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


def compute_offer_expiry(found: Iterable[Session], boot_id: str | None, now: int) -> int:
    """Return the time at which an offer expires, Unix milliseconds.

    It may be before C{now}.
    """
    if boot_id is not None:
        return now + OFFERED_MS
    return max((record.last_activity_at for record in found), default=0) + OFFERED_MS


def is_offered_to(record: Session, caller: Identity) -> bool:
    """Return true if the session is offered to C{caller}.

    Only its owner gets the offer, not even an admin.
    """
    return caller.can_access(record.owner, record.id) and record.owner in (None, caller.username)


def is_open_elsewhere(record: Session, others: Iterable[Session]) -> bool:
    """Return true if a live session already runs the conversation of C{record}."""
    if not record.conversation_ids:
        return False
    last = record.conversation_ids[-1]
    return any(
        other.pid is not None and other.id != record.id and last in other.conversation_ids
        for other in others
    )


def has_process_capacity(
    sessions: Iterable[Session], owner: str | None, total: int, per_user: int
) -> bool:
    """Return true if the maximum number of processes allows one more for C{owner}.

    @param total: maximum number of all users together.
    @param per_user: maximum number of one user.
    """
    running = [session for session in sessions if session.pid is not None]
    if len(running) >= total:
        return False
    return owner is None or sum(1 for one in running if one.owner == owner) < per_user
