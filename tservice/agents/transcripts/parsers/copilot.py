"""Format of GitHub Copilot CLI's transcripts, with a line for each event (tests/agents/FACTS.rst).

Version 1.0.102 writes them to C{~/.copilot/session-state/<id>/events.jsonl}. This module does no
I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from tservice.agents.transcripts.model import (
    NAME_CHARS,
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
    parse_iso_time,
)
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage

_ROLES = {"user.message": "user", "assistant.message": "assistant"}
_BEGINNINGS = frozenset({"session.start", "session.resume"})


def is_typed(data: Mapping[str, Any]) -> bool:
    """Return true if a person or the service submitted the prompt with these data.

    Skills, other agents and the autopilot add prompts of their own.
    """
    return data.get("source") in (None, "user") and data.get("isAutopilotContinuation") is not True


def parse_message(found: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return the message of a line; C{None} if the line contains none, or one of a sub-agent.

    @param found: the parsed line.
    """
    role, data = _ROLES.get(str(found.get("type"))), get_object_or_empty(found.get("data"))
    text = get_text_or_none(data.get("content")) or ""
    if role is None or not text.strip() or found.get("agentId"):
        return None
    if role == "user" and not is_typed(data):
        return None
    return TranscriptMessage(
        role=role, text=text[-TEXT_LIMIT:], timestamp=parse_iso_time(found.get("timestamp"))
    )


def advance_tally(tally: TranscriptTally, found: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after one more line."""
    kind, data = found.get("type"), get_object_or_empty(found.get("data"))
    at = parse_iso_time(found.get("timestamp"))
    if kind in _BEGINNINGS:
        context = get_object_or_empty(data.get("context"))
        return evolve(
            tally,
            conversation=get_safe_id_or_none(data.get("sessionId")) or tally.conversation,
            cwd=get_name_or_none(context.get("cwd")) or tally.cwd,
        )
    if kind == "session.error":
        text = get_text_or_none(data.get("message"))
        return tally if text is None else evolve(tally, failure=TurnFailure(text=text, at=at))
    words = parse_message(found)
    if words is not None and words.role == "user":
        return add_prompt(tally, words)
    more = None if found.get("agentId") else parse_usage(tally, found)
    if more is not None:
        filled = more.used.total_input + more.used.output
        return evolve(tally, context=filled, model=more.used.model or tally.model)
    name = str(data.get("messageId") or "")[:NAME_CHARS]
    return tally if words is None else add_answer(tally, name, words)


def parse_usage(tally: TranscriptTally, found: Mapping[str, Any]) -> MessageUsage | None:
    """Return the usage of a request; C{None} for a line without one.

    @param tally: the tally before the line.
    @param found: the parsed line.
    """
    usage = get_object_or_empty(get_object_or_empty(found.get("data")).get("usage"))
    if found.get("type") != "session.usage_record" or not usage:
        return None
    sent = get_token_count(usage.get("inputTokens"))
    read = min(sent, get_token_count(usage.get("cacheReadTokens")))
    written = min(sent - read, get_token_count(usage.get("cacheWriteTokens")))
    used = ModelUsage(
        model=get_name_or_none(usage.get("model")) or "",
        input=sent - read - written,
        cache_read=read,
        cache_write=written,
        output=get_token_count(usage.get("outputTokens")),
    )
    name = str(usage.get("apiCallId") or found.get("id") or "")
    return MessageUsage(name=name, used=used, at=parse_iso_time(found.get("timestamp")))
