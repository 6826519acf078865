"""Tests for what a handler may do to its peer, and an operation to what comes in."""

from __future__ import annotations

from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ApiHarness, SiteConnection, run_turn
from tests.unit.http.websockets.harness import DEFLATE, SocketCase
from tests.unit.http.websockets.ws_frames import BINARY, CLOSE, TEXT, masked_frame, read_frames
from tservice.http.connections.fair_scheduler import CONNECTION_SHARE, ITERATION_BUDGET
from tservice.http.operations import ResponseStyle
from tservice.http.validation.body_limits import SocketLimits
from tservice.http.websockets.connection import (
    CLOSE_SECONDS,
    MAX_MESSAGE,
    PING_SECONDS,
    PONG_SECONDS,
)
from tservice.http.websockets.frames import SocketMessage

MUCH = "x" * (MAX_MESSAGE - 10)


def _bomb() -> bytes:
    packed = SocketMessage(MUCH).encode_message(deflate=True)
    assert packed[1] == 126
    return masked_frame(TEXT, packed[4:], first=0xC0)


BOMB = _bomb()
"""What becomes L{MUCH}."""


class SocketHoldTests(SocketCase):
    """A handler that does not keep up stops its peer."""

    def test_held_socket_is_neither_read_nor_cut(self) -> None:
        connection = self.open()
        transport = connection.transport
        self.socket.pause_reading()
        self.socket.pause_reading()
        self.assertEqual("paused", transport.producerState)
        connection.send(masked_frame(TEXT, b"read before"))
        self.assertEqual(("text", "read before"), self.handler.heard[-1])
        for _ in range(4):
            self.clock.advance(PING_SECONDS + PONG_SECONDS)
        self.assertFalse(transport.aborted)
        self.socket.resume_reading()
        self.assertEqual("producing", transport.producerState)

    def test_closing_releases_a_held_socket(self) -> None:
        connection = self.open()
        self.socket.pause_reading()
        self.socket.close(4000)
        self.assertEqual("producing", connection.transport.producerState)
        self.socket.pause_reading()
        self.assertEqual("producing", connection.transport.producerState)


class SocketTurnTests(SocketCase):
    """Whoever sends much at once has others wait no longer for that."""

    def heard(self) -> list[object]:
        return [each[1] for each in self.handler.heard if each[0] == "text"]

    def assertInTurns(self, sent: bytes, texts: list[str], most: int, **headers: str) -> None:
        """Each turn of the reactor takes in C{most} of them, in order, and nothing is read
        meanwhile.
        """
        connection = self.open(**headers)
        connection.send(sent)
        self.assertTrue(len(self.heard()) < len(texts))
        turns = 0
        while len(self.heard()) < len(texts):
            self.assertTrue(len(self.heard()) <= (turns + 1) * most)
            self.assertEqual("paused", connection.transport.producerState)
            turns += 1
            run_turn(self.clock)
        self.assertEqual(texts, self.heard())
        run_turn(self.clock)
        self.assertEqual("producing", connection.transport.producerState)
        connection.send(masked_frame(TEXT, b"then"))
        self.assertEqual("then", self.heard()[-1])

    def test_many_frames_are_handled_in_turns(self) -> None:
        texts = [str(number) for number in range(5 * ITERATION_BUDGET)]
        sent = b"".join(masked_frame(TEXT, text.encode()) for text in texts)
        self.assertInTurns(sent, texts, (ITERATION_BUDGET + CONNECTION_SHARE) // 2)

    def test_small_frames_that_inflate_are_handled_in_turns(self) -> None:
        self.assertInTurns(BOMB * 20, [MUCH] * 20, 1, **DEFLATE)

    def test_large_messages_are_handled_one_in_a_turn(self) -> None:
        self.assertInTurns(masked_frame(TEXT, MUCH.encode()) * 5, [MUCH] * 5, 1)

    def test_held_socket_stays_held_in_later_turns(self) -> None:
        connection = self.open()
        connection.send(masked_frame(TEXT, b"x") * 3 * ITERATION_BUDGET)
        self.assertTrue(len(self.heard()) < 3 * ITERATION_BUDGET)
        self.socket.pause_reading()
        for _ in range(10):
            self.clock.advance(0)
        self.assertEqual(3 * ITERATION_BUDGET, len(self.heard()))
        self.assertEqual("paused", connection.transport.producerState)
        self.socket.resume_reading()
        self.assertEqual("producing", connection.transport.producerState)

    def test_released_socket_waits_for_its_remaining_frames(self) -> None:
        connection = self.open()
        self.socket.pause_reading()
        connection.send(masked_frame(TEXT, b"x") * 3 * ITERATION_BUDGET)
        self.socket.resume_reading()
        self.assertEqual("paused", connection.transport.producerState)

    def test_socket_closed_between_turns_handles_no_more(self) -> None:
        for end in ("lose", "close"):
            connection = self.open()
            connection.send(masked_frame(TEXT, b"x") * 5 * ITERATION_BUDGET)
            before = len(self.heard())
            self.assertTrue(before < 5 * ITERATION_BUDGET)
            if end == "close":
                self.socket.close(4000)
                self.clock.advance(CLOSE_SECONDS)
            connection.lose()
            self.clock.advance(1)
            self.assertEqual(before, len(self.heard()))
            self.assertEqual([], self.clock.getDelayedCalls())


class SocketShareTests(SocketCase):
    """All sockets share what a turn may cost: twenty of them brought back what a bound for each
    was made against.
    """

    def heard(self) -> list[int]:
        """How many messages each heard."""
        return [sum(each[0] == "text" for each in one.heard) for one in self.handlers]

    def bombed(self, count: int, bombs: int) -> list[SiteConnection]:
        connections = [self.open(**DEFLATE) for _ in range(count)]
        for each in connections:
            each.send(BOMB * bombs)
        return connections

    def test_costly_message_uses_the_shared_turn(self) -> None:
        connections = self.bombed(20, 3)
        self.assertEqual(1, sum(self.heard()))
        self.assertTrue(all(each.transport.producerState == "paused" for each in connections))
        for served in range(2, 61):
            run_turn(self.clock)
            self.assertEqual(served, sum(self.heard()))
        self.clock.advance(0)
        for each in connections:
            self.assertEqual("producing", each.transport.producerState)

    def test_single_key_is_handled_between_costly_messages(self) -> None:
        self.bombed(5, 8)
        while not all(self.heard()):
            run_turn(self.clock)
        before = sum(self.heard())
        typing = self.open()
        typing.send(masked_frame(TEXT, b"k"))
        for _ in range(2):
            run_turn(self.clock)
        self.assertEqual(("text", "k"), self.handler.heard[-1])
        self.assertTrue(sum(self.heard()) <= before + 3)
        self.assertTrue(sum(self.heard()) < 5 * 8)

    def test_later_messages_wait_for_the_earlier(self) -> None:
        (connection,) = self.bombed(1, 2)
        for number in range(3):
            connection.send(masked_frame(TEXT, b"%d" % number))
        self.clock.advance(0)
        texts = [each[1] for each in self.handler.heard[1:]]
        self.assertEqual([MUCH, MUCH, "0", "1", "2"], texts)

    def test_lost_socket_leaves_the_queue(self) -> None:
        connections = self.bombed(4, 3)
        before = self.heard()
        connections[0].lose()
        self.handlers[1].socket.close(4000)  # type: ignore[union-attr]
        self.handlers[2].socket.close(4000)  # type: ignore[union-attr]
        connections[2].lose()
        self.clock.advance(0)
        self.assertEqual([*before[:3], 3], self.heard())
        close = next(read_frames(connections[1].value()))
        self.assertEqual((0x88, 4000), (close.first, close.code))
        self.assertEqual("producing", connections[1].transport.producerState)
        connections[1].send(masked_frame(CLOSE))
        self.assertTrue(connections[1].transport.disconnecting)
        for each in connections:
            each.lose()
        self.clock.advance(0)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_failing_socket_is_cut_alone(self) -> None:
        first, second = self.bombed(2, 3)
        self.patch(first.channel._upgraded, "processData", lambda: 1 / 0)
        self.clock.advance(0)
        self.assertTrue(first.transport.aborted)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.assertEqual(3, self.heard()[1])
        self.assertFalse(second.transport.aborted)

    def test_sockets_share_the_turn_with_all_connections(self) -> None:
        connection = self.open()
        self.api.site.turns.charge_budget(ITERATION_BUDGET)
        connection.send(masked_frame(TEXT, b"x"))
        self.assertEqual([0], self.heard())
        run_turn(self.clock)
        self.assertEqual([1], self.heard())


class MessageBoundTests(SocketCase):
    """An operation that takes less than most."""

    def setUp(self) -> None:
        super().setUp()
        bounds = SocketLimits(message=10, too_big=1003, compressed=False)
        table = [
            sample_operation(
                "GET", "/ws/{id}", self.handle, style=ResponseStyle.WEBSOCKET, socket=bounds
            )
        ]
        self.api = ApiHarness(table, gate=self.gate, sockets=self.sockets, clock=self.clock)
        self.addCleanup(self.api.close)

    def test_message_one_byte_over_the_operation_bound_is_refused(self) -> None:
        connection = self.open(**DEFLATE)
        self.assertNotIn(b"deflate", self.handshake)
        for _ in range(2):
            connection.send(masked_frame(BINARY, b"x" * 6, first=0) + masked_frame(0, b"x" * 4))
            self.assertEqual(("binary", b"x" * 10), self.handler.heard[-1])
        connection.send(masked_frame(BINARY, b"x" * 6, first=0) + masked_frame(0, b"x" * 5))
        (close,) = self.got(connection)
        self.assertEqual((1003, 3), (close.code, len(self.handler.heard)))
