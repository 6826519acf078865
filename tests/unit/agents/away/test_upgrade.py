"""The upgrade that counts the answers of approval rules apart."""

from __future__ import annotations

from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.review.review_harness import add_session_row
from tservice.agents.away.model import Absence
from tservice.agents.away.store import AbsenceStore
from tservice.store.database import Database
from tservice.store.schemas import find_packaged_schemas, read_steps


class UpgradeTests(SynchronousTestCase):
    """Schema step 41."""

    def test_counts_of_the_version_before_stay(self) -> None:
        path, steps = Path(self.mktemp()), read_steps(find_packaged_schemas())
        old = Database.open_file(path, clock=Clock(), schemas=steps[:39])
        add_session_row(old, "s")
        old.execute("INSERT INTO session_absences VALUES ('s', 5, 1.5, 2, 3)")
        old.close()
        new = Database.open_file(path, clock=Clock(), schemas=steps[:40])
        self.addCleanup(new.close)
        self.assertEqual(
            [Absence(session_id="s", looked_at=5, cost=1.5, turns=2, answered=3)],
            AbsenceStore(new).load_all(),
        )
