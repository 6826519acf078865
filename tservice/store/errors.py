"""Errors of the store."""

from __future__ import annotations


class StoreError(Exception):
    """Raised if the database cannot be opened or upgraded; one line that an operator can act on."""


class NestedTransaction(Exception):
    """Raised if a transaction begins inside another one; a bug of the caller."""
