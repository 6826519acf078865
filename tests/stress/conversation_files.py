"""An agent's own record of a conversation beside the items that the service shows of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.unit.agents.transcripts.independent_items import Found, found_in, found_in_database

__all__ = ["Found", "as_found", "read_conversation"]

MODES = {"claude": "primary"}
NOTICES = ("notice",)
"""Kinds of items that the other reader leaves out."""


def read_conversation(
    cli: str, files: Sequence[Path], conversation: str, *, branch: bool = False
) -> list[Found]:
    """Everything in a conversation's file.

    @param branch: whether it is that of a sub-agent.
    @raise AssertionError: there is not one file of it.
    """
    if cli == "opencode":
        return found_in_database(files[0], conversation)
    wanted = f"agent-{conversation}" if cli == "claude" and branch else conversation
    own = [each for each in files if each.stem == wanted or each.stem.endswith(wanted)]
    if cli == "gemini" and not own:
        own = [each for each in files if f'"{conversation}"' in each.open().readline()]
    if cli == "gemini":
        # It begins an empty file when it resumes, and goes on in the old one.
        own = sorted(own, key=lambda each: each.stat().st_size)[-1:]
    assert len(own) == 1, f"{conversation}: {own} of {files}"
    return found_in(own[0], MODES.get(cli, cli))


def as_found(items: Sequence[dict[str, Any]]) -> list[Found]:
    """Items of a response in the words of the other reader."""
    found: list[Found] = []
    for item in items:
        kind, text = item["kind"], item.get("text") or ""
        if "tool" in item:
            found.append(("call", item["tool"]["name"]))
        elif kind == "thinking":
            found.append(("thought", text))
        elif kind == "text":
            found.append(("prompt" if item["role"] == "user" else "answer", text))
        elif kind not in NOTICES:
            found.append((kind, text))
    return found
