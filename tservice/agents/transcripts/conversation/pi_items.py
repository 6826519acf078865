"""Items in the lines of pi's transcripts (tests/agents/FACTS.rst).

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from tservice.agents.transcripts.conversation import diffs
from tservice.agents.transcripts.conversation.fragments import Fragment, ItemChange, Line, NewItem
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    FileDiff,
    ItemAttachment,
    ItemKind,
    ItemRole,
    ToolStatus,
)
from tservice.agents.transcripts.conversation.tools import make_call_item
from tservice.agents.transcripts.model import (
    get_name_or_none,
    get_object_or_empty,
    get_text_or_none,
    join_text_blocks,
    parse_iso_time,
)

_EXIT = re.compile(r"\s*Command exited with code (-?\d{1,9})\s*\Z")
_SUMMARIES = frozenset({"compaction", "branch_summary"})


def parse_items(found: Line) -> list[Fragment]:
    """Return the fragments of a line."""
    at, kind = parse_iso_time(found.get("timestamp")), found.get("type")
    if str(kind) in _SUMMARIES:
        return [_make(ItemRole.SYSTEM, ItemKind.COMPACTION, found.get("summary"), at)]
    message = get_object_or_empty(found.get("message"))
    if kind != "message":
        return []
    role = message.get("role")
    if role == "user":
        return list(_iterate_prompt(message, at))
    if role == "assistant":
        return list(_iterate_answer(message, at))
    if role == "toolResult":
        return [_parse_result(message, at)]
    return [_make_execution(message, at)] if role == "bashExecution" else []


def _make(role: ItemRole, kind: ItemKind, text: Any, at: int | None, **fields: Any) -> NewItem:
    item = ConversationItem(
        role=role, kind=kind, at=at, text=get_text_or_none(text) or "", **fields
    )
    return NewItem(item=item, begins_turn=role is ItemRole.USER and kind is ItemKind.TEXT)


def _iterate_prompt(message: Mapping[str, Any], at: int | None) -> Iterator[Fragment]:
    content = message.get("content")
    text, images = join_text_blocks(content), tuple(_iterate_images(content))
    if text.strip() or images:
        yield _make(ItemRole.USER, ItemKind.TEXT, text, at, attachments=images)


def _iterate_answer(message: Mapping[str, Any], at: int | None) -> Iterator[Fragment]:
    model, content = get_name_or_none(message.get("model")), message.get("content")
    for block in map(get_object_or_empty, content if isinstance(content, list) else ()):
        kind = block.get("type")
        if kind == "text" and get_text_or_none(block.get("text")):
            yield _make(ItemRole.ASSISTANT, ItemKind.TEXT, block.get("text"), at, model=model)
        elif kind == "thinking" and get_text_or_none(block.get("thinking")):
            thought = block.get("thinking")
            yield _make(ItemRole.ASSISTANT, ItemKind.THINKING, thought, at, model=model)
        elif kind == "toolCall":
            name, given = str(block.get("name") or "tool"), block.get("arguments")
            item = make_call_item(name, get_object_or_empty(given), at)
            yield NewItem(item=evolve(item, model=model), key=str(block.get("id") or ""))
    reason, error = message.get("stopReason"), get_text_or_none(message.get("errorMessage"))
    if reason == "aborted":
        yield _make(ItemRole.USER, ItemKind.NOTICE, error or "Interrupted", at)
    elif reason == "error":
        yield _make(ItemRole.SYSTEM, ItemKind.ERROR, error, at)


def _parse_result(message: Mapping[str, Any], at: int | None) -> ItemChange:
    text = join_text_blocks(message.get("content"))
    failed = message.get("isError") is True
    tool: dict[str, Any] = {
        "output": text,
        "status": ToolStatus.FAILED if failed else ToolStatus.DONE,
    }
    code = _EXIT.search(text[-200:])
    if code is not None:
        tool |= {"exit_code": int(code[1]), "output": text[: len(text) - len(code[0])]}
    lasted = message.get("durationMs")
    if isinstance(lasted, int) and not isinstance(lasted, bool):
        tool["duration_ms"] = max(0, min(lasted, 2**40))
    diff = _find_diff(get_object_or_empty(message.get("details")))
    if diff is not None:
        tool["diffs"] = (diff,)
    images = tuple(_iterate_images(message.get("content")))
    return ItemChange(
        key=str(message.get("toolCallId") or ""),
        tool=tool,
        fields={"attachments": images} if images else {},
        at=at,
    )


def _find_diff(details: Mapping[str, Any]) -> FileDiff | None:
    text = get_text_or_none(details.get("patch")) or get_text_or_none(details.get("diff"))
    return None if text is None else diffs.parse_unified_diff("", text)


def _make_execution(message: Mapping[str, Any], at: int | None) -> NewItem:
    """Return the item of a command that the user ran."""
    code = message.get("exitCode")
    known = isinstance(code, int) and not isinstance(code, bool)
    failed = bool(known and code) or message.get("cancelled") is True
    item = make_call_item(
        "bash",
        {"command": get_text_or_none(message.get("command")) or ""},
        at,
        status=ToolStatus.FAILED if failed else ToolStatus.DONE,
        output=get_text_or_none(message.get("output")),
        exit_code=code if known else None,
    )
    return NewItem(item=evolve(item, role=ItemRole.USER))


def _iterate_images(content: Any) -> Iterator[ItemAttachment]:
    for block in map(get_object_or_empty, content if isinstance(content, list) else ()):
        media, data = get_name_or_none(block.get("mimeType")), block.get("data")
        if block.get("type") == "image" and media is not None:
            yield ItemAttachment(media_type=media, data=data if isinstance(data, str) else None)
