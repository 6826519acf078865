"""Session records in the database."""

from __future__ import annotations

from collections.abc import Mapping

from tservice.core.disk import NotKept
from tservice.sessions.record.columns import COLUMNS, from_row, to_row
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
    """What was saved is on the disk when the method returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> list[Session]:
        """Every record, in the order of the list."""
        return self._database.read(from_row, _LOAD, named="sessions.id")

    def save(self, session: Session, *, durable: bool = True) -> None:
        """Insert or replace.

        @param durable: false where a durable change follows before anybody is answered: it costs
            no flush of its own.
        @raise NotKept: the disk does not take it.
        """
        self._database.execute(_SAVE, to_row(session), durable=durable)

    def note(self, session: Session) -> None:
        """Insert or replace what has happened; a full disk gets it later.

        It costs no flush: a power loss may undo it.
        """
        self._database.later(("session", session.id), _SAVE, to_row(session))

    def remove(self, session_id: str) -> None:
        """Forget the record, its input marks and its journal.

        @raise NotKept: the disk does not take it yet; until it does a restart brings it back.
        """
        try:
            self._database.execute(_REMOVE, (session_id,))
        except NotKept:
            self.drop(session_id)
            raise

    def drop(self, session_id: str) -> None:
        """As L{remove}, for one that nobody asked to have removed; a full disk hears it later."""
        self._database.later(("session", session_id), _REMOVE, (session_id,))

    def place(self, positions: Mapping[str, int]) -> None:
        """Set the positions of these sessions, all or none."""
        with self._database.transaction():
            self._database.execute_many(
                "UPDATE sessions SET position = ? WHERE id = ?",
                [(position, session_id) for session_id, position in positions.items()],
            )
