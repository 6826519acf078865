"""Conversations of sessions as items (protocol-conversation)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.transcripts.conversation.followers import ConversationFollowers, FollowedId
from tservice.agents.transcripts.conversation.items import ConversationItem
from tservice.agents.transcripts.conversation.pages import (
    ConversationChange,
    ConversationPage,
    ConversationReader,
    PageRequest,
)
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache
from tservice.agents.transcripts.conversation.readers import find_branch
from tservice.agents.transcripts.conversation_access import OPENCODE
from tservice.agents.transcripts.model import get_safe_id_or_none
from tservice.agents.transcripts.service import TranscriptService
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.kernel.errors import ServiceError, make_not_found_error
from tservice.core.kernel.event_payloads import ConversationChangedPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.timers import NamedTimers
from tservice.core.locations.folder_watches import FolderWatches
from tservice.sessions.interfaces import ISessions, Session, SessionStatus

_MOMENTS = {
    EventName.HOOK_PROMPT_SUBMITTED,
    EventName.HOOK_STOP,
    EventName.SESSION_WORKING,
    EventName.SESSION_IDLE,
    EventName.SESSION_STOP,
    EventName.SESSION_INTERACTIVE,
}
"""Events after which a session may have another conversation."""

SEARCH_SECONDS = 3.0
"""Minimum seconds between two searches for another conversation of a followed session."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class SessionPage:
    """Page of a session's conversation.

    @ivar conversation: id of the conversation; C{None} if the agent has recorded none yet.
    @ivar earlier: ids of the session's earlier conversations, oldest first.
    @ivar live: changes are published.
    """

    page: ConversationPage | None
    conversation: str | None
    mode: str
    earlier: tuple[str, ...]
    live: bool


class ConversationService:
    """Service that reads and follows the conversations of sessions."""

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        transcripts: TranscriptService,
        homes: TranscriptHomes,
        readers: ReaderCache,
    ) -> None:
        self._sessions = sessions
        self._transcripts = transcripts
        self._homes = homes
        self._readers = readers
        self._hub: EventHub | None = None
        self._end: Callable[[], None] | None = None
        self._watches = FolderWatches(clock)
        self._searched = NamedTimers(clock)
        self._followers = ConversationFollowers(
            clock, self._watches, self._open_folder, self._read_followed
        )

    @property
    def followed_count(self) -> int:
        """Number of followed conversations."""
        return len(self._followers)

    def start(self, hub: EventHub) -> None:
        """Subscribe to events."""
        self._hub = hub
        self._end = hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Unsubscribe from events, and stop following conversations."""
        if self._end is not None:
            self._end()
            self._end = None
        self._followers.close()
        self._searched.cancel_all()
        self._watches.close()

    async def read_page(
        self, session_id: str, wanted: PageRequest, branch: str | None
    ) -> SessionPage:
        """Return a page of a session's conversation, and follow the conversation from now on.

        @param branch: id of a sub-agent's conversation; C{None} for the main one.
        @raise ServiceError: 400: the session's mode has no known transcript; 404: no such session
            or sub-agent.
        """
        session = self._transcripts.require_transcript(session_id)
        path = await self._find_path(session, branch)
        page = await self._read(session, path, branch, lambda each: each.read_page(wanted))
        if page is None and path is not None:
            # The file may be gone, and another one in its place.
            await self._transcripts.read_new_part(session_id)
            path = await self._find_path(session, branch)
            page = await self._read(session, path, branch, lambda each: each.read_page(wanted))
        followed = FollowedId(session_id, branch)
        await self._followers.follow(followed, path)
        session = self._sessions.get(session_id)
        known = session.conversation_ids
        tally = self._transcripts.get_tally(session_id)
        current = None if path is None or tally is None else tally.conversation
        return SessionPage(
            page=page,
            conversation=current,
            mode=session.mode,
            earlier=tuple(each for each in known if each != current),
            live=self._followers.is_watched(followed),
        )

    async def read_latest(self, session_id: str, limit: int) -> ConversationPage | None:
        """Return the newest items of a session's conversation without following it.

        C{None} means that the agent has recorded none yet.

        @raise ServiceError: 400: the session's mode has no known transcript; 404: no such session.
        """
        session = self._transcripts.require_transcript(session_id)
        path = await self._find_path(session, None)
        wanted = PageRequest(limit=limit)
        return await self._read(session, path, None, lambda each: each.read_page(wanted))

    async def read_item(
        self, session_id: str, item_id: str, branch: str | None
    ) -> ConversationItem:
        """Return a whole item.

        @raise ServiceError: see L{read_page}; 404: no such item.
        """
        session = self._transcripts.require_transcript(session_id)
        path = await self._find_path(session, branch)
        item = await self._read(session, path, branch, lambda each: each.read_item(item_id))
        if item is None:
            raise make_not_found_error(f"Item {item_id}")
        return item

    # -- internal

    async def _find_path(self, session: Session, branch: str | None) -> Path | None:
        path = self._transcripts.get_path(session.id)
        if path is None:
            await self._transcripts.read_new_part(session.id)
            path = self._transcripts.get_path(session.id)
        if branch is None:
            return path
        if path is None or get_safe_id_or_none(branch) is None:
            raise make_not_found_error(f"Conversation {branch}")
        files = self._homes.get_transcript_locations(session)
        look = partial(find_branch, files, path, session.mode, branch)
        found = await self._transcripts.run_with_owner_rights(session, look)
        if found is None:
            raise make_not_found_error(f"Conversation {branch}")
        return found

    async def _read(
        self,
        session: Session,
        path: Path | None,
        branch: str | None,
        work: Callable[[ConversationReader], _T],
    ) -> _T | None:
        """Read what is new in slices, so that other work of the threads gets its turn."""
        if path is None:
            return None
        use = partial(self._readers.use_reader, path, session.mode, is_branch=branch is not None)
        run = self._transcripts.run_with_owner_rights
        more: bool | None = True
        while more:
            more = await run(session, lambda: use(work=_read_more))
        return None if more is None else await run(session, lambda: use(work=work))

    async def _open_folder(self, followed: FollowedId, path: Path) -> int | None:
        session = self._find_session(followed.session_id)
        if session is None:
            return None
        folder = path.parent.parent if session.mode == OPENCODE else path.parent
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        return await self._transcripts.run_with_owner_rights(
            session, lambda: os.open(folder, flags)
        )

    async def _read_followed(self, followed: FollowedId) -> None:
        session = self._find_session(followed.session_id)
        if session is None:
            self._followers.drop(followed)
            return
        try:
            path = await self._find_path(session, followed.branch)
        except ServiceError:
            return
        change = await self._read(session, path, followed.branch, lambda each: each.take_change())
        if change is None and followed.branch is None and self._may_search(session):
            # The folder changed, but not the file: there may be another conversation.
            await self._transcripts.read_new_part(session.id)
            if self._transcripts.get_path(session.id) != path:
                change = ConversationChange(cursor="")
        if change is not None and self._find_session(session.id) is not None:
            self._publish(session, followed, change)

    def _may_search(self, session: Session) -> bool:
        """Return true if a busy session's conversation was not searched for in the last seconds.

        Sessions share folders, and a search reads the beginnings of many conversations.
        """
        if session.status is not SessionStatus.BUSY or session.id in self._searched:
            return False
        self._searched.schedule_call(session.id, SEARCH_SECONDS, lambda: None)
        return True

    def _publish(self, session: Session, followed: FollowedId, change: ConversationChange) -> None:
        if self._hub is not None:
            self._hub.publish(
                Event(
                    name=EventName.SESSION_CONVERSATION,
                    payload=ConversationChangedPayload(
                        id=session.id,
                        branch=followed.branch,
                        cursor=change.cursor,
                        changed=list(change.changed),
                    ),
                    session_id=session.id,
                    owner=session.owner,
                )
            )

    def _handle_event(self, event: Event) -> None:
        if event.session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._followers.drop_session(event.session_id)
        elif event.name in _MOMENTS:
            self._followers.check_session(event.session_id)

    def _find_session(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None


def _read_more(reader: ConversationReader) -> bool:
    return reader.read_more()
