"""A connection that is lost, and tried again."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.hosts.fakes import FakeMaster
from tservice.hosts.connection import (
    MAX_WAITERS,
    RETRY_DELAYS,
    ConnectionState,
    HostConnection,
    HostUnreachable,
)


class RecordingConnectionListener:
    """Remembers."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def host_connected(self) -> None:
        self.told.append("up")

    def host_disconnected(self, attempt: int, next_at: int | None) -> None:
        self.told.append((attempt, next_at))


class ConnectionTests(SynchronousTestCase):
    """L{HostConnection}."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.masters: list[FakeMaster] = []
        self.by_itself = True
        self.way = HostConnection(self.clock, "there", self.fresh, lambda: self.by_itself)
        self.heard = RecordingConnectionListener()
        self.way.add_listener(self.heard)

    def fresh(self) -> FakeMaster:
        self.masters.append(FakeMaster())
        return self.masters[-1]

    def refuse(self, why: str = "no") -> None:
        self.masters[-1].opening.errback(HostUnreachable(why))

    def opened(self) -> None:
        self.masters[-1].opening.callback(None)

    def test_host_is_not_connected_unasked(self) -> None:
        self.clock.advance(10_000)
        self.assertEqual([], self.masters)
        self.assertIs(ConnectionState.DOWN, self.way.state)

    def test_waiting_callers_share_one_attempt(self) -> None:
        waiting = [Deferred.fromCoroutine(self.way.wait_for_attempt()) for _ in range(3)]
        ready = self.way.wait_until_open()
        self.assertEqual(1, len(self.masters))
        self.assertIs(ConnectionState.CONNECTING, self.way.state)
        self.opened()
        for each in (*waiting, ready, self.way.wait_until_open()):
            self.assertIsNone(self.successResultOf(each))
        self.assertTrue(self.way.is_up)
        self.assertEqual(["up"], self.heard.told)

    def test_failed_attempt_reaches_its_callers(self) -> None:
        waiting = Deferred.fromCoroutine(self.way.wait_for_attempt())
        self.refuse("refused")
        why = self.failureResultOf(waiting, HostUnreachable)
        self.assertEqual("refused", why.getErrorMessage())
        self.assertTrue(self.masters[0].closed)

    def test_delays_are_between_attempts(self) -> None:
        """5, 15, 45, 120, 300, 300; then it is over."""
        self.assertEqual((5, 15, 45, 120, 300, 300), RETRY_DELAYS)
        self.way.request_connection()
        self.opened()
        self.masters[0].gone.callback("reset")
        self.assertEqual([(1, 5_000)], self.heard.told[1:])
        for number, delay in enumerate(RETRY_DELAYS, 1):
            self.clock.advance(delay - 1)
            self.assertEqual(number, len(self.masters), "not yet")
            self.clock.advance(1)
            self.assertEqual(number + 1, len(self.masters))
            self.assertIsNone(self.way.next_at)
            self.clock.advance(7)  # an attempt takes a while
            self.refuse()
        self.assertEqual((6, None), self.heard.told[-1])
        self.assertEqual([1, 2, 3, 4, 5, 6], [told[0] for told in self.heard.told[1:-1]])  # type: ignore[index]
        self.clock.advance(100_000)
        self.assertEqual(7, len(self.masters))

    def test_request_connects_immediately_and_resets_the_delay(self) -> None:
        self.way.request_connection()
        self.refuse()
        self.clock.advance(5)
        self.refuse()
        self.assertEqual(2, self.way.attempt)
        self.way.request_connection()
        self.assertEqual(3, len(self.masters))
        self.way.request_connection()
        self.assertEqual(3, len(self.masters), "it is under way")
        self.refuse()
        self.assertEqual(1, self.way.attempt)
        self.clock.advance(5)
        self.assertEqual(4, len(self.masters))
        self.opened()
        self.assertEqual("up", self.heard.told[-1])

    def test_discovery_does_not_shorten_the_delay(self) -> None:
        self.way.connect_unless_attempted()
        self.refuse()
        for _ in range(4):
            self.way.connect_unless_attempted()
            self.clock.advance(1)
        self.assertEqual(1, len(self.masters))

    def test_reconnect_setting_off_needs_a_request(self) -> None:
        """With the setting off, only a wish begins again."""
        self.by_itself = False
        self.way.request_connection()
        self.opened()
        self.masters[0].gone.callback("reset")
        self.clock.advance(100_000)
        self.assertEqual(1, len(self.masters))
        self.assertEqual((6, None), self.heard.told[-1])
        self.way.request_connection()
        self.assertEqual(2, len(self.masters))

    def test_close_ends_everything(self) -> None:
        self.way.request_connection()
        self.opened()
        self.masters[0].gone.callback("reset")
        waiter = self.way.wait_until_open()
        self.way.close()
        self.failureResultOf(waiter)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.way.request_connection()
        self.assertEqual(1, len(self.masters))

    def test_close_while_connecting_fails_the_callers(self) -> None:
        self.way.request_connection()
        self.way.close()
        self.assertTrue(self.masters[0].closed)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_waiting_callers_are_bounded(self) -> None:
        waiting = [self.way.wait_until_open() for _ in range(MAX_WAITERS)]
        self.failureResultOf(self.way.wait_until_open(), HostUnreachable)
        waiting[0].cancel()
        self.failureResultOf(waiting[0])
        last = self.way.wait_until_open()
        self.assertNoResult(last)
        self.way.close()
        for each in (*waiting[1:], last):
            each.addErrback(lambda why: None)
