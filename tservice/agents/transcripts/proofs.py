"""What proves that a prompt was submitted, beside the screen: hooks and transcripts
(protocol-conventions).

A composer may show a text that was submitted long ago: Claude Code sometimes keeps a paste there.
Its C{UserPromptSubmit} hook tells each prompt that begins a turn, its transcript those that wait
for the end of one, too.  pi writes its transcript at the first answer only, and others may be
late: what stands there was submitted, what does not may have been.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from tservice.agents.transcripts import opencode
from tservice.agents.transcripts.claude import unpasted
from tservice.agents.transcripts.formats import FORMATS
from tservice.agents.transcripts.homes import Homes
from tservice.agents.transcripts.model import entry
from tservice.agents.transcripts.reader import open_regular
from tservice.agents.transcripts.sources import OPENCODE
from tservice.agents.transcripts.stores import STORES
from tservice.core.doors.inthread import InThread
from tservice.sessions.interfaces import Session

HEARD = 32
"""Prompts of a session that hooks told of and that are remembered, the newest."""
TAIL = 1024 * 1024
"""Bytes from a transcript's end in which a prompt is looked for."""
EARLY_MS = 1000
"""How much older than its Enter an entry may seem."""

_TELLING = frozenset({"primary", "codex"})
"""Whose transcripts name each prompt once it is given, so that one which is not there was not."""

_OF_THE_AGENT = frozenset({"assistant", "system", "file-history-snapshot"})


class Proofs:
    """What agents themselves told of their prompts.

    @param told: the transcript that a session's hooks named.
    """

    def __init__(
        self, homes: Homes, told: Callable[[str], str | None], in_thread: InThread
    ) -> None:
        self._homes = homes
        self._told = told
        self._in_thread = in_thread
        self._heard: dict[str, deque[tuple[int, str]]] = {}

    def heard(self, session_id: str, prompt: object, at: int) -> None:
        """A hook told of a prompt.

        @param prompt: as its payload has it; untrusted.
        """
        if isinstance(prompt, str):
            kept = self._heard.setdefault(session_id, deque(maxlen=HEARD))
            kept.append((at, _folded(prompt)))

    def forget(self, session_id: str) -> None:
        """The session's process is another one, or the session is gone."""
        self._heard.pop(session_id, None)

    async def submitted(self, session: Session, text: str, since: int) -> bool | None:
        """Whether C{text} was submitted after C{since} (Unix milliseconds); C{None}: nobody knows.

        "Not yet" is told only of an agent that would have told.
        """
        wanted = _folded(text)
        heard = self._heard.get(session.id, ())
        if any(at >= since - EARLY_MS and prompt == wanted for at, prompt in heard):
            return True
        if session.mode not in STORES:
            return None
        homes, files = self._homes, self._homes.files_of(session)
        told = self._told(session.id)

        def look() -> bool | None:
            path = files.locate(session, told, (), shared=True)
            if path is None:
                return None
            found = wanted in map(_folded, _prompts(path, session.mode, since - EARLY_MS))
            return found if found or session.mode in _TELLING else None

        try:
            return await self._in_thread(homes.as_owner(session, look), session.working_dir)
        except OSError:
            # It cannot be read, which proves nothing.
            return None


def _prompts(path: Path, mode: str, since: int) -> Iterator[str]:
    """What an agent was told since C{since} (Unix milliseconds), newest first."""
    if mode == OPENCODE:
        yield from opencode.prompts(path, since)
        return
    with open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        lines = file.read(TAIL).split(b"\n")
    for found in filter(None, map(entry, reversed(lines))):
        at = _written_at(found)
        if at is not None and at < since:
            return
        yield from _told_in(found, mode)


def _told_in(found: dict[str, Any], mode: str) -> Iterator[str]:
    """What a line may have told its agent."""
    if mode in _TELLING:
        # Those that wait for the end of a turn stand in lines of their own kinds.
        yield from () if found.get("type") in _OF_THE_AGENT else _texts(found)
        return
    said = FORMATS[mode].said(found)
    if said is not None and said.role == "user":
        yield said.text


def _written_at(found: dict[str, Any]) -> int | None:
    """Unix milliseconds of an entry; C{None} where it does not tell."""
    try:
        return int(datetime.fromisoformat(str(found.get("timestamp"))).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _texts(value: object) -> Iterator[str]:
    """Every text in an entry, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _folded(text: str) -> str:
    """Without white space: agents show and keep tabs, line ends and blanks their own way.

    So they do with the bounds of a paste.
    """
    return "".join(unpasted(text).split())
