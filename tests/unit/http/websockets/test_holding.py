"""Tests for what a handler may do to its peer, and an operation to what comes in."""

from __future__ import annotations

from tests.unit.http.driver import Api
from tests.unit.http.sample import operation
from tests.unit.http.websockets.socketcase import DEFLATE, SocketCase
from tests.unit.http.websockets.wsframes import BINARY, TEXT, masked
from tservice.http.bounds import SocketBounds
from tservice.http.operations import Style
from tservice.http.websockets.connection import (
    CLOSE_SECONDS,
    MAX_MESSAGE,
    PING_SECONDS,
    PONG_SECONDS,
    TURN,
)
from tservice.http.websockets.frames import SocketMessage


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


class TurnTests(SocketCase):
    """Whoever sends much at once has others wait no longer for that."""

    def heard(self) -> list[object]:
        return [each[1] for each in self.handler.heard if each[0] == "text"]

    def assertInTurns(self, sent: bytes, texts: list[str], most: int, **headers: str) -> None:
        """Each turn of the reactor takes in C{most} of them, in order, and nothing is read
        meanwhile."""
        connection = self.open(**headers)
        connection.send(sent)
        self.assertTrue(len(self.heard()) < len(texts))
        turns = 0
        while len(self.heard()) < len(texts):
            self.assertTrue(len(self.heard()) <= (turns + 1) * most)
            self.assertEqual("paused", connection.transport.producerState)
            turns += 1
            self.clock.advance(0)
        self.assertEqual(texts, self.heard())
        self.clock.advance(0)
        self.assertEqual("producing", connection.transport.producerState)
        connection.send(masked(TEXT, b"then"))
        self.assertEqual("then", self.heard()[-1])

    def test_many_frames(self) -> None:
        texts = [str(number) for number in range(5 * TURN)]
        sent = b"".join(masked(TEXT, text.encode()) for text in texts)
        self.assertInTurns(sent, texts, TURN)

    def test_little_that_becomes_much(self) -> None:
        text = "x" * (MAX_MESSAGE - 10)
        packed = SocketMessage(text).wire(deflate=True)
        payload = packed[4:] if packed[1] == 126 else packed[2:]
        self.assertTrue(len(payload) < 65536)
        frame = masked(TEXT, payload, first=0xC0)
        self.assertInTurns(frame * 20, [text] * 20, 2, **DEFLATE)

    def test_who_is_held_stays_so(self) -> None:
        connection = self.open()
        connection.send(masked(TEXT, b"x") * 3 * TURN)
        self.assertTrue(len(self.heard()) < 3 * TURN)
        self.socket.hold()
        for _ in range(10):
            self.clock.advance(0)
        self.assertEqual(3 * TURN, len(self.heard()))
        self.assertEqual("paused", connection.transport.producerState)
        self.socket.release()
        self.assertEqual("producing", connection.transport.producerState)

    def test_who_is_let_go_waits_for_the_rest(self) -> None:
        connection = self.open()
        self.socket.hold()
        connection.send(masked(TEXT, b"x") * 3 * TURN)
        self.socket.release()
        self.assertEqual("paused", connection.transport.producerState)

    def test_an_end_in_the_middle(self) -> None:
        for end in ("lose", "close"):
            connection = self.open()
            connection.send(masked(TEXT, b"x") * 5 * TURN)
            before = len(self.heard())
            self.assertTrue(before < 5 * TURN)
            if end == "close":
                self.socket.close(4000)
                self.clock.advance(CLOSE_SECONDS)
            connection.lose()
            self.clock.advance(1)
            self.assertEqual(before, len(self.heard()))
            self.assertEqual([], self.clock.getDelayedCalls())


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
