"""Where intents are kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from attrs import asdict

from tservice.mind.model import Intent, PastPrompt
from tservice.store.database import Database

KEPT = 1000
"""Intents that are kept; beyond, the one that was changed least lately goes."""

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


class IntentStore:
    """The table C{intents}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, key: str) -> Intent | None:
        """The intent of that key."""
        row = self._database.query_one("SELECT * FROM intents WHERE key = ?", (key,))
        return None if row is None else _intent(row)

    def save(self, intent: Intent) -> None:
        """Insert or replace.

        @raise NotKept: the disk does not take it.
        """
        with self._database.transaction():
            self._database.execute(_SAVE, _row(intent))
            self._database.execute(_TRIM, (KEPT,))

    def note(self, intent: Intent) -> None:
        """Insert or replace, for what has happened: a full disk gets it later."""
        self._database.later(("intent", intent.key), _SAVE, _row(intent))

    def delete(self, key: str) -> bool:
        """Whether there was one.

        @raise NotKept: the disk does not take it.
        """
        return self._database.execute("DELETE FROM intents WHERE key = ?", (key,)) > 0

    def forget_strangers(self, known: Callable[[str], bool]) -> None:
        """Forget what belongs to nobody any more: the next one of that name must not have it.

        A full disk does so later, and before it takes an account: a start must not need room.
        """
        rows = self._database.query("SELECT DISTINCT owner FROM intents WHERE owner IS NOT NULL")
        for row in rows:
            if not known(row["owner"]):
                self._database.later(("intents of", row["owner"]), _FORGET, (row["owner"],))


def _row(intent: Intent) -> tuple[object, ...]:
    prompts = json.dumps([asdict(each) for each in intent.prompts])
    head = (intent.key, intent.owner, intent.working_dir)
    return (*head, intent.goals, prompts, intent.updated_at)


def _intent(row: sqlite3.Row) -> Intent:
    return Intent(
        key=row["key"],
        owner=row["owner"],
        working_dir=row["working_dir"],
        goals=row["goals"],
        prompts=tuple(PastPrompt(**each) for each in json.loads(row["prompts"])),
        updated_at=row["updated_at"],
    )
