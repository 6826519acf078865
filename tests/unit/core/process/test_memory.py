"""L{tservice.core.process.memory}."""

from __future__ import annotations

import gc

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.process.memory import settle, uncollected


class SettleTests(SynchronousTestCase):
    """L{settle}."""

    def test_what_lives_is_not_walked_through_again(self) -> None:
        self.addCleanup(gc.unfreeze)
        before = len(gc.get_objects())
        settle()
        self.assertLess(len(gc.get_objects()), before / 10)
        self.assertGreater(gc.get_freeze_count(), before / 2)


class UncollectedTests(SynchronousTestCase):
    """L{uncollected}."""

    def test_what_is_made_meanwhile_is_never_walked_through(self) -> None:
        self.addCleanup(gc.unfreeze)
        with uncollected():
            self.assertFalse(gc.isenabled())
            made: list[list[int]] = [[] for _ in range(1000)]
        self.assertTrue(gc.isenabled())
        walked = {id(each) for each in gc.get_objects()}
        self.assertFalse(walked & {id(each) for each in made})
