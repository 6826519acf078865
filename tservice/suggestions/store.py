"""Database tables of intents."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from attrs import asdict

from tservice.store.database import Database
from tservice.suggestions.model import KEY_CHARS, Intent, PastPrompt

KEPT = 1000
"""Maximum number of stored intents. Beyond it, the intent with the oldest change is deleted."""

_SAVE = """
    INSERT INTO intents (key, owner, working_dir, goals, prompts, updated_at)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET goals = excluded.goals, prompts = excluded.prompts,
    updated_at = excluded.updated_at
"""
_TRIM = """
    DELETE FROM intents WHERE key IN (
        SELECT key FROM intents ORDER BY updated_at DESC, key LIMIT -1 OFFSET ?
    )
"""
_FORGET = "DELETE FROM intents WHERE owner = ?"
_BEGIN = """
    INSERT INTO collected_since (subject, at) VALUES (?, ?)
    ON CONFLICT (subject) DO UPDATE SET at = excluded.at
"""
_END = "DELETE FROM collected_since WHERE subject = ?"
_TRIM_SINCE = """
    DELETE FROM collected_since WHERE subject IN (
        SELECT subject FROM collected_since WHERE length(subject) = ?
        ORDER BY at DESC, subject LIMIT -1 OFFSET ?
    )
"""


class IntentStore:
    """Access to the database tables C{intents} and C{collected_since}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_intent(self, key: str) -> Intent | None:
        """Return the intent with this key; C{None} if none is stored."""
        row = self._database.query_first_row("SELECT * FROM intents WHERE key = ?", (key,))
        return None if row is None else _intent_from_row(row)

    def save_collected_prompts(self, intent: Intent) -> None:
        """Insert or replace an intent after prompts were added. If the disk is full, defer the
        write.
        """
        self._database.execute_or_defer(("intent", intent.key), _SAVE, _intent_to_row(intent))

    def replace_intent(self, intent: Intent) -> None:
        """Save an intent that a user replaced. From now on, only later prompts are added to this
        intent.

        @raise DiskFull: the disk is full.
        """
        with self._database.transaction():
            self._database.execute(_SAVE, _intent_to_row(intent))
            self._database.execute(_TRIM, (KEPT,))
            self._record_replacement_time(intent.key, intent.updated_at)

    def delete_intent(self, key: str, at: int) -> bool:
        """Delete an intent. Return true if one was stored.

        @param at: time of the deletion in Unix milliseconds. Earlier prompts are not collected
            again.
        @raise DiskFull: the disk is full.
        """
        with self._database.transaction():
            found = self._database.execute("DELETE FROM intents WHERE key = ?", (key,)) > 0
            self._record_replacement_time(key, at)
        return found

    def get_replacement_time(self, key: str) -> int:
        """Return when an intent was last replaced or deleted, in Unix milliseconds; 0 if never."""
        row = self._database.query_first_row(
            "SELECT at FROM collected_since WHERE subject = ?", (key,)
        )
        return 0 if row is None else int(row["at"])

    def list_collected_modes(self) -> dict[str, int]:
        """Return the modes in which prompts are collected, with the start of the collection.

        The start is in Unix milliseconds.
        """
        sql = "SELECT subject, at FROM collected_since WHERE length(subject) < ?"
        return {row["subject"]: row["at"] for row in self._database.query_rows(sql, (KEY_CHARS,))}

    def record_collection_start(self, mode: str, at: int) -> None:
        """Record that prompts are collected in a mode, from C{at} (Unix milliseconds) on.

        If the disk is full, the write is deferred.
        """
        self._database.execute_or_defer(("collected", mode), _BEGIN, (mode, at))

    def record_collection_end(self, mode: str) -> None:
        """Record that prompts are no longer collected in a mode. If the disk is full, defer the
        write.
        """
        self._database.execute_or_defer(("collected", mode), _END, (mode,))

    def _record_replacement_time(self, key: str, at: int) -> None:
        self._database.execute(_BEGIN, (key, at))
        self._database.execute(_TRIM_SINCE, (KEY_CHARS, KEPT))

    def delete_unknown_owners(self, known: Callable[[str], bool]) -> None:
        """Delete the intents of owners without an account, so that a later account of the same name
        does not get them.

        If the disk is full, the deletion is deferred, but it happens before an account is created.
        The service can therefore start on a full disk.

        @param known: returns true if an account of that name exists.
        """
        rows = self._database.query_rows(
            "SELECT DISTINCT owner FROM intents WHERE owner IS NOT NULL"
        )
        for row in rows:
            if not known(row["owner"]):
                self._database.execute_or_defer(
                    ("intents of", row["owner"]), _FORGET, (row["owner"],)
                )


def _intent_to_row(intent: Intent) -> tuple[object, ...]:
    prompts = json.dumps([asdict(each) for each in intent.prompts])
    head = (intent.key, intent.owner, intent.working_dir)
    return (*head, intent.goals, prompts, intent.updated_at)


def _intent_from_row(row: sqlite3.Row) -> Intent:
    return Intent(
        key=row["key"],
        owner=row["owner"],
        working_dir=row["working_dir"],
        goals=row["goals"],
        prompts=tuple(PastPrompt(**each) for each in json.loads(row["prompts"])),
        updated_at=row["updated_at"],
    )
