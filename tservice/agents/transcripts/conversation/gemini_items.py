"""Items in the lines of Gemini CLI's transcripts (tests/agents/FACTS.rst).

A message is written again as it grows, with the tools that it called and their results.

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
    Line,
    NewItem,
    SeenMessage,
)
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

_STATUS: Mapping[str, ToolStatus] = {
    "success": ToolStatus.DONE,
    "error": ToolStatus.FAILED,
    "cancelled": ToolStatus.DENIED,
}
_NOTICES: Mapping[str, ItemKind] = {
    "info": ItemKind.NOTICE,
    "warning": ItemKind.NOTICE,
    "error": ItemKind.ERROR,
}
_SURROUNDINGS = "<session_context>"
_PRINTED = re.compile(
    r"\A<untrusted_context>\nOutput: (.*?)(?:\n[A-Z][A-Za-z ]+: [^\n]*)*\n</", re.S
)
_EXIT = re.compile(r"\nExit Code: (-?\d{1,9})\n")


def parse_items(found: Line) -> list[Fragment]:
    """Return the fragments of a line."""
    changed = get_object_or_empty(found.get("$set")).get("messages")
    if isinstance(changed, list):
        return list(_iterate_replacement([get_object_or_empty(each) for each in changed]))
    at, name = parse_iso_time(found.get("timestamp")), str(found.get("id") or "")
    kind = str(found.get("type"))
    seen: list[Fragment] = [SeenMessage(name=name)] if name else []
    if kind == "user":
        return [*seen, *_iterate_prompt(found, name, at)]
    if kind == "gemini":
        return [*seen, *_iterate_answer(found, name, at)]
    text = join_text_blocks(found.get("content"))
    if kind not in _NOTICES or not text.strip():
        return seen
    item = ConversationItem(role=ItemRole.SYSTEM, kind=_NOTICES[kind], at=at, text=text)
    return [*seen, _make(item, name, "notice")]


def _make(item: ConversationItem, name: str, part: str, **more: Any) -> NewItem:
    return NewItem(item=item, key=f"{name}/{part}" if name else "", replaces=True, **more)


def _iterate_replacement(messages: list[Mapping[str, Any]]) -> Iterator[Fragment]:
    """Yield the summary that replaces the conversation.

    A turn that is cancelled or interrupted also replaces the conversation: by the messages that are
    known already, with one that reports it to the model.
    """
    texts = [
        (str(each.get("id") or ""), join_text_blocks(each.get("content"))) for each in messages
    ]
    kept = [(name, text) for name, text in texts if name and not text.startswith(_SURROUNDINGS)]
    if not kept:
        return
    at = max((parse_iso_time(each.get("timestamp")) or 0 for each in messages), default=0)
    summary = next((text for _, text in kept if text.strip()), "")
    item = ConversationItem(
        role=ItemRole.SYSTEM, kind=ItemKind.COMPACTION, at=at or None, text=summary
    )
    yield NewItem(item=item, unless_known=tuple(name for name, _ in kept))
    yield from (SeenMessage(name=name) for name, _ in kept)


def _iterate_prompt(found: Line, name: str, at: int | None) -> Iterator[Fragment]:
    text = join_text_blocks(found.get("content"))
    images = tuple(_iterate_images(found.get("content")))
    if (text.strip() or images) and not text.startswith(_SURROUNDINGS):
        item = ConversationItem(
            role=ItemRole.USER, kind=ItemKind.TEXT, at=at, text=text, attachments=images
        )
        yield _make(item, name, "text", begins_turn=True)


def _iterate_answer(found: Line, name: str, at: int | None) -> Iterator[Fragment]:
    model = get_name_or_none(found.get("model"))
    thoughts = found.get("thoughts")
    lines = [
        _describe_thought(each)
        for each in map(get_object_or_empty, thoughts if isinstance(thoughts, list) else ())
    ]
    blocks = ((ItemKind.THINKING, "\n\n".join(lines)),
              (ItemKind.TEXT, join_text_blocks(found.get("content"))))  # fmt: skip
    for kind, text in blocks:
        if text.strip():
            item = ConversationItem(
                role=ItemRole.ASSISTANT, kind=kind, at=at, text=text, model=model
            )
            yield _make(item, name, str(kind))
    calls = found.get("toolCalls")
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        item = evolve(_make_call(get_object_or_empty(call), at), model=model)
        yield _make(item, name, f"call{number}")


def _describe_thought(thought: Mapping[str, Any]) -> str:
    subject, text = thought.get("subject"), thought.get("description")
    head = f"**{subject}**\n\n" if isinstance(subject, str) and subject else ""
    return head + (text if isinstance(text, str) else "")


def _make_call(call: Mapping[str, Any], begun: int | None) -> ConversationItem:
    status = _STATUS.get(str(call.get("status")), ToolStatus.RUNNING)
    answers = call.get("result")
    parts = answers if isinstance(answers, list) else []
    told = [_get_response(each) for each in parts]
    text = "\n".join(each for each in told if each)
    ended = parse_iso_time(call.get("timestamp"))
    lasted = None if None in (ended, begun) else max(0, (ended or 0) - (begun or 0))
    code = _EXIT.search(text[-4000:])
    printed = _PRINTED.match(text)
    exit_code = int(code[1]) if code is not None else None
    shown = call.get("resultDisplay")
    branch = get_safe_id_or_none(get_object_or_empty(shown).get("agentId"))
    return make_call_item(
        str(call.get("name") or "tool"),
        get_object_or_empty(call.get("args")),
        begun,
        status=ToolStatus.FAILED if exit_code and status is ToolStatus.DONE else status,
        output=(printed[1] if printed is not None else text) or None,
        exit_code=exit_code,
        duration_ms=lasted,
        diffs=_find_diffs(get_object_or_empty(shown)),
        branch=branch,
    )


def _get_response(part: Any) -> str:
    answer = get_object_or_empty(
        get_object_or_empty(get_object_or_empty(part).get("functionResponse")).get("response")
    )
    return get_text_or_none(answer.get("output")) or get_text_or_none(answer.get("error")) or ""


def _find_diffs(shown: Mapping[str, Any]) -> tuple[FileDiff, ...]:
    path = get_name_or_none(shown.get("filePath")) or get_name_or_none(shown.get("fileName"))
    text = get_text_or_none(shown.get("fileDiff"))
    diff = diffs.parse_unified_diff(path, text) if path and text else None
    return () if diff is None else (diff,)


def _iterate_images(content: Any) -> Iterator[ItemAttachment]:
    for block in map(get_object_or_empty, content if isinstance(content, list) else ()):
        image = get_object_or_empty(block.get("inlineData"))
        media, data = get_name_or_none(image.get("mimeType")), image.get("data")
        if media is not None and isinstance(data, str):
            yield ItemAttachment(media_type=media, data=data)
