"""Registry of the rules of all accounts, in memory and on the disk."""

from __future__ import annotations

from collections.abc import Callable

from tservice.core.kernel.events import Event
from tservice.notifications.model import NoticeRules
from tservice.notifications.store import NoticeRuleStore


class RuleRegistry:
    """Rules by account.  The empty name is that of single-user mode."""

    def __init__(self, store: NoticeRuleStore) -> None:
        self._store = store
        self._rules: dict[str, NoticeRules] = {}

    def load(self) -> None:
        """Read the rules from the disk."""
        self._rules = self._store.load_all()

    def find(self, account: str) -> NoticeRules | None:
        """Return the rules of an account; C{None} if it has none."""
        return self._rules.get(account)

    def list_all(self) -> list[tuple[str, NoticeRules]]:
        """Return every account that has rules, and its rules."""
        return list(self._rules.items())

    def replace(self, account: str, rules: NoticeRules | None) -> None:
        """Save the rules of an account; C{None} deletes them."""
        if rules is None:
            self._store.delete_rules(account)
            self._rules.pop(account, None)
        else:
            self._store.save_rules(account, rules)
            self._rules[account] = rules

    def delete_unknown_accounts(self, exists: Callable[[str], bool]) -> list[str]:
        """Delete the rules of accounts that do not exist; return their names."""
        gone = self._store.delete_unknown_accounts(exists)
        for account in gone:
            self._rules.pop(account, None)
        return gone

    def leaves_to_settings(self, event: Event) -> bool:
        """Return true if the account of the event gets notices as the settings say."""
        return (event.owner or "") not in self._rules
