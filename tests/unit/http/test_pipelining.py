"""Requests that come before the answer to the one before them."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.driver import Api, Connection, head
from tests.unit.http.sample import Handlers
from tservice.http.site import IDLE_SECONDS

MANY = 300


class PipelineTests(SynchronousTestCase):
    """One at a time, in order, and none for whom does not read."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.handlers = Handlers()
        self.api = Api(self.handlers.table(), clock=self.clock)
        self.addCleanup(self.api.close)
        self.connection = self.api.connect()

    def ask(self, number: int) -> bytes:
        return head("GET", f"/api/things/n{number}e", {})

    def answered(self, connection: Connection | None = None) -> int:
        return (connection or self.connection).value().count(b"HTTP/1.1 200")

    def turn(self) -> None:
        """One turn of the reactor: a Clock would also do what is added meanwhile."""
        for call in [call for call in self.clock.calls if call.getTime() <= self.clock.seconds()]:
            work = call.func
            call.cancel()
            work()

    def test_each_has_a_turn_of_its_own(self) -> None:
        self.connection.send(b"".join(map(self.ask, range(MANY))))
        for number in range(MANY):
            self.assertEqual(number + 1, self.answered())
            self.turn()
        said = self.connection.value()
        places = [said.index(b"n%de" % number) for number in range(MANY)]
        self.assertEqual(sorted(places), places)
        self.connection.send(self.ask(MANY))
        self.assertEqual(MANY + 1, self.answered())

    def test_in_pieces(self) -> None:
        data = b"".join(map(self.ask, range(20)))
        for at in range(0, len(data), 7):
            self.connection.send(data[at : at + 7])
            self.clock.advance(0)
        self.assertEqual(20, self.answered())

    def test_what_comes_between_two_turns_is_behind(self) -> None:
        self.connection.send(self.ask(0) + self.ask(1) + self.ask(2)[:9])
        self.connection.send(self.ask(2)[9:] + self.ask(3))
        for _ in range(4):
            self.clock.advance(0)
        said = self.connection.value()
        self.assertEqual(4, self.answered())
        self.assertLess(said.index(b"n2e"), said.index(b"n3e"))

    def test_bodies(self) -> None:
        body = b'{"cols": 5}'
        post = head("POST", "/api/size", {"Content-Length": str(len(body))}) + body
        self.connection.send((post + self.ask(0)) * 3)
        for _ in range(6):
            self.clock.advance(0)
        self.assertEqual(6, self.answered())

    def test_who_does_not_read_is_not_answered(self) -> None:
        self.connection.send(b"".join(map(self.ask, range(MANY))))
        self.connection.producer.pauseProducing()
        for _ in range(MANY):
            self.clock.advance(0)
        self.assertEqual(1, self.answered())
        self.assertEqual("paused", self.connection.transport.producerState)
        self.assertFalse(self.connection.channel.answering)
        self.connection.producer.resumeProducing()
        for _ in range(MANY):
            self.clock.advance(0)
        self.assertEqual(MANY, self.answered())
        self.assertEqual("producing", self.connection.transport.producerState)

    def test_nor_is_more_read_of_one_who_asks_one_by_one(self) -> None:
        self.connection.send(head("GET", "/api/park", {}))
        self.connection.producer.pauseProducing()
        self.handlers.parked[0].callback({})
        self.assertEqual("paused", self.connection.transport.producerState)
        self.connection.producer.resumeProducing()
        self.connection.send(self.ask(1))
        self.assertEqual(2, self.answered())

    def test_who_does_not_read_is_idle(self) -> None:
        self.connection.send(self.ask(0) + self.ask(1))
        self.connection.producer.pauseProducing()
        self.clock.advance(IDLE_SECONDS)
        self.assertTrue(self.connection.transport.disconnecting)

    def test_hang_up(self) -> None:
        self.connection.send(self.ask(0) + self.ask(1))
        self.connection.lose()
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_a_connection_that_is_to_end(self) -> None:
        self.connection.send(head("GET", "/api/things/1", {"Connection": "close"}) + self.ask(0))
        self.clock.advance(0)
        self.assertEqual(1, self.answered())
        self.assertTrue(self.connection.transport.disconnecting)
