"""Database table of the tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Row

from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.scopes import Scope
from tservice.store.database import Database
from tservice.tokens.model import ApiToken

_SAVE = """
    INSERT INTO api_tokens
        (id, owner, name, token_hash, scopes, sessions, created_at, expires_at, last_used_at,
         multiuser)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET last_used_at = excluded.last_used_at
"""
_TABLE = "api_tokens"
_LOAD = """
    SELECT id, owner, name, token_hash, scopes, sessions, created_at, expires_at, last_used_at
    FROM api_tokens WHERE multiuser = ? ORDER BY created_at, id
"""
_DELETE = "DELETE FROM api_tokens WHERE id = ?"


class TokenStore:
    """Access to the database table C{api_tokens}.

    Tokens of multi-user mode and of single-user mode are kept apart, because the same user name in
    both modes need not be the same person.
    """

    def __init__(self, database: Database, *, multiuser: bool) -> None:
        self._database, self._multiuser = database, multiuser

    def load(self) -> Sequence[ApiToken]:
        """Return every token, oldest first."""
        return self._database.read_records(
            _token_from_row, _LOAD, (self._multiuser,), named="api_tokens.id"
        )

    def save(self, token: ApiToken) -> None:
        """Insert a token.

        @raise DiskFull: the disk does not accept the write.
        """
        self._database.execute(_SAVE, self._column_values(token))

    def save_use(self, token: ApiToken) -> None:
        """Store the time of a token's last use; on a full disk the write is deferred."""
        self._database.execute_or_defer((_TABLE, token.id), _SAVE, self._column_values(token))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the tokens with these ids.

        @raise DiskFull: the write is deferred.  A restart before it succeeds restores the tokens.
        """
        gone = [(name,) for name in ids]
        try:
            with self._database.transaction():
                self._database.execute_many(_DELETE, gone)
        except DiskFull:
            for row in gone:
                self._database.execute_or_defer((_TABLE, *row), _DELETE, row)
            raise

    def _column_values(self, token: ApiToken) -> tuple[object, ...]:
        return (
            token.id,
            token.owner,
            token.name,
            token.token_hash,
            json.dumps(token.scopes),
            None if token.sessions is None else json.dumps(token.sessions),
            token.created_at,
            token.expires_at,
            token.last_used_at,
            self._multiuser,
        )


def _token_from_row(row: Row) -> ApiToken:
    scopes = tuple(Scope(scope) for scope in json.loads(row["scopes"]))
    sessions = row["sessions"] and tuple(json.loads(row["sessions"]))
    return ApiToken(**{**dict(row), "scopes": scopes, "sessions": sessions})
