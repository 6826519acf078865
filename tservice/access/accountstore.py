"""Where accounts are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict

from tservice.access.account import Account, Role
from tservice.store.database import Database

_SAVE = """
    INSERT INTO accounts (username, role, password_hash, can_bypass_permissions, enabled,
                          must_change_password, created_at, os_user)
    VALUES (:username, :role, :password_hash, :can_bypass_permissions, :enabled,
            :must_change_password, :created_at, :os_user)
    ON CONFLICT (username) DO UPDATE SET
        role = excluded.role, password_hash = excluded.password_hash,
        can_bypass_permissions = excluded.can_bypass_permissions, enabled = excluded.enabled,
        must_change_password = excluded.must_change_password, os_user = excluded.os_user
"""
_TRUTHS = ("can_bypass_permissions", "enabled", "must_change_password")


class AccountStore:
    """The table C{accounts}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> Sequence[Account]:
        """Every account, the oldest first."""
        rows = self._database.query("SELECT * FROM accounts ORDER BY created_at, username")
        return [_account(dict(row)) for row in rows]

    def save(self, account: Account) -> None:
        """Add it, or keep its new state; on the disk when this returns."""
        self._database.execute(_SAVE, asdict(account))

    def delete(self, username: str) -> None:
        """Forget it."""
        self._database.execute("DELETE FROM accounts WHERE username = ?", (username,))


def _account(row: dict[str, Any]) -> Account:
    truths = {name: bool(row[name]) for name in _TRUTHS}
    return Account(**{**row, **truths, "role": Role(row["role"])})
