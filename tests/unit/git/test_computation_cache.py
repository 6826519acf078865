"""One computation at a time, and values kept for a moment."""

from __future__ import annotations

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.git.computation_cache import ComputationCache


class FlightTests(SynchronousTestCase):
    """Joining, keeping, forgetting."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.flights: ComputationCache[str, int] = ComputationCache(self.clock, ttl=4, size=2)
        self.started: list[Deferred[int]] = []

    async def work(self) -> int:
        self.started.append(Deferred())
        return await self.started[-1]

    def ask(self, key: str = "a") -> Deferred[int]:
        return Deferred.fromCoroutine(self.flights.get_or_compute(key, self.work))

    def test_simultaneous_requests_share_one_computation(self) -> None:
        first, second = self.ask(), self.ask()
        self.assertEqual(1, len(self.started))
        self.started[0].callback(7)
        self.assertEqual((7, 7), (self.successResultOf(first), self.successResultOf(second)))

    def test_result_is_kept_for_its_time(self) -> None:
        self.ask()
        self.assertIsNone(self.flights.get_cached("a"))
        self.started[0].callback(7)
        self.clock.advance(3.9)
        self.assertEqual(7, self.flights.get_cached("a"))
        self.clock.advance(0.1)
        self.assertIsNone(self.flights.get_cached("a"))

    def test_kept_results_are_bounded(self) -> None:
        for number, key in enumerate("ab"):
            self.ask(key)
            self.started[-1].callback(number)
        self.flights.get_cached("a")
        self.ask("c")
        self.started[-1].callback(2)
        self.assertEqual([0, None, 2], [self.flights.get_cached(key) for key in "abc"])

    def test_error_reaches_every_caller_and_is_not_kept(self) -> None:
        first, second = self.ask(), self.ask()
        self.started[0].errback(ZeroDivisionError())
        self.failureResultOf(first, ZeroDivisionError)
        self.failureResultOf(second, ZeroDivisionError)
        self.ask().addErrback(lambda _: None)
        self.assertEqual(2, len(self.started))

    def test_cancelled_caller_does_not_end_the_computation(self) -> None:
        first, second = self.ask(), self.ask()
        first.cancel()
        self.failureResultOf(first, CancelledError)
        self.started[0].callback(7)
        self.assertEqual(7, self.successResultOf(second))

    def test_error_without_callers_is_logged(self) -> None:
        only = self.ask()
        only.cancel()
        self.failureResultOf(only, CancelledError)
        self.started[0].errback(ZeroDivisionError())
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
