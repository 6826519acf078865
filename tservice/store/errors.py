"""What can be wrong with the store."""

from __future__ import annotations


class StoreError(Exception):
    """The database cannot be opened or upgraded; one line that an operator can act on."""


class NestedTransaction(Exception):
    """A transaction was begun inside another one; a fault of the caller."""
