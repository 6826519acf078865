"""The line to a speech service, over loopback: what is sent, and to whom nothing is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from autobahn.twisted.websocket import WebSocketServerFactory, WebSocketServerProtocol
from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.ssl import Certificate, DefaultOpenSSLContextFactory
from twisted.trial.unittest import TestCase
from twisted.web.client import BrowserLikePolicyForHTTPS

from tests.integration.certificates import make_certificate
from tservice.core.net.egress import EgressRefused
from tservice.voice.upstream import UpstreamConnection, UpstreamConnectRequest
from tservice.voice.upstream_connector import UpstreamConnector
from tservice.voice.upstream_protocol import HEAD_BYTES, MESSAGE_BYTES, MESSAGE_PARTS

BEARER = {"Authorization": "Bearer sk-1"}


class RecordingUpstreamListener:
    """Notes what becomes of a line.

    @ivar opened: fires with it, or with a failure when it never opens.
    @ivar over: fires with whether it ended well.
    """

    def __init__(self) -> None:
        self.opened: Deferred[UpstreamConnection] = Deferred()
        self.over: Deferred[bool] = Deferred()
        self.filled: Deferred[None] = Deferred()
        self.said: list[bytes] = []
        self.heard: Deferred[None] = Deferred()

    def connection_opened(self, line: UpstreamConnection) -> None:
        self.opened.callback(line)

    def message_received(self, message: bytes) -> None:
        self.said.append(message)
        self.heard.callback(None)

    def buffer_filled(self) -> None:
        self.filled.callback(None)

    def buffer_drained(self) -> None:
        """Not looked at."""

    def connection_ended(self, clean: bool) -> None:
        self.over.callback(clean)


class ObservedConnection:
    """A connection that its test can see the end of."""

    factory: Any
    transport: Any

    def connectionMade(self) -> None:
        self.gone: Deferred[None] = Deferred()
        self.factory.lines.append(self)
        super().connectionMade()  # type: ignore[misc]

    def connectionLost(self, reason: Any = None) -> None:
        super().connectionLost(reason)  # type: ignore[misc]
        self.gone.callback(None)

    def end(self) -> Deferred[None]:
        self.transport.resumeProducing()
        self.transport.abortConnection()
        return self.gone


class SpeechServer(ObservedConnection, WebSocketServerProtocol):  # type: ignore[misc]
    """A speech service."""

    def onConnect(self, request: Any) -> None:
        self.factory.asked.append(request)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        self.factory.got.append((isBinary, payload))
        if payload.startswith(b"end"):
            self.sendClose(int(payload[3:] or b"1000"))
        else:
            self.sendMessage(self.factory.answer, isBinary=False)


class RawSpeechServer(ObservedConnection, Protocol):
    """Answers what comes with what its factory says."""

    def dataReceived(self, data: bytes) -> None:
        self.factory.got.append(data)
        transport: Any = self.transport
        transport.write(self.factory.answer)


class UpstreamCase(TestCase):
    """A speech service on a port of its own."""

    def speech(self) -> Any:
        factory: Any = WebSocketServerFactory()
        factory.protocol = SpeechServer
        factory.setProtocolOptions(openHandshakeTimeout=0, closeHandshakeTimeout=0)
        return factory

    def listen(self, factory: Any, tls: Any = None) -> int:
        factory.asked, factory.got, factory.lines = [], [], []
        factory.answer = getattr(factory, "answer", b"hi")
        factory.noisy = False
        at: Any = reactor
        port = (
            at.listenTCP(0, factory, interface="127.0.0.1")
            if tls is None
            else at.listenSSL(0, factory, tls, interface="127.0.0.1")
        )
        self.addCleanup(port.stopListening)
        self.addCleanup(lambda: gatherResults([each.end() for each in factory.lines]))
        found: int = port.getHost().port
        return found

    def open(self, url: str, ear: RecordingUpstreamListener, tls: Any = None) -> Deferred[Any]:
        asked = UpstreamConnectRequest(url=url, query="language=de", headers=BEARER)
        made = UpstreamConnector(reactor, tls=tls).connect(asked, ear)

        def made_it(line: Any) -> Any:
            self.addCleanup(lambda: None if ear.over.called else self.ended(line, ear))
            return line

        return made.addCallback(made_it)

    def ended(self, line: Any, ear: RecordingUpstreamListener) -> Deferred[bool]:
        line.abort_connection()
        return ear.over


class UpstreamConnectionTests(UpstreamCase):
    """Without TLS, as to a speech service on this machine."""

    async def test_query_headers_audio_and_text_pass_the_connection(self) -> None:
        factory, ear = self.speech(), RecordingUpstreamListener()
        port = self.listen(factory)
        await self.open(f"ws://127.0.0.1:{port}/listen?tier=1", ear)
        line = await ear.opened
        line.send_audio(b"\1\2")
        await ear.heard
        self.assertEqual([b"hi"], ear.said)
        line.send_text("end")
        self.assertTrue(await ear.over)
        self.assertEqual([(True, b"\1\2"), (False, b"end")], factory.got)
        (asked,) = factory.asked
        self.assertEqual("Bearer sk-1", asked.headers["authorization"])
        self.assertEqual(
            ("/listen", {"tier": ["1"], "language": ["de"]}), (asked.path, asked.params)
        )
        self.assertNotIn("origin", asked.headers)

    async def test_close_for_a_reason_is_not_a_clean_end(self) -> None:
        factory, ear = self.speech(), RecordingUpstreamListener()
        await self.open(f"ws://127.0.0.1:{self.listen(factory)}", ear)
        (await ear.opened).send_text("end3000")
        self.assertFalse(await ear.over)

    async def test_oversized_message_ends_the_connection(self) -> None:
        factory, ear = self.speech(), RecordingUpstreamListener()
        factory.answer = b"x" * (MESSAGE_BYTES + 1)
        await self.open(f"ws://127.0.0.1:{self.listen(factory)}", ear)
        (await ear.opened).send_text("more")
        self.assertFalse(await ear.over)
        self.assertEqual([], ear.said)

    async def test_endless_message_fragments_end_the_connection(self) -> None:
        """Empty ones add no bytes, and each was kept."""
        factory, ear = self.speech(), RecordingUpstreamListener()
        await self.open(f"ws://127.0.0.1:{self.listen(factory)}", ear)
        await ear.opened
        (server,) = factory.lines
        server.beginMessage()
        for _ in range(MESSAGE_PARTS + 1):
            server.sendMessageFrame(b"")
        self.assertFalse(await ear.over)

    async def refused(self, answer: bytes) -> Any:
        factory, ear = Factory.forProtocol(RawSpeechServer), RecordingUpstreamListener()
        factory.answer = answer  # type: ignore[attr-defined]
        await self.open(f"ws://127.0.0.1:{self.listen(factory)}", ear)
        self.assertFalse(await ear.over)
        self.assertFalse(ear.opened.called)
        return factory

    async def test_answer_without_websocket_is_refused(self) -> None:
        await self.refused(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")

    async def test_redirects_are_not_followed(self) -> None:
        elsewhere = self.speech()
        port = self.listen(elsewhere)
        target = f"Location: ws://127.0.0.1:{port}/\r\n".encode()
        await self.refused(b"HTTP/1.1 302 Found\r\n" + target + b"Content-Length: 0\r\n\r\n")
        self.assertEqual([], elsewhere.asked)

    async def test_endless_response_header_is_refused(self) -> None:
        await self.refused(b"HTTP/1.1 101 Yes\r\nA: " + b"x" * (HEAD_BYTES + 1))

    async def test_addresses_against_the_rules_are_refused(self) -> None:
        """On its face, and by what it resolves to, which the guard's own tests go through."""
        for url in ("ws://169.254.169.254/", "wss://metadata.google.internal/"):
            self.assertRaises(EgressRefused, self.open, url, RecordingUpstreamListener())

    async def test_upstream_that_stops_reading_is_reported_as_full(self) -> None:
        """So nothing but what the transport holds at that moment waits in memory."""
        factory, ear = self.speech(), RecordingUpstreamListener()
        await self.open(f"ws://127.0.0.1:{self.listen(factory)}", ear)
        line: Any = await ear.opened
        factory.lines[0].transport.pauseProducing()
        handed = 0
        while not ear.filled.called:
            line.send_audio(b"x" * 65536)
            handed += 65536
            turn: Deferred[None] = Deferred()
            reactor.callLater(0, turn.callback, None)
            await turn
        held = len(line.transport.dataBuffer) + line.transport._tempDataLen
        self.assertLess(held, 3 * 65536)


class UpstreamTlsTests(UpstreamCase):
    """A certificate of one's own, for 127.0.0.1."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        key, self.certificate = Path(folder.name) / "key", Path(folder.name) / "certificate"
        make_certificate(key, self.certificate)
        self.tls = DefaultOpenSSLContextFactory(str(key), str(self.certificate))

    def trusting(self) -> Any:
        root = Certificate.loadPEM(self.certificate.read_bytes())
        return BrowserLikePolicyForHTTPS(trustRoot=root)

    async def lost(self, url: str, ear: RecordingUpstreamListener, tls: Any) -> None:
        await self.open(url, ear, tls)
        self.assertFalse(await ear.over)
        self.assertFalse(ear.opened.called)

    async def test_trusted_certificate_is_accepted(self) -> None:
        factory, ear = self.speech(), RecordingUpstreamListener()
        port = self.listen(factory, self.tls)
        await self.open(f"wss://127.0.0.1:{port}/", ear, self.trusting())
        line = await ear.opened
        line.send_text("end")
        self.assertTrue(await ear.over)
        self.assertEqual("Bearer sk-1", factory.asked[0].headers["authorization"])

    async def test_untrusted_certificate_is_refused(self) -> None:
        factory, ear = self.speech(), RecordingUpstreamListener()
        port = self.listen(factory, self.tls)
        await self.lost(f"wss://127.0.0.1:{port}/", ear, None)
        self.assertEqual([], factory.asked, "no secret was sent")

    async def test_certificate_for_another_name_is_refused(self) -> None:
        """It is trusted, and for 127.0.0.1 alone."""
        factory, ear = self.speech(), RecordingUpstreamListener()
        port = self.listen(factory, self.tls)
        await self.lost(f"wss://localhost:{port}/", ear, self.trusting())
        self.assertEqual([], factory.asked, "no secret was sent")
