"""The site on real loopback TCP: large and slow bodies, WebSockets, many at once.

Real I/O, so the real reactor; nothing here waits for time to pass.
"""

from __future__ import annotations

from typing import Any

from autobahn.twisted.websocket import WebSocketClientFactory, WebSocketClientProtocol
from autobahn.websocket.compress import (
    PerMessageDeflateOffer,
    PerMessageDeflateResponseAccept,
)
from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP4ServerEndpoint
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.trial.unittest import TestCase
from zope.interface import implementer

from tests.non_empty import require_items
from tests.unit.http.sample_operations import SampleHandlers, sample_operation
from tests.unit.http.site_driver import ApiHarness, UpgradeGate, parse_http_answer, request_head
from tests.unit.http.websockets.ws_frames import PING, TEXT, UPGRADE, masked_frame, read_frames
from tservice.http.operations import JSON_BODY_LIMIT, OperationCall, ResponseStyle
from tservice.http.websockets.connection import MAX_MESSAGE
from tservice.http.websockets.frames import SocketMessage
from tservice.http.websockets.interface import ISocket, ISocketHandler
from tservice.http.websockets.upgrade import CloseSocket, WebSockets

SNAPSHOT = "line of a terminal\r\n" * 100_000


@implementer(ISocketHandler)
class EchoHandler:
    """Sends everything back; a few words do more."""

    socket: ISocket

    def socket_opened(self, socket: ISocket) -> None:
        self.socket = socket

    def text_received(self, data: str) -> None:
        if data == "end":
            self.socket.close(4009, "session ended")
        elif data == "snapshot":
            self.socket.send(SocketMessage(SNAPSHOT))
            self.socket.send_text("done")
        else:
            self.socket.send_text(data)

    def binary_received(self, data: bytes) -> None:
        self.socket.send_binary(data)

    def sending_paused(self) -> None:
        """An echo is as fast as its peer."""

    def sending_resumed(self) -> None:
        """An echo is as fast as its peer."""

    def socket_closed(self, code: int) -> None:
        """Nothing to let go of."""


class RawTcpClient(Protocol):
    """Collects bytes until the connection ends."""

    def __init__(self) -> None:
        self.data = b""
        self.over: Deferred[bytes] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        self.data += data

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.over.callback(self.data)


class WebSocketTestClient(WebSocketClientProtocol):
    """Says what it is told to, and collects the answers."""

    def onOpen(self) -> None:
        for message in self.factory.script:
            self.sendMessage(
                message.encode() if isinstance(message, str) else message,
                isinstance(message, bytes),
            )

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        self.factory.heard.append(payload if isBinary else payload.decode())

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        self.factory.over.callback((self.factory.heard, code, reason))


class TCPTests(TestCase):
    """A site on a port that the kernel chose."""

    timeout = 120

    async def setUp(self) -> None:  # type: ignore[override]
        self.sockets = WebSockets(reactor)
        table = [
            *SampleHandlers().table(),
            sample_operation("GET", "/ws/echo", self.echo, style=ResponseStyle.WEBSOCKET),
            sample_operation("GET", "/ws/none", self.none, style=ResponseStyle.WEBSOCKET),
        ]
        self.api = ApiHarness(table, UpgradeGate(), None, self.sockets, clock=reactor)
        endpoint = TCP4ServerEndpoint(reactor, 0, interface="127.0.0.1")
        self.port: Any = await endpoint.listen(self.api.site)
        self.number = self.port.getHost().port
        self.addCleanup(self.port.stopListening)

    async def echo(self, call: OperationCall) -> object:
        return EchoHandler()

    async def none(self, call: OperationCall) -> object:
        raise CloseSocket(4004, "no such session")

    async def dial(self, protocol: Any) -> Any:
        endpoint = TCP4ClientEndpoint(reactor, "127.0.0.1", self.number)
        return await endpoint.connect(Factory.forProtocol(lambda: protocol))

    async def ask(self, *pieces: bytes) -> bytes:
        """Send C{pieces} on a connection of their own; everything until its end."""
        raw = await self.dial(RawTcpClient())
        for piece in pieces:
            raw.transport.write(piece)
        found: bytes = await raw.over
        return found

    async def talk(
        self, path: str, *script: str | bytes, deflate: bool = False
    ) -> tuple[list[str | bytes], int | None, str | None]:
        factory: Any = WebSocketClientFactory(f"ws://127.0.0.1:{self.number}{path}")
        factory.protocol = WebSocketTestClient
        factory.script, factory.heard, factory.over = script, [], Deferred()
        # Autobahn's own timers would outlive the test.
        factory.setProtocolOptions(
            openHandshakeTimeout=0, closeHandshakeTimeout=0, serverConnectionDropTimeout=0
        )
        if deflate:
            factory.setProtocolOptions(
                perMessageCompressionOffers=[PerMessageDeflateOffer()],
                perMessageCompressionAccept=PerMessageDeflateResponseAccept,
            )
        await TCP4ClientEndpoint(reactor, "127.0.0.1", self.number).connect(factory)
        heard, code, reason = await factory.over
        return heard, code, reason

    async def test_refused_body_is_answered_while_the_client_keeps_writing(self) -> None:
        """The client sees the 413, not a reset, with megabytes still on their way."""
        size = 8 * JSON_BODY_LIMIT
        raw = await self.dial(RawTcpClient())
        raw.transport.write(request_head("POST", "/api/size", {"Content-Length": str(size)}))
        for _ in range(size // 65536):
            raw.transport.write(b" " * 65536)
        raw.transport.loseWriteConnection()
        answer = parse_http_answer(await raw.over)
        self.assertEqual(413, answer.status)
        self.assertEqual(0, self.api.site._held)

    async def test_chunked_body_is_refused_at_its_bound(self) -> None:
        raw = await self.dial(RawTcpClient())
        raw.transport.write(request_head("POST", "/api/size", {"Transfer-Encoding": "chunked"}))
        for _ in range(40):
            raw.transport.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        raw.transport.loseWriteConnection()
        self.assertEqual(413, parse_http_answer(await raw.over).status)

    async def test_body_sent_byte_by_byte_is_accepted(self) -> None:
        body = b'{"cols": 5}'
        headers = {"Content-Length": str(len(body)), "Connection": "close"}
        pieces = [request_head("POST", "/api/size", headers), *(bytes([byte]) for byte in body)]
        self.assertEqual({"seenCols": 5}, parse_http_answer(await self.ask(*pieces)).data)

    async def test_pipelined_requests_are_answered_in_order(self) -> None:
        requests = b"".join(request_head("GET", f"/api/things/{n}", {}) for n in range(50))
        found = await self.ask(requests + request_head("GET", "/raw", {"Connection": "close"}))
        numbers = [part.split(b'"')[0] for part in found.split(b'"id":"')[1:]]
        self.assertEqual([b"%d" % n for n in range(50)], numbers)

    async def test_websocket_echoes_texts_and_bytes(self) -> None:
        for deflate in (False, True):
            heard, code, reason = await self.talk(
                "/ws/echo", "ü", b"\xff\x00", "x" * 100_000, "end", deflate=deflate
            )
            self.assertEqual(["ü", b"\xff\x00", "x" * 100_000], heard)
            self.assertEqual((4009, "session ended"), (code, reason))

    async def test_websocket_sends_a_snapshot_of_megabytes(self) -> None:
        for deflate in (False, True):
            heard, _, _ = await self.talk("/ws/echo", "snapshot", "end", deflate=deflate)
            self.assertEqual([SNAPSHOT, "done"], heard)

    async def test_websocket_close_codes_arrive(self) -> None:
        self.assertEqual(([], 4004, "no such session"), await self.talk("/ws/none"))
        _, code, _ = await self.talk("/ws/echo", "x" * (MAX_MESSAGE + 1))
        self.assertEqual(1009, code)

    async def test_websocket_close_arrives_while_the_client_keeps_writing(self) -> None:
        """It sees the code, not a reset, with megabytes still on their way."""
        for path, fault, code in (
            ("/ws/none", b"", 4004),
            ("/ws/echo", masked_frame(TEXT, b"\xff"), 1007),
            ("/ws/echo", masked_frame(TEXT, b"x", first=0) + masked_frame(TEXT, b"x"), 1002),
        ):
            raw = await self.dial(RawTcpClient())
            raw.transport.write(request_head("GET", path, UPGRADE) + fault)
            for _ in range(80):
                raw.transport.write(masked_frame(PING) * 16384)
            raw.transport.loseWriteConnection()
            _, _, sent = (await raw.over).partition(b"\r\n\r\n")
            self.assertEqual(
                [(0x88, code)], [(each.first, each.code) for each in read_frames(sent)]
            )

    async def test_shutdown_closes_websockets_with_1001(self) -> None:
        talks = [Deferred.fromCoroutine(self.talk("/ws/echo", "hello")) for _ in range(5)]
        while self.sockets.socket_count < 5:
            await turn()
        await self.sockets.stopService()
        for _, code, _ in require_items(await gatherResults(talks)):
            self.assertEqual(1001, code)

    async def test_lost_connection_leaves_nothing(self) -> None:
        raw = await self.dial(RawTcpClient())
        raw.transport.write(request_head("GET", "/api/park", {}))
        while self.api.site.connection_count < 1:
            await turn()
        raw.transport.abortConnection()
        await raw.over
        while self.api.site.connection_count:
            await turn()


def turn() -> Deferred[None]:
    """One turn of the reactor."""
    done: Deferred[None] = Deferred()
    reactor.callLater(0, done.callback, None)
    return done
