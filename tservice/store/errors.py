"""Errors of the store."""

from __future__ import annotations


class StoreError(Exception):
    """Error of a database that cannot be opened or upgraded; the text is one line for the
    operator.
    """


class NestedTransaction(Exception):
    """Error of a transaction that begins inside another one, which is a bug of the caller."""
