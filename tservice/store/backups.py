"""Copies of the database, made before an upgrade changes it."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from tservice.core.files import replacement

KEPT = 3
"""Copies kept of one database: those of the highest versions."""


def back_up(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database to C{<name>.<version>.bak} beside it, mode 0600, and drop old copies."""
    target = path.with_name(f"{path.name}.{version}.bak")
    with replacement(target) as temporary:
        copy = sqlite3.connect(temporary, isolation_level=None)
        try:
            connection.backup(copy)
            # The copy took over the mode of its source; a log beside it would be left behind.
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
    for old in backups(path)[:-KEPT]:
        old.unlink()
    return target


def backups(path: Path) -> list[Path]:
    """The copies that exist of C{path}, oldest version first."""
    name = re.compile(re.escape(path.name) + r"\.(\d+)\.bak")
    found = [
        (int(match[1]), entry)
        for entry in path.parent.iterdir()
        if (match := name.fullmatch(entry.name))
    ]
    return [entry for _, entry in sorted(found)]
