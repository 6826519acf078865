"""opencode's conversations: rows of a SQLite database; for a thread (tests/agents/FACTS.rst).

A conversation is named as if it was a file in the database: C{.../opencode.db/ses_1}.

Whoever the agent is may have written the database: a child reads it (L{rows}).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve

from tservice.agents import todos
from tservice.agents.transcripts.model import (
    LINE_VALUES,
    TEXT_LIMIT,
    Failure,
    ListedTodos,
    Message,
    ReadPosition,
    Tally,
    Usage,
    answered,
    as_count,
    as_id,
    as_map,
    as_name,
    as_number,
    as_string,
    counted,
    next_conversation,
    prompted,
)
from tservice.agents.transcripts.reader import MESSAGE_CHARS, MESSAGES
from tservice.agents.transcripts.sqlite.rows import Row, Rows, opened
from tservice.core.crowd import is_crowd

NEWEST = 20
"""Messages, newest first, in which the last answer or a prompt is looked for."""
PARTS = 200
"""Parts of one message that are read."""
LISTED = 1000
"""Conversations, newest first, that are listed."""

_SESSION = """
    SELECT directory, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read,
           tokens_cache_write, model, time_created
    FROM session WHERE id = ?
"""
_NEWEST = """
    SELECT id, time_created, data FROM message WHERE session_id = ?
    ORDER BY time_created DESC, id DESC LIMIT ?
"""
_FIRST = """
    SELECT id, time_created, data FROM message WHERE session_id = ?
    ORDER BY time_created, id LIMIT 1
"""
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id LIMIT ?"
_TODOS = """
    SELECT content, status FROM todo WHERE session_id = ? ORDER BY position DESC LIMIT ?
"""
_LISTED = """
    SELECT id, time_updated FROM session WHERE parent_id IS NULL
    ORDER BY time_updated DESC LIMIT ?
"""


def listed(database: Path) -> list[tuple[str, int]]:
    """The conversations with when they changed last in Unix milliseconds, newest first.

    @raise OSError: it cannot be read.
    """
    with opened(database) as rows:
        found = rows.ask(_LISTED, LISTED)
    return [(row["id"], as_count(row["time_updated"])) for row in found if as_id(row["id"])]


def read_on(place: ReadPosition, path: Path) -> ReadPosition:
    """Read a conversation; its sums stand in its row, so nothing is read twice.

    @raise OSError: it cannot be read.
    """
    tally = place.tally if place.path == str(path) else next_conversation(place.tally)
    with opened(path.parent) as rows:
        tally = _begun(rows, path.name, tally)
        for message in reversed(_messages(rows, path.name, NEWEST)):
            tally = _advance(tally, message)
        tally = _summed(rows, path.name, tally)
        tally = evolve(tally, todos=_todos(rows, path.name))
    return ReadPosition(path=str(path), tally=tally)


def head(path: Path) -> Tally:
    """What the beginning of a conversation tells.

    @raise OSError: it cannot be read.
    """
    with opened(path.parent) as rows:
        return _begun(rows, path.name, Tally())


def messages(path: Path) -> list[Message]:
    """The last messages of a conversation, oldest first.

    @raise OSError: it cannot be read.
    """
    kept: list[Message] = []
    left = MESSAGE_CHARS
    with opened(path.parent) as rows:
        for message in _messages(rows, path.name, MESSAGES):
            said = message["said"]
            if said is None:
                continue
            left -= len(said.text)
            if left < 0 and kept:
                break
            kept.append(said)
    return kept[::-1]


def prompts(path: Path, since: int) -> Iterator[tuple[int, str]]:
    """What a conversation's agent was told since C{since}, and when (Unix milliseconds), newest
    first, as far as the newest messages tell.

    @raise OSError: it cannot be read.
    """
    with opened(path.parent) as rows:
        found = [message["said"] for message in _messages(rows, path.name, NEWEST)]
    for said in found:
        if said is not None and said.role == "user" and (said.timestamp or 0) >= since:
            yield said.timestamp or 0, said.text


def has_answer(path: Path, since: int) -> bool:
    """Whether the newest messages tell of an answer or a failure since C{since} (Unix
    milliseconds).

    @raise OSError: it cannot be read.
    """
    with opened(path.parent) as rows:
        found = _messages(rows, path.name, NEWEST)
    late = [message for message in found if (message["at"] or 0) >= since]
    return any(_advance(Tally(), message).ended for message in late)


def _begun(rows: Rows, conversation: str, tally: Tally) -> Tally:
    row = _first(rows, _SESSION, conversation)
    if row is None:
        return tally
    tally = evolve(
        tally,
        conversation=as_id(conversation),
        cwd=as_name(row["directory"]),
        model=as_name(_object(row["model"]).get("id")) or tally.model,
    )
    first = _first(rows, _FIRST, conversation)
    said = None if first is None or tally.first_at else _message(rows, first)["said"]
    return prompted(tally, said) if said is not None and said.role == "user" else tally


def _summed(rows: Rows, conversation: str, tally: Tally) -> Tally:
    row = _first(rows, _SESSION, conversation)
    if row is None:
        return tally
    cost = as_number(row["cost"])
    used = Usage(
        model=tally.model or "",
        input=as_count(row["tokens_input"]),
        cache_read=as_count(row["tokens_cache_read"]),
        cache_write=as_count(row["tokens_cache_write"]),
        output=as_count(row["tokens_output"]) + as_count(row["tokens_reasoning"]),
    )
    tally = evolve(tally, cost=tally.cost + cost - tally.share_cost, share_cost=cost)
    return counted(tally, conversation, used)


def _todos(rows: Rows, conversation: str) -> ListedTodos:
    """Its to-do list."""
    found: list[Row] = []
    with suppress(OSError):
        # A version may keep none in this way; all else of the conversation is told.
        found = rows.ask(_TODOS, conversation, todos.TODOS)
    return todos.kept(todos.listed([dict(row) for row in reversed(found)], "content") or ())


def _advance(tally: Tally, message: Mapping[str, Any]) -> Tally:
    data, said = message["data"], message["said"]
    if data.get("role") == "user":
        return tally if said is None else prompted(tally, said)
    tokens = as_map(data.get("tokens"))
    context = as_count(tokens.get("total"))
    model = as_name(data.get("modelID"))
    tally = evolve(tally, context=context or tally.context, model=model or tally.model)
    error = as_map(data.get("error"))
    if error:
        text = as_string(as_map(error.get("data")).get("message")) or as_string(error.get("name"))
        tally = evolve(tally, failure=Failure(text=text or "", at=message["at"]))
    return tally if said is None else answered(tally, "", said)


def _messages(rows: Rows, conversation: str, most: int) -> list[dict[str, Any]]:
    """The newest messages, newest first."""
    found = rows.ask(_NEWEST, conversation, most)
    return [_message(rows, row) for row in found]


def _message(rows: Rows, row: Row) -> dict[str, Any]:
    data, at = _object(row["data"]), as_count(row["time_created"]) or None
    parts = [_object(part["data"]) for part in rows.ask(_PARTS, row["id"], PARTS)]
    texts = [each.get("text") for each in parts if each.get("type") == "text"]
    text = "\n\n".join(each for each in texts if isinstance(each, str))[-TEXT_LIMIT:]
    role = data.get("role")
    known = role in ("user", "assistant") and bool(text.strip())
    said = Message(role=str(role), text=text, timestamp=at) if known else None
    return {"data": data, "at": at, "said": said}


def _first(rows: Rows, statement: str, conversation: str) -> Row | None:
    return next(iter(rows.ask(statement, conversation)), None)


def _object(text: Any) -> Mapping[str, Any]:
    if not isinstance(text, str | bytes) or is_crowd(text, LINE_VALUES):
        return {}
    try:
        return as_map(json.loads(text))
    except (ValueError, RecursionError):
        return {}
