"""Database table of notification rules."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError
from twisted.logger import Logger

from tservice.notifications.model import NoticeRules
from tservice.store.database import Database

_DELETE = "DELETE FROM notification_rules WHERE account = ?"


class NoticeRuleStore:
    """The table C{notification_rules}."""

    _log = Logger()

    def __init__(self, database: Database) -> None:
        self._database = database

    def load_all(self) -> dict[str, NoticeRules]:
        """Return the rules of every account that has some.

        Rules of a newer release that cannot be read are skipped and logged; the account then gets
        notices by default.
        """
        found = {}
        for row in self._database.query_rows("SELECT account, rules FROM notification_rules"):
            try:
                found[row["account"]] = NoticeRules.model_validate_json(row["rules"])
            except ValidationError as error:
                self._log.error(
                    "the notification rules of {account!r} cannot be read: {count} faults",
                    account=row["account"],
                    count=error.error_count(),
                )
        return found

    def save_rules(self, account: str, rules: NoticeRules) -> None:
        """Replace the rules of an account."""
        self._database.execute(
            "INSERT INTO notification_rules (account, rules) VALUES (?, ?)"
            " ON CONFLICT (account) DO UPDATE SET rules = excluded.rules",
            (account, rules.model_dump_json(by_alias=True)),
        )

    def delete_rules(self, account: str) -> None:
        """Delete the rules of an account."""
        self._database.execute(_DELETE, (account,))

    def delete_unknown_accounts(self, exists: Callable[[str], bool]) -> list[str]:
        """Delete the rules of accounts that do not exist; return their names.

        On a full disk the deletion is deferred.
        """
        rows = self._database.query_rows("SELECT account FROM notification_rules")
        gone = [row["account"] for row in rows if row["account"] and not exists(row["account"])]
        for account in gone:
            self._database.execute_or_defer(("notification rules", account), _DELETE, (account,))
        return gone
