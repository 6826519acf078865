"""Format of Claude Code's transcripts, with one line for each block of a message
(tests/agents/FACTS.rst).

This module does no I/O.
"""

from __future__ import annotations

import re
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

SYNTHETIC = "<synthetic>"
"""Model name in messages that the client itself writes in the name of the agent."""
# Without the preceding white space: matching it in a text of only white space would take quadratic
# time, with the interpreter lock held.
_PASTED = re.compile(r'</?pasted_content id="\w{1,16}">\n?')
_COMMAND = re.compile(r"\s*(?:<[a-z-]+>|\[Request interrupted|Caveat: )")


def strip_paste_tags(text: str) -> str:
    """Return a prompt as the user typed it; version 2.1.330 puts a long paste between tags."""
    *before, last = _PASTED.split(text)
    return "".join((*map(str.rstrip, before), last))


def is_client_text(text: str) -> bool:
    """Return true if the client wrote a text in the name of the user: a command, or its output."""
    return _COMMAND.match(text) is not None


def parse_message(found: Mapping[str, Any]) -> TranscriptMessage | None:
    """Return the message of a line; C{None} if the line contains none.

    @param found: the parsed line.
    """
    role = found.get("type")
    if role not in ("user", "assistant"):
        return None
    if found.get("isSidechain") is True or found.get("isMeta") is True:
        return None
    message = get_object_or_empty(found.get("message"))
    if message.get("model") == SYNTHETIC and found.get("isApiErrorMessage") is not True:
        return None  # "No response requested.", in a conversation that continues
    text = join_text_blocks(message.get("content"))
    if role == "user":
        text = strip_paste_tags(text)
    if not text.strip() or (role == "user" and is_client_text(text)):
        return None
    return TranscriptMessage(
        role=role, text=text[-TEXT_LIMIT:], timestamp=parse_iso_time(found.get("timestamp"))
    )


def parse_prompt(found: Mapping[str, Any]) -> str | None:
    """Return the prompt in a line, if no earlier line contains the same one; otherwise C{None}.

    The first line with a prompt begins a turn, or adds the prompt to the queue. A queued prompt is
    written again when it is sent, and sometimes the last prompt is too.
    """
    if found.get("type") == "queue-operation":
        return (
            get_text_or_none(found.get("content")) if found.get("operation") == "enqueue" else None
        )
    if found.get("type") != "user" or found.get("promptSource") == "queued":
        return None
    if found.get("isSidechain") is True or found.get("isMeta") is True:
        return None
    return join_text_blocks(get_object_or_empty(found.get("message")).get("content"))


def advance_tally(tally: TranscriptTally, found: Mapping[str, Any]) -> TranscriptTally:
    """Return the tally after one more line.

    @param found: the parsed line.
    """
    if found.get("isSidechain") is True:
        return tally
    tally = evolve(
        tally,
        conversation=get_safe_id_or_none(found.get("sessionId")) or tally.conversation,
        cwd=get_name_or_none(found.get("cwd")) or tally.cwd,
    )
    message, words = get_object_or_empty(found.get("message")), parse_message(found)
    if words is not None and words.role == "user":
        return add_prompt(tally, words)
    if found.get("type") != "assistant":
        return tally
    more = parse_usage(tally, found)
    if more is not None and (more.used.total_input or more.used.output):
        context = more.used.total_input + more.used.output
        tally = evolve(tally, context=context, model=more.used.model or tally.model)
    if words is None:
        return tally
    if found.get("isApiErrorMessage") is True:
        tally = evolve(tally, failure=TurnFailure(text=words.text, at=words.timestamp))
    return add_answer(tally, _message_id(found, message)[:NAME_CHARS], words)


def parse_usage(tally: TranscriptTally, found: Mapping[str, Any]) -> MessageUsage | None:
    """Return the usage of the message in a line; C{None} without one.

    The message may be a subagent's. It takes several lines, each with the usage so far, and other
    lines may be between them.

    @param tally: the tally before the line.
    @param found: the parsed line.
    """
    if found.get("type") != "assistant":
        return None
    message, cost = (
        get_object_or_empty(found.get("message")),
        get_dollar_amount(found.get("costUSD")),
    )
    usage = get_object_or_empty(message.get("usage"))
    if not cost and (message.get("model") == SYNTHETIC or not usage):
        return None
    tokens = ModelUsage(
        model=get_name_or_none(message.get("model")) or "",
        input=get_token_count(usage.get("input_tokens")),
        cache_read=get_token_count(usage.get("cache_read_input_tokens")),
        cache_write=get_token_count(usage.get("cache_creation_input_tokens")),
        output=get_token_count(usage.get("output_tokens")),
    )
    at = parse_iso_time(found.get("timestamp"))
    return MessageUsage(name=_message_id(found, message), used=tokens, cost=cost, at=at)


def _message_id(found: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    return str(message.get("id") or found.get("uuid") or found.get("timestamp") or "")
