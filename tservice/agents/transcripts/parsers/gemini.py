"""Format of Gemini CLI's transcripts, with a line for each message, repeated as the message grows.

Version 0.61 writes them to C{~/.gemini/tmp/<folder>/chats/session-<time>-<id>.jsonl}; see
C{tests/agents/FACTS.rst}. A message contains the tools that it called, with their results. This
module does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from tservice.agents.todos import encode_todos, parse_todos
from tservice.agents.transcripts.model import (
    NAME_CHARS,
    TEXT_LIMIT,
    ListedTodos,
    TranscriptMessage,
    TranscriptTally,
    TurnFailure,
    add_answer,
    add_prompt,
    get_name_or_none,
    get_object_or_empty,
    get_safe_id_or_none,
    get_token_count,
    join_text_blocks,
    parse_iso_time,
)
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage

_ROLES = {"user": "user", "gemini": "assistant"}
_TODOS = "write_todos"
_SURROUNDINGS = "<session_context>"
_REPEAT_GAP_MS = 1_000
"""Maximum milliseconds between two messages that are written again together."""


def parse_message(found: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return the message of a line; C{None} if the line contains none.

    @param found: the parsed line.
    """
    role, text = _ROLES.get(str(found.get("type"))), join_text_blocks(found.get("content"))
    if role is None or not text.strip() or text.startswith(_SURROUNDINGS):
        return None
    return TranscriptMessage(
        role=role, text=text[-TEXT_LIMIT:], timestamp=parse_iso_time(found.get("timestamp"))
    )


def advance_tally(tally: TranscriptTally, found: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after one more line."""
    if "projectHash" in found:
        return evolve(
            tally, conversation=get_safe_id_or_none(found.get("sessionId")) or tally.conversation
        )
    tally = evolve(tally, repeated_at=_find_repeated_at(tally, found))
    if tally.repeated_at is not None:
        return tally
    name, words = str(found.get("id") or "")[:NAME_CHARS], parse_message(found)
    if words is not None and words.role == "user":
        return add_prompt(tally, words)
    if found.get("type") == "error":
        text = join_text_blocks(found.get("content"))
        return evolve(
            tally, failure=TurnFailure(text=text, at=parse_iso_time(found.get("timestamp")))
        )
    if found.get("type") != "gemini":
        return tally
    tally = evolve(tally, todos=_update_todos(tally.todos, found.get("toolCalls")))
    more = parse_usage(tally, found)
    if more is not None:
        context = get_token_count(get_object_or_empty(found.get("tokens")).get("total"))
        context = context or more.used.total_input + more.used.output
        tally = evolve(tally, context=context, model=more.used.model or tally.model)
    # A repeated message is complete each time, not a further part of the answer.
    return tally if words is None else add_answer(evolve(tally, response_id=""), name, words)


def _find_repeated_at(tally: TranscriptTally, found: Mapping[str, Any]) -> int | None:
    """Return the time of a message that is written again; C{None} if the line is new.

    After a refused tool, Gemini CLI writes the conversation again under new ids, from the session's
    context on, and then a list of these messages.
    """
    at = parse_iso_time(found.get("timestamp"))
    if at is None:
        listed = "messages" in get_object_or_empty(found.get("$set"))
        return None if listed else tally.repeated_at
    text = join_text_blocks(found.get("content"))
    if found.get("type") == "user" and text.startswith(_SURROUNDINGS):
        return at if tally.prompts else None
    before = tally.repeated_at
    return at if before is not None and at - before <= _REPEAT_GAP_MS else None


def _update_todos(before: ListedTodos, called: Any) -> ListedTodos:
    """Return the to-do list after the tools of a message; a refused call changes nothing."""
    for call in map(get_object_or_empty, called if isinstance(called, list) else ()):
        if call.get("name") == _TODOS and call.get("status") == "success":
            told = parse_todos(get_object_or_empty(call.get("args")).get("todos"), "description")
            before = before if told is None else encode_todos(told)
    return before


def parse_usage(tally: TranscriptTally, found: Mapping[str, Any]) -> MessageUsage | None:
    """Return the usage of the message in a line; C{None} without one.

    @param tally: the tally before the line.
    @param found: the parsed line.
    """
    tokens = get_object_or_empty(found.get("tokens"))
    if found.get("type") != "gemini" or not tokens:
        return None
    sent, cached = get_token_count(tokens.get("input")), get_token_count(tokens.get("cached"))
    more = ModelUsage(
        model=get_name_or_none(found.get("model")) or "",
        input=max(0, sent - cached) + get_token_count(tokens.get("tool")),
        cache_read=min(cached, sent),
        output=get_token_count(tokens.get("output")) + get_token_count(tokens.get("thoughts")),
    )
    name, at = (
        str(found.get("id") or found.get("timestamp") or ""),
        parse_iso_time(found.get("timestamp")),
    )
    return MessageUsage(name=name, used=more, at=at)
