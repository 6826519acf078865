"""Lookup of the conversation that a session's next start continues (protocol-start)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.transcripts.files import MODES, TranscriptLocations
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.workers.thread_runners import RunForOwner
from tservice.sessions.interfaces import IConversations, Session

_T = TypeVar("_T")


@implementer(IConversations)
class ResumeLookup:
    """Lookup of conversations on disk, because an agent refuses to resume one that it did not
    store.

    An agent does not store a conversation without a prompt. If the files of an agent are unknown,
    the session's last conversation id is trusted.
    """

    _log = Logger()

    def __init__(self, homes: Callable[[], TranscriptHomes], in_thread: RunForOwner) -> None:
        self._homes = homes
        self._in_thread = in_thread

    async def find_last_conversation(self, session: Session) -> str | None:
        if not session.conversation_ids:
            return None
        if session.mode not in MODES:
            return session.conversation_ids[-1]
        try:
            return await self._run_lookup(session, lambda files: files.find_resumable(session))
        except OSError as error:
            self._log.warn("{id}: its conversations: {error}", id=session.id, error=error)
            return None

    async def check_conversation(self, session: Session, conversation: str) -> None:
        if session.mode not in MODES or not self._homes().is_home_shared(session):
            return
        try:
            foreign = await self._run_lookup(
                session, lambda files: files.is_of_other_account(session, conversation)
            )
        except OSError as error:
            text = f"resumeSessionId: the conversations cannot be read: {error.strerror or error}"
            raise make_failure_error(text) from error
        if foreign:
            text = "resumeSessionId: a conversation outside the workspace of this account"
            raise ServiceError(ErrorCode.FORBIDDEN, text)

    async def _run_lookup(self, session: Session, look: Callable[[TranscriptLocations], _T]) -> _T:
        homes = self._homes()
        files = homes.get_transcript_locations(session)
        work = homes.bind_to_location_rights(session, lambda: look(files))
        found: _T = await self._in_thread(work, session.working_dir, session.owner)
        return found
