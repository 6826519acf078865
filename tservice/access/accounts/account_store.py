"""Database table of the accounts."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Row
from typing import Any

from attrs import asdict

from tservice.access.accounts.account import AccountRole, UserAccount
from tservice.core.disk.disk_errors import DiskFull
from tservice.store.database import Database

_SAVE = """
    INSERT INTO accounts (username, id, role, password_hash, can_bypass_permissions, enabled,
                          must_change_password, created_at, os_user)
    VALUES (:username, :id, :role, :password_hash, :can_bypass_permissions, :enabled,
            :must_change_password, :created_at, :os_user)
    ON CONFLICT (username) DO UPDATE SET
        id = excluded.id, role = excluded.role, password_hash = excluded.password_hash,
        can_bypass_permissions = excluded.can_bypass_permissions, enabled = excluded.enabled,
        must_change_password = excluded.must_change_password, os_user = excluded.os_user
"""
_TABLE = "accounts"
_DELETE = "DELETE FROM accounts WHERE username = ?"
_IDS = """
    SELECT * FROM (SELECT username, id FROM former_accounts ORDER BY position)
    UNION ALL SELECT username, id FROM accounts
"""
_TRUTHS = ("can_bypass_permissions", "enabled", "must_change_password")


class AccountStore:
    """Access to the database table C{accounts}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> Sequence[UserAccount]:
        """Return every account, oldest first."""
        sql = "SELECT * FROM accounts ORDER BY created_at, username"
        return self._database.read_records(_account_from_row, sql, named="accounts.username")

    def load_ids(self) -> dict[str, str]:
        """Return the account id of each user name, including names of removed accounts.

        For a name that was used several times, the id is that of the latest account.
        """
        return {row["username"]: row["id"] for row in self._database.query_rows(_IDS)}

    def save(self, account: UserAccount) -> None:
        """Insert or update an account; it is on disk when this returns.

        @raise DiskFull: the disk does not accept the write.
        """
        self._database.execute(_SAVE, asdict(account))

    def save_or_defer(self, account: UserAccount) -> None:
        """Update an existing account, deferring the write if the disk does not accept it.

        @raise DiskFull: the write is deferred.  A restart before it succeeds undoes the change.
        """
        try:
            self.save(account)
        except DiskFull:
            self._database.execute_or_defer((_TABLE, account.username), _SAVE, asdict(account))
            raise

    def delete(self, username: str) -> None:
        """Delete an account, deferring the write if the disk does not accept it.

        @raise DiskFull: the write is deferred.  A restart before it succeeds restores the account.
        """
        try:
            self._database.execute(_DELETE, (username,))
        except DiskFull:
            self._database.execute_or_defer((_TABLE, username), _DELETE, (username,))
            raise


def _account_from_row(found: Row) -> UserAccount:
    row: dict[str, Any] = dict(found)
    truths = {name: bool(row[name]) for name in _TRUTHS}
    return UserAccount(**{**row, **truths, "role": AccountRole(row["role"])})
