"""Items in the lines of Claude Code's transcripts (tests/agents/FACTS.rst).

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve

from tservice.agents.transcripts.conversation import diffs
from tservice.agents.transcripts.conversation.fragments import (
    Fragment,
    ItemChange,
    Line,
    NewItem,
    QueueChange,
)
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    FileDiff,
    ItemAttachment,
    ItemKind,
    ItemRole,
    PromptState,
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
from tservice.agents.transcripts.parsers.claude import SYNTHETIC, is_client_text, strip_paste_tags
from tservice.terminal.frames.ansi import strip_escapes

_NO_ANSWER = "No response requested."
_DENIED = (
    "The user doesn't want to", "User rejected", "Permission to use", "The agent proposed a plan",
    "[Request interrupted by user for tool use]",
)  # fmt: skip
"""Beginnings of the results of refused calls."""
_EXIT = re.compile(r"Exit code (-?\d{1,9})(?:\n|\Z)")
_COMMAND = re.compile(r"<command-name>([^<]{1,200})</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]{1,4000})</command-args>")
_NOTIFIED = re.compile(r"<task-notification>.{0,4000}?<summary>(.{1,2000}?)</summary>", re.S)
_PRINTED = re.compile(r"<(local-command-std(?:out|err)|bash-(?:input|stdout|stderr))>")
_NOTICES = frozenset({"local_command", "informational", "api_error"})
"""Kinds of system lines that say something to the user."""


def parse_items(found: Line) -> list[Fragment]:
    """Return the fragments of a line."""
    kind, at = found.get("type"), parse_iso_time(found.get("timestamp"))
    if kind == "queue-operation":
        return _parse_queue(found, at)
    if kind == "attachment":
        return _parse_attachment(get_object_or_empty(found.get("attachment")), at)
    if kind == "system":
        return _parse_system(found, at)
    if kind == "assistant":
        said = list(_iterate_answer(found, at))
    elif kind == "user":
        said = list(_iterate_user(found, at))
    else:
        return []
    if found.get("isSidechain") is not True:
        return said
    return [evolve(each, is_side=True) if isinstance(each, NewItem) else each for each in said]


def _make_prompt(text: str, at: int | None, images: tuple[ItemAttachment, ...] = ()) -> NewItem:
    item = ConversationItem(
        role=ItemRole.USER, kind=ItemKind.TEXT, at=at, text=text, attachments=images
    )
    return NewItem(item=item, begins_turn=True)


def _make_notice(text: str, at: int | None, role: ItemRole = ItemRole.SYSTEM) -> NewItem:
    return NewItem(item=ConversationItem(role=role, kind=ItemKind.NOTICE, at=at, text=text))


def _parse_queue(found: Line, at: int | None) -> list[Fragment]:
    text = get_text_or_none(found.get("content"))
    if found.get("operation") == "enqueue" and text is not None and not is_client_text(text):
        prompt = _make_prompt(strip_paste_tags(text), at)
        return [evolve(prompt, item=evolve(prompt.item, state=PromptState.QUEUED))]
    return [QueueChange(otherwise=None)] if found.get("operation") == "popAll" else []


def _parse_attachment(told: Mapping[str, Any], at: int | None) -> list[Fragment]:
    """Return the prompt that the agent received in the middle of a turn."""
    text = join_text_blocks(told.get("prompt"))
    if told.get("type") != "queued_command" or not text.strip():
        return []
    return [QueueChange(otherwise=_make_prompt(strip_paste_tags(text), at))]


def _parse_system(found: Line, at: int | None) -> list[Fragment]:
    error = get_object_or_empty(get_object_or_empty(found.get("error")).get("error"))
    text = get_text_or_none(found.get("content")) or get_text_or_none(error.get("message"))
    if str(found.get("subtype")) not in _NOTICES or text is None or found.get("isMeta") is True:
        return []
    return [_make_notice(_describe_client_text(text), at)]


def _iterate_answer(found: Line, at: int | None) -> Iterator[Fragment]:
    message = get_object_or_empty(found.get("message"))
    model = get_name_or_none(message.get("model"))
    failed = found.get("isApiErrorMessage") is True
    for block in _list_blocks(message.get("content")):
        kind = str(block.get("type"))
        text = get_text_or_none(block.get("text"))
        if kind == "text" and text is not None:
            if model == SYNTHETIC and text == _NO_ANSWER:
                continue
            yield _make_answer(ItemKind.ERROR if failed else ItemKind.TEXT, text, at, model)
        elif kind in ("thinking", "redacted_thinking"):
            thought = get_text_or_none(block.get("thinking"))
            if thought is not None or kind == "redacted_thinking":
                yield _make_answer(ItemKind.THINKING, thought or "", at, model)
        elif kind.endswith("tool_use"):
            yield _make_call(block, at, model)
        elif kind.endswith("tool_result"):
            yield _parse_result(block, {}, at)


def _make_answer(kind: ItemKind, text: str, at: int | None, model: str | None) -> NewItem:
    named = None if model == SYNTHETIC else model
    item = ConversationItem(role=ItemRole.ASSISTANT, kind=kind, at=at, text=text, model=named)
    return NewItem(item=item)


def _make_call(block: Mapping[str, Any], at: int | None, model: str | None) -> NewItem:
    name, given = str(block.get("name") or "tool"), get_object_or_empty(block.get("input"))
    item = make_call_item(name, given, at, diffs=_find_proposed_diffs(name, given))
    return NewItem(item=evolve(item, model=model), key=str(block.get("id") or ""))


def _find_proposed_diffs(name: str, given: Mapping[str, Any]) -> tuple[FileDiff, ...]:
    """Return the change that a call proposes, which the result describes exactly."""
    path = get_name_or_none(given.get("file_path"))
    if path is None:
        return ()
    if name == "Write" and isinstance(given.get("content"), str):
        return (diffs.make_new_file_diff(path, given["content"]),)
    edits = given.get("edits") if name == "MultiEdit" else [given] if name == "Edit" else None
    pairs = [
        (each.get("old_string"), each.get("new_string"))
        for each in map(get_object_or_empty, edits if isinstance(edits, list) else ())
    ]
    return tuple(
        diffs.make_replacement_diff(path, old, new)
        for old, new in pairs
        if isinstance(old, str) and isinstance(new, str)
    )


def _iterate_user(found: Line, at: int | None) -> Iterator[Fragment]:
    content = get_object_or_empty(found.get("message")).get("content")
    told = get_object_or_empty(found.get("toolUseResult"))
    for block in _list_blocks(content):
        if str(block.get("type")).endswith("tool_result"):
            yield _parse_result(block, told, at)
    if found.get("isMeta") is True:
        return
    text = strip_paste_tags(join_text_blocks(content))
    images = tuple(_iterate_images(content))
    if found.get("isCompactSummary") is True:
        yield NewItem(
            item=ConversationItem(role=ItemRole.SYSTEM, kind=ItemKind.COMPACTION, at=at, text=text)
        )
    elif text.strip() and is_client_text(text):
        yield _make_notice(_describe_client_text(text), at, _find_author(text))
    elif text.strip() or images:
        prompt = _make_prompt(text, at, images)
        queued = found.get("promptSource") == "queued"
        yield QueueChange(otherwise=prompt) if queued else prompt


def _find_author(text: str) -> ItemRole:
    """Return the author of a text of the client: the user gave commands, and interrupted."""
    printed = _PRINTED.match(text.lstrip())
    told = text.lstrip().startswith("<task-notification>")
    return ItemRole.SYSTEM if told or (printed and printed[1] != "bash-input") else ItemRole.USER


def _describe_client_text(text: str) -> str:
    """Return a text of the client as people read it: a command, or what it printed."""
    command = _COMMAND.search(text)
    if command is not None:
        arguments = _ARGUMENTS.search(text)
        return f"{command[1]} {arguments[1] if arguments else ''}".strip()
    notified = _NOTIFIED.search(text)
    if notified is not None:
        return notified[1]
    plain = re.sub(r"</?(?:local-command-std(?:out|err)|bash-(?:stdout|stderr))>", "", text)
    plain = plain.replace("<bash-input>", "! ").replace("</bash-input>", "")
    return strip_escapes(plain.encode(errors="replace")).decode().strip() or "(no output)"


def _parse_result(block: Mapping[str, Any], told: Mapping[str, Any], at: int | None) -> ItemChange:
    """Return the change that a tool's result makes.

    @param told: the details that the client adds to the result.
    """
    text = _read_result_text(block.get("content"))
    tool: dict[str, Any] = {"output": text, "status": ToolStatus.DONE}
    if block.get("is_error") is True:
        tool["status"] = ToolStatus.DENIED if text.startswith(_DENIED) else ToolStatus.FAILED
        code = _EXIT.match(text)
        if code is not None:
            tool |= {"exit_code": int(code[1]), "output": text[code.end() :]}
    diff = _find_result_diff(told)
    if diff is not None:
        tool["diffs"] = (diff,)
    branch = get_safe_id_or_none(told.get("agentId"))
    if branch is not None:
        tool["branch"] = branch
    lasted = told.get("totalDurationMs", told.get("durationMs"))
    if isinstance(lasted, int) and not isinstance(lasted, bool):
        tool["duration_ms"] = max(0, min(lasted, 2**40))
    images = tuple(_iterate_images(block.get("content")))
    fields = {"attachments": images} if images else {}
    key = str(block.get("tool_use_id") or "")
    return ItemChange(key=key, tool=tool, fields=fields, at=at)


def _read_result_text(content: Any) -> str:
    text = join_text_blocks(content)
    return re.sub(r"\A<tool_use_error>(.*)</tool_use_error>\Z", r"\1", text, flags=re.S)


def _find_result_diff(told: Mapping[str, Any]) -> FileDiff | None:
    path = get_name_or_none(told.get("filePath"))
    if path is None:
        return None
    if told.get("type") == "create" and isinstance(told.get("content"), str):
        return diffs.make_new_file_diff(path, told["content"])
    return diffs.parse_structured_patch(path, told.get("structuredPatch"))


def _iterate_images(content: Any) -> Iterator[ItemAttachment]:
    for block in _list_blocks(content):
        source = get_object_or_empty(block.get("source"))
        media, data = get_name_or_none(source.get("media_type")), source.get("data")
        if block.get("type") == "image" and media is not None:
            yield ItemAttachment(media_type=media, data=data if isinstance(data, str) else None)


def _list_blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [get_object_or_empty(each) for each in content] if isinstance(content, list) else []
