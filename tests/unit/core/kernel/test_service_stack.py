"""The order in which services end."""

from __future__ import annotations

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.service_stack import STOP_LIMIT, ClosingService, ServiceStack


class StoppingService(Service):
    """Notes its stop, which lasts until C{ended} fires."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self.setName(name)
        self.calls = calls
        self.ended: Deferred[None] = Deferred()

    def startService(self) -> None:
        super().startService()
        self.calls.append(f"start {self.name}")

    def stopService(self) -> Deferred[None]:
        super().stopService()
        self.calls.append(f"stop {self.name}")
        return self.ended


class StackTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.calls: list[str] = []
        self.clock = Clock()
        self.stack = ServiceStack(self.clock)
        self.low, self.high = (
            StoppingService("low", self.calls),
            StoppingService("high", self.calls),
        )
        for service in (self.low, self.high):
            service.setServiceParent(self.stack)
        self.stack.startService()

    def test_lower_service_stops_after_the_upper(self) -> None:
        stopped = self.stack.stopService()
        self.assertEqual(["start low", "start high", "stop high"], self.calls)
        self.high.ended.callback(None)
        self.assertEqual("stop low", self.calls[-1])
        self.assertNoResult(stopped)
        self.low.ended.callback(None)
        self.assertIsNone(self.successResultOf(stopped))
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertFalse(self.stack.running)

    def test_failed_stop_is_logged_and_skipped(self) -> None:
        stopped = self.stack.stopService()
        self.high.ended.errback(ZeroDivisionError())
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.low.ended.callback(None)
        self.assertIsNone(self.successResultOf(stopped))

    def test_hanging_stop_is_skipped_after_the_limit(self) -> None:
        stopped = self.stack.stopService()
        self.clock.advance(STOP_LIMIT)
        self.assertEqual("stop low", self.calls[-1])
        self.low.ended.callback(None)
        self.assertIsNone(self.successResultOf(stopped))

    def test_closing_function_has_its_position(self) -> None:
        done: Deferred[None] = Deferred()
        ClosingService("top", lambda: done).setServiceParent(self.stack)
        self.stack.stopService()
        self.assertNotIn("stop high", self.calls)
        done.callback(None)
        self.assertIn("stop high", self.calls)

    def test_child_added_later_starts_immediately(self) -> None:
        late = StoppingService("late", self.calls)
        late.setServiceParent(self.stack)
        self.assertEqual("start late", self.calls[-1])
