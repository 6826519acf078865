"""Where tokens are kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Row

from tservice.core.disk import NotKept
from tservice.core.scopes import Scope
from tservice.store.database import Database
from tservice.tokens.model import Token

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
    """The table C{api_tokens}.

    Those of accounts and those of an only user are not told to each other's service: a name that
    both have is not the same person's.
    """

    def __init__(self, database: Database, *, multiuser: bool) -> None:
        self._database, self._multiuser = database, multiuser

    def load(self) -> Sequence[Token]:
        """Every token, the oldest first."""
        return self._database.read(_token, _LOAD, (self._multiuser,), named="api_tokens.id")

    def save(self, token: Token) -> None:
        """Add it.

        @raise NotKept: the disk does not take it.
        """
        self._database.execute(_SAVE, self._values(token))

    def used(self, token: Token) -> None:
        """Keep when it was used last; a full disk gets it later."""
        self._database.later((_TABLE, token.id), _SAVE, self._values(token))

    def delete(self, ids: Sequence[str]) -> None:
        """Forget them.

        @raise NotKept: the disk does not take it yet; until it does a restart brings them back.
        """
        gone = [(name,) for name in ids]
        try:
            with self._database.transaction():
                self._database.execute_many(_DELETE, gone)
        except NotKept:
            for row in gone:
                self._database.later((_TABLE, *row), _DELETE, row)
            raise

    def _values(self, token: Token) -> tuple[object, ...]:
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


def _token(row: Row) -> Token:
    scopes = tuple(Scope(scope) for scope in json.loads(row["scopes"]))
    sessions = row["sessions"] and tuple(json.loads(row["sessions"]))
    return Token(**{**dict(row), "scopes": scopes, "sessions": sessions})
