"""Storage of the usage of messages, with a row for each message, so that each counts once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from attrs import evolve

from tservice.agents.transcripts.usage.record import (
    MessageUsage,
    ModelUsage,
    UsageTotals,
    is_storable_text,
)
from tservice.store.database import Database

KEPT = 100_000
"""Maximum number of a session's messages with separate rows. Beyond that, the oldest tenth is
merged into sums. If one of these messages is reported again, it counts again.
"""
NAME_CHARS = 100
"""Maximum characters of a stored message name; a longer name is stored as its hash."""

_SUMMED = "="
"""Prefix of the name of a row that contains the sum of a model's oldest messages."""
_ASKED = 500
"""Maximum number of message names in one SQL statement."""
_LAST = 2**62
"""Report time of a summed row, so that it is never the oldest."""

_SAVE = """
    INSERT INTO message_usage
        (session_id, message, model, input, cache_read, cache_write, output, cost, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session_id, message) DO UPDATE SET model = excluded.model,
        input = excluded.input, cache_read = excluded.cache_read,
        cache_write = excluded.cache_write, output = excluded.output, cost = excluded.cost,
        at = excluded.at
"""
# TOTAL instead of SUM, which fails if untrusted numbers overflow.
_TOTALS = """
    SELECT model, CAST(TOTAL(input) AS INTEGER) AS input,
        CAST(TOTAL(cache_read) AS INTEGER) AS cache_read,
        CAST(TOTAL(cache_write) AS INTEGER) AS cache_write,
        CAST(TOTAL(output) AS INTEGER) AS output, TOTAL(cost) AS cost, COUNT(*) AS messages
    FROM message_usage WHERE session_id = ? GROUP BY model
"""
_NAMED = """
    SELECT * FROM message_usage
    WHERE session_id = ? AND message IN (SELECT value FROM json_each(?))
"""
_OLDEST = """
    SELECT * FROM message_usage WHERE session_id = ? AND message NOT LIKE '=%'
    ORDER BY at, message LIMIT ?
"""


class UsageStore:
    """Storage in the table C{message_usage}, with the sums of each session in memory."""

    def __init__(self, database: Database, most: int = KEPT) -> None:
        """@param most: maximum number of a session's messages with separate rows."""
        self._database = database
        self._most = most
        self._totals: dict[str, UsageTotals] = {}

    def get_totals(self, session_id: str) -> UsageTotals:
        """Return the sums of a session's messages."""
        known = self._totals.get(session_id)
        if known is None:
            known = self._totals[session_id] = self._compute_totals(session_id)
        return known

    def forget_session(self, session_id: str) -> None:
        """Drop the cached sums of a session that was deleted."""
        self._totals.pop(session_id, None)

    def merge_usage(self, session_id: str, found: Mapping[str, MessageUsage]) -> bool:
        """Store the usage of messages, each once; return true if any of it is new.

        @param found: the last report of each message, by its name.
        @raise DiskFull: the disk is full; nothing was stored.
        """
        named = {_make_row_name(name): each for name, each in found.items()}
        known = {row["message"]: _decode_usage(row) for row in self._query_rows(session_id, named)}
        totals = self.get_totals(session_id)
        changes = []
        for name, each in named.items():
            before = known.get(name)
            used = evolve(each.used, model=totals.get_sum_name(each.used.model))
            now = evolve(each, name=name, used=used)
            if before is None or (now != before and now.is_newer_than(before)):
                changes.append((before, now))
        if not changes:
            return False
        more = sum(before is None for before, _ in changes)
        full = totals.messages + more > self._most
        with self._database.transaction(durable=False):
            rows = (_make_row(session_id, now) for _, now in changes)
            self._database.execute_many(_SAVE, rows)
            if full:
                self._merge_oldest_messages(session_id)
        if full:
            self.forget_session(session_id)
            return True
        for before, now in changes:
            if before is not None:
                totals.remove_message(before)
            totals.add_message(now)
        return True

    # -- internal

    def _query_rows(self, session_id: str, names: Iterable[str]) -> Iterator[sqlite3.Row]:
        left = iter(names)
        while asked := tuple(islice(left, _ASKED)):
            yield from self._database.query_rows(_NAMED, (session_id, json.dumps(asked)))

    def _compute_totals(self, session_id: str) -> UsageTotals:
        totals = UsageTotals()
        for row in self._database.query_rows(_TOTALS, (session_id,)):
            totals.by_model[row["model"]] = _decode_tokens(row)
            totals.cost += row["cost"]
            totals.messages += row["messages"]
        return totals

    def _merge_oldest_messages(self, session_id: str) -> None:
        """Merge a session's oldest messages into one row for each model, in a transaction."""
        oldest = self._database.query_rows(_OLDEST, (session_id, max(1, self._most // 10)))
        sums: dict[str, MessageUsage] = {}
        names = [f"{_SUMMED}{model}" for model in {row["model"] for row in oldest}]
        for row in (*self._query_rows(session_id, names), *oldest):
            each = _decode_usage(row)
            model = each.used.model
            before = sums.get(model, MessageUsage(name="", used=ModelUsage(model=model)))
            sums[model] = MessageUsage(
                name=f"{_SUMMED}{model}",
                used=before.used.add_usage(each.used),
                cost=before.cost + each.cost,
                at=_LAST,
            )
        sql = "DELETE FROM message_usage WHERE session_id = ? AND message = ?"
        gone = ((session_id, row["message"]) for row in oldest)
        self._database.execute_many(sql, gone)
        self._database.execute_many(_SAVE, (_make_row(session_id, each) for each in sums.values()))


def _make_row_name(name: str) -> str:
    """Return the name under which a message is stored."""
    if len(name) <= NAME_CHARS and not name.startswith(_SUMMED) and is_storable_text(name):
        return name
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _make_row(session_id: str, each: MessageUsage) -> tuple[object, ...]:
    used = each.used
    tokens = (used.input, used.cache_read, used.cache_write, used.output)
    return (session_id, each.name, used.model, *tokens, each.cost, each.at)


def _decode_usage(row: sqlite3.Row) -> MessageUsage:
    return MessageUsage(
        name=row["message"], used=_decode_tokens(row), cost=row["cost"], at=row["at"]
    )


def _decode_tokens(row: sqlite3.Row) -> ModelUsage:
    names = ("model", "input", "cache_read", "cache_write", "output")
    return ModelUsage(**{name: row[name] for name in names})
