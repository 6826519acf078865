"""The disk fails at each write to each table in turn: nothing that was acknowledged is lost."""

from __future__ import annotations

import ast
import shutil
import sqlite3
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

import tservice
from tests.unit.store.failing_disk import FailingConnection
from tests.unit.store.story_steps import StoreStory, StoryHarness, StoryStep, session_record
from tests.unit.store.table_stories import STORIES
from tservice.core.disk.disk_errors import DiskFull
from tservice.sessions.record.repository import SessionRepository
from tservice.store.database import Database
from tservice.store.deferred_writes import AGAIN_SECONDS

SOURCE = Path(tservice.__file__).parent
WRITES = ("execute", "execute_many", "later")
Rows = dict[str, list[tuple[Any, ...]]]


class QuickConnection(FailingConnection):
    """Nobody cuts the power in these tests: nothing waits for a real disk."""

    def execute(self, sql: str, params: Any = ()) -> sqlite3.Cursor:
        return super().execute(
            "PRAGMA synchronous = OFF" if sql.startswith("PRAGMA synchronous") else sql, params
        )


class WatchedDatabase(Database):
    """Notes the lines that write."""

    seen: set[tuple[str, int]] = set()

    def execute(self, *arguments: Any, **named: Any) -> int:
        self._note()
        return super().execute(*arguments, **named)

    def execute_many(self, *arguments: Any) -> int:
        self._note()
        return super().execute_many(*arguments)

    def execute_or_defer(self, *arguments: Any) -> bool:
        self._note()
        return super().execute_or_defer(*arguments)

    def _note(self) -> None:
        caller = sys._getframe(2)
        self.seen.add((caller.f_code.co_filename, caller.f_lineno))


@define
class StoryOutcome:
    """What became of a story's steps.

    @ivar done: they were acknowledged, or hold.
    @ivar waiting: the last of these, which the disk may not have.
    """

    done: list[str] = field(factory=list)
    waiting: list[StoryStep] = field(factory=list)


class StoryStage:
    """A database of its own, on which one story is told once."""

    def __init__(self, base: Path, folder: Path, story: StoreStory) -> None:
        folder.mkdir()
        self.path = folder / "tservice.db"
        shutil.copyfile(base, self.path)
        self.clock = Clock()
        self.clock.advance(1_800_000_000)
        self.connection = QuickConnection(self.path)
        self.database = WatchedDatabase(self.connection)
        self.database.deferred_writes.use_clock(self.clock)
        self.world = StoryHarness(database=self.database, clock=self.clock, folder=folder)
        self.story = story
        self.steps = story.told(self.world)

    def tell(self, only: Collection[str] | None = None) -> StoryOutcome:
        """Go through the steps.

        @param only: the names of those that are asked for; C{None}: all.
        """
        told = StoryOutcome()
        for step in self.steps:
            asked = step.name in only if only is not None else self.follows(step, told)
            if asked and self.attempt(step):
                told.done.append(step.name)
                told.waiting.append(step)
                if not self.story.waits(self.world):
                    told.waiting.clear()
        return told

    def follows(self, step: StoryStep, told: StoryOutcome) -> bool:
        return step.needs is None or step.needs in told.done

    def attempt(self, step: StoryStep) -> bool:
        try:
            step.do()
        except DiskFull:
            return step.holds
        return True

    def make_room(self) -> None:
        self.connection.fault, self.connection.after = None, None
        self.clock.advance(AGAIN_SECONDS)

    def look(self, table: str) -> str:
        return self.story.look.get(table, f"SELECT * FROM {table}")

    def rows(self) -> Rows:
        """What the tables hold for a service that begins now."""
        database = Database.open_file(self.path, clock=Clock())
        try:
            return {
                table: [tuple(row) for row in database.query_rows(self.look(table))]
                for table in self.story.tables
            }
        finally:
            database.close()


class StoreEveryWriteTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.base = self.folder / "base.db"
        database = Database.open_file(self.base, clock=Clock())
        SessionRepository(database).save(session_record("s"))
        database.query_rows("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        self.stages = 0
        self.known: dict[tuple[str, ...], Rows] = {}

    def stage(self, story: StoreStory) -> StoryStage:
        self.stages += 1
        stage = StoryStage(self.base, self.folder / str(self.stages), story)
        self.addCleanup(stage.connection.close)
        return stage

    def expected(self, story: StoreStory, done: Sequence[str]) -> Rows:
        """What there is on a good disk after these steps."""
        found = self.known.get((story.tables[0], *done))
        if found is None:
            stage = self.stage(story)
            stage.tell(done)
            found = self.known[(story.tables[0], *done)] = stage.rows()
        return found

    def walk(self, story: StoreStory) -> Iterator[tuple[str, StoryStage]]:
        """A stage for each write that fails, once or from there on."""
        for lasting in (False, True):
            number, failed = 0, 1
            while failed:
                stage = self.stage(story)
                stage.connection.after, stage.connection.lasting = number, lasting
                yield f"{story.tables}, write {number}, {lasting=}", stage
                failed, number = stage.connection.failed, number + 1
            self.assertGreater(number, len(stage.steps))

    def check(self, place: str, stage: StoryStage) -> None:
        told = stage.tell()
        for step in told.waiting:
            self.assertTrue(step.owed or step.holds, f"{place}: {step.name} is not on the disk")
        first = len(told.done) - len(told.waiting)
        could_be = [
            self.expected(stage.story, told.done[:end]) for end in range(first, len(told.done) + 1)
        ]
        self.assertIn(stage.rows(), could_be, f"{place}: after a crash")
        stage.make_room()
        self.assertEqual(could_be[-1], stage.rows(), f"{place}: after there was room")

    @pytest.mark.long
    def test_no_acknowledged_write_is_lost(self) -> None:
        for story in STORIES:
            for place, stage in self.walk(story):
                self.check(place, stage)
        self.assertEqual([], [f"{path}:{line}" for path, line in self.missed()])

    def missed(self) -> Iterator[tuple[Path, int]]:
        """Calls that write to the database, and that no story came through."""
        for path in sorted(SOURCE.rglob("*.py")):
            if path == SOURCE / "store" / "database.py":
                continue
            seen = {line for name, line in WatchedDatabase.seen if name == str(path)}
            for call in _writes(ast.parse(path.read_text())):
                if not seen & set(range(call.lineno, (call.end_lineno or call.lineno) + 1)):
                    yield path, call.lineno

    def test_every_table_has_a_write_test(self) -> None:
        database = Database.open_in_memory()
        self.addCleanup(database.close)
        found = database.query_rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {row["name"] for row in found if not row["name"].startswith("sqlite_")}
        told = [table for story in STORIES for table in story.tables]
        self.assertEqual(sorted(tables - {"schema_version"}), sorted(told))


def _writes(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in WRITES and ast.unparse(node.func.value).endswith("database"):
            yield node
