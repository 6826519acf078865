"""A real database on a disk that takes nothing when a test says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

READING = ("SELECT", "PRAGMA synchronous", "ROLLBACK")


def sqlite_error(code: int) -> sqlite3.OperationalError:
    """As SQLite raises it."""
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = code
    return error


class FailingConnection(sqlite3.Connection):
    """Fails what writes.

    @ivar fault: the result code; C{None}: the disk is as it should be.
    @ivar only: fails only statements that begin so.
    @ivar after: so many writes pass before one fails; counted from where it is set.
    @ivar lasting: what fails by C{after} goes on failing.
    @ivar tried: writes so far, failed ones too.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, isolation_level=None)
        self.row_factory = sqlite3.Row
        super().execute("PRAGMA foreign_keys = ON")
        self.fault: int | None = None
        self.only = ""
        self.after: int | None = None
        self.lasting = False
        self.tried = 0
        self.failed = 0

    def execute(self, sql: str, params: Any = ()) -> sqlite3.Cursor:
        self._judge(sql)
        return super().execute(sql, params)

    def executemany(self, sql: str, rows: Iterable[Any]) -> sqlite3.Cursor:
        self._judge(sql)
        return super().executemany(sql, rows)

    def _judge(self, sql: str) -> None:
        words = sql.lstrip()
        if words.startswith(READING):
            return
        self.tried += 1
        if self.after is not None:
            self.after -= 1
            if self.after >= 0:
                return
            self.after = None
            if self.lasting:
                self.fault = sqlite3.SQLITE_FULL
            self._fail(self.fault or sqlite3.SQLITE_FULL)
        if self.fault is not None and words.startswith(self.only):
            self._fail(self.fault)

    def _fail(self, code: int) -> None:
        self.failed += 1
        if code == sqlite3.SQLITE_FULL and self.in_transaction:
            # As SQLite does by itself after some of them.
            super().execute("ROLLBACK")
        raise sqlite_error(code)
