"""Tests for L{tservice.http.websockets}."""

from __future__ import annotations

import json
import struct
import zlib

from attrs import astuple
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import (
    ParsedAnswer,
    SiteConnection,
    parse_http_answer,
    request_head,
)
from tests.unit.http.websockets.harness import DEFLATE, SocketCase
from tests.unit.http.websockets.ws_frames import (
    BINARY,
    CLOSE,
    PING,
    PONG,
    TEXT,
    UPGRADE,
    ClientFrame,
    masked_frame,
    read_frames,
)
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_field_error,
    make_not_found_error,
)
from tservice.http.envelope import make_bare_refusal
from tservice.http.websockets.connection import (
    CLOSE_SECONDS,
    MAX_BUFFERED,
    MAX_MESSAGE,
    MAX_PARTS,
    PING_SECONDS,
    PONG_SECONDS,
    TRANSPORT_BUFFER,
)
from tservice.http.websockets.frames import DEFLATE_FROM, SocketMessage
from tservice.http.websockets.upgrade import CloseSocket, WebSockets


class WebSocketUpgradeTests(SocketCase):
    """Who gets an upgrade, and what the others get."""

    def test_handshake_is_answered(self) -> None:
        self.open()
        self.assertIn(b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", self.handshake)
        self.assertNotIn(b"permessage-deflate", self.handshake)
        self.assertNotIn(b"Server:", self.handshake)
        self.assertEqual([("opened",)], self.handler.heard)
        self.assertEqual(1, self.sockets.socket_count)

    def refused(self, connection: SiteConnection) -> ParsedAnswer:
        self.assertEqual([], self.handlers)
        return parse_http_answer(connection.value())

    def test_invalid_handshake_is_refused(self) -> None:
        for headers in (
            {"Upgrade": "h2c"},
            {"Sec-WebSocket-Version": "12"},
            {"Sec-WebSocket-Key": "short"},
            {"Sec-WebSocket-Key": "x" * 24},
        ):
            answer = self.refused(self.ask(**headers))
            self.assertEqual(426, answer.status)
            self.assertEqual("websocket", answer.headers["upgrade"])
        self.assertEqual(426, self.api.request("HEAD", "/ws/7", headers=UPGRADE).status)

    def test_gate_refusal_of_an_upgrade_is_an_http_answer(self) -> None:
        self.gate.refusal = make_bare_refusal(403, "Forbidden: host not allowed")
        answer = self.refused(self.ask())
        self.assertEqual((403, b"Forbidden: host not allowed"), (answer.status, answer.content))

    def test_session_refusals_accept_and_close_the_web_socket(self) -> None:
        for error, code in (
            (make_not_found_error("Session 7"), 4004),
            (ServiceError(ErrorCode.FORBIDDEN, "no"), 4003),
            (ServiceError(ErrorCode.SESSION_BUSY, "full"), 4008),
            (CloseSocket(4004, "no microphone"), 4004),
        ):
            self.error = error
            (frame,) = self.got(self.open())
            self.assertEqual((0x88, code), (frame.first, frame.code))
        self.assertEqual(b"no microphone", frame.payload[2:])

    def test_session_of_another_account_is_closed_with_4003(self) -> None:
        self.gate.forbid = ServiceError(ErrorCode.FORBIDDEN, "not yours")
        (frame,) = self.got(self.open())
        self.assertEqual(4003, frame.code)
        self.assertEqual([], self.handlers)

    def test_bad_upgrade_input_is_an_http_answer(self) -> None:
        self.error = make_field_error("since", "must be an integer")
        self.assertEqual("since: must be an integer", self.refused(self.ask()).error[2])

    def test_fault_in_an_upgrade_is_an_http_answer(self) -> None:
        self.error = ZeroDivisionError()
        self.assertEqual(500, self.refused(self.ask()).status)
        self.flushLoggedErrors(ZeroDivisionError)

    def test_message_right_after_the_handshake_is_handled(self) -> None:
        connection = self.api.connect()
        connection.send(request_head("GET", "/ws/7", UPGRADE) + masked_frame(TEXT, b"early"))
        self.assertEqual([("opened",), ("text", "early")], self.handler.heard)

    def test_idle_socket_stays_open(self) -> None:
        connection = self.open()
        for _ in range(20):
            self.clock.advance(PING_SECONDS - PONG_SECONDS)
            connection.send(masked_frame(PONG))
            self.clock.advance(PONG_SECONDS)
            connection.send(masked_frame(PONG))
        self.assertTrue(self.socket.writable)


class MessageTests(SocketCase):
    """Messages both ways."""

    def test_received_messages_reach_the_handler(self) -> None:
        connection = self.open()
        connection.send(masked_frame(TEXT, "ü".encode()) + masked_frame(BINARY, b"\xff\0"))
        connection.send(
            masked_frame(TEXT, b"a", first=0) + masked_frame(PING, b"x") + masked_frame(0, b"b")
        )
        self.assertEqual(
            [("text", "ü"), ("binary", b"\xff\0"), ("text", "ab")], self.handler.heard[1:]
        )
        self.assertEqual([ClientFrame(0x8A, b"x")], self.got(connection))

    def test_sent_messages_are_framed(self) -> None:
        connection = self.open()
        self.socket.send_text("ü")
        self.socket.send_binary(b"\xff" * 200)
        self.socket.send(SocketMessage(b"y" * 70000))
        self.assertEqual(
            [
                ClientFrame(0x81, "ü".encode()),
                ClientFrame(0x82, b"\xff" * 200),
                ClientFrame(0x82, b"y" * 70000),
            ],
            self.got(connection),
        )

    def test_web_socket_bytes_are_counted(self) -> None:
        connection = self.open()
        traffic, message = self.sockets.traffic, masked_frame(TEXT, b"abc")
        before = traffic.sent, traffic.received
        connection.send(message)
        self.socket.send_text("four")
        self.assertEqual((before[0] + 2 + 4, before[1] + len(message)), astuple(traffic))

    def test_message_for_many_sockets_is_framed_once(self) -> None:
        connections = [self.open(**DEFLATE) for _ in range(3)]
        self.assertIn(b"permessage-deflate", self.handshake)
        message = SocketMessage(b"z" * 5000)
        for handler in self.handlers:
            assert handler.socket is not None
            handler.socket.send(message)
        (first,) = self.got(connections[0])
        self.assertEqual(0xC2, first.first)
        self.assertTrue(len(first.payload) < 100)
        self.assertEqual([[first]] * 3, [self.got(connection) for connection in connections])
        self.assertIs(message.encode_message(True), message.encode_message(True))

    def test_compressed_messages_are_received(self) -> None:
        connection = self.open(**DEFLATE)
        self.assertIn(b"client_no_context_takeover", self.handshake)
        for text in (b"hello " * 50, b"hello " * 51):
            packer = zlib.compressobj(wbits=-15)
            packed = (packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]
            connection.send(masked_frame(TEXT, packed, first=0xC0))
            self.assertEqual(("text", text.decode()), self.handler.heard[-1])

    def test_too_small_compression_window_is_not_accepted(self) -> None:
        self.open(**{"Sec-WebSocket-Extensions": "permessage-deflate; server_max_window_bits=10"})
        self.assertNotIn(b"permessage-deflate", self.handshake)

    def test_no_data_is_sent_after_the_close(self) -> None:
        connection = self.open()
        self.socket.close()
        connection.transport.clear()
        self.socket.send_text("late")
        self.socket.close()
        self.assertEqual(b"", connection.value())


class ClosingTests(SocketCase):
    """Every way a socket ends."""

    def end(self, connection: SiteConnection) -> None:
        connection.lose()
        self.assertEqual("closed", self.handler.heard[-1][0])
        self.assertEqual(0, self.sockets.socket_count)
        self.assertEqual(0, self.api.site.connection_count)
        self.clock.advance(0)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_handler_closes_the_socket(self) -> None:
        connection = self.open()
        connection.send(masked_frame(TEXT, b"close"))
        bye, close = self.got(connection)
        self.assertEqual((b"bye", 4009), (bye.payload, close.code))
        self.assertEqual(b"ended" * 24 + b"end", close.payload[2:])
        connection.send(masked_frame(CLOSE, struct.pack("!H", 4009)))
        self.assertTrue(connection.transport.disconnecting)
        self.end(connection)
        self.assertEqual(("closed", 4009), self.handler.heard[-1])

    def test_peer_closes_the_socket(self) -> None:
        connection = self.open()
        connection.send(masked_frame(CLOSE, struct.pack("!H", 1001)))
        self.assertEqual([0x88], [frame.first for frame in self.got(connection)])
        self.assertTrue(connection.transport.disconnecting)
        self.end(connection)
        self.assertEqual(("closed", 1001), self.handler.heard[-1])

    def test_close_without_a_code_is_accepted(self) -> None:
        connection = self.open()
        connection.send(masked_frame(CLOSE))
        self.end(connection)
        self.assertEqual(("closed", 1005), self.handler.heard[-1])

    def test_lost_connection_closes_with_1006(self) -> None:
        connection = self.open()
        self.end(connection)
        self.assertEqual([("opened",), ("closed", 1006)], self.handler.heard)
        self.assertEqual(("/ws/{id}", "GET", 101), self.told[-1][:3])

    def test_peer_that_does_not_answer_the_close_is_aborted(self) -> None:
        connection = self.open()
        self.socket.close(4010)
        self.clock.advance(CLOSE_SECONDS)
        self.assertTrue(connection.transport.aborted)
        self.end(connection)

    def test_peer_that_does_not_answer_the_ping_is_aborted(self) -> None:
        connection = self.open()
        self.clock.advance(PING_SECONDS)
        self.assertEqual([0x89], [frame.first for frame in self.got(connection)])
        self.clock.advance(PONG_SECONDS - 0.1)
        self.assertFalse(connection.transport.aborted)
        self.clock.advance(0.1)
        self.assertTrue(connection.transport.aborted)
        self.end(connection)

    def test_pings_are_repeated(self) -> None:
        connection = self.open()
        for count in range(1, 4):
            self.clock.advance(PING_SECONDS - (PONG_SECONDS if count > 1 else 0))
            self.assertEqual(count, len(self.got(connection)))
            connection.send(masked_frame(PONG))
            self.clock.advance(PONG_SECONDS)
        self.assertFalse(connection.transport.aborted)

    def test_too_large_message_is_closed_with_1009(self) -> None:
        connection = self.open()
        connection.send(masked_frame(BINARY, b"x" * MAX_MESSAGE))
        self.assertEqual(MAX_MESSAGE, len(self.handler.heard[-1][1]))  # type: ignore[arg-type]
        connection.send(masked_frame(BINARY, b"x" * (MAX_MESSAGE + 1)))
        self.clock.advance(0)
        (close,) = self.got(connection)
        self.assertEqual(1009, close.code)
        self.assertEqual(2, len(self.handler.heard))
        self.clock.advance(CLOSE_SECONDS)
        self.assertTrue(connection.transport.aborted)

    def test_too_large_fragmented_or_inflated_message_is_closed_with_1009(self) -> None:
        connection = self.open()
        connection.send(masked_frame(BINARY, b"x" * MAX_MESSAGE, first=0) + masked_frame(0, b"x"))
        self.clock.advance(0)
        self.assertEqual(1009, self.got(connection)[0].code)
        bomb = zlib.compressobj(wbits=-15)
        packed = (bomb.compress(b"x" * 50_000_000) + bomb.flush(zlib.Z_SYNC_FLUSH))[:-4]
        connection = self.open(**DEFLATE)
        connection.send(masked_frame(TEXT, packed, first=0xC0))
        self.assertEqual(1009, self.got(connection)[0].code)

    def test_endless_fragments_are_cut(self) -> None:
        """They are kept until the last one, however little is in them."""
        for content in (b"", b"x"):
            self.setUp()
            connection = self.open()
            connection.send(masked_frame(BINARY, content, first=0))
            for _ in range(MAX_PARTS - 2):
                connection.send(masked_frame(0, content, first=0))
            connection.send(masked_frame(0, content))
            self.clock.advance(0)
            self.assertEqual(content * MAX_PARTS, self.handler.heard[-1][1])
            connection.send(masked_frame(BINARY, content, first=0))
            for _ in range(3 * MAX_PARTS):
                connection.send(masked_frame(0, content, first=0))
            self.clock.advance(0)
            self.assertEqual([1009], [each.code for each in self.got(connection)])
            self.assertTrue(len(connection.channel._upgraded.message_data) <= MAX_PARTS)

    def test_broken_frames_close_with_their_code(self) -> None:
        for data, code in (
            (b"\x81\x01a", 1002),
            (masked_frame(3), 1002),
            (masked_frame(TEXT, b"\xff"), 1007),
            (masked_frame(TEXT, b"a", first=0xC0), 1002),
        ):
            connection = self.open()
            connection.send(data)
            self.assertEqual(code, self.got(connection)[0].code, data)

    def test_failing_handler_closes_with_an_error(self) -> None:
        connection = self.open()
        connection.send(masked_frame(TEXT, b"fail") + masked_frame(TEXT, b"more"))
        self.assertEqual(1011, self.got(connection)[0].code)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.assertEqual(("text", "fail"), self.handler.heard[-1])

    def test_shutdown_closes_every_socket_with_1001(self) -> None:
        first, second = self.open(), self.open()
        stopped = self.sockets.stopService()
        self.assertEqual(1001, self.got(first)[0].code)
        first.lose()
        self.assertNoResult(stopped)
        second.lose()
        self.successResultOf(stopped)
        self.successResultOf(WebSockets(self.clock).stopService())

    def test_signed_out_session_closes_its_sockets(self) -> None:
        connection = self.open()
        self.gate.identity = Identity(username="ann", admin=False, auth_session="s")
        other = self.open()
        self.sockets.drop_connections(lambda identity: identity.auth_session == "s")
        self.assertEqual([], self.got(connection))
        self.assertEqual(4003, self.got(other)[0].code)


class BackPressureTests(SocketCase):
    """A peer that reads slowly."""

    def setUp(self) -> None:
        super().setUp()
        self.connection = self.open()

    def test_handler_is_paused_and_resumed(self) -> None:
        self.assertEqual(0, self.socket.buffered)
        self.socket.send_binary(b"x" * 1000)
        self.connection.producer.pauseProducing()
        self.assertEqual(1000 + 4 + TRANSPORT_BUFFER, self.socket.buffered)
        self.socket.send_binary(b"y" * 100)
        self.assertEqual(1000 + 4 + TRANSPORT_BUFFER + 102, self.socket.buffered)
        self.assertEqual(1, len(self.got(self.connection)))
        self.connection.producer.resumeProducing()
        self.assertEqual(0, self.socket.buffered)
        self.assertEqual(2, len(self.got(self.connection)))
        self.assertEqual([("paused",), ("resumed",)], self.handler.heard[1:])

    def test_buffered_messages_keep_their_order_and_the_close_comes_last(self) -> None:
        self.connection.producer.pauseProducing()
        for number in range(3):
            self.socket.send_text(str(number))
        self.socket.close(4009)
        *texts, close = self.got(self.connection)
        self.assertEqual([b"0", b"1", b"2"], [frame.payload for frame in texts])
        self.assertEqual(4009, close.code)

    def test_handler_that_ignores_the_pause_is_cut(self) -> None:
        self.connection.producer.pauseProducing()
        big = SocketMessage(b"x" * (MAX_BUFFERED // 4))
        for _ in range(4):
            self.socket.send(big)
        self.assertFalse(self.connection.transport.aborted)
        self.socket.send_text("one more")
        self.assertTrue(self.connection.transport.aborted)
        self.assertEqual(0, self.socket.buffered - self.socket._unsent)

    def test_slow_link_that_drains_is_kept(self) -> None:
        """A buffer that drained between ping and pong is a sign of life."""
        self.connection.producer.pauseProducing()
        self.clock.advance(PING_SECONDS)
        self.connection.producer.resumeProducing()
        self.clock.advance(PONG_SECONDS)
        self.assertFalse(self.connection.transport.aborted)


class FrameTests(SynchronousTestCase):
    """L{SocketMessage} as a client reads it."""

    @given(st.binary(max_size=300) | st.text(max_size=300), st.integers(1, 400), st.booleans())
    def test_framed_message_round_trips(self, part: str | bytes, times: int, deflate: bool) -> None:
        payload = part * times
        (frame,) = read_frames(SocketMessage(payload).encode_message(deflate))
        content = frame.payload
        if frame.first & 0x40:
            assert not content.endswith(b"\0\0\xff\xff")
            content = zlib.decompressobj(-15).decompress(content + b"\0\0\xff\xff")
        raw = payload.encode() if isinstance(payload, str) else payload
        assert content == raw
        assert frame.first & 0x0F == (1 if isinstance(payload, str) else 2)
        assert not frame.first & 0x40 or (deflate and len(raw) >= DEFLATE_FROM)

    def test_small_messages_are_not_compressed(self) -> None:
        wire = SocketMessage(json.dumps({"t": "ack"})).encode_message(True)
        self.assertEqual(0x81, wire[0])
