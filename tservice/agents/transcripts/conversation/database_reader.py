"""Reader of the items of an opencode conversation, which is rows of a database; call it from a
thread.

The database is indexed, so each page is one query, and nothing is kept in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from tservice.agents.transcripts.conversation import opencode_items
from tservice.agents.transcripts.conversation.items import (
    SHOWN_CHARS,
    WHOLE_CHARS,
    ConversationItem,
    shorten_item,
)
from tservice.agents.transcripts.conversation.pages import (
    CHANGED,
    ConversationChange,
    ConversationPage,
    PageRequest,
)
from tservice.agents.transcripts.model import get_safe_id_or_none, get_token_count
from tservice.agents.transcripts.parsers.opencode import parse_object
from tservice.agents.transcripts.sqlite.rows import DatabaseReader, Row, open_reader

PER_MESSAGE = 1_000
"""Maximum parts of one message."""
BATCH = 25
"""Messages whose parts are read in one query."""
LATE_MS = 2_000
"""Maximum milliseconds between the time of a change and its becoming visible to readers."""

_STATE = """
    SELECT (SELECT max(time_updated) FROM message WHERE session_id = ?1) AS messages,
        (SELECT max(time_updated) FROM part WHERE session_id = ?1) AS parts,
        (SELECT count(*) FROM message WHERE session_id = ?1) AS number
"""
_BEFORE = """
    SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created <= ?
    ORDER BY time_created DESC, id DESC LIMIT ? OFFSET ?
"""
_CHANGED = """
    SELECT * FROM (
        SELECT id, time_created, data, max(time_updated, coalesce(
            (SELECT max(time_updated) FROM part WHERE message_id = message.id), 0)) AS changed
        FROM message WHERE id IN (
            SELECT id FROM message WHERE session_id = ?1 AND time_updated >= ?2
            UNION SELECT message_id FROM part WHERE session_id = ?1 AND time_updated >= ?2))
    WHERE (changed, id) > (?2, ?3) ORDER BY changed, id LIMIT ?4
"""
_ONE = "SELECT id, time_created, data FROM message WHERE session_id = ? AND id = ?"
_PARTS = """
    SELECT message_id, data FROM part WHERE message_id IN (SELECT value FROM json_each(?))
    ORDER BY message_id, id
"""
_PARENT = "SELECT parent_id FROM session WHERE id = ?"
_LAST_MS = 2**52
NESTED = 8
"""Maximum levels of sub-agents."""


def is_descendant(database: Path, conversation: str, ancestor: str) -> bool:
    """Return true if a conversation is that of a sub-agent of C{ancestor}, at any level.

    @raise OSError: the database cannot be read.
    """
    with open_reader(database) as rows:
        for _ in range(NESTED):
            found = rows.run_query(_PARENT, conversation)
            parent = get_safe_id_or_none(found[0]["parent_id"]) if found else None
            if parent is None:
                return False
            if parent == ancestor:
                return True
            conversation = parent
    return False


@frozen
class _DatabaseState:
    """Last change and number of messages of a conversation."""

    changed: int
    messages: int


@frozen
class _ChangePosition:
    """Position among the changed messages, which are in the order of their changes.

    @ivar message: last message of this time that was returned; C{""} before the first one.
    """

    at: int
    message: str = ""


class DatabaseConversationReader:
    """Reader of the items of one conversation in a database."""

    def __init__(self, path: Path) -> None:
        """@param path: C{.../opencode.db/ses_1}, as if it were a file in the database."""
        self._database, self._conversation = path.parent, path.name
        self._told: _DatabaseState | None = None

    @property
    def weight(self) -> int:
        """See L{ConversationReader.weight}."""
        return 0

    def read_more(self) -> bool:
        """See L{ConversationReader.read_more}; pages are read when they are requested."""
        return False

    def read_page(self, wanted: PageRequest) -> ConversationPage:
        """See L{ConversationReader.read_page}."""
        with open_reader(self._database) as rows:
            state = self._read_state(rows)
            after = None if wanted.after is None else self._parse_cursor(wanted.after, state)
            if after is not None:
                return self._make_changed_page(rows, after, state, wanted.limit)
            reset = wanted.after is not None
            before = None if reset else wanted.before
            items, has_more = self._read_before(rows, before, wanted.limit)
        return ConversationPage(
            items=tuple(items),
            cursor=self._make_cursor(state),
            has_more=has_more,
            is_reset=reset,
        )

    def read_item(self, item_id: str) -> ConversationItem | None:
        """See L{ConversationReader.read_item}."""
        message = item_id.rpartition(".")[0]
        with open_reader(self._database) as rows:
            found = rows.run_query(_ONE, self._conversation, message)
            items = list(_iterate_items(rows, found))
        item = next((each for each in items if each.id == item_id), None)
        return None if item is None else shorten_item(item, WHOLE_CHARS, with_data=True)

    def take_change(self) -> ConversationChange | None:
        """See L{ConversationReader.take_change}."""
        with open_reader(self._database) as rows:
            state = self._read_state(rows)
            if state == self._told:
                return None
            since = 0 if self._told is None else self._told.changed
            self._told = state
            found = rows.run_query(_CHANGED, self._conversation, since, "", CHANGED)
        changed = tuple(f"{row['id']}.0" for row in found)
        return ConversationChange(cursor=self._make_cursor(state), changed=changed)

    # -- internal

    def _read_state(self, rows: DatabaseReader) -> _DatabaseState:
        row = rows.run_query(_STATE, self._conversation)[0]
        times = get_token_count(row["messages"]), get_token_count(row["parts"])
        return _DatabaseState(max(times), get_token_count(row["number"]))

    def _make_cursor(self, state: _DatabaseState) -> str:
        return f"{self._conversation}.{state.changed:x}.{state.messages:x}"

    def _parse_cursor(self, cursor: str, now: _DatabaseState) -> _ChangePosition | None:
        """Return the position of a cursor; C{None} if messages were removed since then."""
        conversation, changed, number, message = f"{cursor}....".split(".")[:4]
        try:
            at, messages = int(changed, 16), int(number, 16)
        except ValueError:
            return None
        same = conversation == self._conversation and messages <= now.messages
        return _ChangePosition(at, message) if same and at <= now.changed else None

    def _make_changed_page(
        self, rows: DatabaseReader, after: _ChangePosition, state: _DatabaseState, limit: int
    ) -> ConversationPage:
        cursor = self._make_cursor(state)
        if after == _ChangePosition(state.changed):
            return ConversationPage(items=(), cursor=cursor)
        # Within the pages of one request the position is exact.
        since = after.at if after.message else after.at - LATE_MS
        found = rows.run_query(_CHANGED, self._conversation, since, after.message, limit + 1)
        has_more, found = len(found) > limit, found[:limit]
        if has_more:
            last = get_token_count(found[-1]["changed"])
            cursor = f"{self._make_cursor(evolve(state, changed=last))}.{found[-1]['id']}"
        found.sort(key=lambda each: (each["time_created"], each["id"]))
        items = [_shorten(each) for each in _iterate_items(rows, found)]
        return ConversationPage(items=tuple(items), cursor=cursor, has_more=has_more)

    def _read_before(
        self, rows: DatabaseReader, before: int | None, limit: int
    ) -> tuple[list[ConversationItem], bool]:
        at = _LAST_MS if before is None else before // PER_MESSAGE
        kept: list[ConversationItem] = []
        for offset in range(0, PER_MESSAGE * BATCH, BATCH):
            found = rows.run_query(_BEFORE, self._conversation, at, BATCH, offset)
            items = (
                each
                for each in _iterate_items(rows, reversed(found))
                if before is None or each.order < before
            )
            kept = [*map(_shorten, items), *kept]
            if len(found) < BATCH:
                return kept[-limit:], len(kept) > limit
            if len(kept) > limit:
                break
        return kept[-limit:], True


def _shorten(item: ConversationItem) -> ConversationItem:
    return shorten_item(item, SHOWN_CHARS, with_data=False)


def _iterate_items(rows: DatabaseReader, messages: Iterable[Row]) -> Iterator[ConversationItem]:
    """Iterate over the items of messages, in the order of the messages."""
    every = list(messages)
    for start in range(0, len(every), BATCH):
        batch = every[start : start + BATCH]
        parts: dict[str, list[Mapping[str, Any]]] = {str(each["id"]): [] for each in batch}
        for row in rows.run_query(_PARTS, json.dumps(list(parts))):
            parts[str(row["message_id"])].append(parse_object(row["data"]))
        for each in batch:
            yield from _make_items(each, parts[str(each["id"])])


def _make_items(row: Row, parts: list[Mapping[str, Any]]) -> Iterator[ConversationItem]:
    message = parse_object(row["data"])
    name, at = str(row["id"]), get_token_count(row["time_created"])
    asked = message.get("parentID")
    begun = name if message.get("role") == "user" else asked if isinstance(asked, str) else None
    turn = None if begun is None else f"{begun}.0"
    first = True
    for number, item in opencode_items.iterate_items(message, parts[: PER_MESSAGE - 1], at or None):
        placed = evolve(item, id=f"{name}.{number}", order=at * PER_MESSAGE + number, turn=turn)
        yield _add_usage(placed, message) if first else placed
        first = False


def _add_usage(item: ConversationItem, message: Mapping[str, Any]) -> ConversationItem:
    tokens, cost = opencode_items.parse_usage(message)
    if not (tokens.input or tokens.output or tokens.cache_read or tokens.cache_write):
        return item
    return evolve(item, tokens=tokens, cost=cost or None)
