"""Real receivers on loopback: exact bytes, bad faith, and a service that is killed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import psutil
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from OpenSSL import SSL
from twisted.internet import reactor
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.interfaces import IOpenSSLContextFactory
from twisted.internet.task import deferLater
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.trial.unittest import SynchronousTestCase, TestCase
from zope.interface import implementer

from tests.held_port import HeldPort
from tests.integration.harness import PATIENCE, ROOT
from tests.integration.webhook_inbox import WebhookInbox
from tests.integration.webhook_receivers import MESSAGE, ReceiverFactory, answer_with, flood_with
from tests.waiting import wait_until
from tservice.core.net.outbound import OutboundClient
from tservice.notify.model import DeliveryResult, ReceiverKind, WebhookConfig
from tservice.notify.sender import WebhookSender

HEADS = {
    ReceiverKind.TOPIC: [
        b"Content-Type: text/plain; charset=utf-8",
        b"Priority: 5",
        b"Tags: rotating_light",
        b"Title: =?utf-8?B?ZGVzazogYsO8IDxhc2tzPg==?=",
    ],
    ReceiverKind.CHAT_A: [b"Content-Type: application/json"],
    ReceiverKind.CHAT_B: [b"Content-Type: application/json"],
    ReceiverKind.GENERIC: [b"Content-Type: application/json"],
}
LOOPBACK = IPv4Address("127.0.0.1")
"""Seconds by which a busy machine may be late: who knows no limit goes on for ever."""
BODIES = {
    ReceiverKind.TOPIC: "Tool: Bash",
    ReceiverKind.CHAT_A: '{"text":"desk: b\u00fc &lt;asks&gt;\\nTool: Bash"}',
    ReceiverKind.CHAT_B: '{"content":"desk: b\u00fc <asks>\\nTool: Bash",'
    '"allowed_mentions":{"parse":[]}}',
    ReceiverKind.GENERIC: '{"event":"permission_prompt","title":"b\u00fc <asks>",'
    '"body":"Tool: Bash",'
    '"urgency":"critical","sessionId":"s1","sessionName":"b\u00fc","host":"desk",'
    '"at":"2023-11-14T22:13:20.042Z"}',
}


class ReceiverCase(TestCase):
    timeout = 120

    async def listen(self, receiver: ReceiverFactory) -> int:
        endpoint = TCP4ServerEndpoint(reactor, 0, interface="127.0.0.1")
        self.port = await endpoint.listen(receiver)
        self.receiver = receiver
        address: Any = self.port.getHost()
        return int(address.port)

    async def attempt(
        self,
        receiver: ReceiverFactory,
        kind: ReceiverKind = ReceiverKind.GENERIC,
        scheme: str = "http",
    ) -> DeliveryResult:
        """One delivery; the receiver is closed after it."""
        port = await self.listen(receiver)
        loop: Any = reactor
        sender = WebhookSender(loop, OutboundClient(loop))
        webhook = WebhookConfig(kind=kind, url=f"{scheme}://127.0.0.1:{port}/hook/s3cr3t?x=1")
        try:
            return await sender.attempt_delivery(webhook, MESSAGE)
        finally:
            for peer in receiver.connections:
                transport: Any = peer.transport
                transport.abortConnection()
            await self.port.stopListening()
            await deferLater(loop, 0.02)


class BytesTests(ReceiverCase):
    async def test_every_receiver_kind_gets_its_exact_bytes(self) -> None:
        for kind in ReceiverKind:
            receiver = ReceiverFactory(
                answer_with(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            )
            result = await self.attempt(receiver, kind)
            self.assertEqual((True, 200, None), (result.ok, result.status, result.error))
            head, _, body = receiver.received.partition(b"\r\n\r\n")
            request, *headers = head.split(b"\r\n")
            host = next(line for line in headers if line.startswith(b"Host: 127.0.0.1:"))
            self.assertEqual(b"POST /hook/s3cr3t?x=1 HTTP/1.1", request)
            length = f"Content-Length: {len(BODIES[kind].encode())}".encode()
            expected = [host, length, b"Connection: close", b"User-Agent: tservice", *HEADS[kind]]
            self.assertEqual(sorted(expected), sorted(headers))
            self.assertEqual(BODIES[kind].encode(), body)


class BadFaithTests(ReceiverCase):
    """Five seconds and a bounded memory at most, whatever the receiver does."""

    async def test_failed_answers_of_a_receiver_are_named(self) -> None:
        for answer, error in (
            (b"HTTP/1.1 500 No\r\n\r\n", "HTTP 500"),
            (b"HTTP/1.1 307 Go\r\nLocation: http://169.254.169.254/\r\n\r\n", "The URL redirects"),
            (b"SSH-2.0-x\r\n", "Network error"),
        ):
            self.assertEqual(
                error, (await self.attempt(ReceiverFactory(answer_with(answer)))).error
            )

    async def test_receiver_that_hangs_up_is_a_network_error(self) -> None:
        receiver = ReceiverFactory(lambda transport: transport.abortConnection())
        self.assertEqual("Network error", (await self.attempt(receiver)).error)

    async def test_closed_port_is_connection_refused(self) -> None:
        held = HeldPort()
        self.addCleanup(held.close)
        loop: Any = reactor
        webhook = WebhookConfig(url=f"http://127.0.0.1:{held.number}/")
        result = await WebhookSender(loop, OutboundClient(loop)).attempt_delivery(webhook, MESSAGE)
        self.assertEqual("Connection refused", result.error)

    async def test_silent_receiver_times_out(self) -> None:
        result = await self.attempt(ReceiverFactory(answer_with(b"")))
        self.assertEqual("Timed out", result.error)

    async def test_endless_response_headers_are_bounded(self) -> None:
        memory = psutil.Process().memory_info().rss
        for piece in (b"X-A: " + b"a" * 8000 + b"\r\n", b"HTTP/1.1 100 Go\r\n\r\n" * 500):
            receiver = ReceiverFactory(answer_with(b""), flood_with(b"HTTP/1.1 200 OK\r\n", piece))
            result = await self.attempt(receiver)
            self.assertFalse(result.ok)
            self.assertLess(psutil.Process().memory_info().rss - memory, 32 * 1024 * 1024)

    async def test_huge_webhook_answer_is_not_read(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
        result = await self.attempt(ReceiverFactory(flood_with(head, b"a" * 65536)))
        self.assertEqual((True, 200), (result.ok, result.status))

    async def test_https_to_a_plain_receiver_is_a_network_error(self) -> None:
        receiver = ReceiverFactory(answer_with(b"HTTP/1.1 400 No\r\n\r\n"))
        result = await self.attempt(receiver, scheme="https")
        self.assertEqual("Network error", result.error)

    async def test_stalled_tls_handshake_times_out(self) -> None:
        result = await self.attempt(ReceiverFactory(answer_with(b"")), scheme="https")
        self.assertEqual("Timed out", result.error)

    async def test_unknown_certificate_is_a_network_error(self) -> None:
        receiver = ReceiverFactory(answer_with(b"HTTP/1.1 200 OK\r\n\r\n"))
        result = await self.attempt(_over_tls(receiver), scheme="https")
        self.assertEqual("Network error", result.error)
        self.assertEqual(b"", receiver.received)


@implementer(IOpenSSLContextFactory)
class _FinishedContext:
    """A finished context."""

    def __init__(self, context: SSL.Context) -> None:
        self._context = context

    def getContext(self) -> SSL.Context:
        return self._context


def _over_tls(receiver: ReceiverFactory) -> Any:
    """C{receiver} behind a certificate that it made itself."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(LOOPBACK)]), False)
        .sign(key, SHA256())
    )
    context = SSL.Context(SSL.TLS_METHOD)
    context.use_certificate(certificate)
    context.use_privatekey(key)
    factory: Any = TLSMemoryBIOFactory(_FinishedContext(context), False, receiver)
    factory.noisy = False
    factory.connections = receiver.connections
    return factory


class WebhookKillTests(SynchronousTestCase):
    """Nothing that was published is lost to a kill; what was accepted does not come again."""

    def setUp(self) -> None:
        self.inbox = WebhookInbox()
        self.addCleanup(self.inbox.close)
        self.folder = Path("data").absolute()
        self.folder.mkdir()
        config = {"enabled": True, "kind": "generic", "scope": "all", "url": self.inbox.url}
        file = self.folder / "webhook.json"
        file.touch(0o600)
        file.write_text(json.dumps(config))

    def start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.webhook_process", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.addCleanup(self.kill, process)
        return process

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def owed(self) -> int:
        """How many messages are kept to be sent, again or for the first time."""
        with closing(sqlite3.connect(self.folder / "state.db", timeout=PATIENCE)) as database:
            return int(database.execute("SELECT count(*) FROM webhook_outbox").fetchone()[0])

    def tell(self, process: subprocess.Popen[str], *sessions: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{name}\n" for name in sessions))
        process.stdin.flush()
        for name in sessions:
            self.assertEqual(f"told {name}\n", process.stdout.readline())

    def test_webhook_retry_due_at_a_kill_is_sent_after_the_restart(self) -> None:
        names = [f"s{number}" for number in range(20)]
        first = self.start()
        self.tell(first, *names)
        self.kill(first)
        self.inbox.status = 200
        self.inbox.wait(lambda _: True)
        before = len(self.inbox.sessions)
        second = self.start()
        came = self.inbox.wait(lambda sessions: set(names) <= set(sessions[before:]))
        self.assertEqual(sorted(names), sorted(set(came[before:])))
        # What came is noted before it is answered, and an answer before it is heard.
        wait_until("every answer was heard", lambda: not self.owed())
        self.tell(second, "last")
        self.inbox.wait(lambda sessions: "last" in sessions)
        self.kill(second)
        third = self.start()
        self.tell(third, "marker")
        after = self.inbox.wait(lambda sessions: "marker" in sessions)
        # Whatever was answered before "last" was told is not told again.
        again = after[after.index("last") + 1 :]
        self.assertLessEqual(set(again), {"last", "marker"})
        self.assertLess(len(again), 3)
