"""Items in the messages and parts of opencode's database (tests/agents/FACTS.rst).

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from tservice.agents.transcripts.conversation import diffs
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    FileDiff,
    ItemAttachment,
    ItemKind,
    ItemRole,
    ItemTokens,
    ToolStatus,
)
from tservice.agents.transcripts.conversation.tools import make_call_item
from tservice.agents.transcripts.model import (
    get_dollar_amount,
    get_name_or_none,
    get_object_or_empty,
    get_safe_id_or_none,
    get_text_or_none,
    get_token_count,
)

_STATUS: Mapping[str, ToolStatus] = {
    "pending": ToolStatus.RUNNING,
    "running": ToolStatus.RUNNING,
    "completed": ToolStatus.DONE,
    "error": ToolStatus.FAILED,
}
_DENIED = ("The user rejected", "The user dismissed", "The user has specified a rule")
_INTERRUPTED = "MessageAbortedError"
_DATA = re.compile(r"data:[^,;]{1,100};base64,")
_ERROR = 998
"""Number of a message's error among its items, behind all its parts."""


def iterate_items(
    message: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], at: int | None
) -> Iterator[tuple[int, ConversationItem]]:
    """Iterate over the items of a message, each with its number in the message.

    @param at: time of the message in Unix milliseconds.
    """
    role = ItemRole.USER if message.get("role") == "user" else ItemRole.ASSISTANT
    model = get_name_or_none(message.get("modelID"))
    for number, part in enumerate(parts[:_ERROR]):
        item = _make_item(part, role, at, is_summary=message.get("summary") is True)
        if item is not None:
            yield number, evolve(item, model=model) if role is ItemRole.ASSISTANT else item
    error = get_object_or_empty(message.get("error"))
    if error:
        name = get_text_or_none(error.get("name"))
        text = get_text_or_none(get_object_or_empty(error.get("data")).get("message"))
        stopped = name == _INTERRUPTED
        yield (
            _ERROR,
            ConversationItem(
                role=ItemRole.USER if stopped else ItemRole.SYSTEM,
                kind=ItemKind.NOTICE if stopped else ItemKind.ERROR,
                at=at,
                text="Interrupted" if stopped else text or name or "Error",
            ),
        )


def parse_usage(message: Mapping[str, Any]) -> tuple[ItemTokens, float]:
    """Return the tokens and the dollars of a message."""
    tokens = get_object_or_empty(message.get("tokens"))
    cache = get_object_or_empty(tokens.get("cache"))
    found = ItemTokens(
        input=get_token_count(tokens.get("input")),
        output=get_token_count(tokens.get("output")) + get_token_count(tokens.get("reasoning")),
        cache_read=get_token_count(cache.get("read")),
        cache_write=get_token_count(cache.get("write")),
    )
    return found, get_dollar_amount(message.get("cost"))


def _make_item(
    part: Mapping[str, Any], role: ItemRole, at: int | None, *, is_summary: bool
) -> ConversationItem | None:
    kind, text = part.get("type"), get_text_or_none(part.get("text"))
    begun = get_token_count(get_object_or_empty(part.get("time")).get("start")) or at
    if kind == "text" and text is not None and text.strip():
        if part.get("synthetic") is True:
            return None
        shown = ItemKind.COMPACTION if is_summary else ItemKind.TEXT
        return ConversationItem(role=role, kind=shown, at=begun, text=text)
    if kind == "reasoning" and text is not None and text.strip():
        return ConversationItem(role=role, kind=ItemKind.THINKING, at=begun, text=text)
    if kind == "tool":
        return _make_call(part, at)
    if kind == "compaction":
        words = "The conversation is compacted."
        return ConversationItem(role=ItemRole.SYSTEM, kind=ItemKind.COMPACTION, at=at, text=words)
    if kind == "file":
        return _make_file(part, role, at)
    return None


def _make_call(part: Mapping[str, Any], at: int | None) -> ConversationItem:
    state = get_object_or_empty(part.get("state"))
    details, times = (
        get_object_or_empty(state.get("metadata")),
        get_object_or_empty(state.get("time")),
    )
    status = _STATUS.get(str(state.get("status")), ToolStatus.RUNNING)
    error = get_text_or_none(state.get("error"))
    if error is not None and error.startswith(_DENIED):
        status = ToolStatus.DENIED
    code = details.get("exit")
    known = isinstance(code, int) and not isinstance(code, bool)
    if known and code and status is ToolStatus.DONE:
        status = ToolStatus.FAILED
    begun, ended = get_token_count(times.get("start")), get_token_count(times.get("end"))
    return make_call_item(
        str(part.get("tool") or "tool"),
        get_object_or_empty(state.get("input")),
        begun or at,
        status=status,
        output=error or get_text_or_none(state.get("output")),
        exit_code=code if known else None,
        duration_ms=max(0, ended - begun) if begun and ended else None,
        diffs=tuple(_iterate_diffs(state, details)),
        branch=get_safe_id_or_none(details.get("sessionId")),
    )


def _iterate_diffs(state: Mapping[str, Any], details: Mapping[str, Any]) -> Iterator[FileDiff]:
    given = get_object_or_empty(state.get("input"))
    path = get_name_or_none(given.get("filePath")) or ""
    text = get_text_or_none(details.get("diff"))
    diff = None if text is None else diffs.parse_unified_diff(path, text)
    if diff is not None:
        yield diff
    elif path and isinstance(given.get("content"), str):
        yield diffs.make_new_file_diff(path, given["content"])


def _make_file(part: Mapping[str, Any], role: ItemRole, at: int | None) -> ConversationItem | None:
    media, url = get_name_or_none(part.get("mime")), part.get("url")
    name = get_name_or_none(part.get("filename"))
    if media is None or not media.startswith("image/"):
        return None
    data = _DATA.match(url) if isinstance(url, str) else None
    image = ItemAttachment(media_type=media, data=url[data.end() :] if data and url else None)
    return ConversationItem(
        role=role, kind=ItemKind.TEXT, at=at, text=name or "", attachments=(image,)
    )
