"""Past conversations on disk (protocol-conversations: C{GET /api/history/sessions})."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import TypeVar

from attrs import frozen

from tservice.agents.transcripts.files import (
    CANDIDATES,
    MODES,
    NAME_CHARS,
    TranscriptFiles,
    all_transcripts,
)
from tservice.agents.transcripts.homes import Homes
from tservice.agents.transcripts.model import Tally
from tservice.agents.transcripts.reader import MESSAGES, TAIL
from tservice.agents.transcripts.searching import COUNTED, search, turns_of
from tservice.agents.transcripts.shown import (
    ConversationAnswer,
    HistoryAnswer,
    TranscriptAnswer,
    message_answer,
)
from tservice.agents.transcripts.sources import head, messages
from tservice.agents.transcripts.sqlite.rows import kept_open
from tservice.agents.transcripts.stores import StoredConversation
from tservice.core.doors.thread_runners import RunForOwner
from tservice.core.errors import invalid_field, not_found
from tservice.core.identity import Identity
from tservice.core.places.workspace_bounds import FolderLimit
from tservice.sessions.interfaces import ISessions

OWN_HEADS = 500
"""Maximum number of transcripts, newest first, that are examined for a caller who may not see
all.
"""
REMEMBERED = 5_000
"""Maximum number of conversations whose turn counts are cached; beyond that the cache is
cleared.
"""

_T = TypeVar("_T")


@frozen(kw_only=True)
class _View:
    """Conversations that one caller may see.

    @ivar own: the folders whose conversations the caller may see; C{None} for all.
    @ivar inside: the folder that must contain these now.
    """

    files: tuple[TranscriptFiles, ...]
    own: frozenset[str] | None
    inside: FolderLimit

    def all(self) -> list[StoredConversation]:
        """Return all conversations, newest first; the beginning of each determines if it may be
        shown.
        """
        return all_transcripts(self.files)

    def shows(self, begins: Tally) -> bool:
        """Return true if the caller may see a conversation."""
        if self.own is None:
            return True
        # A session may have been created with more rights than its owner has now.
        return begins.cwd in self.own and self.inside.accepts_folder(begins.cwd)


class History:
    """Past conversations on disk, with or without a session.

    A caller who is not an admin sees the conversations in their own sessions' folders, as far as
    they may work there now. An account that names an OS user sees those in that user's home.

    @param seconds: a clock that threads may call.
    """

    def __init__(
        self,
        sessions: ISessions,
        homes: Homes,
        in_thread: RunForOwner,
        seconds: Callable[[], float],
    ) -> None:
        self._sessions = sessions
        self._homes = homes
        self._in_thread = in_thread
        self._seconds = seconds
        self._turns: dict[StoredConversation, int] = {}

    async def list(self, caller: Identity, limit: int, offset: int) -> HistoryAnswer:
        """Return conversations, newest first.

        @raise ServiceError: 422 naming C{osUser}: nothing can be read as that user now.
        """
        return await self._look(caller, partial(self._page, limit=limit, offset=offset))

    async def search(self, caller: Identity, words: str, limit: int, offset: int) -> HistoryAnswer:
        """Return conversations that contain C{words}, or whose folder's name does.

        @raise ServiceError: see L{list}.
        """
        look = partial(self._found, words=words, limit=limit, offset=offset)
        return await self._look(caller, look)

    async def transcript(self, caller: Identity, mode: str, conversation: str) -> TranscriptAnswer:
        """Return the last messages of a conversation.

        @raise ServiceError: 400: no such mode; 404: no such conversation; see also L{list}.
        """
        if mode not in MODES:
            raise invalid_field("mode", f"must be one of {', '.join(MODES)}")
        read = partial(self._transcript, mode=mode, conversation=conversation)
        answer = await self._look(caller, read)
        if answer is None:
            raise not_found(f"Conversation {conversation}")
        return answer

    # -- internal

    async def _look(self, caller: Identity, look: Callable[[_View], _T]) -> _T:
        """Run C{look} in a thread, with the rights that the caller's sessions have."""
        await self._homes.places.refresh_location(caller.location_id)
        place = self._homes.places.get_caller_location(caller)
        sessions = [each for each in self._sessions.list(caller) if each.location_id == place.id]
        own = None if caller.admin else frozenset(each.working_dir for each in sessions)
        inside = self._homes.inside(caller.username or None, place.id)
        view = _View(files=tuple(self._homes.every(place, sessions)), own=own, inside=inside)
        kept = kept_open(partial(look, view))
        return await self._in_thread(
            lambda: place.run_file_work(kept), str(place.home), caller.username or None
        )

    def _page(self, view: _View, *, limit: int, offset: int) -> HistoryAnswer:
        found = view.all()
        if view.own is None:
            page = [self._described(each) for each in found[offset : offset + limit]]
            return HistoryAnswer(sessions=page, total=len(found))
        begun = [(each, head(each.path, each.mode)) for each in found[:OWN_HEADS]]
        mine = [(each, begins) for each, begins in begun if view.shows(begins)]
        page = [self._described(each, begins) for each, begins in mine[offset : offset + limit]]
        return HistoryAnswer(sessions=page, total=len(mine))

    def _found(self, view: _View, *, words: str, limit: int, offset: int) -> HistoryAnswer:
        result = search(view.all(), words, view.shows, self._seconds)
        page = result.hits[offset : offset + limit]
        return HistoryAnswer(
            sessions=[self._described(each.found, each.begins, each.excerpt) for each in page],
            total=len(result.hits),
            complete=result.complete,
        )

    def _transcript(self, view: _View, *, mode: str, conversation: str) -> TranscriptAnswer | None:
        for each in _like(view.all(), mode, conversation):
            begins = head(each.path, mode)
            if _id_of(each, begins) != conversation or not view.shows(begins):
                continue
            said = messages(each.path, mode)
            return TranscriptAnswer(
                session=self._described(each, begins),
                messages=[message_answer(one) for one in said],
                truncated=each.size > TAIL or len(said) >= MESSAGES,
            )
        return None

    def _described(
        self, found: StoredConversation, begins: Tally | None = None, excerpt: str | None = None
    ) -> ConversationAnswer:
        begins = begins or head(found.path, found.mode)
        return ConversationAnswer(
            id=_id_of(found, begins),
            mode=found.mode,
            updated_at=found.at,
            size=found.size,
            turns=self._turns_of(found),
            turns_cut=True if found.size > COUNTED else None,
            working_dir=begins.cwd,
            title=begins.title,
            excerpt=excerpt,
        )

    def _turns_of(self, found: StoredConversation) -> int:
        """Return the number of turns, counted once for each state: L{StoredConversation} names
        time and size.
        """
        known = self._turns.get(found)
        if known is not None:
            return known
        if len(self._turns) >= REMEMBERED:
            self._turns.clear()
        return self._turns.setdefault(found, turns_of(found))


def _id_of(found: StoredConversation, begins: Tally) -> str:
    return begins.conversation or found.path.stem


def _like(
    found: Iterable[StoredConversation], mode: str, conversation: str
) -> Iterable[StoredConversation]:
    part = conversation[:NAME_CHARS]
    return islice(
        (each for each in found if each.mode == mode and part in each.path.name), CANDIDATES
    )
