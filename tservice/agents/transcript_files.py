"""Where the agents keep their transcripts; nothing outside of there is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import nlargest
from pathlib import Path

from attrs import evolve, frozen

from tservice.agents.transcript_reader import head
from tservice.sessions.interfaces import Session

PRIMARY = "primary"
CODEX = "codex"
MODES = (PRIMARY, CODEX)
"""The modes whose transcripts are known."""

CLAUDE_VARIABLE, CODEX_VARIABLE = "CLAUDE_CONFIG_DIR", "CODEX_HOME"
"""Variables by which the clients are told to keep everything elsewhere."""

SCAN_LIMIT = 20_000
"""Directory entries that one search looks at."""
CANDIDATES = 50
"""Codex transcripts, newest first, of which the beginning is read to find a session's."""
EARLY_MS = 5_000
"""How much older than its session a transcript may seem."""

_OTHER = re.compile(r"[^A-Za-z0-9]")


@frozen(kw_only=True)
class Found:
    """A transcript on disk.

    @ivar at: Unix milliseconds when it was written to last.
    """

    path: Path
    mode: str
    at: int
    size: int


@frozen(kw_only=True)
class TranscriptFiles:
    """The transcripts of both clients.

    @ivar claude: Claude Code's folder of folders, one a working directory.
    @ivar codex: Codex' folder of years.
    """

    claude: Path
    codex: Path

    @classmethod
    def of_home(cls, home: Path) -> TranscriptFiles:
        """Where both clients keep them by default."""
        return cls(claude=home / ".claude" / "projects", codex=home / ".codex" / "sessions")

    def moved(self, mode: str, environ: Mapping[str, str]) -> TranscriptFiles:
        """Where an agent of C{mode} keeps them that has C{environ}.

        A relative folder depends on where the agent is, and moves nothing here.
        """
        claude, codex = environ.get(CLAUDE_VARIABLE, ""), environ.get(CODEX_VARIABLE, "")
        if mode == PRIMARY and claude.startswith("/"):
            return evolve(self, claude=Path(claude) / "projects")
        if mode == CODEX and codex.startswith("/"):
            return evolve(self, codex=Path(codex) / "sessions")
        return self

    def folder_of(self, working_dir: str) -> Path:
        """Claude Code's folder for a working directory."""
        return self.claude / _OTHER.sub("-", working_dir)

    def named(self, session: Session, told: str | None) -> Path | None:
        """The file that a hook named, if it is one of this session's folder.

        Whoever holds the hook secret can name any file; other folders are other people's.
        """
        if told is None or "\0" in told:
            return None
        folder = os.path.realpath(self.folder_of(session.working_dir))
        path = os.path.realpath(told)
        inside = os.path.dirname(path) == folder and path.endswith(".jsonl")
        return Path(path) if inside and os.path.isfile(path) else None

    def locate(self, session: Session, told: str | None, taken: Collection[str]) -> Path | None:
        """The session's transcript; C{None}: there is none yet.

        @param told: what a hook named.
        @param taken: transcripts of other sessions.
        """
        if session.mode == CODEX:
            return self._codex(session, taken)
        named = self.named(session, told)
        if named is not None:
            return named
        for conversation in reversed(session.conversation_ids):
            path = self.folder_of(session.working_dir) / f"{conversation}.jsonl"
            found = self.named(session, str(path))
            if found is not None:
                return found
        return None

    def all(self) -> list[Found]:
        """Every transcript, newest first, within L{SCAN_LIMIT}."""
        return all_transcripts([self])

    def _codex(self, session: Session, taken: Collection[str]) -> Path | None:
        newest = nlargest(CANDIDATES, _scan(self.codex, CODEX, 4), key=lambda each: each.at)
        known = set(session.conversation_ids)
        for each in newest:
            if str(each.path) in taken or each.at < session.created_at - EARLY_MS:
                continue
            begins = head(each.path, CODEX)
            if begins.conversation in known or begins.cwd == session.working_dir:
                return each.path
        return None


def all_transcripts(places: Iterable[TranscriptFiles]) -> list[Found]:
    """Every transcript, newest first, within L{SCAN_LIMIT} of each folder."""
    every = tuple(places)
    roots = [(root, PRIMARY, 2) for root in dict.fromkeys(each.claude for each in every)]
    roots += [(root, CODEX, 4) for root in dict.fromkeys(each.codex for each in every)]
    found = [transcript for root in roots for transcript in _scan(*root)]
    return sorted(found, key=lambda each: (-each.at, str(each.path)))


def _scan(root: Path, mode: str, depth: int) -> Iterator[Found]:
    """The C{.jsonl} files up to C{depth} levels below C{root}, the newest folders first."""
    left = SCAN_LIMIT
    folders = [(root, depth)]
    while folders and left > 0:
        folder, levels = folders.pop()
        below: list[tuple[Path, int]] = []
        with suppress(OSError), os.scandir(folder) as entries:
            for each in entries:
                left -= 1
                if left <= 0:
                    break
                if each.is_dir(follow_symlinks=False) and levels > 1:
                    below.append((Path(each.path), levels - 1))
                elif each.name.endswith(".jsonl") and each.is_file(follow_symlinks=False):
                    status = each.stat(follow_symlinks=False)
                    at = int(status.st_mtime * 1000)
                    yield Found(path=Path(each.path), mode=mode, at=at, size=status.st_size)
        folders += sorted(below)
