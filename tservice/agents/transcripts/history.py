"""Past conversations on disk (protocol-conversations: C{GET /api/history/sessions})."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from tservice.agents.transcripts.files import TranscriptFiles, all_transcripts
from tservice.agents.transcripts.homes import Homes
from tservice.agents.transcripts.service import InThread
from tservice.agents.transcripts.sources import head
from tservice.agents.transcripts.stores import StoredConversation
from tservice.core.identity import Identity
from tservice.sessions.interfaces import ISessions

OWN_HEADS = 500
"""Transcripts, newest first, that are looked into for a caller who may not see all."""


class History:
    """What the agents have left on disk, of all sessions and of none."""

    def __init__(self, sessions: ISessions, homes: Homes, in_thread: InThread) -> None:
        self._sessions = sessions
        self._homes = homes
        self._in_thread = in_thread

    async def list(self, caller: Identity, limit: int, offset: int) -> dict[str, Any]:
        """Conversations, newest first.

        Of somebody who is no admin: those in the folders of their own sessions.  Of an account
        that names an OS user: those in that user's home.

        @raise ServiceError: 422 naming C{osUser}: nothing can be read as that user now.
        """
        await self._homes.places.ask(caller.place)
        place = self._homes.places.judge(caller.place, caller.os_user)
        sessions = self._sessions.list(caller)
        own = None if caller.admin else frozenset(each.working_dir for each in sessions)
        files = self._homes.every(place, sessions)
        page = partial(_page, files, own, limit, offset)
        return await self._in_thread(lambda: place.act(page), str(place.home))


def _page(
    files: Iterable[TranscriptFiles], own: frozenset[str] | None, limit: int, offset: int
) -> dict[str, Any]:
    """One page of what C{files} hold.

    @param own: the folders whose conversations the caller may see; C{None} for all.
    """
    found = all_transcripts(files)
    if own is None:
        page = [_described(each) for each in found[offset : offset + limit]]
        return {"sessions": page, "total": len(found)}
    described = [_described(each) for each in found[:OWN_HEADS]]
    mine = [each for each in described if each.get("workingDir") in own]
    return {"sessions": mine[offset : offset + limit], "total": len(mine)}


def _described(found: StoredConversation) -> dict[str, Any]:
    begins = head(found.path, found.mode)
    answer = {
        "id": begins.conversation or found.path.stem,
        "mode": found.mode,
        "updatedAt": found.at,
        "size": found.size,
        "workingDir": begins.cwd,
        "title": begins.title,
    }
    return {name: value for name, value in answer.items() if value is not None}
