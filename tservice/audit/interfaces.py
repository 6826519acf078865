"""Interface of the audit log for other features."""

from __future__ import annotations

from zope.interface import Interface

from tservice.audit.model import RULE_ANSWER, AuditEntry

__all__ = ["RULE_ANSWER", "AuditEntry", "IAuditLog"]


class IAuditLog(Interface):
    """Records users' actions."""

    def record_entry(entry: AuditEntry) -> None:
        """Record an action.  This method never raises, because the action has already happened."""

    def record_summed(entry: AuditEntry, amount: int) -> None:
        """Record one of many similar actions, which are combined into one entry.

        @param amount: added up in the entry, such as the number of typed characters.
        """
