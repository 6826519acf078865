"""A site with one WebSocket, and a handler that notes what it hears."""

from __future__ import annotations

from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ApiHarness, SiteConnection, UpgradeGate, request_head
from tests.unit.http.websockets.ws_frames import UPGRADE, ClientFrame, read_frames
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle
from tservice.http.websockets.interface import ISocket, ISocketHandler
from tservice.http.websockets.upgrade import WebSockets

DEFLATE = {"Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits"}


@implementer(ISocketHandler)
class RecordingSocketHandler:
    """Notes what it hears; echoes; fails when told to."""

    def __init__(self) -> None:
        self.heard: list[tuple[object, ...]] = []
        self.socket: ISocket | None = None

    def socket_opened(self, socket: ISocket) -> None:
        self.socket = socket
        self.heard.append(("opened",))

    def text_received(self, data: str) -> None:
        self.heard.append(("text", data))
        if data == "fail":
            raise ZeroDivisionError
        if data == "close":
            assert self.socket is not None
            self.socket.send_text("bye")
            self.socket.close(4009, "ended" * 40)

    def binary_received(self, data: bytes) -> None:
        self.heard.append(("binary", data))

    def sending_paused(self) -> None:
        self.heard.append(("paused",))

    def sending_resumed(self) -> None:
        self.heard.append(("resumed",))

    def socket_closed(self, code: int) -> None:
        self.heard.append(("closed", code))


class SocketCase(SynchronousTestCase):
    """A site with one socket operation."""

    def setUp(self) -> None:
        self.handlers: list[RecordingSocketHandler] = []
        self.error: Exception | None = None
        self.gate = UpgradeGate()
        self.clock = Clock()
        self.sockets = WebSockets(self.clock)
        self.told: list[tuple[object, ...]] = []
        table = [
            sample_operation(
                "GET",
                "/ws/{id}",
                self.handle,
                style=ResponseStyle.WEBSOCKET,
                access=AccessRule.USER,
            )
        ]
        self.api = ApiHarness(
            table,
            gate=self.gate,
            sockets=self.sockets,
            clock=self.clock,
            on_response=lambda *args: self.told.append(args),
        )
        self.addCleanup(self.api.close)

    async def handle(self, call: OperationCall) -> object:
        if self.error is not None:
            raise self.error
        self.handlers.append(RecordingSocketHandler())
        return self.handlers[-1]

    def ask(self, **headers: str) -> SiteConnection:
        connection = self.api.connect()
        connection.send(request_head("GET", "/ws/7", {**UPGRADE, **headers}))
        return connection

    def open(self, **headers: str) -> SiteConnection:
        connection = self.ask(**headers)
        self.handshake, rest = connection.value().split(b"\r\n\r\n", 1)
        self.assertTrue(self.handshake.startswith(b"HTTP/1.1 101 "), self.handshake)
        connection.transport.clear()
        connection.transport.write(rest)
        return connection

    @property
    def handler(self) -> RecordingSocketHandler:
        return self.handlers[-1]

    @property
    def socket(self) -> Any:
        return self.handler.socket

    def got(self, connection: SiteConnection) -> list[ClientFrame]:
        return list(read_frames(connection.value()))
