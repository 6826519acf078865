"""Format of Codex's transcripts: events, with token totals of the conversation
(tests/agents/FACTS.rst).

Codex 0.169 writes completed items; older versions wrote an event for each side of the conversation.
The to-do list is the argument of the tool C{update_plan}, if the tool is enabled and accepted it.
This module does no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from tservice.agents.todos import encode_todos, parse_todos
from tservice.agents.transcripts.model import (
    TEXT_LIMIT,
    TranscriptMessage,
    TranscriptTally,
    TurnFailure,
    add_answer,
    add_prompt,
    get_name_or_none,
    get_object_or_empty,
    get_safe_id_or_none,
    get_text_or_none,
    get_token_count,
    join_text_blocks,
    parse_iso_time,
)
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage

_ROLES = {
    "user_message": "user",
    "agent_message": "assistant",
    "UserMessage": "user",
    "AgentMessage": "assistant",
}
_PLAN = "update_plan"
_AGREED = "Plan updated"


def parse_message(found: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return the message of an event; C{None} if the event contains none.

    @param found: the parsed line.
    """
    if found.get("type") != "event_msg":
        return None
    payload = get_object_or_empty(found.get("payload"))
    if payload.get("type") == "item_completed":
        item = get_object_or_empty(payload.get("item"))
        role, text = _ROLES.get(str(item.get("type"))), join_text_blocks(item.get("content"))
    else:
        role = _ROLES.get(str(payload.get("type")))
        text = get_text_or_none(payload.get("message")) or ""
    if role is None or not text.strip():
        return None
    return TranscriptMessage(
        role=role, text=text[-TEXT_LIMIT:], timestamp=parse_iso_time(found.get("timestamp"))
    )


def advance_tally(tally: TranscriptTally, found: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after one more line."""
    payload = get_object_or_empty(found.get("payload"))
    if found.get("type") == "session_meta":
        # The first one is the file's own; a copy of another conversation may follow, with its own.
        return evolve(
            tally,
            conversation=tally.conversation or get_safe_id_or_none(payload.get("id")),
            parent=tally.parent or get_safe_id_or_none(payload.get("parent_thread_id")),
            cwd=tally.cwd or get_name_or_none(payload.get("cwd")),
        )
    if found.get("type") == "turn_context":
        return evolve(
            tally,
            model=get_name_or_none(payload.get("model")) or tally.model,
            turn=get_safe_id_or_none(payload.get("turn_id")) or tally.turn,
        )
    if found.get("type") == "response_item":
        return _update_tally_from_plan(tally, payload)
    words = parse_message(found)
    if words is not None:
        return add_prompt(tally, words) if words.role == "user" else add_answer(tally, "", words)
    if found.get("type") != "event_msg":
        return tally
    if payload.get("type") == "task_started":
        return evolve(tally, turn=get_safe_id_or_none(payload.get("turn_id")) or tally.turn)
    if payload.get("type") == "token_count":
        return _update_tally_from_totals(tally, get_object_or_empty(payload.get("info")))
    error = get_text_or_none(get_object_or_empty(payload.get("error")).get("message"))
    if payload.get("type") == "task_complete" and error is not None:
        return evolve(
            tally, failure=TurnFailure(text=error, at=parse_iso_time(found.get("timestamp")))
        )
    return tally


def _update_tally_from_plan(tally: TranscriptTally, item: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after a call of C{update_plan}, or after the result of such a call."""
    name = get_name_or_none(item.get("call_id"))
    if item.get("type") == "function_call" and item.get("name") == _PLAN and name is not None:
        plan = parse_todos(_parse_arguments(item).get("plan"), "step")
        return evolve(tally, planned=None if plan is None else (name, encode_todos(plan)))
    if tally.planned is None or item.get("type") != "function_call_output":
        return tally
    asked, listing = tally.planned
    if name != asked:
        return tally
    agreed = item.get("output") == _AGREED
    return evolve(tally, planned=None, todos=listing if agreed else tally.todos)


def _parse_arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return get_object_or_empty(json.loads(get_text_or_none(call.get("arguments")) or "null"))
    except (ValueError, RecursionError):
        return {}


def _update_tally_from_totals(tally: TranscriptTally, info: Mapping[str, Any]) -> TranscriptTally:
    total = get_object_or_empty(info.get("total_token_usage"))
    if not total:
        return tally
    last = get_object_or_empty(info.get("last_token_usage"))
    return evolve(
        tally,
        sum=_parse_tokens(tally, total),
        context=get_token_count(last.get("total_tokens")) or tally.context,
        window=get_token_count(info.get("model_context_window")) or tally.window,
    )


def parse_usage(tally: TranscriptTally, found: Mapping[str, Any]) -> MessageUsage | None:
    """Return the usage of the answer in a line; C{None} without one.

    Codex reports totals of the conversation. A copy of a conversation reports the same totals of
    the same turns.

    @param tally: the tally before the line.
    @param found: the parsed line.
    """
    payload = get_object_or_empty(found.get("payload"))
    if found.get("type") != "event_msg" or payload.get("type") != "token_count":
        return None
    info = get_object_or_empty(payload.get("info"))
    total, last = (
        get_object_or_empty(info.get("total_token_usage")),
        get_object_or_empty(info.get("last_token_usage")),
    )
    if not total:
        return None
    now = _parse_tokens(tally, total)
    more = (
        now.subtract_usage(tally.sum)
        if tally.sum is not None
        else _parse_tokens(tally, last or total)
    )
    if min(more.input, more.cache_read, more.output) < 0:
        # Codex started a new total.
        more = _parse_tokens(tally, last)
    if not more.total_input and not more.output:
        return None
    name = f"{tally.turn or tally.conversation}/{now.total_input}/{now.output}"
    return MessageUsage(name=name, used=more, at=parse_iso_time(found.get("timestamp")))


def _parse_tokens(tally: TranscriptTally, told: Mapping[str, Any]) -> ModelUsage:
    cached, sent = (
        get_token_count(told.get("cached_input_tokens")),
        get_token_count(told.get("input_tokens")),
    )
    return ModelUsage(
        model=tally.model or "",
        # Codex counts cached tokens as part of the input.
        input=max(0, sent - cached),
        cache_read=min(cached, sent),
        output=get_token_count(told.get("output_tokens")),
    )
