"""Items in the lines of Qwen Code's transcripts (tests/agents/FACTS.rst).

This module does no I/O.
"""

from __future__ import annotations

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
    parse_iso_time,
)
from tservice.agents.transcripts.parsers.qwen import TYPED, find_failure, iterate_parts, join_text

_STATUS: Mapping[str, ToolStatus] = {
    "success": ToolStatus.DONE,
    "error": ToolStatus.FAILED,
    "cancelled": ToolStatus.DENIED,
}


def parse_items(found: Line) -> list[Fragment]:
    """Return the fragments of a line."""
    at, kind = parse_iso_time(found.get("timestamp")), found.get("type")
    if kind == "user":
        return list(_iterate_prompt(found, at))
    if kind == "assistant":
        return list(_iterate_answer(found, at))
    if kind == "tool_result":
        return list(_iterate_results(found, at))
    if found.get("subtype") == "chat_compression":
        item = ConversationItem(role=ItemRole.SYSTEM, kind=ItemKind.COMPACTION, at=at, text="")
        return [NewItem(item=item)]
    failure = find_failure(found)
    if failure is None:
        return []
    item = ConversationItem(role=ItemRole.SYSTEM, kind=ItemKind.ERROR, at=at, text=failure)
    return [NewItem(item=item)]


def _iterate_prompt(found: Line, at: int | None) -> Iterator[Fragment]:
    text, images = join_text(found), tuple(_iterate_images(found))
    if found.get("provenance") in TYPED and (text.strip() or images):
        item = ConversationItem(
            role=ItemRole.USER, kind=ItemKind.TEXT, at=at, text=text, attachments=images
        )
        yield NewItem(item=item, begins_turn=True)


def _iterate_answer(found: Line, at: int | None) -> Iterator[Fragment]:
    model = get_name_or_none(found.get("model"))
    blocks = (
        (ItemKind.THINKING, join_text(found, thought=True)),
        (ItemKind.TEXT, join_text(found)),
    )
    for kind, text in blocks:
        if text.strip():
            item = ConversationItem(
                role=ItemRole.ASSISTANT, kind=kind, at=at, text=text, model=model
            )
            yield NewItem(item=item)
    for part in iterate_parts(found):
        call = get_object_or_empty(part.get("functionCall"))
        if call:
            item = make_call_item(
                str(call.get("name") or "tool"), get_object_or_empty(call.get("args")), at
            )
            yield NewItem(item=evolve(item, model=model), key=str(call.get("id") or ""))


def _iterate_results(found: Line, at: int | None) -> Iterator[Fragment]:
    result = get_object_or_empty(found.get("toolCallResult"))
    shown = get_object_or_empty(result.get("resultDisplay"))
    for part in iterate_parts(found):
        answer = get_object_or_empty(part.get("functionResponse"))
        if answer:
            told = get_object_or_empty(answer.get("response"))
            tool = _describe_result(result, shown, told)
            yield ItemChange(key=str(answer.get("id") or ""), tool=tool, at=at)


def _describe_result(
    result: Mapping[str, Any], shown: Mapping[str, Any], told: Mapping[str, Any]
) -> dict[str, Any]:
    text = get_text_or_none(told.get("output")) or get_text_or_none(told.get("error")) or ""
    tool: dict[str, Any] = {"output": text}
    status = _STATUS.get(str(result.get("status")), ToolStatus.DONE)
    if shown.get("type") == "shell_result":
        tool["output"] = get_text_or_none(shown.get("output")) or ""
        code = shown.get("exitCode")
        if isinstance(code, int) and not isinstance(code, bool):
            tool["exit_code"] = code
            status = ToolStatus.FAILED if code and status is ToolStatus.DONE else status
    diff = _find_diff(shown)
    if diff is not None:
        tool["diffs"] = (diff,)
    return {**tool, "status": status}


def _find_diff(shown: Mapping[str, Any]) -> FileDiff | None:
    path = get_name_or_none(shown.get("filePath")) or get_name_or_none(shown.get("fileName"))
    text = get_text_or_none(shown.get("fileDiff"))
    return diffs.parse_unified_diff(path, text) if path and text else None


def _iterate_images(found: Line) -> Iterator[ItemAttachment]:
    for part in iterate_parts(found):
        image = get_object_or_empty(part.get("inlineData"))
        media, data = get_name_or_none(image.get("mimeType")), image.get("data")
        if media is not None and isinstance(data, str):
            yield ItemAttachment(media_type=media, data=data)
