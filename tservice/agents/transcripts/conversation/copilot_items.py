"""Items in the lines of GitHub Copilot CLI's transcripts (tests/agents/FACTS.rst).

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from tservice.agents.transcripts.conversation.fragments import Fragment, ItemChange, Line, NewItem
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    ItemKind,
    ItemRole,
    ToolStatus,
)
from tservice.agents.transcripts.conversation.tools import make_call_item
from tservice.agents.transcripts.model import (
    get_name_or_none,
    get_object_or_empty,
    get_text_or_none,
    parse_iso_time,
)
from tservice.agents.transcripts.parsers.copilot import is_typed

_SHELL_END = re.compile(r"\s*<shellId: [^<>\n]{1,80} completed with exit code -?\d{1,9}>\s*\Z")
_APPROVED = "approved"


def parse_items(found: Line) -> list[Fragment]:
    """Return the fragments of a line."""
    at, kind = parse_iso_time(found.get("timestamp")), found.get("type")
    data, side = get_object_or_empty(found.get("data")), bool(found.get("agentId"))
    if kind == "user.message" and is_typed(data) and not side:
        return list(_iterate_text(ItemRole.USER, ItemKind.TEXT, data.get("content"), at))
    if kind == "assistant.message":
        return [_mark_side(each, side) for each in _iterate_answer(data, at)]
    if kind == "tool.execution_complete":
        return [_parse_result(data, at)]
    if kind == "permission.completed":
        return list(_iterate_refusal(data, at))
    if kind == "abort":
        return list(_iterate_text(ItemRole.USER, ItemKind.NOTICE, "Interrupted", at))
    if kind == "session.error":
        return list(_iterate_text(ItemRole.SYSTEM, ItemKind.ERROR, data.get("message"), at))
    if kind == "session.compaction_complete":
        summary = get_text_or_none(data.get("summaryContent")) or ""
        item = ConversationItem(role=ItemRole.SYSTEM, kind=ItemKind.COMPACTION, at=at, text=summary)
        return [NewItem(item=item)]
    return []


def _mark_side(fragment: NewItem, side: bool) -> NewItem:
    return evolve(fragment, is_side=side)


def _iterate_text(
    role: ItemRole, kind: ItemKind, text: Any, at: int | None, model: str | None = None
) -> Iterator[NewItem]:
    words = get_text_or_none(text) or ""
    if words.strip():
        item = ConversationItem(role=role, kind=kind, at=at, text=words, model=model)
        yield NewItem(item=item, begins_turn=role is ItemRole.USER and kind is ItemKind.TEXT)


def _iterate_answer(data: Mapping[str, Any], at: int | None) -> Iterator[NewItem]:
    model = get_name_or_none(data.get("model"))
    thought, text = data.get("reasoningText"), data.get("content")
    yield from _iterate_text(ItemRole.ASSISTANT, ItemKind.THINKING, thought, at, model)
    yield from _iterate_text(ItemRole.ASSISTANT, ItemKind.TEXT, text, at, model)
    calls = data.get("toolRequests")
    for call in map(get_object_or_empty, calls if isinstance(calls, list) else ()):
        item = make_call_item(
            str(call.get("name") or "tool"), get_object_or_empty(call.get("arguments")), at
        )
        yield NewItem(item=evolve(item, model=model), key=str(call.get("toolCallId") or ""))


def _parse_result(data: Mapping[str, Any], at: int | None) -> ItemChange:
    result, error = (get_object_or_empty(data.get(name)) for name in ("result", "error"))
    text = get_text_or_none(result.get("content")) or get_text_or_none(error.get("message")) or ""
    done = data.get("success") is True
    tool: dict[str, Any] = {"output": _SHELL_END.sub("", text).lstrip("\n")}
    code = get_object_or_empty(data.get("shellExecution")).get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool):
        tool["exit_code"] = code
        done = done and not code
    # A refusal was told before.
    if done or error.get("code") not in ("denied", "rejected"):
        tool["status"] = ToolStatus.DONE if done else ToolStatus.FAILED
    return ItemChange(key=str(data.get("toolCallId") or ""), tool=tool, at=at)


def _iterate_refusal(data: Mapping[str, Any], at: int | None) -> Iterator[ItemChange]:
    kind = str(get_object_or_empty(data.get("result")).get("kind") or _APPROVED)
    if not kind.startswith(_APPROVED):
        key = str(data.get("toolCallId") or "")
        yield ItemChange(key=key, tool={"status": ToolStatus.DENIED}, at=at)
