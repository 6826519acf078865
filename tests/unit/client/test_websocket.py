"""Tests for L{tservice.client.link.websocket}, against frames of the service's own making."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase
from websockets.frames import Opcode
from websockets.utils import accept_key

from tests.examples import example_count
from tests.waiting import PATIENCE
from tservice.client.errors import ApiError
from tservice.client.link import websocket
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import BOUND, ResponseLost
from tservice.client.link.websocket import BINARY, CLOSE, ReceivedMessage, WebSocket
from tservice.http.websockets.frames import encode_server_frame

FIN = 0x80
ACCEPTED = (
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: {accept}\r\n\r\n"
)


class WebSocketCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.request = ""
        self.patch(websocket, "open_socket", lambda address, patience: self.ours)

    def open(self, answer: str = ACCEPTED, early: bytes = b"", end: bool = False) -> WebSocket:
        """Open one while a thread plays the service's part of the handshake."""
        self.ours, self.peer = socket.socketpair()
        for each in (self.ours, self.peer):
            self.addCleanup(each.close)
            each.settimeout(PATIENCE)

        def accept() -> None:
            self.request = self.peer.recv(65536).decode()
            found = re.search(r"Sec-WebSocket-Key: (\S+)", self.request)
            accept = accept_key(found[1]) if found else ""
            self.peer.sendall(answer.replace("{accept}", accept).encode() + early)
            if end:
                self.peer.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            address = ServiceAddress("h", 8770, base="/below", authorization="Bearer abc")
            return WebSocket(address, "/ws?a=b", 1.0)
        finally:
            thread.join(PATIENCE)

    def receive(self, opened: WebSocket, *pieces: bytes) -> list[ReceivedMessage]:
        found: list[ReceivedMessage] = []
        for piece in pieces:
            self.peer.sendall(piece)
            found += opened.receive_messages()
        return found


class HandshakeTests(WebSocketCase):
    def test_request_names_path_host_and_credentials(self) -> None:
        self.open()
        first, *lines = self.request.split("\r\n")
        self.assertEqual("GET /below/ws?a=b HTTP/1.1", first)
        for line in ("Host: h:8770", "Authorization: Bearer abc", "Upgrade: websocket"):
            self.assertIn(line, lines)

    def test_frames_that_come_with_the_response_are_kept(self) -> None:
        opened = self.open(early=encode_server_frame(FIN | BINARY, b"early"))
        self.assertTrue(opened.has_pending_data)
        self.assertEqual([ReceivedMessage(BINARY, b"early")], list(opened.receive_messages()))
        self.assertFalse(opened.has_pending_data)

    def test_refusal_is_the_error_of_the_envelope(self) -> None:
        body = json.dumps({"success": False, "errorCode": "NOT_FOUND", "error": "no session"})
        answer = f"HTTP/1.1 404 Not Found\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        error = self.assertRaises(ApiError, self.open, answer)
        self.assertEqual((404, "NOT_FOUND"), (error.status, error.code))

    def test_what_is_no_web_socket_is_lost(self) -> None:
        body = '{"success": true}'
        for answer in (
            f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}",
            ACCEPTED.replace("{accept}", "wrong"),
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 101 Switching Pro",
        ):
            self.assertRaises((ResponseLost, ApiError), self.open, answer, end=True)


class MessageTests(WebSocketCase):
    @settings(max_examples=example_count(30), deadline=None)
    @given(st.lists(st.binary(max_size=400), max_size=8), st.integers(1, 50))
    def test_messages_are_joined_at_any_cut(self, payloads: list[bytes], size: int) -> None:
        opened = self.open()
        whole = b"".join(encode_server_frame(FIN | BINARY, payload) for payload in payloads)
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        found = self.receive(opened, *pieces)
        self.assertEqual([ReceivedMessage(BINARY, one) for one in payloads], found)

    def test_fragments_with_a_ping_between_are_joined(self) -> None:
        opened = self.open()
        found = self.receive(
            opened,
            encode_server_frame(Opcode.TEXT, b"a") + encode_server_frame(FIN | Opcode.PING, b"p"),
            encode_server_frame(0, b"b") + encode_server_frame(FIN, b"c"),
            encode_server_frame(FIN | BINARY, b"d"),
        )
        self.assertEqual(
            [ReceivedMessage(Opcode.TEXT, b"abc"), ReceivedMessage(BINARY, b"d")], found
        )
        pong = self.peer.recv(100)
        self.assertEqual((FIN | Opcode.PONG, 0x80 | 1), (pong[0], pong[1]))

    def test_protocol_violations_end_the_connection(self) -> None:
        for data in (
            encode_server_frame(FIN | 0x40 | Opcode.TEXT, b"compressed"),
            encode_server_frame(FIN, b"no beginning"),
            encode_server_frame(Opcode.TEXT, b"a") + encode_server_frame(FIN | Opcode.TEXT, b"b"),
            encode_server_frame(Opcode.PING, b"in pieces"),
            struct.pack("!BB", FIN | BINARY, 0x80) + b"keyk",
            struct.pack("!BBQ", FIN | BINARY, 127, BOUND + 1),
        ):
            self.assertRaises(ResponseLost, self.receive, self.open(), data)

    def test_fragments_are_bounded_together(self) -> None:
        self.patch(websocket, "BOUND", 10)
        opened = self.open()
        self.receive(opened, encode_server_frame(BINARY, b"123456"))
        more = encode_server_frame(0, b"123456")
        self.assertRaises(ResponseLost, self.receive, opened, more)

    def test_close_is_answered_and_handed_on(self) -> None:
        opened = self.open()
        payload = struct.pack("!H", 4004) + b"gone"
        found = self.receive(opened, encode_server_frame(FIN | Opcode.CLOSE, payload))
        self.assertEqual([ReceivedMessage(CLOSE, payload)], found)
        self.assertEqual(FIN | Opcode.CLOSE, self.peer.recv(100)[0])
        self.assertRaises(ResponseLost, opened.send_text, "x")

    def test_cut_is_a_lost_connection(self) -> None:
        opened = self.open()
        self.peer.close()
        self.assertRaises(ResponseLost, list, opened.receive_messages())

    def test_text_that_does_not_fit_is_sent_later(self) -> None:
        opened = self.open()
        text = "x" * 4_000_000
        opened.send_text(text)
        self.assertTrue(opened.unsent)
        sent = 0
        while opened.unsent:
            sent += len(self.peer.recv(1 << 20))
            opened.flush()
        self.peer.setblocking(False)
        while sent < len(text) + 14:
            sent += len(self.peer.recv(1 << 20))
        self.assertEqual(len(text) + 14, sent)
