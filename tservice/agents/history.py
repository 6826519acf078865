"""Past conversations on disk (wire 1.3: C{GET /api/history/sessions})."""

from __future__ import annotations

from typing import Any

from tservice.agents.transcript import InThread
from tservice.agents.transcript_files import Found, all_transcripts
from tservice.agents.transcript_places import TranscriptPlaces
from tservice.agents.transcript_reader import head
from tservice.core.identity import Identity
from tservice.sessions.interfaces import ISessions

Page = dict[str, Any]

OWN_HEADS = 500
"""Transcripts, newest first, that are looked into for a caller who may not see all."""


class History:
    """What the agents have left on disk, of all sessions and of none."""

    def __init__(self, sessions: ISessions, places: TranscriptPlaces, in_thread: InThread) -> None:
        self._sessions = sessions
        self._places = places
        self._in_thread = in_thread

    async def list(self, caller: Identity, limit: int, offset: int) -> Page:
        """Conversations, newest first.

        Of somebody who is no admin: those in the folders of their own sessions.
        """
        sessions = self._sessions.list(caller)
        own = None if caller.admin else frozenset(each.working_dir for each in sessions)
        places = self._places.every(sessions)
        return await self._in_thread(lambda: _page(all_transcripts(places), own, limit, offset))


def _page(found: list[Found], own: frozenset[str] | None, limit: int, offset: int) -> Page:
    """One page of what was found.

    @param own: the folders whose conversations the caller may see; C{None} for all.
    """
    if own is None:
        page = [_described(each) for each in found[offset : offset + limit]]
        return {"sessions": page, "total": len(found)}
    described = [_described(each) for each in found[:OWN_HEADS]]
    mine = [each for each in described if each.get("workingDir") in own]
    return {"sessions": mine[offset : offset + limit], "total": len(mine)}


def _described(found: Found) -> dict[str, Any]:
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
