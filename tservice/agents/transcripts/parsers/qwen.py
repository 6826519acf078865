"""Format of Qwen Code's transcripts, with a line for each message (tests/agents/FACTS.rst).

Version 0.24 writes them to C{~/.qwen/projects/<folder>/chats/<id>.jsonl}. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

TYPED = frozenset({"real_user", None})
"""Provenances of messages that a person or the service submitted."""
_ROLES = {"user": "user", "assistant": "assistant"}
_FAILED = "qwen-code.api_error"


def iterate_parts(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Iterate over the parts of a line's message."""
    parts = get_object_or_empty(found.get("message")).get("parts")
    yield from map(get_object_or_empty, parts if isinstance(parts, list) else ())


def join_text(found: Mapping[str, Any], *, thought: bool = False) -> str:
    """Return the texts of a line's message, or those of its thoughts."""
    texts = (
        get_text_or_none(part.get("text"))
        for part in iterate_parts(found)
        if (part.get("thought") is True) == thought
    )
    return "\n".join(text for text in texts if text)


def find_failure(found: Mapping[str, Any]) -> str | None:
    """Return the error of a request that failed; C{None} if a line contains none."""
    event = get_object_or_empty(get_object_or_empty(found.get("systemPayload")).get("uiEvent"))
    if event.get("event.name") != _FAILED:
        return None
    return get_text_or_none(event.get("error_message")) or get_text_or_none(event.get("error"))


def parse_message(found: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return the message of a line; C{None} if the line contains none.

    @param found: the parsed line.
    """
    role, text = _ROLES.get(str(found.get("type"))), join_text(found)
    if role is None or not text.strip():
        return None
    if role == "user" and found.get("provenance") not in TYPED:
        return None
    return TranscriptMessage(
        role=role, text=text[-TEXT_LIMIT:], timestamp=parse_iso_time(found.get("timestamp"))
    )


def advance_tally(tally: TranscriptTally, found: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after one more line."""
    tally = evolve(
        tally,
        conversation=get_safe_id_or_none(found.get("sessionId")) or tally.conversation,
        cwd=get_name_or_none(found.get("cwd")) or tally.cwd,
    )
    words = parse_message(found)
    if words is not None and words.role == "user":
        return add_prompt(tally, words)
    failure = find_failure(found)
    if failure is not None:
        at = parse_iso_time(found.get("timestamp"))
        return evolve(tally, failure=TurnFailure(text=failure, at=at))
    more = parse_usage(tally, found)
    if more is not None:
        context = more.used.total_input + more.used.output
        tally = evolve(tally, context=context, model=more.used.model or tally.model)
    name = str(found.get("uuid") or "")[:NAME_CHARS]
    return tally if words is None else add_answer(tally, name, words)


def parse_usage(tally: TranscriptTally, found: Mapping[str, Any]) -> MessageUsage | None:
    """Return the usage of the message in a line; C{None} without one.

    @param tally: the tally before the line.
    @param found: the parsed line.
    """
    tokens = get_object_or_empty(found.get("usageMetadata"))
    if found.get("type") != "assistant" or not tokens:
        return None
    sent = get_token_count(tokens.get("promptTokenCount"))
    cached = min(sent, get_token_count(tokens.get("cachedContentTokenCount")))
    # Its count of an answer contains the thoughts of models with an OpenAI interface.
    output = get_token_count(tokens.get("candidatesTokenCount"))
    used = ModelUsage(
        model=get_name_or_none(found.get("model")) or "",
        input=sent - cached,
        cache_read=cached,
        output=output,
    )
    name = str(found.get("uuid") or found.get("timestamp") or "")
    return MessageUsage(name=name, used=used, at=parse_iso_time(found.get("timestamp")))
