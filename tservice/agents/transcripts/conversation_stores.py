"""Folders and databases in which agents store conversations, and the search in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from tservice.agents.transcripts.parsers.opencode import list_conversations
from tservice.clis.interfaces import CONVERSATION_STORES

CODEX = "codex"
PI = "pi"

SCAN_LIMIT = 20_000
"""Maximum number of directory entries that one search examines."""


@frozen(kw_only=True)
class StoredConversation:
    """Conversation on disk.

    @ivar at: Unix milliseconds of the last change.
    @ivar size: size in bytes; 0 for rows of a database.
    """

    path: Path
    mode: str
    at: int
    size: int

    @property
    def name(self) -> str:
        """Name that contains the conversation's id."""
        return CONVERSATION_STORES[self.mode].get_name(self.path)


def scan_conversations(root: Path, mode: str) -> Iterator[StoredConversation]:
    """Iterate over the conversations of C{mode} below C{root}, newest folders first."""
    store = CONVERSATION_STORES[mode]
    if not store.depth:
        yield from _scan_database(root, mode)
        return
    for each in scan_folders(root, mode, store.depth):
        if store.parent in (None, each.path.parent.name):
            yield each


def _scan_database(root: Path, mode: str) -> Iterator[StoredConversation]:
    with suppress(OSError):
        for name, at in list_conversations(root):
            yield StoredConversation(path=root / name, mode=mode, at=at, size=0)


def scan_folders(root: Path, mode: str, depth: int) -> Iterator[StoredConversation]:
    """Iterate over the C{.jsonl} files up to C{depth} levels below C{root}."""
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
                if not _is_valid_unicode(each.name):
                    continue
                if each.is_dir(follow_symlinks=False) and levels > 1:
                    below.append((Path(each.path), levels - 1))
                elif each.name.endswith(".jsonl") and each.is_file(follow_symlinks=False):
                    status = each.stat(follow_symlinks=False)
                    at = int(status.st_mtime * 1000)
                    yield StoredConversation(
                        path=Path(each.path), mode=mode, at=at, size=status.st_size
                    )
        folders += sorted(below)


def _is_valid_unicode(name: str) -> bool:
    """Return true if a file name is valid Unicode.

    No agent creates other names, and they cannot be sent to clients.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
