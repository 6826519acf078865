"""L{tservice.core.process.memory}."""

from __future__ import annotations

import gc

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.process.memory import settle


class SettleTests(SynchronousTestCase):
    """L{settle}."""

    def test_what_lives_is_not_walked_through_again(self) -> None:
        self.addCleanup(gc.unfreeze)
        before = len(gc.get_objects())
        settle()
        self.assertLess(len(gc.get_objects()), before / 10)
        self.assertGreater(gc.get_freeze_count(), before / 2)
