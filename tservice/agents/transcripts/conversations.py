"""The conversation that a session's next start goes on with (protocol-start)."""

from __future__ import annotations

from collections.abc import Callable

from twisted.logger import Logger
from zope.interface import implementer

from tservice.agents.transcripts.files import MODES
from tservice.agents.transcripts.homes import Homes
from tservice.core.doors.inthread import InOwnThread
from tservice.sessions.interfaces import IConversations, Session


@implementer(IConversations)
class StoredConversations:
    """Looks on disk: an agent refuses to go on with a conversation that it did not keep.

    It keeps none that was given no prompt.  Of an agent whose files are not known, its last id is
    believed.
    """

    _log = Logger()

    def __init__(self, homes: Callable[[], Homes], in_thread: InOwnThread) -> None:
        self._homes = homes
        self._in_thread = in_thread

    async def last(self, session: Session) -> str | None:
        if not session.conversation_ids:
            return None
        if session.mode not in MODES:
            return session.conversation_ids[-1]
        homes = self._homes()
        files = homes.files_of(session)
        look = homes.as_owner(session, lambda: files.resumable(session))
        try:
            return await self._in_thread(look, session.working_dir, session.owner)
        except OSError as error:
            self._log.warn("{id}: its conversations: {error}", id=session.id, error=error)
            return None
