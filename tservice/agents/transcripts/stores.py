"""Where each agent keeps its conversations, and how they are found there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from tservice.agents.transcripts.opencode import listed
from tservice.agents.transcripts.sources import GEMINI, OPENCODE

PRIMARY = "primary"
CODEX = "codex"
PI = "pi"
CHATS = "chats"
"""The folder in which Gemini CLI's conversations are, beside other files."""

SCAN_LIMIT = 20_000
"""Directory entries that one search looks at."""


@frozen(kw_only=True)
class ConversationStore:
    """Where an agent keeps its conversations.

    @ivar below: in the home folder.
    @ivar moves: by variable, what follows the folder that it names; the first one set counts.
    @ivar depth: levels of folders down to the files; 0: it is a database.
    """

    below: str
    moves: Mapping[str, str]
    depth: int

    def moved(self, environ: Mapping[str, str]) -> Path | None:
        """Where a variable moves it; a relative folder depends on where the agent is."""
        for name, rest in self.moves.items():
            if environ.get(name, "").startswith("/"):
                return Path(environ[name]) / rest
        return None


STORES: Mapping[str, ConversationStore] = {
    PRIMARY: ConversationStore(
        below=".claude/projects", moves={"CLAUDE_CONFIG_DIR": "projects"}, depth=2
    ),
    CODEX: ConversationStore(below=".codex/sessions", moves={"CODEX_HOME": "sessions"}, depth=4),
    GEMINI: ConversationStore(
        below=".gemini/tmp", moves={"GEMINI_CLI_HOME": ".gemini/tmp"}, depth=3
    ),
    OPENCODE: ConversationStore(
        below=".local/share/opencode/opencode.db",
        moves={"XDG_DATA_HOME": "opencode/opencode.db"},
        depth=0,
    ),
    PI: ConversationStore(
        below=".pi/agent/sessions",
        moves={"PI_CODING_AGENT_SESSION_DIR": "", "PI_CODING_AGENT_DIR": "sessions"},
        depth=2,
    ),
}
"""The modes whose conversations are known."""


@frozen(kw_only=True)
class StoredConversation:
    """A conversation on disk.

    @ivar at: Unix milliseconds when it was written to last.
    @ivar size: bytes; 0 where it is a part of a database.
    """

    path: Path
    mode: str
    at: int
    size: int


def scan(root: Path, mode: str) -> Iterator[StoredConversation]:
    """The conversations of C{mode} below C{root}, the newest folders first."""
    depth = STORES[mode].depth
    if not depth:
        yield from _in_database(root, mode)
        return
    for each in in_folders(root, mode, depth):
        if mode != GEMINI or each.path.parent.name == CHATS:
            yield each


def _in_database(root: Path, mode: str) -> Iterator[StoredConversation]:
    with suppress(OSError):
        for name, at in listed(root):
            yield StoredConversation(path=root / name, mode=mode, at=at, size=0)


def in_folders(root: Path, mode: str, depth: int) -> Iterator[StoredConversation]:
    """The C{.jsonl} files up to C{depth} levels below C{root}."""
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
                if not _is_text(each.name):
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


def _is_text(name: str) -> bool:
    """Whether a name is Unicode: no agent gives another one, and nothing can be told of it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
