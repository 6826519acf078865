"""L{tservice.core.process.memory}."""

from __future__ import annotations

import gc

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.process.memory import freeze_live_objects, pause_garbage_collection


class SettleTests(SynchronousTestCase):
    """L{freeze_live_objects}."""

    def test_live_objects_are_excluded_from_garbage_collection(self) -> None:
        self.addCleanup(gc.unfreeze)
        before = len(gc.get_objects())
        freeze_live_objects()
        self.assertLess(len(gc.get_objects()), before / 10)
        self.assertGreater(gc.get_freeze_count(), before / 2)


class UncollectedTests(SynchronousTestCase):
    """L{pause_garbage_collection}."""

    def test_objects_created_in_the_block_are_excluded_from_garbage_collection(self) -> None:
        self.addCleanup(gc.unfreeze)
        with pause_garbage_collection():
            self.assertFalse(gc.isenabled())
            made: list[list[int]] = [[] for _ in range(1000)]
        self.assertTrue(gc.isenabled())
        walked = {id(each) for each in gc.get_objects()}
        self.assertFalse(walked & {id(each) for each in made})
