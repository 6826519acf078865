"""Construction of the reader for a conversation, and the search for sub-agents' conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tservice.agents.transcripts.conversation import (
    claude_items,
    codex_items,
    copilot_items,
    gemini_items,
    pi_items,
    qwen_items,
)
from tservice.agents.transcripts.conversation.database_reader import (
    DatabaseConversationReader,
    is_descendant,
)
from tservice.agents.transcripts.conversation.file_reader import (
    ComputeCost,
    FileConversationReader,
)
from tservice.agents.transcripts.conversation.fragments import ParseLine
from tservice.agents.transcripts.conversation.pages import ConversationReader
from tservice.agents.transcripts.conversation_access import GEMINI, OPENCODE, read_beginning
from tservice.agents.transcripts.conversation_stores import (
    CODEX,
    PI,
    scan_conversations,
    scan_folders,
)
from tservice.agents.transcripts.files import SUBAGENT_DEPTH, SUBAGENTS, TranscriptLocations
from tservice.clis.interfaces import PRIMARY

PARSERS: Mapping[str, ParseLine] = {
    PRIMARY: claude_items.parse_items,
    CODEX: codex_items.parse_items,
    "copilot": copilot_items.parse_items,
    GEMINI: gemini_items.parse_items,
    PI: pi_items.parse_items,
    "qwen": qwen_items.parse_items,
}
"""Parsers of lines, by mode."""
NESTED = 8
"""Maximum levels of sub-agents."""


def make_reader(
    path: Path, mode: str, compute_cost: ComputeCost, *, is_branch: bool
) -> ConversationReader:
    """Return a reader that has read nothing yet.

    @param is_branch: true for a sub-agent's conversation.
    """
    if mode == OPENCODE:
        return DatabaseConversationReader(path)
    return FileConversationReader(path, mode, PARSERS[mode], compute_cost, is_branch=is_branch)


def find_branch(files: TranscriptLocations, path: Path, mode: str, branch: str) -> Path | None:
    """Return the conversation of a sub-agent, at any level below a conversation.

    Call it from a thread.

    @param path: the conversation of the main agent.
    @param branch: the id in the call that began the sub-agent; it is untrusted.
    @raise OSError: the database cannot be read.
    """
    if mode == PRIMARY:
        own = path.with_suffix("")
        # An agent could link to the folder of another account.
        found = () if own.is_symlink() else _scan(own / SUBAGENTS, mode, SUBAGENT_DEPTH)
        return next((each for each in found if each.stem == f"agent-{branch}"), None)
    conversation = read_beginning(path, mode).conversation
    if mode == GEMINI and conversation is not None:
        below = _scan(path.parent / conversation, mode, 1)
        return next((each for each in below if each.stem == branch), None)
    if mode == OPENCODE:
        return path.parent / branch if is_descendant(path.parent, branch, path.name) else None
    return _find_codex_branch(files, conversation, branch) if mode == CODEX else None


def _scan(folder: Path, mode: str, depth: int) -> Iterator[Path]:
    if not folder.is_symlink():
        yield from (each.path for each in scan_folders(folder, mode, depth))


def _find_codex_branch(
    files: TranscriptLocations, ancestor: str | None, branch: str
) -> Path | None:
    every = [each.path for each in scan_conversations(files.codex_folder, CODEX)]
    found = next((path for path in every if path.stem.endswith(branch)), None)
    path = found
    for _ in range(NESTED):
        parent = None if path is None else read_beginning(path, CODEX).parent
        if parent is None:
            return None
        if parent == ancestor:
            return found
        path = next((each for each in every if each.stem.endswith(parent)), None)
    return None
