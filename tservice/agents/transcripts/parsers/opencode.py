"""Conversations of opencode, which are rows of a SQLite database (tests/agents/FACTS.rst).

A conversation has a path as if it were a file in the database: C{.../opencode.db/ses_1}. Any user
may have written the database, so a child process reads it (L{rows}). Call the functions from a
thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve

from tservice.agents import todos
from tservice.agents.transcripts.model import (
    LINE_VALUES,
    TEXT_LIMIT,
    ListedTodos,
    ReadPosition,
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
)
from tservice.agents.transcripts.reader import LINES, MESSAGE_CHARS, MESSAGES, REPORTS
from tservice.agents.transcripts.sqlite.rows import DatabaseReader, Row, open_reader
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage
from tservice.core.values.value_limits import exceeds_value_limit

NEWEST = 20
"""Maximum number of messages that are searched for the last answer or a prompt; the newest are
searched.
"""
PARTS = 200
"""Maximum number of parts of one message that are read."""
LISTED = 1000
"""Maximum number of conversations that are listed; the newest are listed."""

LATE_MS = 60_000
"""Maximum milliseconds between a message's time and its becoming visible to readers."""

_SESSION = "SELECT directory, model FROM session WHERE id = ?"
# The changed messages of the given conversations and of their subagents, the oldest change first.
_CHANGED = """
    WITH RECURSIVE family (id, child) AS (
        SELECT id, parent_id IS NOT NULL FROM session
        WHERE id IN (SELECT value FROM json_each(?))
        UNION SELECT session.id, 1 FROM session JOIN family ON session.parent_id = family.id
    )
    SELECT message.id, family.child, message.time_updated, message.data
    FROM message JOIN family ON message.session_id = family.id
    WHERE (message.time_updated, message.id) > (?, ?)
    ORDER BY message.time_updated, message.id LIMIT ?
"""
_NEWEST = """
    SELECT id, time_created, data FROM message WHERE session_id = ?
    ORDER BY time_created DESC, id DESC LIMIT ?
"""
# A fork begins with copies, which are older than the fork.
_FIRST = """
    SELECT message.id, message.time_created, message.data
    FROM message JOIN session ON session.id = message.session_id
    WHERE session_id = ? AND message.time_created >= session.time_created
    ORDER BY message.time_created, message.id LIMIT 1
"""
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id LIMIT ?"
_TODOS = """
    SELECT content, status FROM todo WHERE session_id = ? ORDER BY position DESC LIMIT ?
"""
_LISTED = """
    SELECT id, time_updated FROM session WHERE parent_id IS NULL
    ORDER BY time_updated DESC LIMIT ?
"""


def list_conversations(database: Path) -> list[tuple[str, int]]:
    """Return the conversations with their last change in Unix milliseconds, newest first.

    @raise OSError: the database cannot be read.
    """
    with open_reader(database) as rows:
        found = rows.run_query(_LISTED, LISTED)
    return [
        (row["id"], get_token_count(row["time_updated"]))
        for row in found
        if get_safe_id_or_none(row["id"])
    ]


def read_changed_messages(
    place: ReadPosition, path: Path, known: Sequence[str] = ()
) -> ReadPosition:
    """Read the new messages of a conversation, and return the new position.

    @param place: the position up to which the conversation was read.
    @param known: earlier conversations of the session, whose last messages may not be read yet.
    @raise OSError: the database cannot be read.
    """
    if place.path != str(path):
        place = ReadPosition(path=str(path))
    tally = place.tally
    with open_reader(path.parent) as rows:
        tally = _read_beginning(rows, path.name, tally)
        for message in reversed(_read_newest(rows, path.name, NEWEST)):
            tally = _advance_tally(tally, message)
        tally = evolve(tally, todos=_read_todos(rows, path.name))
        changed = list(
            _iterate_changed_messages(rows, [path.name, *known], place.position - LATE_MS)
        )
    last = max((get_token_count(row["time_updated"]) for row in changed), default=0)
    used = {each.name: each for row in changed if (each := _parse_usage(row)) is not None}
    return ReadPosition(path=str(path), tally=tally, position=max(last, place.position), used=used)


def read_conversation_start(path: Path) -> TranscriptTally:
    """Return the tally of a conversation's beginning.

    @raise OSError: the database cannot be read.
    """
    with open_reader(path.parent) as rows:
        return _read_beginning(rows, path.name, TranscriptTally())


def read_messages(path: Path) -> list[TranscriptMessage]:
    """Return the last messages of a conversation, oldest first.

    @raise OSError: the database cannot be read.
    """
    kept: list[TranscriptMessage] = []
    left = MESSAGE_CHARS
    with open_reader(path.parent) as rows:
        for message in _read_newest(rows, path.name, MESSAGES):
            said = message["said"]
            if said is None:
                continue
            left -= len(said.text)
            if left < 0 and kept:
                break
            kept.append(said)
    return kept[::-1]


def read_prompts(path: Path, since: int) -> Iterator[tuple[int, str]]:
    """Iterate over the prompts of a conversation since C{since}, newest first, with their times.

    Times are Unix milliseconds. Only the L{NEWEST} messages are searched.

    @raise OSError: the database cannot be read.
    """
    with open_reader(path.parent) as rows:
        found = [message["said"] for message in _read_newest(rows, path.name, NEWEST)]
    for said in found:
        if said is not None and said.role == "user" and (said.timestamp or 0) >= since:
            yield said.timestamp or 0, said.text


def has_answer(path: Path, since: int) -> bool:
    """Return true if the newest messages contain an answer or a failure since C{since}.

    @param since: Unix milliseconds.
    @raise OSError: the database cannot be read.
    """
    with open_reader(path.parent) as rows:
        found = _read_newest(rows, path.name, NEWEST)
    late = [message for message in found if (message["at"] or 0) >= since]
    return any(_advance_tally(TranscriptTally(), message).has_ended for message in late)


def _read_beginning(
    rows: DatabaseReader, conversation: str, tally: TranscriptTally
) -> TranscriptTally:
    row = _read_first(rows, _SESSION, conversation)
    if row is None:
        return tally
    tally = evolve(
        tally,
        conversation=get_safe_id_or_none(conversation),
        cwd=get_name_or_none(row["directory"]),
        model=get_name_or_none(parse_object(row["model"]).get("id")) or tally.model,
    )
    first = _read_first(rows, _FIRST, conversation)
    said = None if first is None or tally.first_at else _decode_message_row(rows, first)["said"]
    return add_prompt(tally, said) if said is not None and said.role == "user" else tally


def _iterate_changed_messages(
    rows: DatabaseReader, conversations: Sequence[str], since: int
) -> Iterator[Row]:
    """Iterate over the messages that changed since C{since}, at most L{LINES}.

    The messages are those of the conversations and of their subagents.
    """
    after: tuple[int, str] = (since, "")
    for _ in range(LINES // REPORTS):
        found = rows.run_query(_CHANGED, json.dumps(conversations), *after, REPORTS)
        yield from found
        if len(found) < REPORTS:
            return
        after = get_token_count(found[-1]["time_updated"]), str(found[-1]["id"])


def _parse_usage(row: Row) -> MessageUsage | None:
    """Return the usage of a message; C{None} if it has none.

    The usage is identified by the message's time, because a fork of a conversation has new ids and
    the old times. Messages of subagents are identified by their ids: their times may be equal, but
    they are never copied.
    """
    data = parse_object(row["data"])
    tokens, cost = get_object_or_empty(data.get("tokens")), get_dollar_amount(data.get("cost"))
    cache = get_object_or_empty(tokens.get("cache"))
    used = ModelUsage(
        model=get_name_or_none(data.get("modelID")) or "",
        input=get_token_count(tokens.get("input")),
        cache_read=get_token_count(cache.get("read")),
        cache_write=get_token_count(cache.get("write")),
        output=get_token_count(tokens.get("output")) + get_token_count(tokens.get("reasoning")),
    )
    if data.get("role") != "assistant" or not (used.total_input or used.output or cost):
        return None
    began = get_token_count(get_object_or_empty(data.get("time")).get("created"))
    name = str(row["id"]) if row["child"] or not began else f"{began}/{data.get('agent')}"
    return MessageUsage(name=name, used=used, cost=cost, at=get_token_count(row["time_updated"]))


def _read_todos(rows: DatabaseReader, conversation: str) -> ListedTodos:
    """Return the conversation's to-do list."""
    found: list[Row] = []
    with suppress(OSError):
        # A version of opencode may have no such table; the rest of the conversation is still read.
        found = rows.run_query(_TODOS, conversation, todos.TODOS)
    return todos.encode_todos(
        todos.parse_todos([dict(row) for row in reversed(found)], "content") or ()
    )


def _advance_tally(tally: TranscriptTally, message: Mapping[str, Any]) -> TranscriptTally:
    data, said = message["data"], message["said"]
    if data.get("role") == "user":
        return tally if said is None else add_prompt(tally, said)
    tokens = get_object_or_empty(data.get("tokens"))
    context = get_token_count(tokens.get("total"))
    model = get_name_or_none(data.get("modelID"))
    tally = evolve(tally, context=context or tally.context, model=model or tally.model)
    error = get_object_or_empty(data.get("error"))
    if error:
        text = get_text_or_none(
            get_object_or_empty(error.get("data")).get("message")
        ) or get_text_or_none(error.get("name"))
        tally = evolve(tally, failure=TurnFailure(text=text or "", at=message["at"]))
    return tally if said is None else add_answer(tally, "", said)


def _read_newest(rows: DatabaseReader, conversation: str, most: int) -> list[dict[str, Any]]:
    """Return the newest messages, newest first."""
    found = rows.run_query(_NEWEST, conversation, most)
    return [_decode_message_row(rows, row) for row in found]


def _decode_message_row(rows: DatabaseReader, row: Row) -> dict[str, Any]:
    data, at = parse_object(row["data"]), get_token_count(row["time_created"]) or None
    parts = [parse_object(part["data"]) for part in rows.run_query(_PARTS, row["id"], PARTS)]
    texts = [each.get("text") for each in parts if each.get("type") == "text"]
    text = "\n\n".join(each for each in texts if isinstance(each, str))[-TEXT_LIMIT:]
    role = data.get("role")
    known = role in ("user", "assistant") and bool(text.strip())
    said = TranscriptMessage(role=str(role), text=text, timestamp=at) if known else None
    return {"data": data, "at": at, "said": said}


def _read_first(rows: DatabaseReader, statement: str, conversation: str) -> Row | None:
    return next(iter(rows.run_query(statement, conversation)), None)


def parse_object(text: Any) -> Mapping[str, Any]:
    """Parse a column as a JSON object; the result is empty for anything else."""
    if not isinstance(text, str | bytes) or exceeds_value_limit(text, LINE_VALUES):
        return {}
    try:
        return get_object_or_empty(json.loads(text))
    except (ValueError, RecursionError):
        return {}
