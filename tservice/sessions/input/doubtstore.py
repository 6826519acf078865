"""Prompts in doubt, kept on disk: their texts may stand in composers that outlive this service
(protocol-prompts).
"""

from __future__ import annotations

import sqlite3

from attrs import frozen

from tservice.sessions.input.journal import InputKind, JournalEntry
from tservice.store.database import Database

_FIELDS = "session_id, id, kind, data, client_id, seq, submitted_at, message, passed"
_KEEP = f"INSERT INTO input_doubts ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_FORGET = "DELETE FROM input_doubts WHERE session_id = ? AND id = ?"
_PASS = "UPDATE input_doubts SET passed = 1 WHERE session_id = ?"  # noqa: S105
_CLEAR = "DELETE FROM input_doubts WHERE session_id = ?"


@frozen(kw_only=True)
class KeptDoubt:
    """A prompt in doubt.

    @ivar submitted_at: when its Enter was pressed, in Unix milliseconds; C{None}: it never was.
    @ivar message: what its caller was told.
    @ivar passed: another prompt was given since, for which it was put aside.
    """

    entry: JournalEntry
    submitted_at: int | None
    message: str
    passed: bool = False


class DoubtStore:
    """The table C{input_doubts}; a full disk gets its changes later."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, session_id: str) -> list[KeptDoubt]:
        """Those of a session, in the order in which they were given."""
        sql = f"SELECT {_FIELDS} FROM input_doubts WHERE session_id = ? ORDER BY position"  # noqa: S608
        return [_doubt(row) for row in self._database.query(sql, (session_id,))]

    def keep(self, doubt: KeptDoubt) -> None:
        """Add one."""
        it = doubt.entry
        row = (it.session_id, it.id, it.kind.value, it.data, it.client_id, it.seq)
        values = (*row, doubt.submitted_at, doubt.message, int(doubt.passed))
        self._database.later(("doubt", it.session_id, it.id), _KEEP, values)

    def forget(self, entry: JournalEntry) -> None:
        """It is settled."""
        row = (entry.session_id, entry.id)
        self._database.later(("doubt", *row), _FORGET, row)

    def pass_by(self, session_id: str) -> None:
        """All of the session are put aside."""
        self._database.later(("doubts passed", session_id), _PASS, (session_id,))

    def clear(self, session_id: str) -> None:
        """The session's process is over."""
        self._database.later(("doubts", session_id), _CLEAR, (session_id,))


def _doubt(row: sqlite3.Row) -> KeptDoubt:
    return KeptDoubt(
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
