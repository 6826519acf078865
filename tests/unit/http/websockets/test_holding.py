"""Tests for what a handler may do to its peer, and an operation to what comes in."""

from __future__ import annotations

from tests.unit.http.driver import Api
from tests.unit.http.sample import operation
from tests.unit.http.websockets.socketcase import DEFLATE, SocketCase
from tests.unit.http.websockets.wsframes import BINARY, TEXT, masked
from tservice.http.bounds import SocketBounds
from tservice.http.operations import Style
from tservice.http.websockets.connection import PING_SECONDS, PONG_SECONDS


class HoldTests(SocketCase):
    """A handler that does not keep up stops its peer."""

    def test_who_is_held_is_not_read_nor_cut(self) -> None:
        connection = self.open()
        transport = connection.transport
        self.socket.hold()
        self.socket.hold()
        self.assertEqual("paused", transport.producerState)
        connection.send(masked(TEXT, b"read before"))
        self.assertEqual(("text", "read before"), self.handler.heard[-1])
        for _ in range(4):
            self.clock.advance(PING_SECONDS + PONG_SECONDS)
        self.assertFalse(transport.aborted)
        self.socket.release()
        self.assertEqual("producing", transport.producerState)

    def test_a_close_lets_go(self) -> None:
        connection = self.open()
        self.socket.hold()
        self.socket.close(4000)
        self.assertEqual("producing", connection.transport.producerState)
        self.socket.hold()
        self.assertEqual("producing", connection.transport.producerState)


class BoundTests(SocketCase):
    """An operation that takes less than most."""

    def setUp(self) -> None:
        super().setUp()
        bounds = SocketBounds(message=10, too_big=1003, compressed=False)
        table = [operation("GET", "/ws/{id}", self.handle, style=Style.WEBSOCKET, socket=bounds)]
        self.api = Api(table, gate=self.gate, sockets=self.sockets, clock=self.clock)
        self.addCleanup(self.api.close)

    def test_one_more_byte_than_may_be(self) -> None:
        connection = self.open(**DEFLATE)
        self.assertNotIn(b"deflate", self.handshake)
        for _ in range(2):
            connection.send(masked(BINARY, b"x" * 6, first=0) + masked(0, b"x" * 4))
            self.assertEqual(("binary", b"x" * 10), self.handler.heard[-1])
        connection.send(masked(BINARY, b"x" * 6, first=0) + masked(0, b"x" * 5))
        (close,) = self.got(connection)
        self.assertEqual((1003, 3), (close.code, len(self.handler.heard)))
