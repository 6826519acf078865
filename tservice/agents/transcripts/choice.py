"""Which conversation is a session's, where no hook names it.  Pure.

Several sessions may run the same agent in the same folder.  What ties a conversation to one of them
is its first prompt: it came when that session's Enter was pressed.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.agents.transcripts.model import Tally
from tservice.agents.transcripts.reader import HEAD
from tservice.agents.transcripts.stores import StoredConversation
from tservice.sessions.interfaces import Session

NEAR_MS = 10_000
"""How far the agent's time of a prompt and ours may be apart: its text is proved to be gone from
the composer first."""
EARLY_MS = 5_000
"""How much older than its session a conversation may seem."""


@frozen(kw_only=True)
class Candidate:
    """A conversation in the session's folder.

    @ivar begins: what its beginning tells.
    """

    found: StoredConversation
    begins: Tally


def choose(
    session: Session, candidates: Sequence[Candidate], *, shared: bool
) -> StoredConversation | None:
    """The session's conversation now.

    @param candidates: newest first, none of which is another session's.
    @param shared: other sessions of the mode are in the folder, so that being there proves nothing.
    """
    known = session.conversation_ids
    new = [each for each in candidates if each.begins.conversation not in known]
    near = [(apart, each) for each in new if (apart := _apart(session, each)) is not None]
    if near:
        return min(near, key=lambda pair: pair[0])[1].found
    for conversation in reversed(known):
        for each in candidates:
            if each.begins.conversation == conversation:
                return each.found
    if shared:
        return None
    return next((each.found for each in new if _is_young(session, each)), None)


def _apart(session: Session, candidate: Candidate) -> int | None:
    """Milliseconds between its first prompt and the session's last one, if that is near."""
    first, last = candidate.begins.first_at, session.last_submit_at
    if first is None or last is None or abs(first - last) > NEAR_MS:
        return None
    return abs(first - last)


def _is_young(session: Session, candidate: Candidate) -> bool:
    """Whether it was begun in the session's time."""
    first = candidate.begins.first_at
    return _is_begun(candidate) and (first is None or first >= session.created_at - EARLY_MS)


def _is_begun(candidate: Candidate) -> bool:
    """Whether anything was said in it, as far as its beginning tells.

    One in which nothing was may be that of a process that is gone: Gemini CLI, once its trust
    dialog is answered, starts anew and begins another.
    """
    begins = candidate.begins
    return bool(begins.prompts or begins.response) or candidate.found.size > HEAD
