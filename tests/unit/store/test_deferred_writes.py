"""A disk that takes nothing: what is asked for is refused, what has happened is written later."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from pathlib import Path

from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.store.failing_disk import FailingConnection, sqlite_error
from tservice.core.disk.disk_errors import (
    BROKEN,
    FULL,
    QUOTA,
    READ_ONLY,
    DiskFull,
    find_disk_problem,
    translate_disk_errors,
)
from tservice.store.database import Database
from tservice.store.deferred_writes import AGAIN_SECONDS, MOST, QUIET_SECONDS

STEP = "CREATE TABLE pets (name TEXT PRIMARY KEY, age INTEGER NOT NULL DEFAULT 1 CHECK (age < 99));"
SET = "INSERT INTO pets VALUES (?, ?) ON CONFLICT DO UPDATE SET age = excluded.age"


class DebtCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1000)
        self.path = Path(self.mktemp())
        Database.open_file(self.path, clock=self.clock, schemas=[STEP]).close()
        self.connection = FailingConnection(self.path)
        self.database = Database(self.connection)
        self.database.deferred_writes.use_clock(self.clock)
        self.addCleanup(self.database.close)

    def pets(self) -> list[tuple[str, int]]:
        """What another process finds."""
        other = sqlite3.connect(self.path)
        try:
            return other.execute("SELECT * FROM pets ORDER BY rowid").fetchall()
        finally:
            other.close()

    def fill(self, code: int = sqlite3.SQLITE_FULL) -> None:
        self.connection.fault = code

    def make_room(self) -> None:
        self.connection.fault = None


class DiskRefusalTests(DebtCase):
    def test_every_disk_error_code_has_its_reason(self) -> None:
        told = {
            sqlite3.SQLITE_FULL: FULL,
            sqlite3.SQLITE_IOERR_WRITE: BROKEN,
            sqlite3.SQLITE_IOERR_FSYNC: BROKEN,
            sqlite3.SQLITE_READONLY: READ_ONLY,
            sqlite3.SQLITE_CANTOPEN: BROKEN,
        }
        for code, reason in told.items():
            self.fill(code)
            error = self.assertRaises(DiskFull, self.database.execute, SET, ("ada", 1))
            self.assertEqual((reason, 422), (error.reason, error.status))
            self.assertIn(reason, error.message)
        self.make_room()
        self.assertEqual([], self.pets())

    def test_file_errors_have_their_reasons(self) -> None:
        told = {errno.ENOSPC: FULL, errno.EDQUOT: QUOTA, errno.EROFS: READ_ONLY, errno.EIO: BROKEN}
        for number, reason in told.items():
            self.assertEqual(reason, find_disk_problem(OSError(number, "x")))
            with self.assertRaises(DiskFull), translate_disk_errors():
                raise OSError(number, "x")
        self.assertIsNone(find_disk_problem(PermissionError(errno.EACCES, "x")))
        with self.assertRaises(PermissionError), translate_disk_errors():
            raise PermissionError(errno.EACCES, "x")

    def test_other_errors_are_not_disk_errors(self) -> None:
        self.database.execute(SET, ("ada", 1))
        self.assertRaises(
            sqlite3.IntegrityError, self.database.execute, "INSERT INTO pets VALUES ('ada', 2)"
        )
        self.assertIsNone(self.database.deferred_writes.disk_trouble)

    def test_failed_commit_keeps_nothing_of_its_transaction(self) -> None:
        def both() -> None:
            with self.database.transaction():
                self.database.execute(SET, ("ada", 1))
                self.database.execute(SET, ("bob", 2))
                self.connection.fault, self.connection.only = sqlite3.SQLITE_FULL, "COMMIT"

        self.assertRaises(DiskFull, both)
        self.make_room()
        self.assertEqual([], self.pets())
        self.database.execute(SET, ("eve", 3))
        self.assertEqual([("eve", 3)], self.pets())


class LaterTests(DebtCase):
    def later(self, name: str, age: int) -> bool:
        return self.database.execute_or_defer(("pet", name), SET, (name, age))

    def test_deferred_write_is_immediate_where_there_is_room(self) -> None:
        self.assertTrue(self.later("ada", 1))
        self.assertEqual([("ada", 1)], self.pets())

    def test_deferred_write_is_made_once_there_is_room(self) -> None:
        self.fill()
        for age in (1, 2, 3):
            self.assertFalse(self.later("ada", age))
        self.assertEqual(1, len(self.database.deferred_writes))
        self.clock.advance(AGAIN_SECONDS)
        self.assertEqual([], self.pets())
        self.make_room()
        self.clock.advance(AGAIN_SECONDS)
        self.assertEqual([("ada", 3)], self.pets())
        self.assertEqual(
            (0, None),
            (len(self.database.deferred_writes), self.database.deferred_writes.disk_trouble),
        )
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_later_write_does_not_pass_deferred_writes(self) -> None:
        self.fill()
        self.later("ada", 1)
        self.make_room()
        self.database.execute("UPDATE pets SET age = age * 10")
        self.assertEqual([("ada", 10)], self.pets())
        self.fill()
        self.later("bob", 2)
        self.make_room()
        with self.database.transaction():
            self.database.execute("UPDATE pets SET age = age + 1")
        self.assertEqual([("ada", 11), ("bob", 3)], self.pets())

    def test_full_disk_is_tried_only_by_direct_writes(self) -> None:
        self.fill()
        self.later("ada", 1)
        tried = self.connection.tried
        for age in range(50):
            self.later("ada", age)
        self.assertEqual(tried, self.connection.tried)
        self.assertRaises(DiskFull, self.database.execute, SET, ("bob", 1))
        self.assertGreater(self.connection.tried, tried)

    def test_deferred_write_that_fails_delays_no_other(self) -> None:
        self.fill()
        for name, age in (("ada", 1), ("bob", 99), ("eve", 3)):
            self.later(name, age)
        self.make_room()
        self.clock.advance(AGAIN_SECONDS)
        self.assertEqual([("ada", 1), ("eve", 3)], self.pets())
        self.assertEqual(1, len(self.flushLoggedErrors(sqlite3.IntegrityError)))

    def test_interrupted_flush_of_deferred_writes_is_completed_later(self) -> None:
        self.fill()
        for number in range(5):
            self.later(f"p{number}", number)
        for survived in range(1, 7):
            self.connection.after = survived
            self.clock.advance(AGAIN_SECONDS)
            self.assertEqual((5, []), (len(self.database.deferred_writes), self.pets()))
        self.connection.after = None
        self.make_room()
        self.clock.advance(AGAIN_SECONDS)
        self.assertEqual([(f"p{number}", number) for number in range(5)], self.pets())

    def test_deferred_writes_are_bounded(self) -> None:
        self.fill()
        for number in range(MOST):
            self.later(str(number), 1)
        self.assertRaises(DiskFull, self.later, "one more", 1)
        self.assertFalse(self.later("0", 2))
        self.make_room()

    def test_stop_tries_the_deferred_writes_once_more(self) -> None:
        self.fill()
        self.later("ada", 1)
        self.make_room()
        self.database.close()
        self.assertEqual([("ada", 1)], self.pets())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_recovery_listener_is_called_once(self) -> None:
        told: list[int] = []
        self.database.deferred_writes.add_recovery_callback(
            lambda: told.append(len(self.database.deferred_writes))
        )
        self.fill()
        self.later("ada", 1)
        self.make_room()
        self.clock.pump([AGAIN_SECONDS] * 3)
        self.assertEqual([0], told)

    def test_full_disk_does_not_flood_the_log(self) -> None:
        with capturedLogs() as said:
            for _ in range(20):
                self.fill()
                self.later("ada", 1)
                self.make_room()
                self.clock.advance(AGAIN_SECONDS)
            self.assertEqual(["disk-trouble", "disk-recovered"], [each["event"] for each in said])
            self.clock.advance(QUIET_SECONDS)
            self.fill()
            self.later("ada", 1)
            self.assertEqual("disk-trouble", said[-1]["event"])
        self.assertEqual(3, len(said))
        self.make_room()

    def test_simulated_full_disk_error_has_the_code_of_sqlite(self) -> None:
        """The stand-in says what the real one says."""
        with contextlib.closing(sqlite3.connect(self.path)) as other:
            other.execute("PRAGMA max_page_count = 3")
            big = ("x" * 100_000, 1)
            real = self.assertRaises(sqlite3.Error, other.execute, SET, big)
        fake = sqlite_error(sqlite3.SQLITE_FULL)
        self.assertEqual(real.sqlite_errorcode, fake.sqlite_errorcode)
        self.assertIs(type(real), type(fake))
