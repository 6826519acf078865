"""The database on real files: making, upgrading, refusing, transactions."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.store.backups import KEPT, list_backups
from tservice.store.database import Database
from tservice.store.errors import NestedTransaction, StoreError

STEPS = (
    "CREATE TABLE pets (name TEXT PRIMARY KEY);",
    "CREATE TABLE toys (id INTEGER PRIMARY KEY, pet TEXT NOT NULL REFERENCES pets (name));",
    "ALTER TABLE pets ADD COLUMN age INTEGER NOT NULL DEFAULT 1;",
)


class FileCase(SynchronousTestCase):
    """A database file in a folder of its own."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(100)
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.path = self.folder / "state.db"

    def open(self, steps: int = 1, path: Path | None = None) -> Database:
        found = Database.open_file(path or self.path, clock=self.clock, schemas=STEPS[:steps])
        self.addCleanup(found.close)
        return found

    def refusal(self, steps: int = 1) -> str:
        """The text with which opening is refused; the file's bytes stay as they are."""
        before = self.path.read_bytes() if self.path.is_file() else None
        error = self.assertRaises(StoreError, self.open, steps)
        after = self.path.read_bytes() if self.path.is_file() else None
        self.assertEqual(before, after)
        self.assertIn(str(self.path), str(error))
        return str(error)

    def names(self) -> set[str]:
        return {entry.name for entry in self.folder.iterdir()}


class MakingTests(FileCase):
    """A file that is not there yet."""

    def test_new_database_file_is_private_and_alone(self) -> None:
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        database = self.open()
        database.execute("INSERT INTO pets VALUES ('ada')")
        for entry in self.folder.iterdir():
            self.assertEqual(0o600, stat.S_IMODE(entry.stat().st_mode), entry.name)
        database.close()
        self.assertEqual({"state.db"}, self.names())

    def test_failed_first_step_leaves_nothing(self) -> None:
        self.assertRaises(
            StoreError, Database.open_file, self.path, clock=self.clock, schemas=["CREATE TABLE ("]
        )
        self.assertEqual(set(), self.names())

    def test_killed_creation_is_cleaned_up(self) -> None:
        (self.folder / ".state.db.abc.tmp").write_bytes(b"half")
        self.open().close()
        self.assertEqual({"state.db"}, self.names())

    def test_orphaned_log_is_refused(self) -> None:
        (self.folder / "state.db-wal").write_bytes(b"x")
        self.assertIn("state.db-wal", self.refusal())

    def test_missing_folder_is_refused(self) -> None:
        self.path = self.folder / "no" / "state.db"
        self.refusal()

    def test_connection_has_its_settings(self) -> None:
        database = self.open()
        for pragma, want in [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]:
            self.assertEqual(want, database.query_rows(f"PRAGMA {pragma}")[0][0], pragma)

    def test_path_may_contain_odd_characters(self) -> None:
        path = self.folder / "a?b#c%20.db"
        self.open(path=path).execute("INSERT INTO pets VALUES ('ada')")
        self.assertEqual({"a?b#c%20.db", "a?b#c%20.db-wal", "a?b#c%20.db-shm"}, self.names())


class DatabaseUpgradeTests(FileCase):
    """A file of an earlier version."""

    def test_upgrade_runs_stepwise_and_keeps_a_copy(self) -> None:
        database = self.open(1)
        database.execute("INSERT INTO pets VALUES ('ada')")
        database.close()
        self.clock.advance(5)
        database = self.open(3)
        self.assertEqual(
            [("ada", 1)], [tuple(row) for row in database.query_rows("SELECT * FROM pets")]
        )
        dated = database.query_rows("SELECT version, applied_at FROM schema_version")
        self.assertEqual(
            [(0, 100_000), (1, 100_000), (2, 105_000), (3, 105_000)], [tuple(row) for row in dated]
        )
        copy = self.folder / "state.db.1.bak"
        self.assertEqual(0o600, stat.S_IMODE(copy.stat().st_mode))
        old = self.open(1, copy)
        self.assertEqual([("ada",)], [tuple(row) for row in old.query_rows("SELECT * FROM pets")])

    def test_database_opened_without_an_upgrade_is_not_copied(self) -> None:
        self.open(2).close()
        self.open(2).close()
        self.assertEqual([], list_backups(self.path))

    def test_failed_step_keeps_the_previous_version(self) -> None:
        self.open(1).close()
        broken = [*STEPS[:2], "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);"]
        error = self.assertRaises(
            StoreError, Database.open_file, self.path, clock=self.clock, schemas=broken
        )
        self.assertIn("step 03", str(error))
        database = self.open(2)
        self.assertEqual([], database.query_rows("SELECT * FROM sqlite_master WHERE name = 'half'"))

    def test_upgrade_step_that_orphans_rows_is_refused(self) -> None:
        database = self.open(2)
        database.execute("INSERT INTO pets VALUES ('ada')")
        database.execute("INSERT INTO toys (pet) VALUES ('ada')")
        database.close()
        error = self.assertRaises(
            StoreError,
            Database.open_file,
            self.path,
            clock=self.clock,
            schemas=[*STEPS[:2], "DELETE FROM pets;"],
        )
        self.assertIn("toys", str(error))
        self.assertEqual(1, len(self.open(2).query_rows("SELECT * FROM pets")))

    def test_step_may_rebuild_a_referenced_table(self) -> None:
        database = self.open(2)
        database.execute("INSERT INTO pets VALUES ('ada')")
        database.execute("INSERT INTO toys (pet) VALUES ('ada')")
        database.close()
        rebuild = (
            "CREATE TABLE new (name TEXT PRIMARY KEY, born INTEGER);"
            "INSERT INTO new SELECT name, 0 FROM pets; DROP TABLE pets;"
            "ALTER TABLE new RENAME TO pets;"
        )
        database = Database.open_file(self.path, clock=self.clock, schemas=[*STEPS[:2], rebuild])
        self.addCleanup(database.close)
        self.assertEqual(1, database.query_rows("PRAGMA foreign_keys")[0][0])
        self.assertEqual(1, len(database.query_rows("SELECT * FROM toys JOIN pets ON pet = name")))

    def test_upgrade_step_that_commits_is_refused(self) -> None:
        error = self.assertRaises(
            StoreError, Database.open_in_memory, schemas=["CREATE TABLE a (b); COMMIT;"]
        )
        self.assertIn("ends its own transaction", str(error))

    def test_only_the_last_backups_are_kept(self) -> None:
        steps = [f"CREATE TABLE t{number} (a);" for number in range(KEPT + 3)]
        for count in range(1, len(steps) + 1):
            Database.open_file(self.path, clock=self.clock, schemas=steps[:count]).close()
        kept = [entry.name for entry in list_backups(self.path)]
        self.assertEqual([f"state.db.{n}.bak" for n in range(3, KEPT + 3)], kept)


class DatabaseRefusalTests(FileCase):
    """Files that are not taken, and never touched."""

    def test_newer_version_is_refused(self) -> None:
        self.open(3).close()
        self.assertIn("newer version of this program (schema 3, known 1)", self.refusal(1))

    def test_file_that_is_no_database_is_refused(self) -> None:
        self.path.write_text("my diary, " * 1000)
        self.assertIn("not a database", self.refusal())

    def test_empty_file_is_refused(self) -> None:
        self.path.touch()
        self.assertIn("empty", self.refusal())

    def test_database_of_another_program_is_refused(self) -> None:
        connection = sqlite3.connect(self.path)
        connection.execute("CREATE TABLE a (b)")
        connection.close()
        self.assertIn("not made by this program", self.refusal())

    def test_damaged_pages_are_refused(self) -> None:
        database = self.open()
        with database.transaction():
            database.execute_many(
                "INSERT INTO pets VALUES (?)", ((f"{number:0100}",) for number in range(500))
            )
        database.close()
        content = bytearray(self.path.read_bytes())
        content[8192:12288] = os.urandom(4096)
        self.path.write_bytes(content)
        self.assertIn("damaged", self.refusal())

    def test_symbolic_link_is_refused(self) -> None:
        self.path.symlink_to(self.folder / "elsewhere.db")
        self.assertIn("not a regular file", self.refusal())

    def test_gap_in_the_steps_is_refused(self) -> None:
        """One order runs through the features, without a hole and each number once."""
        cats, dogs = self.folder / "cats" / "schema", self.folder / "dogs" / "schema"
        cats.mkdir(parents=True)
        dogs.mkdir(parents=True)
        (cats / "01.sql").write_text(STEPS[0])
        (dogs / "03.sql").write_text(STEPS[2])
        error = self.assertRaises(StoreError, Database.open_in_memory, schemas=self.folder)
        self.assertIn("[1, 3]", str(error))
        (dogs / "02.sql").write_text(STEPS[1])
        (dogs / "notes.txt").write_text("not a step")
        database = Database.open_in_memory(schemas=self.folder)
        self.assertEqual(3, database.query_rows("SELECT max(version) FROM schema_version")[0][0])
        (cats / "02.sql").write_text(STEPS[1])
        error = self.assertRaises(StoreError, Database.open_in_memory, schemas=self.folder)
        self.assertIn("[1, 2, 2, 3]", str(error))

    def test_permissions_of_an_open_file_are_narrowed(self) -> None:
        self.open().close()
        self.path.chmod(0o644)
        self.open()
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))


class StatementTests(SynchronousTestCase):
    """Statements and transactions, in memory."""

    def setUp(self) -> None:
        self.database = Database.open_in_memory(schemas=STEPS)
        self.addCleanup(self.database.close)

    def pets(self) -> list[str]:
        return [row["name"] for row in self.database.query_rows("SELECT name FROM pets")]

    def add(self, name: str) -> int:
        return self.database.execute("INSERT INTO pets (name) VALUES (?)", (name,))

    def test_execute_returns_the_number_of_rows(self) -> None:
        self.assertEqual(1, self.add("ada"))
        self.assertEqual(1, self.add("bob"))
        self.assertEqual(2, self.database.execute("UPDATE pets SET age = 2"))
        self.assertEqual(0, self.database.execute("DELETE FROM pets WHERE name = 'eve'"))

    def test_query_one_returns_a_row_or_none(self) -> None:
        row = self.database.query_first_row("INSERT INTO pets (name) VALUES ('ada') RETURNING age")
        assert row is not None
        self.assertEqual(1, row["age"])
        self.assertIsNone(self.database.query_first_row("SELECT * FROM pets WHERE name = 'eve'"))

    def test_named_parameters_are_bound(self) -> None:
        self.add("ada")
        row = self.database.query_first_row("SELECT age FROM pets WHERE name = :n", {"n": "ada"})
        assert row is not None
        self.assertEqual(1, row["age"])

    def test_foreign_keys_are_enforced(self) -> None:
        self.assertRaises(
            sqlite3.IntegrityError, self.database.execute, "INSERT INTO toys (pet) VALUES ('eve')"
        )

    def test_committed_rows_are_kept(self) -> None:
        with self.database.transaction():
            self.add("ada")
            self.add("bob")
        self.assertEqual(["ada", "bob"], self.pets())

    def test_any_exception_rolls_the_transaction_back(self) -> None:
        def add_and_raise(error: type[BaseException]) -> None:
            with self.database.transaction():
                self.add("ada")
                raise error

        for error in (ZeroDivisionError, KeyboardInterrupt, GeneratorExit):
            self.assertRaises(error, add_and_raise, error)
            self.assertEqual([], self.pets())
        self.add("still usable")

    def test_refused_statement_rolls_back_the_transaction(self) -> None:
        with self.assertRaises(sqlite3.IntegrityError), self.database.transaction():
            self.add("ada")
            self.add("ada")
        self.assertEqual([], self.pets())

    def test_nested_transaction_is_refused_and_rolls_back_the_outer(self) -> None:
        with self.assertRaises(NestedTransaction), self.database.transaction():
            self.add("ada")
            with self.database.transaction():
                self.add("bob")
        self.assertEqual([], self.pets())

    def test_execute_many_needs_a_transaction(self) -> None:
        sql = "INSERT INTO pets (name) VALUES (?)"
        self.assertRaises(NestedTransaction, self.database.execute_many, sql, [("ada",)])
        with self.database.transaction():
            self.assertEqual(2, self.database.execute_many(sql, [("ada",), ("bob",)]))
        self.assertEqual(["ada", "bob"], self.pets())

    def test_each_commit_is_flushed_as_requested(self) -> None:
        def level() -> int:
            found: int = self.database.query_rows("PRAGMA synchronous")[0][0]
            return found

        def committed(durable: bool) -> int:
            with self.database.transaction(durable=durable):
                self.database.execute("DELETE FROM pets", durable=not durable)
                return level()

        def alone(durable: bool) -> int:
            self.database.execute("DELETE FROM pets", durable=durable)
            return level()

        normal, full = 1, 2
        self.assertEqual(full, level())
        for commit in (committed, alone):
            for durable in (False, False, True, True, False, True):
                self.assertEqual(full if durable else normal, commit(durable))

    def test_failed_fast_transaction_leaves_the_next_one_durable(self) -> None:
        with self.assertRaises(sqlite3.Error), self.database.transaction(durable=False):
            self.database.execute("INSERT INTO nowhere VALUES (1)")
        with self.database.transaction():
            self.assertEqual(2, self.database.query_rows("PRAGMA synchronous")[0][0])

    def test_database_may_be_closed_twice(self) -> None:
        self.database.close()
        self.database.close()
        self.assertRaises(sqlite3.ProgrammingError, self.pets)
