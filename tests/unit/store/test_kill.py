"""What a killed process acknowledged is there; the long form is L{tests.stress.store_kill}."""

from __future__ import annotations

import random
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.stress import store_kill
from tests.stress.store_kill import StoreBroken, check_database, kill_writer, open_database


class StoreKillTests(SynchronousTestCase):
    """A writer in a process of its own, killed at seeded points of its acknowledged log."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp()).absolute() / "state.db"
        self.path.parent.mkdir()

    def test_no_acknowledged_write_is_lost_over_kills(self) -> None:
        done = kill_writer(self.path, 4, random.Random(20), pause=lambda: None)
        self.assertGreater(done, 4)

    def test_check_detects_missing_rows(self) -> None:
        database = open_database(self.path)
        self.addCleanup(database.close)
        for n in (1, 2, 3):
            for half in ("left", "right"):
                database.execute("INSERT INTO marks VALUES (?, ?)", (n, half))
        self.assertEqual(3, check_database(self.path, 3))
        self.assertEqual(3, check_database(self.path, 2))
        for last in (4, 1):
            self.assertRaises(StoreBroken, check_database, self.path, last)
        database.execute("DELETE FROM marks WHERE n = 3 AND half = 'left'")
        self.assertRaises(StoreBroken, check_database, self.path, 3)
        database.execute("DELETE FROM marks WHERE n IN (2, 3)")
        database.execute("INSERT INTO marks VALUES (3, 'left'), (3, 'right')")
        self.assertRaises(StoreBroken, check_database, self.path, 2)

    def test_writer_that_fails_by_itself_is_detected(self) -> None:
        self.path.write_text("no database")
        self.assertRaises(
            StoreBroken, store_kill.acknowledged_until_killed, self.path, 1, lambda: None
        )
