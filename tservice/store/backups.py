"""Backups that are made before a database is upgraded."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from tservice.core.disk.files import replace_atomically

KEPT = 3
"""Number of backups kept of one database: those of the highest versions."""


def create_backup(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database to C{<name>.<version>.bak} in the same folder, with mode 0600.

    Old backups beyond L{KEPT} are deleted.

    @param version: the version of the database before the upgrade.
    @return: the path of the backup.
    """
    target = path.with_name(f"{path.name}.{version}.bak")
    with replace_atomically(target) as temporary:
        copy = sqlite3.connect(temporary, isolation_level=None)
        try:
            connection.backup(copy)
            # The copy has the source's journal mode; a separate log file would be left over.
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
    for old in list_backups(path)[:-KEPT]:
        old.unlink()
    return target


def list_backups(path: Path) -> list[Path]:
    """Return the paths of the existing backups of C{path}, oldest version first."""
    name = re.compile(re.escape(path.name) + r"\.(\d+)\.bak")
    found = [
        (int(match[1]), entry)
        for entry in path.parent.iterdir()
        if (match := name.fullmatch(entry.name))
    ]
    return [entry for _, entry in sorted(found)]
