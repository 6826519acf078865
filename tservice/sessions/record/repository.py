"""Stores session records in the database."""

from __future__ import annotations

from collections.abc import Mapping

from tservice.core.disk.disk_errors import DiskFull
from tservice.sessions.record.columns import COLUMNS, make_session_row, parse_session_row
from tservice.sessions.record.model import Session
from tservice.store.database import Database

_NAMES = ", ".join(COLUMNS)
_PLACES = ", ".join("?" * len(COLUMNS))
_UPDATES = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS if name != "id")
_SAVE = (
    f"INSERT INTO sessions ({_NAMES}) VALUES ({_PLACES}) "  # noqa: S608
    f"ON CONFLICT (id) DO UPDATE SET {_UPDATES}"
)
_REMOVE = "DELETE FROM sessions WHERE id = ?"
_LOAD = f"SELECT {_NAMES} FROM sessions ORDER BY position, id"  # noqa: S608


class SessionRepository:
    """Table of session records. Durable changes are on disk when the method returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> list[Session]:
        """Return every record, in list order."""
        return self._database.read_records(parse_session_row, _LOAD, named="sessions.id")

    def save(self, session: Session, *, durable: bool = True) -> None:
        """Insert or replace a record.

        @param durable: false to skip the flush to disk, because a durable change follows before any
            response is sent.
        @raise DiskFull: the disk is full.
        """
        self._database.execute(_SAVE, make_session_row(session), durable=durable)

    def save_or_defer_record(self, session: Session) -> None:
        """Insert or replace a record with an observed change. If the disk is full, defer the write.

        The write is not flushed to disk: a power loss may undo it.
        """
        self._database.execute_or_defer(("session", session.id), _SAVE, make_session_row(session))

    def delete_record(self, session_id: str) -> None:
        """Delete the record, its sequence numbers and its input journal.

        @raise DiskFull: the disk is full. A restart brings the record back until the change can be
            written.
        """
        try:
            self._database.execute(_REMOVE, (session_id,))
        except DiskFull:
            self.delete_or_defer_record(session_id)
            raise

    def delete_or_defer_record(self, session_id: str) -> None:
        """Delete a record that no caller asked to delete. If the disk is full, defer the change."""
        self._database.execute_or_defer(("session", session_id), _REMOVE, (session_id,))

    def set_positions(self, positions: Mapping[str, int]) -> None:
        """Set the list positions of these sessions in one transaction."""
        with self._database.transaction():
            self._database.execute_many(
                "UPDATE sessions SET position = ? WHERE id = ?",
                [(position, session_id) for session_id, position in positions.items()],
            )
