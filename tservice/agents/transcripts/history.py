"""List of past conversations on disk (protocol-conversations: C{GET /api/history/sessions})."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from tservice.agents.transcripts.conversation.items import ConversationItem
from tservice.agents.transcripts.conversation.pages import (
    ConversationPage,
    ConversationReader,
    PageRequest,
)
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache, read_to_end
from tservice.agents.transcripts.conversation.readers import find_branch
from tservice.agents.transcripts.conversation_access import read_beginning, read_messages
from tservice.agents.transcripts.conversation_search import COUNTED, count_turns, search_transcripts
from tservice.agents.transcripts.conversation_stores import StoredConversation
from tservice.agents.transcripts.files import (
    CANDIDATES,
    MODES,
    NAME_CHARS,
    TranscriptLocations,
    list_newest_conversations,
)
from tservice.agents.transcripts.model import TranscriptTally, get_safe_id_or_none
from tservice.agents.transcripts.reader import MESSAGES, TAIL
from tservice.agents.transcripts.responses import (
    ConversationListResponse,
    ConversationResponse,
    TranscriptResponse,
    make_message_response,
)
from tservice.agents.transcripts.sqlite.rows import reuse_readers
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_field_error, make_not_found_error
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.core.workers.thread_runners import RunForOwner
from tservice.sessions.interfaces import ISessions

OWN_HEADS = 500
"""Maximum number of transcripts that are examined for a caller who may not see all; the newest are
examined.
"""
REMEMBERED = 5_000
"""Maximum number of conversations with a cached count of turns; beyond that the cache is cleared.
"""

_T = TypeVar("_T")


@frozen(kw_only=True)
class _HistoryView:
    """Conversations that one caller may see.

    @ivar own: the folders whose conversations the caller may see; C{None} for all.
    @ivar inside: the folder that must contain these folders now.
    """

    files: tuple[TranscriptLocations, ...]
    own: frozenset[str] | None
    inside: FolderLimit

    def list_all(self) -> list[StoredConversation]:
        """Return all conversations, newest first; check each with L{may_show} before showing it."""
        return list_newest_conversations(self.files)

    def may_show(self, begins: TranscriptTally) -> bool:
        """Return true if the caller may see a conversation.

        @param begins: the tally of the conversation's beginning.
        """
        if self.own is None:
            return True
        # A session may have been created with more rights than its owner has now.
        return begins.cwd in self.own and self.inside.accepts_folder(begins.cwd)


class ConversationHistory:
    """Past conversations on disk, with or without a session.

    A caller who is not an admin sees the conversations in the folders of their own sessions, as far
    as they may work there now. For an account with an OS user, these are the conversations in that
    user's home.

    @param seconds: a clock that threads may call.
    """

    def __init__(
        self,
        sessions: ISessions,
        homes: TranscriptHomes,
        in_thread: RunForOwner,
        seconds: Callable[[], float],
        readers: ReaderCache,
    ) -> None:
        self._readers = readers
        self._sessions = sessions
        self._homes = homes
        self._in_thread = in_thread
        self._seconds = seconds
        self._turns: dict[StoredConversation, int] = {}

    async def list_conversations(
        self, caller: Identity, limit: int, offset: int
    ) -> ConversationListResponse:
        """Return conversations, newest first.

        @raise ServiceError: 422 naming C{osUser}: no files can be read as that user now.
        """
        return await self._run_with_caller_rights(
            caller, partial(self._make_page, limit=limit, offset=offset)
        )

    async def search_conversations(
        self, caller: Identity, words: str, limit: int, offset: int
    ) -> ConversationListResponse:
        """Return conversations whose text or folder name contains C{words}.

        @raise ServiceError: see L{list_conversations}.
        """
        look = partial(self._make_search_page, words=words, limit=limit, offset=offset)
        return await self._run_with_caller_rights(caller, look)

    async def read_transcript(
        self, caller: Identity, mode: str, conversation: str
    ) -> TranscriptResponse:
        """Return the last messages of a conversation.

        @raise ServiceError: 400: no such mode; 404: no such conversation; see also
            L{list_conversations}.
        """
        _require_mode(mode)
        read = partial(self._read_transcript, mode=mode, conversation=conversation)
        answer = await self._run_with_caller_rights(caller, read)
        if answer is None:
            raise make_not_found_error(f"Conversation {conversation}")
        return answer

    async def read_page(
        self,
        caller: Identity,
        mode: str,
        conversation: str,
        wanted: PageRequest,
        branch: str | None,
    ) -> tuple[ConversationResponse, ConversationPage]:
        """Return a page of the items of a conversation.

        @param branch: id of a sub-agent's conversation; C{None} for the main one.
        @raise ServiceError: see L{read_transcript}.
        """
        return await self._read_items(
            caller, mode, conversation, branch, lambda reader: reader.read_page(wanted)
        )

    async def read_item(
        self, caller: Identity, mode: str, conversation: str, item_id: str, branch: str | None
    ) -> ConversationItem:
        """Return a whole item of a conversation.

        @raise ServiceError: see L{read_transcript}; 404: no such item.
        """
        _, item = await self._read_items(
            caller, mode, conversation, branch, lambda reader: reader.read_item(item_id)
        )
        if item is None:
            raise make_not_found_error(f"Item {item_id}")
        return item

    # -- internal

    async def _read_items(
        self,
        caller: Identity,
        mode: str,
        conversation: str,
        branch: str | None,
        work: Callable[[ConversationReader], _T],
    ) -> tuple[ConversationResponse, _T]:
        _require_mode(mode)

        def look(view: _HistoryView) -> tuple[ConversationResponse, _T] | None:
            for each, begins in self._find_shown(view, mode, conversation):
                path = each.path
                if branch is not None:
                    path = _find_branch(view, path, mode, branch)
                found = self._readers.use_reader(
                    path, mode, partial(_read_with, work), is_branch=branch is not None
                )
                return self._describe_conversation(each, begins), found
            return None

        answer = await self._run_with_caller_rights(caller, look)
        if answer is None:
            raise make_not_found_error(f"Conversation {conversation}")
        return answer

    def _find_shown(
        self, view: _HistoryView, mode: str, conversation: str
    ) -> Iterator[tuple[StoredConversation, TranscriptTally]]:
        """Iterate over the conversations with an id that the caller may see."""
        for each in _find_conversations_by_id(view.list_all(), mode, conversation):
            begins = read_beginning(each.path, mode)
            if _get_conversation_id(each, begins) == conversation and view.may_show(begins):
                yield each, begins

    async def _run_with_caller_rights(
        self, caller: Identity, look: Callable[[_HistoryView], _T]
    ) -> _T:
        """Run C{look} in a thread, with the file rights of the caller's sessions, and return its
        result.
        """
        await self._homes.places.refresh_location(caller.location_id)
        place = self._homes.places.get_caller_location(caller)
        sessions = [each for each in self._sessions.list(caller) if each.location_id == place.id]
        own = None if caller.admin else frozenset(each.working_dir for each in sessions)
        inside = self._homes.inside(caller.username or None, place.id)
        view = _HistoryView(
            files=tuple(self._homes.list_transcript_locations(place, sessions)),
            own=own,
            inside=inside,
        )
        kept = reuse_readers(partial(look, view))
        return await self._in_thread(
            lambda: place.run_file_work(kept), str(place.home), caller.username or None
        )

    def _make_page(
        self, view: _HistoryView, *, limit: int, offset: int
    ) -> ConversationListResponse:
        found = view.list_all()
        if view.own is None:
            page = [self._describe_conversation(each) for each in found[offset : offset + limit]]
            return ConversationListResponse(sessions=page, total=len(found))
        begun = [(each, read_beginning(each.path, each.mode)) for each in found[:OWN_HEADS]]
        mine = [(each, begins) for each, begins in begun if view.may_show(begins)]
        page = [
            self._describe_conversation(each, begins)
            for each, begins in mine[offset : offset + limit]
        ]
        return ConversationListResponse(sessions=page, total=len(mine))

    def _make_search_page(
        self, view: _HistoryView, *, words: str, limit: int, offset: int
    ) -> ConversationListResponse:
        result = search_transcripts(view.list_all(), words, view.may_show, self._seconds)
        page = result.hits[offset : offset + limit]
        return ConversationListResponse(
            sessions=[
                self._describe_conversation(each.found, each.begins, each.excerpt) for each in page
            ],
            total=len(result.hits),
            complete=result.complete,
        )

    def _read_transcript(
        self, view: _HistoryView, *, mode: str, conversation: str
    ) -> TranscriptResponse | None:
        for each, begins in self._find_shown(view, mode, conversation):
            said = read_messages(each.path, mode)
            return TranscriptResponse(
                session=self._describe_conversation(each, begins),
                messages=[make_message_response(one) for one in said],
                truncated=each.size > TAIL or len(said) >= MESSAGES,
            )
        return None

    def _describe_conversation(
        self,
        found: StoredConversation,
        begins: TranscriptTally | None = None,
        excerpt: str | None = None,
    ) -> ConversationResponse:
        begins = begins or read_beginning(found.path, found.mode)
        return ConversationResponse(
            id=_get_conversation_id(found, begins),
            mode=found.mode,
            updated_at=found.at,
            size=found.size,
            turns=self._count_turns(found),
            turns_cut=True if found.size > COUNTED else None,
            working_dir=begins.cwd,
            title=begins.title,
            excerpt=excerpt,
        )

    def _count_turns(self, found: StoredConversation) -> int:
        """Return the number of turns, which is cached until the conversation's time or size
        changes.
        """
        known = self._turns.get(found)
        if known is not None:
            return known
        if len(self._turns) >= REMEMBERED:
            self._turns.clear()
        return self._turns.setdefault(found, count_turns(found))


def _get_conversation_id(found: StoredConversation, begins: TranscriptTally) -> str:
    return begins.conversation or found.name.removesuffix(".jsonl")


def _find_conversations_by_id(
    found: Iterable[StoredConversation], mode: str, conversation: str
) -> Iterable[StoredConversation]:
    part = conversation[:NAME_CHARS]
    return islice((each for each in found if each.mode == mode and part in each.name), CANDIDATES)


def _require_mode(mode: str) -> None:
    if mode not in MODES:
        raise make_field_error("mode", f"must be one of {', '.join(MODES)}")


def _read_with(work: Callable[[ConversationReader], _T], reader: ConversationReader) -> _T:
    read_to_end(reader)
    return work(reader)


def _find_branch(view: _HistoryView, path: Path, mode: str, branch: str) -> Path:
    found = None
    if get_safe_id_or_none(branch) is not None:
        places = (find_branch(files, path, mode, branch) for files in view.files)
        found = next((each for each in places if each is not None), None)
    if found is None:
        raise make_not_found_error(f"Conversation {branch}")
    return found
