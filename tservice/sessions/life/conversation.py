"""One conversation is alive in one session at most (protocol-create).

Two agents that go on with the same transcript write over each other's turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tservice.core.errors import conflict
from tservice.sessions.live import Live
from tservice.sessions.record.model import Phase, Session

_ALIVE = frozenset({Phase.STARTING, Phase.RUNNING, Phase.DETACHED, Phase.UNKNOWN})


def check_free(
    conversation: str, others: Iterable[Live], may_name: Callable[[Session], bool]
) -> None:
    """Refuse to go on with a conversation that is alive in a session.

    A session that was let go, or that does not answer now, still has its agent.  A session has the
    last of its conversations; those before it are over.

    @param others: every session but the one that is to go on with it.
    @param may_name: whether the caller may be told which session it is.
    @raise ServiceError: 409 with the id of that session.
    """
    for live in others:
        record = live.record
        if live.stage.phase not in _ALIVE or record.conversation_ids[-1:] != (conversation,):
            continue
        if may_name(record):
            raise conflict(
                f"resumeSessionId: the conversation is alive in session {record.id}; "
                "open that session, or end it first"
            )
        raise conflict("resumeSessionId: the conversation is alive in a session of another account")
