"""Tests for L{tservice.files.bounds}."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.errors import ServiceError
from tservice.files.bounds import WINDOW, Rate


class RateTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.rate = Rate(self.clock, 2, "things")

    def take(self, session: str = "a") -> None:
        with self.rate.take(session):
            pass

    def test_so_many_a_minute(self) -> None:
        self.take()
        self.clock.advance(WINDOW / 2)
        self.take()
        self.assertRaises(ServiceError, self.take)
        self.take("b")
        self.clock.advance(WINDOW / 2)
        self.take()
        self.assertRaises(ServiceError, self.take)

    def test_what_fails_does_not_count(self) -> None:
        for _ in range(5):
            with self.assertRaises(ZeroDivisionError), self.rate.take("a"):
                raise ZeroDivisionError
        self.take()
        self.take()

    def test_what_is_under_way_does(self) -> None:
        with self.rate.take("a"), self.rate.take("a"):
            self.assertRaises(ServiceError, self.take)

    def test_sessions_are_forgotten(self) -> None:
        for number in range(50):
            self.take(str(number))
        self.clock.advance(WINDOW)
        self.take()
        self.assertEqual(["a"], list(self.rate._known))
