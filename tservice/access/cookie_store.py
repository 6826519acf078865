"""Stores of cookie sessions: the database, or memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import asdict
from zope.interface import implementer

from tservice.access.interfaces import ICookieStore
from tservice.access.model import CookieSession
from tservice.core.disk.disk_errors import DiskFull
from tservice.store.database import Database

_SAVE = """
    INSERT INTO auth_sessions
        (id, token_hash, key_hash, seal, username, method, address, user_agent,
         created_at, expires_at)
    VALUES
        (:id, :token_hash, :key_hash, :seal, :username, :method, :address, :user_agent,
         :created_at, :expires_at)
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
"""


_TABLE = "auth_sessions"
_DELETE = "DELETE FROM auth_sessions WHERE id = ?"


@implementer(ICookieStore)
class MemoryCookieStore:
    """Store that keeps cookie sessions until the process ends."""

    def __init__(self) -> None:
        self._sessions: dict[str, CookieSession] = {}

    def load(self) -> Sequence[CookieSession]:
        return tuple(self._sessions.values())

    def save(self, session: CookieSession) -> None:
        self._sessions[session.id] = session

    def delete(self, ids: Iterable[str]) -> None:
        for name in ids:
            self._sessions.pop(name, None)


@implementer(ICookieStore)
class DatabaseCookieStore:
    """Store that keeps cookie sessions in the table C{auth_sessions}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> Sequence[CookieSession]:
        rows = self._database.query_rows("SELECT * FROM auth_sessions ORDER BY created_at, id")
        return tuple(CookieSession(**dict(row)) for row in rows)

    def save(self, session: CookieSession) -> None:
        try:
            self._database.execute(_SAVE, asdict(session))
        except DiskFull:
            # A user who signs in to free disk space must be admitted.
            self._database.execute_or_defer((_TABLE, session.id), _SAVE, asdict(session))

    def delete(self, ids: Iterable[str]) -> None:
        gone = [(name,) for name in ids]
        try:
            with self._database.transaction():
                self._database.execute_many(_DELETE, gone)
        except DiskFull:
            for row in gone:
                self._database.execute_or_defer((_TABLE, *row), _DELETE, row)
            raise
