"""Stores unconfirmed prompts on disk. Their texts may remain in composers that outlive this service
(protocol-prompts).
"""

from __future__ import annotations

import sqlite3

from attrs import frozen

from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.store.database import Database

_FIELDS = "session_id, id, kind, data, client_id, seq, submitted_at, message, passed"
_KEEP = f"INSERT INTO input_doubts ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_FORGET = "DELETE FROM input_doubts WHERE session_id = ? AND id = ?"
_PASS = "UPDATE input_doubts SET passed = 1 WHERE session_id = ?"  # noqa: S105
_CLEAR = "DELETE FROM input_doubts WHERE session_id = ?"


@frozen(kw_only=True)
class SavedUnconfirmedPrompt:
    """Saved unconfirmed prompt.

    @ivar submitted_at: time of its Enter in Unix milliseconds; C{None} if Enter was never pressed.
    @ivar message: the error message that its caller received.
    @ivar passed: true if a later prompt was typed, for which this one was removed from the
        composer.
    """

    entry: JournalEntry
    submitted_at: int | None
    message: str
    passed: bool = False


class UnconfirmedPromptStore:
    """Access to the database table C{input_doubts}. If the disk is full, changes are deferred."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, session_id: str) -> list[SavedUnconfirmedPrompt]:
        """Return the unconfirmed prompts of a session, oldest first."""
        sql = f"SELECT {_FIELDS} FROM input_doubts WHERE session_id = ? ORDER BY position"  # noqa: S608
        return [_prompt_from_row(row) for row in self._database.query_rows(sql, (session_id,))]

    def save_prompt(self, doubt: SavedUnconfirmedPrompt) -> None:
        """Insert an unconfirmed prompt."""
        it = doubt.entry
        row = (it.session_id, it.id, it.kind.value, it.data, it.client_id, it.seq)
        values = (*row, doubt.submitted_at, doubt.message, int(doubt.passed))
        self._database.execute_or_defer(("doubt", it.session_id, it.id), _KEEP, values)

    def delete_prompt(self, entry: JournalEntry) -> None:
        """Delete a prompt that is confirmed."""
        row = (entry.session_id, entry.id)
        self._database.execute_or_defer(("doubt", *row), _FORGET, row)

    def mark_put_aside(self, session_id: str) -> None:
        """Mark all prompts of the session as removed from the composer."""
        self._database.execute_or_defer(("doubts passed", session_id), _PASS, (session_id,))

    def clear_session(self, session_id: str) -> None:
        """Delete all prompts of a session whose process ended."""
        self._database.execute_or_defer(("doubts", session_id), _CLEAR, (session_id,))


def _prompt_from_row(row: sqlite3.Row) -> SavedUnconfirmedPrompt:
    return SavedUnconfirmedPrompt(
        entry=JournalEntry(
            session_id=row["session_id"],
            id=row["id"],
            kind=InputKind(row["kind"]),
            data=row["data"],
            client_id=row["client_id"],
            seq=row["seq"],
        ),
        submitted_at=row["submitted_at"],
        message=row["message"],
        passed=bool(row["passed"]),
    )
