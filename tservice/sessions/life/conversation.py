"""Ensures that a conversation is in use in at most one session (protocol-create).

Two agents that continue the same transcript overwrite each other's turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tservice.core.kernel.errors import make_conflict_error
from tservice.sessions.live_session import LiveSession
from tservice.sessions.record.model import ProcessPhase, Session

_ALIVE = frozenset(
    {ProcessPhase.STARTING, ProcessPhase.RUNNING, ProcessPhase.DETACHED, ProcessPhase.UNKNOWN}
)


def check_conversation_free(
    conversation: str, others: Iterable[LiveSession], may_name: Callable[[Session], bool]
) -> None:
    """Check that no other session uses a conversation that a session is about to continue.

    A detached session, or one that does not answer now, still has its agent. A session uses only
    its last conversation; the earlier ones are over.

    @param others: every session except the one that will continue the conversation.
    @param may_name: returns true if the caller may learn the id of a session.
    @raise ServiceError: 409 with the id of the session that uses the conversation.
    """
    for live in others:
        record = live.record
        if live.lifecycle.phase not in _ALIVE or record.conversation_ids[-1:] != (conversation,):
            continue
        if may_name(record):
            raise make_conflict_error(
                f"resumeSessionId: the conversation is alive in session {record.id}; "
                "open that session, or end it first"
            )
        raise make_conflict_error(
            "resumeSessionId: the conversation is alive in a session of another account"
        )
