"""What the audit log offers to other features."""

from __future__ import annotations

from zope.interface import Interface

from tservice.audit.model import AuditEntry

__all__ = ["AuditEntry", "IAuditLog"]


class IAuditLog(Interface):
    """Keeps what people did."""

    def record(entry: AuditEntry) -> None:
        """Keep one thing; never raises, because what it tells of has happened already."""

    def summed(entry: AuditEntry, amount: int) -> None:
        """Keep one of many like things; C{amount} is added up.  See L{record}."""
