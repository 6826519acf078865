"""Format of pi's transcripts, with a line for each message, including its price
(tests/agents/FACTS.rst).

Version 0.73 writes them to C{~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl}. Entries form a
tree, all branches of which are read. This module does no I/O.
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
    get_dollar_amount,
    get_name_or_none,
    get_object_or_empty,
    get_safe_id_or_none,
    get_text_or_none,
    get_token_count,
    join_text_blocks,
    parse_iso_time,
)
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage


def parse_message(found: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return the message of a line; C{None} if the line contains none.

    @param found: the parsed line.
    """
    if found.get("type") != "message":
        return None
    message = get_object_or_empty(found.get("message"))
    role, text = message.get("role"), join_text_blocks(message.get("content"))
    if role not in ("user", "assistant") or not text.strip():
        return None
    return TranscriptMessage(
        role=role, text=text[-TEXT_LIMIT:], timestamp=parse_iso_time(found.get("timestamp"))
    )


def advance_tally(tally: TranscriptTally, found: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after one more line."""
    if found.get("type") == "session":
        return evolve(
            tally,
            conversation=get_safe_id_or_none(found.get("id")) or tally.conversation,
            cwd=get_name_or_none(found.get("cwd")) or tally.cwd,
            began=parse_iso_time(found.get("timestamp")),
        )
    words, message = parse_message(found), get_object_or_empty(found.get("message"))
    if words is not None and words.role == "user":
        # A fork begins with copies, which are older than the fork.
        copied = words.timestamp is not None and words.timestamp < (tally.began or 0)
        return tally if copied else add_prompt(tally, words)
    if found.get("type") != "message" or message.get("role") != "assistant":
        return tally
    name = str(found.get("id") or "")[:NAME_CHARS]
    more = parse_usage(tally, found)
    if more is not None:
        context = more.used.total_input + more.used.output
        tally = evolve(tally, context=context, model=more.used.model or tally.model)
    error = get_text_or_none(message.get("errorMessage"))
    if message.get("stopReason") == "error" and error is not None:
        tally = evolve(
            tally, failure=TurnFailure(text=error, at=parse_iso_time(found.get("timestamp")))
        )
    return tally if words is None else add_answer(tally, name, words)


def parse_usage(tally: TranscriptTally, found: Mapping[str, Any]) -> MessageUsage | None:
    """Return the usage of the message in a line; C{None} without one.

    @param tally: the tally before the line.
    @param found: the parsed line.
    """
    message = get_object_or_empty(found.get("message"))
    if found.get("type") != "message" or message.get("role") != "assistant":
        return None
    usage = get_object_or_empty(message.get("usage"))
    tokens = ModelUsage(
        model=get_name_or_none(message.get("model")) or "",
        input=get_token_count(usage.get("input")),
        cache_read=get_token_count(usage.get("cacheRead")),
        cache_write=get_token_count(usage.get("cacheWrite")),
        output=get_token_count(usage.get("output")),
    )
    if not tokens.total_input and not tokens.output:
        return None
    return MessageUsage(
        name=str(found.get("id") or found.get("timestamp") or ""),
        used=tokens,
        cost=get_dollar_amount(get_object_or_empty(usage.get("cost")).get("total")),
        at=parse_iso_time(found.get("timestamp")),
    )
