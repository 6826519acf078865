"""Tests for L{tservice.core.workers.concurrency_limit}."""

from __future__ import annotations

from contextlib import ExitStack

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ServiceError
from tservice.core.workers.concurrency_limit import ConcurrencyLimit


class UnderWayTests(SynchronousTestCase):
    def test_requests_under_way_are_limited_per_key(self) -> None:
        turns = ConcurrencyLimit(2, "two are there")
        with ExitStack() as held:
            held.enter_context(turns.hold_slot("a"))
            held.enter_context(turns.hold_slot("a"))
            held.enter_context(turns.hold_slot("b"))
            with self.assertRaises(ServiceError) as caught:
                held.enter_context(turns.hold_slot("a"))
            self.assertEqual(429, caught.exception.status)
            self.assertEqual("two are there", caught.exception.message)
            self.assertEqual(3, turns.count)
        self.assertEqual(0, turns.count)
        with turns.hold_slot("a"):
            pass
