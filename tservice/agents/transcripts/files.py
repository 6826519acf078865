"""Locations of conversations in one home folder; no file outside the agents' stores is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from heapq import nlargest
from itertools import islice
from pathlib import Path

from attrs import evolve, frozen

from tservice.agents.transcripts.conversation_access import GEMINI, OPENCODE, read_beginning
from tservice.agents.transcripts.conversation_choice import (
    EARLY_MS,
    CandidateConversation,
    choose_conversation,
)
from tservice.agents.transcripts.conversation_stores import (
    CODEX,
    StoredConversation,
    scan_conversations,
    scan_folders,
)
from tservice.clis.interfaces import CONVERSATION_STORES, PRIMARY
from tservice.core.locations.workspace_bounds import ANYWHERE, FolderLimit
from tservice.core.workers.sliced_sort import sort_in_slices
from tservice.sessions.interfaces import Session

MODES = tuple(CONVERSATION_STORES)
"""Modes whose transcripts the service can read."""

CANDIDATES = 50
"""Maximum number of conversations whose beginning is read to find the one of a session; the newest
are read.
"""
BESIDE = 500
"""Maximum number of transcripts of subagents and of earlier conversations that are read; the newest
are read.
"""
SUBAGENTS = "subagents"
"""Name of the folder in which Claude Code stores a conversation's subagents."""
SUBAGENT_DEPTH = 4
"""Number of folder levels below L{SUBAGENTS}, because a workflow's subagents have separate folders.
"""
NAME_CHARS = 8
"""Characters of a conversation's id that every agent puts into the name of its file or folder."""

_OTHER = re.compile(r"[^A-Za-z0-9]")


@frozen(kw_only=True)
class LocatedTranscripts:
    """Transcripts of a session.

    @ivar path: the transcript of the current conversation.
    @ivar related: the transcripts of subagents and of earlier conversations.
    """

    path: Path
    related: tuple[StoredConversation, ...] = ()


@frozen(kw_only=True)
class TranscriptLocations:
    """Locations of conversations, by mode.

    @ivar roots: by mode, the folder of the conversations, or the database.
    @ivar inside: the folder in which a conversation must have begun to belong to a session.
        Accounts may share a home, the folders of two may have the same encoded name there, and some
        agents resume any conversation.
    """

    roots: Mapping[str, Path]
    inside: FolderLimit = ANYWHERE

    @classmethod
    def from_home(cls, home: Path) -> TranscriptLocations:
        """Return the agents' default locations in a home folder."""
        roots = {mode: home / store.below for mode, store in CONVERSATION_STORES.items()}
        return cls(roots=roots)

    @property
    def claude_folder(self) -> Path:
        """Folder in which Claude Code has one folder for each working directory."""
        return self.roots[PRIMARY]

    @property
    def codex_folder(self) -> Path:
        """Folder in which Codex has one folder for each year."""
        return self.roots[CODEX]

    def with_environment(self, mode: str, environ: Mapping[str, str]) -> TranscriptLocations:
        """Return the locations for an agent of C{mode} with the environment C{environ}."""
        store = CONVERSATION_STORES.get(mode)
        root = None if store is None else store.find_moved_root(environ)
        return self if root is None else evolve(self, roots={**self.roots, mode: root})

    def get_claude_folder(self, working_dir: str) -> Path:
        """Return Claude Code's folder for a working directory.

        In its name, a C{-} replaces each UTF-16 code unit that is no letter or digit, as in
        JavaScript.
        """
        return self.claude_folder / _OTHER.sub(
            lambda sign: "-" * _count_utf16_units(sign[0]), working_dir
        )

    def find_reported_file(self, session: Session, named_path: str | None) -> Path | None:
        """Return the file that a hook reported, if it belongs to this session's folder; otherwise
        C{None}.

        The holder of a hook secret can report any file, and other folders belong to other users.
        """
        folder = os.path.realpath(self.get_claude_folder(session.working_dir))
        path = None if named_path is None else _resolve_path(named_path)
        if path is None:
            return None
        inside = os.path.dirname(path) == folder and path.endswith(".jsonl")
        if (
            not inside
            or not os.path.isfile(path)
            or self._belongs_to_other_account(Path(path), PRIMARY)
        ):
            return None
        return Path(path)

    def find_conversation(
        self, session: Session, named_path: str | None, taken: Collection[str], *, shared: bool
    ) -> Path | None:
        """Return the session's conversation; C{None} if there is none yet, or if it is ambiguous.

        @param named_path: the file that a hook reported; C{None} without one.
        @param taken: conversations of other sessions.
        @param shared: other sessions of the mode use the folder.
        """
        if session.mode != PRIMARY:
            candidates = self._list_candidates(session, taken)
            own = [each for each in candidates if each.begins.parent is None]
            chosen = choose_conversation(session, own, shared=shared)
            return None if chosen is None else chosen.path
        return self.find_reported_file(session, named_path) or self._find_known(session)

    def find_transcripts(
        self, session: Session, named_path: str | None, taken: Collection[str], *, shared: bool
    ) -> LocatedTranscripts | None:
        """Return the session's conversation and all other transcripts that contain its usage.

        The arguments are those of L{find_conversation}, and C{None} has the same meaning.
        """
        if session.mode == PRIMARY:
            path = self.find_conversation(session, named_path, taken, shared=shared)
            return (
                None
                if path is None
                else LocatedTranscripts(path=path, related=self._find_claude_related(session, path))
            )
        candidates = self._list_candidates(session, taken)
        own = [each for each in candidates if each.begins.parent is None]
        chosen = choose_conversation(session, own, shared=shared)
        if chosen is None:
            return None
        if session.mode == OPENCODE:
            # One query of its database covers all of them.
            return LocatedTranscripts(path=chosen.path)
        known = {*session.conversation_ids}
        known |= {str(each.begins.conversation) for each in own if each.found == chosen}
        beside = [
            each.found
            for each in _collect_with_subagents(candidates, known)
            if each.found != chosen
        ]
        if session.mode == GEMINI:
            for each in sorted(known):
                beside += scan_folders(chosen.path.parent / each, GEMINI, 1)
        return LocatedTranscripts(
            path=chosen.path, related=tuple(nlargest(BESIDE, beside, key=_get_time))
        )

    def find_resumable(self, session: Session) -> str | None:
        """Return the id of the session's last conversation on disk that contains a prompt."""
        for conversation in reversed(session.conversation_ids):
            if any(
                self._is_resumable(each, conversation)
                for each in self._find_files_of_conversation(session, conversation)
            ):
                return conversation
        return None

    def is_of_other_account(self, session: Session, conversation: str) -> bool:
        """Return true if resuming C{conversation} would show the session another account's
        conversation.
        """
        return any(
            read_beginning(each.path, each.mode).conversation == conversation
            and self._belongs_to_other_account(each.path, each.mode)
            for each in self._find_files_of_conversation(session, conversation)
        )

    def list_all(self) -> list[StoredConversation]:
        """Return all conversations, newest first, within the limits of one search for each
        location.
        """
        return list_newest_conversations([self])

    def _find_claude_related(self, session: Session, path: Path) -> tuple[StoredConversation, ...]:
        """Return the transcripts of subagents and of earlier conversations for Claude Code's
        C{path}.
        """
        folder = Path(os.path.realpath(self.get_claude_folder(session.working_dir)))
        found: list[StoredConversation] = []
        for conversation in dict.fromkeys((*session.conversation_ids, path.stem)):
            earlier = self.find_reported_file(session, str(folder / f"{conversation}.jsonl"))
            if earlier is None:
                continue
            if earlier.name != path.name:
                found += _stat_conversation(earlier)
            inside = folder / conversation / SUBAGENTS
            if os.path.realpath(inside) == str(inside):
                found += scan_folders(inside, PRIMARY, SUBAGENT_DEPTH)
        return tuple(nlargest(BESIDE, found, key=_get_time))

    def _find_known(self, session: Session) -> Path | None:
        for conversation in reversed(session.conversation_ids):
            path = self.get_claude_folder(session.working_dir) / f"{conversation}.jsonl"
            found = self.find_reported_file(session, str(path))
            if found is not None:
                return found
        return None

    def _find_files_of_conversation(
        self, session: Session, conversation: str
    ) -> Iterable[StoredConversation]:
        """Return the files whose name contains the start of the id C{conversation}."""
        part = conversation[:NAME_CHARS]
        root = self.roots[session.mode]
        if session.mode == PRIMARY:
            # It resumes conversations of its own folder only.
            root = self.get_claude_folder(session.working_dir)
        found = scan_conversations(root, session.mode)
        return islice((each for each in found if part in each.name), CANDIDATES)

    def _is_resumable(self, found: StoredConversation, conversation: str) -> bool:
        begins = read_beginning(found.path, found.mode)
        own = begins.conversation == conversation and begins.prompts > 0
        return own and not self._belongs_to_other_account(found.path, found.mode)

    def _belongs_to_other_account(self, path: Path, mode: str) -> bool:
        """Return true if a conversation belongs to another account, or to an unknown one."""
        if self.inside == ANYWHERE:
            return False
        begun = read_beginning(path, mode).cwd
        return begun is None or not self.inside.accepts_folder(begun)

    def _list_candidates(
        self, session: Session, taken: Collection[str]
    ) -> list[CandidateConversation]:
        every = scan_conversations(self.roots[session.mode], session.mode)
        newest = nlargest(CANDIDATES, every, key=lambda each: each.at)
        here = os.path.realpath(session.working_dir)
        found = []
        for each in newest:
            if str(each.path) in taken or each.at < session.created_at - EARLY_MS:
                continue
            begins = read_beginning(each.path, session.mode)
            ids = session.conversation_ids
            known = begins.conversation in ids or begins.parent in ids
            if known and self._belongs_to_other_account(each.path, session.mode):
                continue
            if known or (begins.cwd is not None and _resolve_path(begins.cwd) == here):
                found.append(CandidateConversation(found=each, begins=begins))
        return found


def _count_utf16_units(sign: str) -> int:
    """Return the number of UTF-16 code units of a character.

    No codec is used, because a thread that acts as another user may be unable to load it.
    """
    return 2 if ord(sign) > 0xFFFF else 1


def _collect_with_subagents(
    candidates: Iterable[CandidateConversation], known: set[str]
) -> Iterable[CandidateConversation]:
    """Return the candidates in C{known}, with their subagents and the subagents of these."""
    every = tuple(candidates)
    size = 0
    while len(known) > size:
        size = len(known)
        children = (each.begins for each in every if each.begins.parent in known)
        known = known | {begins.conversation for begins in children if begins.conversation}
    return (each for each in every if each.begins.conversation in known)


def _stat_conversation(path: Path) -> Iterable[StoredConversation]:
    with suppress(OSError):
        status = path.lstat()
        at = int(status.st_mtime * 1000)
        yield StoredConversation(path=path, mode=PRIMARY, at=at, size=status.st_size)


def _get_time(found: StoredConversation) -> int:
    return found.at


def _resolve_path(told: str) -> str | None:
    """Return the real path; C{None} for an impossible path, with a NUL or a lone surrogate."""
    with suppress(ValueError):
        return os.path.realpath(told)
    return None


def list_newest_conversations(places: Iterable[TranscriptLocations]) -> list[StoredConversation]:
    """Return all conversations, newest first, within the limits of one search for each location."""
    every = tuple(places)
    roots = dict.fromkeys((mode, root) for each in every for mode, root in each.roots.items())
    found = (transcript for mode, root in roots for transcript in scan_conversations(root, mode))
    return list(sort_in_slices(found, lambda each: (-each.at, str(each.path))))
