"""SQLite database: opening, upgrading, statements and transactions.

SQLite runs in WAL mode on one connection, used from one thread (the reactor's), with short
statements only.  The connection must not be carried over a fork: open it in C{startService}, after
C{twistd} has become a daemon.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Clock
from twisted.logger import Logger

from tservice.core.disk.disk_errors import DiskFull, find_disk_problem
from tservice.core.disk.files import remove_temporary_files, replace_atomically
from tservice.core.kernel.clock import get_unix_ms
from tservice.store.backups import create_backup
from tservice.store.deferred_writes import DeferredWrites, Key, Params
from tservice.store.errors import NestedTransaction, StoreError
from tservice.store.schemas import (
    Schemas,
    apply_steps,
    create_version_table,
    find_packaged_schemas,
    read_steps,
    read_version,
)

BUSY_SECONDS = 1.0
"""Maximum seconds that a statement waits for another process's lock before it fails."""
WAL_LIMIT = 16 * 1024 * 1024
"""Size in bytes to which the write-ahead log is cut after a checkpoint."""

_T = TypeVar("_T")


class Database:
    """Open connection to the database.

    Outside of L{transaction} every statement is a separate transaction.  Rows are L{sqlite3.Row}:
    C{row["name"]}.  SQL errors are L{sqlite3.Error}s, except that a disk that refuses writes raises
    L{DiskFull}, an error that a caller may see.

    @ivar deferred_writes: changes that L{execute_or_defer} could not write yet.  Every other write
        executes them first, so the disk always has the changes in their order.
    """

    _log = Logger()

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._flushing = True
        self.deferred_writes = DeferredWrites(self._write_deferred)

    @classmethod
    def open_file(
        cls, path: Path, *, clock: IReactorTime, schemas: Schemas | None = None
    ) -> Database:
        """Open the database at C{path}, and create or upgrade it if needed; its folder must exist.

        A new file is created under a temporary name and renamed.  An existing one is copied to
        C{<name>.<version>.bak} before an upgrade.  An existing file is never overwritten or
        emptied, even if it is invalid.

        @param clock: gives the times that are stored for the upgrades.
        @param schemas: the schema steps.  C{None} for those of this program.
        @raise StoreError: the file is damaged, is not a database of this program, was written by a
            newer version, or a step failed.
        """
        steps = read_steps(find_packaged_schemas() if schemas is None else schemas)
        try:
            if not os.path.lexists(path):
                _create_file(path, steps, clock)
            database = cls(_open_existing(path, steps, clock))
        except (sqlite3.Error, OSError, StoreError) as error:
            raise StoreError(f"database {path}: {error}") from error
        database.deferred_writes.use_clock(clock)
        return database

    @classmethod
    def open_in_memory(
        cls, *, clock: IReactorTime | None = None, schemas: Schemas | None = None
    ) -> Database:
        """Open a database in memory, for tests.

        @param schemas: as for L{open_file}; a test may pass only the steps of the tables that it
            uses.
        """
        steps = read_steps(find_packaged_schemas() if schemas is None else schemas)
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(_make_serialized_database(steps))
        made = get_unix_ms(Clock() if clock is None else clock)
        connection.execute("UPDATE schema_version SET applied_at = ?", (made,))
        return cls(_configure_connection(connection))

    def query_rows(self, sql: str, params: Params = ()) -> list[sqlite3.Row]:
        """Run a query and return every row of the result.

        Use this only for reading, because changes made here might not be durable.
        """
        return self._connection.execute(sql, params).fetchall()

    def read_records(
        self, decode: Callable[[sqlite3.Row], _T], sql: str, params: Params = (), *, named: str
    ) -> list[_T]:
        """Run a query and return every row of the result, decoded to a record.

        @param decode: returns the record of a row; raises an exception for an invalid row.
        @param named: the table and the column that identifies a row, such as C{"jobs.id"}, for the
            error text.
        @raise StoreError: a row cannot be decoded; the text names the row.
        """
        table, _, column = named.partition(".")
        found = []
        for row in self.query_rows(sql, params):
            try:
                found.append(decode(row))
            except (ValueError, KeyError, TypeError) as error:
                which = f"{table}: the row whose {column} is {row[column]!r}"
                raise StoreError(f"{which} cannot be read ({type(error).__name__})") from error
        return found

    def query_first_row(self, sql: str, params: Params = ()) -> sqlite3.Row | None:
        """Run a query and return the first row of the result; C{None} if the result is empty."""
        rows = self.query_rows(sql, params)
        return rows[0] if rows else None

    def execute(self, sql: str, params: Params = (), *, durable: bool = True) -> int:
        """Run a statement that changes rows.

        @param durable: as for L{transaction}.  Inside a transaction, the transaction's value
            applies.
        @return: the number of changed rows.
        @raise DiskFull: the disk refuses the write.
        """
        with self._record_disk_state():
            if not self._connection.in_transaction:
                self.deferred_writes.write_deferred()
            self._set_commit_flush(durable)
            return self._connection.execute(sql, params).rowcount

    def execute_or_defer(self, key: Key, sql: str, params: Params = ()) -> bool:
        """Run a statement, or defer it if the disk refuses the write.

        This is for changes that have already happened and cannot be refused.  The write is not
        flushed to the disk at once, and must not be made inside a transaction.  Deferred statements
        are lost when the process ends.

        @param key: identifies the object that the statement writes.  A later statement with the
            same key replaces a deferred one, so it must write everything that the earlier one did.
        @return: true if the statement was written, false if it was deferred.
        @raise DiskFull: the maximum number of statements is deferred already.
        """
        if not self.deferred_writes.should_try_now:
            self.deferred_writes.defer_statement(key, sql, params)
            return False
        try:
            self.execute(sql, params, durable=False)
        except DiskFull:
            self.deferred_writes.defer_statement(key, sql, params)
            return False
        return True

    def execute_many(self, sql: str, rows: Iterable[Params]) -> int:
        """Run a statement once for each item of C{rows}; only inside a transaction, so that it is
        atomic.

        @return: the number of changed rows.
        """
        if not self._connection.in_transaction:
            raise NestedTransaction("execute_many needs a transaction around it")
        with self._record_disk_state():
            return self._connection.executemany(sql, rows).rowcount

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """Run all statements in the block atomically; an exception that leaves the block rolls
        back.

        A transaction inside another is refused.  A block must not await, because other writes of
        the process would become part of the transaction.  A method that takes part in its caller's
        transaction only executes statements.

        @param durable: true if the changes must be on disk before the block ends, even after a
            power loss.  False to save the flush: the changes survive the end of the process, and
            reach the disk with the next durable commit or checkpoint, in order.  A power loss
            before that undoes the latest such commits, but no earlier ones.
        @raise NestedTransaction: a transaction is already open.
        @raise DiskFull: the disk refuses the write; the whole block is rolled back.
        """
        if self._connection.in_transaction:
            raise NestedTransaction("a transaction is open already")
        with self._record_disk_state():
            self.deferred_writes.write_deferred()
            self._set_commit_flush(durable)
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._record_disk_state():
                self._connection.execute("COMMIT")
        finally:
            self._roll_back()

    def close(self) -> None:
        """Try once more to write deferred changes, then close the file; may be called twice."""
        self.deferred_writes.close()
        self._connection.close()

    @contextmanager
    def _record_disk_state(self) -> Iterator[None]:
        """Record whether the disk accepts or refuses the writes in the block."""
        try:
            yield
        except sqlite3.Error as error:
            reason = find_disk_problem(error)
            if reason is None:
                raise
            self.deferred_writes.record_refusal(reason, error)
            raise DiskFull(reason) from error
        if not self._connection.in_transaction:
            self.deferred_writes.record_success()

    def _write_deferred(self, statements: Sequence[tuple[str, Params]]) -> None:
        with self._record_disk_state():
            self._set_commit_flush(True)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                for sql, params in statements:
                    self._write_deferred_statement(sql, params)
                self._connection.execute("COMMIT")
            finally:
                self._roll_back()

    def _write_deferred_statement(self, sql: str, params: Params) -> None:
        try:
            self._connection.execute(sql, params)
        except sqlite3.Error as error:
            if find_disk_problem(error) is not None or not self._connection.in_transaction:
                raise
            # Its subject may be deleted by now. It must not block the other changes.
            self._log.failure("a deferred change could not be written")

    def _roll_back(self) -> None:
        """Undo uncommitted changes, unless SQLite has already done so.

        SQLite rolls back automatically after some errors, such as a full disk.
        """
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _set_commit_flush(self, durable: bool) -> None:
        """Set whether the next commits are flushed to the disk.

        Inside a transaction this has no effect.  The pragma runs only if the value changes, because
        typing causes many commits that need no flush.
        """
        if durable != self._flushing and not self._connection.in_transaction:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._flushing = durable


def _configure_connection(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")
    return connection


def _apply_all_steps(
    connection: sqlite3.Connection, steps: Sequence[str], clock: IReactorTime
) -> None:
    create_version_table(connection, clock)
    apply_steps(connection, steps, clock)


@lru_cache(maxsize=4)
def _make_serialized_database(steps: tuple[str, ...]) -> bytes:
    """Return a new database with these schema steps as bytes.

    The result is cached for tests, which open thousands of databases.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _apply_all_steps(connection, steps, Clock())
        return connection.serialize()


def _create_file(path: Path, steps: Sequence[str], clock: IReactorTime) -> None:
    """Create a new database at C{path}, with all schema steps applied."""
    for suffix in ("-wal", "-journal"):
        # SQLite would replay an orphaned log into the new file.
        if os.path.lexists(f"{path}{suffix}"):
            raise StoreError(
                f"the file is missing, but its log {path.name}{suffix} exists; restore the file"
            )
    remove_temporary_files(path)
    with replace_atomically(path) as temporary:
        connection = sqlite3.connect(temporary, isolation_level=None)
        try:
            # Only the finished file counts, and it is synced before it gets its name.
            connection.execute("PRAGMA synchronous = OFF")
            _apply_all_steps(connection, steps, clock)
        finally:
            connection.close()


def _open_existing(path: Path, steps: Sequence[str], clock: IReactorTime) -> sqlite3.Connection:
    connection = _connect_existing(path)
    try:
        _prepare_database(connection, path, steps, clock)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_existing(path: Path) -> sqlite3.Connection:
    """Connect to an existing file, without creating a missing one."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise StoreError("not a regular file")
    if status.st_size == 0:
        raise StoreError(
            "the file is empty; restore it, or move it away to start with a new database"
        )
    path.chmod(0o600)
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        timeout=BUSY_SECONDS,
    )


def _prepare_database(
    connection: sqlite3.Connection, path: Path, steps: Sequence[str], clock: IReactorTime
) -> None:
    """Check, configure and upgrade an existing database."""
    _check_integrity(connection)
    version = read_version(connection)
    if version > len(steps):
        raise StoreError(
            f"made by a newer version of this program (schema {version}, known {len(steps)})"
        )
    connection.execute("PRAGMA journal_mode = WAL")
    _configure_connection(connection)
    if version < len(steps):
        create_backup(connection, path, version)
        apply_steps(connection, steps, clock)


def _check_integrity(connection: sqlite3.Connection) -> None:
    """Raise an error for a damaged file, before anything is written to the file."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise StoreError(f"the file is damaged ({found}); restore it from a backup")
