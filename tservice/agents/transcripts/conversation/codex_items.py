"""Items in the lines of Codex's transcripts (tests/agents/FACTS.rst).

Events contain what was said, and how commands ended. Response items contain calls and their
results.

This module does no I/O.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

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
    get_safe_id_or_none,
    get_text_or_none,
    join_text_blocks,
    parse_iso_time,
)

_ENDED = re.compile(r"Process exited with code (-?\d{1,9})")
_OUTPUT = re.compile(r"(?:\A|\n)Output:\n")
_DENIED = ("aborted by user", "rejected by user", "reject command")
_FAILED = ("unsupported call", "failed to", "unable to", "write_stdin failed", "error")
_IMAGE = re.compile(r"data:(image/[a-z.+-]{1,40});base64,")


def parse_items(found: Line) -> list[Fragment]:
    """Return the fragments of a line."""
    at, payload = parse_iso_time(found.get("timestamp")), get_object_or_empty(found.get("payload"))
    kind = found.get("type")
    if kind == "compacted":
        return [_make(ItemRole.SYSTEM, ItemKind.COMPACTION, payload.get("message"), at)]
    if kind == "response_item":
        return list(_iterate_response_item(payload, at))
    if kind != "event_msg":
        return []
    if payload.get("type") == "item_completed":
        return list(_iterate_completed(get_object_or_empty(payload.get("item")), at))
    return list(_iterate_event(payload, at))


def _make(role: ItemRole, kind: ItemKind, text: Any, at: int | None, **fields: Any) -> NewItem:
    said = get_text_or_none(text) or ""
    prompt = role is ItemRole.USER and kind is ItemKind.TEXT
    item = ConversationItem(role=role, kind=kind, at=at, text=said, **fields)
    return NewItem(item=item, begins_turn=prompt)


def _iterate_event(event: Mapping[str, Any], at: int | None) -> Iterator[Fragment]:
    """Iterate over the items of an event; older versions wrote one for each message."""
    kind, text = event.get("type"), get_text_or_none(event.get("message"))
    if kind == "user_message" and text is not None:
        images = event.get("images")
        found = images if isinstance(images, list) else []
        attached = tuple(each for url in found if (each := _parse_image(url)) is not None)
        yield _make(ItemRole.USER, ItemKind.TEXT, text, at, attachments=attached)
    elif kind == "agent_message" and text is not None:
        yield _make(ItemRole.ASSISTANT, ItemKind.TEXT, text, at)
    elif kind in ("agent_reasoning", "agent_reasoning_raw_content") and event.get("text"):
        yield _make(ItemRole.ASSISTANT, ItemKind.THINKING, event.get("text"), at)
    elif kind == "turn_aborted":
        yield _make(ItemRole.USER, ItemKind.NOTICE, "Interrupted", at)
    elif kind in ("error", "stream_error", "warning") and text is not None:
        failed = ItemKind.NOTICE if kind == "warning" else ItemKind.ERROR
        yield _make(ItemRole.SYSTEM, failed, text, at)
    elif kind == "task_complete":
        error = get_text_or_none(get_object_or_empty(event.get("error")).get("message"))
        if error is not None:
            yield _make(ItemRole.SYSTEM, ItemKind.ERROR, error, at)
    elif kind == "patch_apply_end":
        yield _parse_changes(str(event.get("call_id") or ""), event.get("changes"), at)


def _iterate_completed(item: Mapping[str, Any], at: int | None) -> Iterator[Fragment]:
    kind, key = item.get("type"), str(item.get("id") or "")
    text = join_text_blocks(item.get("content"))
    if kind == "UserMessage":
        images = tuple(_iterate_images(item.get("content")))
        if text.strip() or images:
            yield _make(ItemRole.USER, ItemKind.TEXT, text, at, attachments=images)
    elif kind == "AgentMessage" and text.strip():
        yield _make(ItemRole.ASSISTANT, ItemKind.TEXT, text, at)
    elif kind == "Reasoning":
        parts = item.get("summary_text") or item.get("raw_content")
        found = parts if isinstance(parts, list) else []
        thought = "\n\n".join(each for each in found if isinstance(each, str))
        if thought.strip():
            yield _make(ItemRole.ASSISTANT, ItemKind.THINKING, thought, at)
    elif kind == "CommandExecution":
        yield ItemChange(key=key, tool=_parse_execution(item), at=at)
    elif kind == "FileChange":
        yield _parse_changes(key, item.get("changes"), at)
    elif kind == "CollabAgentToolCall":
        named = item.get("receiver_thread_ids")
        branch = get_safe_id_or_none(named[0]) if isinstance(named, list) and named else None
        if branch is not None and item.get("tool") == "spawn_agent":
            yield ItemChange(key=key, tool={"branch": branch}, at=at)


def _parse_execution(item: Mapping[str, Any]) -> dict[str, Any]:
    tool: dict[str, Any] = {"output": get_text_or_none(item.get("aggregated_output")) or ""}
    code, lasted = item.get("exit_code"), get_object_or_empty(item.get("duration"))
    if isinstance(code, int):
        tool |= {"exit_code": code, "status": ToolStatus.FAILED if code else ToolStatus.DONE}
    seconds, nanos = lasted.get("secs"), lasted.get("nanos")
    if isinstance(seconds, int) and isinstance(nanos, int):
        tool["duration_ms"] = max(0, min(seconds * 1000 + nanos // 1_000_000, 2**40))
    return tool


def _parse_changes(key: str, changes: Any, at: int | None) -> ItemChange:
    found = list(_iterate_changes(get_object_or_empty(changes)))
    return ItemChange(key=key, tool={"diffs": tuple(found)} if found else {}, at=at)


def _iterate_changes(changes: Mapping[str, Any]) -> Iterator[FileDiff]:
    for path, change in changes.items():
        told = get_object_or_empty(change)
        told = get_object_or_empty(next(iter(told.values()), None)) if len(told) == 1 else told
        text, content = told.get("unified_diff"), told.get("content")
        diff = diffs.parse_unified_diff(path, text) if isinstance(text, str) else None
        if diff is None and isinstance(content, str):
            diff = diffs.make_new_file_diff(path, content)
        if diff is not None:
            yield diff


def _iterate_response_item(item: Mapping[str, Any], at: int | None) -> Iterator[Fragment]:
    kind, key = item.get("type"), str(item.get("call_id") or item.get("id") or "")
    name = get_name_or_none(item.get("name"))
    if kind == "function_call" and name is not None:
        given = _parse_arguments(item.get("arguments"))
        yield NewItem(item=make_call_item(name, given, at, diffs=_find_patch(given)), key=key)
    elif kind == "custom_tool_call" and name is not None:
        given = {"input": get_text_or_none(item.get("input")) or ""}
        yield NewItem(item=make_call_item(name, given, at, diffs=_find_patch(given)), key=key)
    elif kind == "local_shell_call":
        given = get_object_or_empty(item.get("action"))
        yield NewItem(item=make_call_item("local_shell", given, at), key=key)
    elif kind == "web_search_call":
        given = get_object_or_empty(item.get("action"))
        done = make_call_item("web_search", given, at, status=ToolStatus.DONE)
        yield NewItem(item=done, key=key)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield _parse_output(key, item.get("output"), at)


def _find_patch(given: Mapping[str, Any]) -> tuple[FileDiff, ...]:
    texts = [given.get("input"), given.get("cmd"), given.get("patch"), given.get("command")]
    words = [each for each in texts if isinstance(each, list)]
    texts += [each for many in words for each in many]
    patch = (text for text in texts if isinstance(text, str) and "*** Begin Patch" in text)
    return diffs.parse_patch(next(patch, ""))


def _parse_arguments(text: Any) -> Mapping[str, Any]:
    try:
        return get_object_or_empty(json.loads(get_text_or_none(text) or "null"))
    except (ValueError, RecursionError):
        return {"arguments": text}


def _parse_output(key: str, output: Any, at: int | None) -> ItemChange:
    """Return the change that a result makes: text of the tool, or of its failure."""
    images: tuple[ItemAttachment, ...] = ()
    told: Mapping[str, Any] = {}
    if isinstance(output, list):
        text, images = _join_output(output), tuple(_iterate_images(output))
    elif isinstance(output, Mapping):
        told = output
        text = get_text_or_none(output.get("content")) or ""
    else:
        text = get_text_or_none(output) or ""
    tool: dict[str, Any] = {"status": ToolStatus.DONE, **_parse_output_text(text)}
    if told.get("success") is False:
        tool["status"] = ToolStatus.FAILED
    fields = {"attachments": images} if images else {}
    return ItemChange(key=key, tool=tool, fields=fields, at=at)


def _parse_output_text(text: str) -> dict[str, Any]:
    if text.startswith("{"):
        # Older versions wrote the text and the exit code as JSON.
        told = _parse_arguments(text)
        code = get_object_or_empty(told.get("metadata")).get("exit_code")
        if isinstance(told.get("output"), str):
            found: dict[str, Any] = {"output": told["output"]}
            known = isinstance(code, int)
            return found | (_describe_exit(code) if known and code is not None else {})
    if any(words in text[:400] for words in _DENIED):
        return {"output": text, "status": ToolStatus.DENIED}
    code_line, shown = _ENDED.search(text[:2000]), _OUTPUT.search(text[:2000])
    if shown is not None:
        ended = _describe_exit(int(code_line[1])) if code_line is not None else {}
        return {"output": text[shown.end() :], **ended}
    failed = text.startswith(_FAILED)
    return {"output": text, "status": ToolStatus.FAILED} if failed else {"output": text}


def _describe_exit(code: int) -> dict[str, Any]:
    return {"exit_code": code, "status": ToolStatus.FAILED if code else ToolStatus.DONE}


def _join_output(blocks: list[Any]) -> str:
    texts = (get_object_or_empty(each).get("text") for each in blocks)
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _iterate_images(content: Any) -> Iterator[ItemAttachment]:
    for block in map(get_object_or_empty, content if isinstance(content, list) else ()):
        found = _parse_image(block.get("image_url") or block.get("url"))
        if found is not None:
            yield found


def _parse_image(url: Any) -> ItemAttachment | None:
    head = _IMAGE.match(url) if isinstance(url, str) else None
    return None if head is None else ItemAttachment(media_type=head[1], data=url[head.end() :])
