"""Recorded conversations of the agents, and all items of one."""

from __future__ import annotations

from pathlib import Path

from tservice.agents.transcripts.conversation.items import ConversationItem
from tservice.agents.transcripts.conversation.pages import ConversationReader, PageRequest
from tservice.agents.transcripts.conversation.reader_cache import read_to_end
from tservice.agents.transcripts.conversation.readers import make_reader

FILES = {
    "primary": "claude-2.1.197.jsonl",
    "codex": "codex-0.169.0.jsonl",
    "gemini": "gemini-0.61.0.jsonl",
    "pi": "pi-1.6.0.jsonl",
}
EVERY = (
    *FILES.items(),
    ("primary", "claude-2.1.332.jsonl"),
    ("codex", "codex-0.168.0.jsonl"),
    ("codex", "codex-0.171.0.jsonl"),
    ("gemini", "gemini-0.60.0.jsonl"),
    ("pi", "pi-0.73.1.jsonl"),
)
"""Those of other versions, too, with their modes."""


def reader_of(path: Path, mode: str, *, is_branch: bool = False) -> ConversationReader:
    return make_reader(path, mode, lambda message: message.cost or None, is_branch=is_branch)


def read_all(reader: ConversationReader, limit: int = 500) -> list[ConversationItem]:
    """Every item, by pages from the newest back."""
    read_to_end(reader)
    page = reader.read_page(PageRequest(limit=limit))
    items = list(page.items)
    while page.has_more:
        page = reader.read_page(PageRequest(before=items[0].order, limit=limit))
        items = [*page.items, *items]
    return items
