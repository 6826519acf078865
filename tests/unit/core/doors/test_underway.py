"""Tests for L{tservice.core.doors.underway}."""

from __future__ import annotations

from contextlib import ExitStack

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.doors.underway import UnderWay
from tservice.core.errors import ServiceError


class UnderWayTests(SynchronousTestCase):
    def test_so_many_of_one(self) -> None:
        turns = UnderWay(2, "two are there")
        with ExitStack() as held:
            held.enter_context(turns.take("a"))
            held.enter_context(turns.take("a"))
            held.enter_context(turns.take("b"))
            with self.assertRaises(ServiceError) as caught:
                held.enter_context(turns.take("a"))
            self.assertEqual(429, caught.exception.status)
            self.assertEqual("two are there", caught.exception.message)
            self.assertEqual(3, turns.count)
        self.assertEqual(0, turns.count)
        with turns.take("a"):
            pass
