"""The conversations of one home folder; nothing outside of where the agents keep them is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from heapq import nlargest
from itertools import islice
from pathlib import Path

from attrs import evolve, frozen

from tservice.agents.transcripts.choice import EARLY_MS, Candidate, choose
from tservice.agents.transcripts.sources import GEMINI, OPENCODE, head
from tservice.agents.transcripts.stores import (
    CODEX,
    PRIMARY,
    STORES,
    StoredConversation,
    in_folders,
    scan,
)
from tservice.core.doors.inparts import in_order
from tservice.core.places.bounds import ANYWHERE, Inside
from tservice.sessions.interfaces import Session

MODES = tuple(STORES)
"""The modes whose transcripts are known."""

CANDIDATES = 50
"""Conversations, newest first, of which the beginning is read to find a session's."""
BESIDE = 500
"""Transcripts of subagents and of earlier conversations, newest first, that are read."""
SUBAGENTS = "subagents"
"""Claude Code's folder of a conversation's subagents."""
SUBAGENT_DEPTH = 4
"""Levels of folders in there: those of a workflow have their own."""
NAME_CHARS = 8
"""So much of a conversation's id is in the name of its file, whatever the agent."""

_OTHER = re.compile(r"[^A-Za-z0-9]")


@frozen(kw_only=True)
class Located:
    """The transcripts of a session.

    @ivar path: its conversation now.
    @ivar beside: those of subagents and of earlier conversations.
    """

    path: Path
    beside: tuple[StoredConversation, ...] = ()


@frozen(kw_only=True)
class TranscriptFiles:
    """Where the conversations are.

    @ivar roots: by mode, the folder of them, or the database.
    @ivar inside: where a conversation must have begun to be a session's: accounts share a home, the
        folders of two can be written alike in it, and some agents go on with any.
    """

    roots: Mapping[str, Path]
    inside: Inside = ANYWHERE

    @classmethod
    def of_home(cls, home: Path) -> TranscriptFiles:
        """Where the agents keep them by default."""
        return cls(roots={mode: home / store.below for mode, store in STORES.items()})

    @property
    def claude(self) -> Path:
        """Claude Code's folder of folders, one a working directory."""
        return self.roots[PRIMARY]

    @property
    def codex(self) -> Path:
        """Codex' folder of years."""
        return self.roots[CODEX]

    def moved(self, mode: str, environ: Mapping[str, str]) -> TranscriptFiles:
        """Where an agent of C{mode} keeps them that has C{environ}."""
        root = STORES[mode].moved(environ) if mode in STORES else None
        return self if root is None else evolve(self, roots={**self.roots, mode: root})

    def folder_of(self, working_dir: str) -> Path:
        """Claude Code's folder for a working directory; it counts as JavaScript does."""
        return self.claude / _OTHER.sub(lambda sign: "-" * _units(sign[0]), working_dir)

    def named(self, session: Session, told: str | None) -> Path | None:
        """The file that a hook named, if it is one of this session's folder.

        Whoever holds the hook secret can name any file; other folders are other people's.
        """
        folder = os.path.realpath(self.folder_of(session.working_dir))
        path = None if told is None else _real(told)
        if path is None:
            return None
        inside = os.path.dirname(path) == folder and path.endswith(".jsonl")
        if not inside or not os.path.isfile(path) or self._is_foreign(Path(path), PRIMARY):
            return None
        return Path(path)

    def locate(
        self, session: Session, told: str | None, taken: Collection[str], *, shared: bool
    ) -> Path | None:
        """The session's conversation; C{None}: there is none yet, or nobody can tell which it is.

        @param told: what a hook named.
        @param taken: conversations of other sessions.
        @param shared: other sessions of the mode are in the folder.
        """
        if session.mode != PRIMARY:
            candidates = self._candidates(session, taken)
            own = [each for each in candidates if each.begins.parent is None]
            chosen = choose(session, own, shared=shared)
            return None if chosen is None else chosen.path
        return self.named(session, told) or self._known(session)

    def located(
        self, session: Session, told: str | None, taken: Collection[str], *, shared: bool
    ) -> Located | None:
        """Find the session's conversation, and whatever else tells what the session used.

        The arguments are those of L{locate}.
        """
        if session.mode == PRIMARY:
            path = self.locate(session, told, taken, shared=shared)
            return (
                None if path is None else Located(path=path, beside=self._claude_s(session, path))
            )
        candidates = self._candidates(session, taken)
        own = [each for each in candidates if each.begins.parent is None]
        chosen = choose(session, own, shared=shared)
        if chosen is None:
            return None
        if session.mode == OPENCODE:
            # Its database is asked for all of them at once.
            return Located(path=chosen.path)
        known = {*session.conversation_ids}
        known |= {str(each.begins.conversation) for each in own if each.found == chosen}
        beside = [each.found for each in _family(candidates, known) if each.found != chosen]
        if session.mode == GEMINI:
            for each in sorted(known):
                beside += in_folders(chosen.path.parent / each, GEMINI, 1)
        return Located(path=chosen.path, beside=tuple(nlargest(BESIDE, beside, key=_at)))

    def resumable(self, session: Session) -> str | None:
        """The last of the session's conversations that is on disk and was given a prompt."""
        for conversation in reversed(session.conversation_ids):
            if any(
                self._is_resumable(each, conversation) for each in self._like(session, conversation)
            ):
                return conversation
        return None

    def is_another_s(self, session: Session, conversation: str) -> bool:
        """Whether the session's agent would go on with one that is not of its account."""
        return any(
            head(each.path, each.mode).conversation == conversation
            and self._is_foreign(each.path, each.mode)
            for each in self._like(session, conversation)
        )

    def all(self) -> list[StoredConversation]:
        """Every conversation, newest first, within the limits of one search of each place."""
        return all_transcripts([self])

    def _claude_s(self, session: Session, path: Path) -> tuple[StoredConversation, ...]:
        """The transcripts beside Claude Code's C{path}."""
        folder = Path(os.path.realpath(self.folder_of(session.working_dir)))
        found: list[StoredConversation] = []
        for conversation in dict.fromkeys((*session.conversation_ids, path.stem)):
            earlier = self.named(session, str(folder / f"{conversation}.jsonl"))
            if earlier is None:
                continue
            if earlier.name != path.name:
                found += _stored(earlier)
            inside = folder / conversation / SUBAGENTS
            if os.path.realpath(inside) == str(inside):
                found += in_folders(inside, PRIMARY, SUBAGENT_DEPTH)
        return tuple(nlargest(BESIDE, found, key=_at))

    def _known(self, session: Session) -> Path | None:
        for conversation in reversed(session.conversation_ids):
            path = self.folder_of(session.working_dir) / f"{conversation}.jsonl"
            found = self.named(session, str(path))
            if found is not None:
                return found
        return None

    def _like(self, session: Session, conversation: str) -> Iterable[StoredConversation]:
        """The conversations whose name may be that of C{conversation}."""
        part = conversation[:NAME_CHARS]
        root = self.roots[session.mode]
        if session.mode == PRIMARY:
            # It resumes those of its own folder only.
            root = self.folder_of(session.working_dir)
        found = scan(root, session.mode)
        return islice((each for each in found if part in each.path.name), CANDIDATES)

    def _is_resumable(self, found: StoredConversation, conversation: str) -> bool:
        begins = head(found.path, found.mode)
        own = begins.conversation == conversation and begins.prompts > 0
        return own and not self._is_foreign(found.path, found.mode)

    def _is_foreign(self, path: Path, mode: str) -> bool:
        """Whether a conversation is of another account, or does not tell whose it is."""
        if self.inside == ANYWHERE:
            return False
        begun = head(path, mode).cwd
        return begun is None or not self.inside.holds(begun)

    def _candidates(self, session: Session, taken: Collection[str]) -> list[Candidate]:
        every = scan(self.roots[session.mode], session.mode)
        newest = nlargest(CANDIDATES, every, key=lambda each: each.at)
        here = os.path.realpath(session.working_dir)
        found = []
        for each in newest:
            if str(each.path) in taken or each.at < session.created_at - EARLY_MS:
                continue
            begins = head(each.path, session.mode)
            ids = session.conversation_ids
            known = begins.conversation in ids or begins.parent in ids
            if known and self._is_foreign(each.path, session.mode):
                continue
            if known or (begins.cwd is not None and _real(begins.cwd) == here):
                found.append(Candidate(found=each, begins=begins))
        return found


def _units(sign: str) -> int:
    """Return how many UTF-16 units a character takes.

    No codec: a thread that acts as another user may not be able to read that part of Python.
    """
    return 2 if ord(sign) > 0xFFFF else 1


def _family(candidates: Iterable[Candidate], known: set[str]) -> Iterable[Candidate]:
    """Those of the conversations C{known}, and of their subagents, whose own may have some."""
    every = tuple(candidates)
    size = 0
    while len(known) > size:
        size = len(known)
        children = (each.begins for each in every if each.begins.parent in known)
        known = known | {begins.conversation for begins in children if begins.conversation}
    return (each for each in every if each.begins.conversation in known)


def _stored(path: Path) -> Iterable[StoredConversation]:
    with suppress(OSError):
        status = path.lstat()
        at = int(status.st_mtime * 1000)
        yield StoredConversation(path=path, mode=PRIMARY, at=at, size=status.st_size)


def _at(found: StoredConversation) -> int:
    return found.at


def _real(told: str) -> str | None:
    """Where a path leads; C{None} for what no file system has: a NUL, or half a character."""
    with suppress(ValueError):
        return os.path.realpath(told)
    return None


def all_transcripts(places: Iterable[TranscriptFiles]) -> list[StoredConversation]:
    """Every conversation, newest first, within the limits of one search of each place."""
    every = tuple(places)
    roots = dict.fromkeys((mode, root) for each in every for mode, root in each.roots.items())
    found = (transcript for mode, root in roots for transcript in scan(root, mode))
    return list(in_order(found, lambda each: (-each.at, str(each.path))))
