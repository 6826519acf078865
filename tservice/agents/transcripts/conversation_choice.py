"""Choice of a session's conversation if no hook reports it.

Several sessions may run the same agent in the same folder. The first prompt assigns a conversation
to one of them, because it has the time of the session's Enter. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from tservice.agents.transcripts.conversation_stores import StoredConversation
from tservice.agents.transcripts.model import TranscriptTally
from tservice.agents.transcripts.reader import HEAD
from tservice.sessions.interfaces import Session

NEAR_MS = 10_000
"""Maximum milliseconds between the agent's time of a prompt and the service's time, which is later:
the service first confirms that the text has left the composer.
"""
EARLY_MS = 5_000
"""Maximum milliseconds by which a conversation may seem older than its session."""


@frozen(kw_only=True)
class CandidateConversation:
    """Conversation in the session's folder that may be the session's.

    @ivar begins: the tally of the conversation's beginning.
    """

    found: StoredConversation
    begins: TranscriptTally


def choose_conversation(
    session: Session, candidates: Sequence[CandidateConversation], *, shared: bool
) -> StoredConversation | None:
    """Return the session's current conversation; C{None} if no candidate is certain.

    @param candidates: newest first, none of which belongs to another session.
    @param shared: other sessions of the mode use the folder, so that the folder alone proves
        nothing.
    """
    known = session.conversation_ids
    new = [each for each in candidates if each.begins.conversation not in known]
    near = [
        (apart, each) for each in new if (apart := _compute_distance(session, each)) is not None
    ]
    if near:
        return min(near, key=lambda pair: pair[0])[1].found
    for conversation in reversed(known):
        same = [each for each in candidates if each.begins.conversation == conversation]
        if same:
            # Gemini CLI begins an empty file when it resumes, and goes on in the old one.
            return next((each for each in same if _has_messages(each)), same[0]).found
    if shared:
        return None
    return next((each.found for each in new if _began_in_session(session, each)), None)


def _compute_distance(session: Session, candidate: CandidateConversation) -> int | None:
    """Return the milliseconds between the candidate's first prompt and the session's last prompt.

    The result is C{None} if they are farther apart than L{NEAR_MS}.
    """
    first, last = candidate.begins.first_at, session.last_submit_at
    if first is None or last is None or abs(first - last) > NEAR_MS:
        return None
    return abs(first - last)


def _began_in_session(session: Session, candidate: CandidateConversation) -> bool:
    """Return true if the candidate began after the session was created."""
    first = candidate.begins.first_at
    return _has_messages(candidate) and (first is None or first >= session.created_at - EARLY_MS)


def _has_messages(candidate: CandidateConversation) -> bool:
    """Return true if the candidate's beginning contains any message.

    An empty conversation may belong to a process that has ended. Gemini CLI restarts after its
    trust dialog is answered, and then begins another conversation.
    """
    begins = candidate.begins
    return bool(begins.prompts or begins.response) or candidate.found.size > HEAD
