"""Schema steps: reading the steps of this program, and applying them one by one.

Step C{NN.sql} upgrades a database from version C{NN - 1} to C{NN}.  It is in the folder C{schema}
of the feature that owns its tables; the numbers run through all features.  A released step is never
edited; a table is changed by a new step.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.store.errors import StoreError

_STEP = re.compile(r"(\d{2})\.sql")

Schemas = Sequence[str] | Traversable
"""Schema steps as texts in order, or a folder of features with C{schema/01.sql} and so on."""


def find_packaged_schemas() -> Traversable:
    """Return the folder of this program's features, which contains the schema steps."""
    return files("tservice")


def read_steps(schemas: Schemas) -> tuple[str, ...]:
    """Return the SQL of the steps in order; index 0 upgrades to version 1.

    @raise StoreError: the numbers have a gap or a duplicate.
    """
    if isinstance(schemas, Sequence):
        return tuple(schemas)
    found = [
        (int(match[1]), entry)
        for feature in schemas.iterdir()
        if (folder := feature / "schema").is_dir()
        for entry in folder.iterdir()
        if (match := _STEP.fullmatch(entry.name))
    ]
    numbers = sorted(number for number, _ in found)
    if numbers != list(range(1, len(found) + 1)):
        raise StoreError(f"schema steps are not numbered from 01 on, each once: {numbers}")
    texts = {number: entry.read_text("utf-8") for number, entry in found}
    return tuple(texts[number] for number in numbers)


def read_version(connection: sqlite3.Connection) -> int:
    """Return the version of a database, the number of the last applied step.

    @raise StoreError: the database has no version table, so this program did not create it.
    """
    known = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'"
    ).fetchone()
    if known is None:
        raise StoreError("it was not made by this program (no schema version)")
    (version,) = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    if not isinstance(version, int):
        raise StoreError("its schema version is missing")
    return version


def create_version_table(connection: sqlite3.Connection, clock: IReactorTime) -> None:
    """Create the version table in an empty database, with version 0."""
    connection.execute(
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)"
    )
    connection.execute("INSERT INTO schema_version VALUES (0, ?)", (get_unix_ms(clock),))


def apply_steps(connection: sqlite3.Connection, steps: Sequence[str], clock: IReactorTime) -> None:
    """Upgrade the database to version C{len(steps)}, with one transaction for each step.

    @raise StoreError: a step failed; the database has the version before that step.
    """
    for number in range(read_version(connection) + 1, len(steps) + 1):
        # A step may rebuild a referenced table. The check before the commit replaces the
        # enforcement, which cannot be switched inside a transaction.
        connection.execute("PRAGMA foreign_keys = OFF")
        try:
            _apply_step(connection, number, steps[number - 1], clock)
        except sqlite3.Error as error:
            raise StoreError(f"schema step {number:02} failed: {error}") from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("PRAGMA foreign_keys = ON")


def _apply_step(
    connection: sqlite3.Connection, number: int, text: str, clock: IReactorTime
) -> None:
    connection.executescript(f"BEGIN IMMEDIATE;\n{text}")
    if not connection.in_transaction:
        raise StoreError(f"schema step {number:02} failed: it ends its own transaction")
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise StoreError(f"schema step {number:02} failed: a row of {broken[0]} lost its parent")
    connection.execute("INSERT INTO schema_version VALUES (?, ?)", (number, get_unix_ms(clock)))
    connection.execute("COMMIT")
