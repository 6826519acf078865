"""Requests that leave, against name servers and peers of bad faith; no real network."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionRefusedError
from twisted.internet.testing import MemoryReactorClock, StringTransport
from twisted.logger import ILogObserver, globalLogPublisher
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.core.net.resolvers import ScriptedResolver, connected_addresses
from tservice.core.net import outbound
from tservice.core.net.egress import GUARDED, PUBLIC_ONLY, EgressPolicy
from tservice.core.net.http_client import INTERIM
from tservice.core.net.outbound import (
    HEAD_LIMIT,
    OutboundClient,
    OutboundError,
    OutboundFault,
    OutboundRequest,
    OutboundResponse,
)

EVIL = "169.254.169.254"
PUBLIC = "93.184.216.34"


class AbortableTransport(StringTransport):
    """A connection that can be aborted, as a real one."""

    aborted = False

    def abortConnection(self) -> None:
        self.aborted = True
        super().abortConnection()


class OutboundCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.reactor: Any = MemoryReactorClock()

    def send(
        self,
        url: str,
        resolver: ScriptedResolver | None = None,
        policy: EgressPolicy = GUARDED,
        **fields: Any,
    ) -> Deferred[OutboundResponse]:
        outbound = OutboundClient(self.reactor, policy, resolver=resolver or ScriptedResolver())
        return Deferred.fromCoroutine(outbound.send(OutboundRequest(url=url, **fields)))

    def fault(self, sent: Deferred[OutboundResponse]) -> OutboundFault:
        failure: Failure = self.failureResultOf(sent, OutboundError)
        error = failure.value
        assert isinstance(error, OutboundError)
        self.assertEqual(error.fault.value, str(error))
        self.assertIsNone(error.__cause__)
        return error.fault

    def accept(self) -> tuple[Any, AbortableTransport]:
        """Complete the newest connection: its protocol and its wire."""
        factory = self.reactor.tcpClients[-1][2]
        protocol = factory.buildProtocol(None)
        wire = AbortableTransport()
        protocol.makeConnection(wire)
        return protocol, wire


class OutboundResolverTests(OutboundCase):
    """Whatever a name server answers, nothing refused is ever connected to."""

    def refused(self, *answers: list[str], url: str = "http://a.example/") -> None:
        resolver = ScriptedResolver({"a.example": answers})
        self.assertEqual(OutboundFault.REFUSED, self.fault(self.send(url, resolver)))
        self.assertEqual([], connected_addresses(self.reactor))

    def test_refused_address_is_not_connected(self) -> None:
        for address in (EVIL, "fe80::1%2", "::ffff:a9fe:a9fe", "0.0.0.0", "224.0.0.1"):
            self.refused([address])
            self.refused([address], url="https://a.example:8443/")

    def test_mixed_dns_answer_is_refused_whole(self) -> None:
        self.refused([PUBLIC, EVIL])
        self.refused([EVIL, PUBLIC])
        self.refused([PUBLIC, "2606:4700::1111", "64:ff9b::a9fe:a9fe"])

    def test_chain_of_names_is_followed(self) -> None:
        resolver = ScriptedResolver(
            {
                "a.example": [["cname:b.example"]],
                "b.example": [["cname:metadata.google.internal"]],
                "metadata.google.internal": [[EVIL]],
            }
        )
        self.assertEqual(
            OutboundFault.REFUSED, self.fault(self.send("http://a.example/", resolver))
        )
        self.assertEqual([], connected_addresses(self.reactor))

    def test_name_that_changes_to_link_local_is_refused(self) -> None:
        """The checked answer is the one connected to; the next request looks and is refused."""
        resolver = ScriptedResolver({"a.example": [[PUBLIC], [EVIL]]})
        sent = self.send("http://a.example/hook", resolver)
        self.assertEqual([(PUBLIC, 80)], connected_addresses(self.reactor))
        self.assertEqual(["a.example"], resolver.looked)
        self.assertEqual(
            OutboundFault.REFUSED, self.fault(self.send("http://a.example/hook", resolver))
        )
        self.assertEqual([(PUBLIC, 80)], connected_addresses(self.reactor))
        sent.cancel()
        self.failureResultOf(sent)

    def test_literal_address_needs_no_name_server(self) -> None:
        resolver = ScriptedResolver()
        for host in ("127.0.0.1", "2130706433", "[::1]"):
            sent = self.send(f"http://{host}:9/", resolver)
            sent.cancel()
            self.failureResultOf(sent)
        for host in (EVIL, "0xa9fea9fe", "[::ffff:169.254.169.254]", "metadata.google.internal"):
            self.assertEqual(
                OutboundFault.REFUSED, self.fault(self.send(f"http://{host}/", resolver))
            )
        self.assertEqual([], resolver.looked)
        self.assertEqual(
            [("127.0.0.1", 9), ("127.0.0.1", 9), ("::1", 9)], connected_addresses(self.reactor)
        )

    def test_strict_policy_refuses_private_addresses(self) -> None:
        for address in ("127.0.0.1", "10.1.2.3", "::1", "fd00::1"):
            resolver = ScriptedResolver({"a.example": [[address]]})
            sent = self.send("http://a.example/", resolver, PUBLIC_ONLY)
            self.assertEqual(OutboundFault.REFUSED, self.fault(sent))
        self.assertEqual([], connected_addresses(self.reactor))

    def test_name_without_an_answer_is_not_found(self) -> None:
        self.assertEqual(OutboundFault.NOT_FOUND, self.fault(self.send("http://a.example/")))

    def test_silent_name_server_times_out(self) -> None:
        resolver = ScriptedResolver()
        resolver.silent = True
        sent = self.send("http://a.example/", resolver)
        self.reactor.advance(4.9)
        self.assertNoResult(sent)
        self.reactor.advance(0.2)
        self.assertEqual(OutboundFault.TIMED_OUT, self.fault(sent))
        self.assertEqual([], self.reactor.getDelayedCalls())


class ExchangeTests(OutboundCase):
    """One request and its answer over a wire of memory."""

    def setUp(self) -> None:
        super().setUp()
        self.resolver = ScriptedResolver({"a.example": [[PUBLIC]]})

    def exchange(
        self, answer: bytes, **fields: Any
    ) -> tuple[Deferred[OutboundResponse], AbortableTransport]:
        sent = self.send("http://a.example:81/x?y=1", self.resolver, **fields)
        protocol, wire = self.accept()
        protocol.dataReceived(answer)
        return sent, wire

    def test_request_bytes_are_exact(self) -> None:
        sent, wire = self.exchange(
            b"", method="POST", headers={"Content-Type": "text/plain"}, body=b"hi"
        )
        head, _, body = wire.value().partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        self.assertEqual(b"POST /x?y=1 HTTP/1.1", lines[0])
        self.assertEqual(
            {b"Host: a.example:81", b"Connection: close", b"Content-Length: 2",
             b"Content-Type: text/plain"},
            set(lines[1:]),
        )  # fmt: skip
        self.assertEqual(b"hi", body)
        sent.cancel()
        self.failureResultOf(sent)
        self.assertTrue(wire.aborted)

    def test_header_is_enough_without_a_wanted_body(self) -> None:
        sent, wire = self.exchange(b"HTTP/1.1 201 Made\r\nX-A: b\r\n\r\nendless")
        reply = self.successResultOf(sent)
        self.assertEqual((201, "b", b""), (reply.status, reply.headers["x-a"], reply.body))
        self.assertTrue(wire.aborted)
        self.assertEqual([], self.reactor.getDelayedCalls())

    def test_redirect_is_an_answer(self) -> None:
        sent, _ = self.exchange(
            b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
        )
        self.assertTrue(self.successResultOf(sent).is_redirect)
        self.assertEqual([(PUBLIC, 81)], connected_addresses(self.reactor))

    def test_body_within_the_bound_is_read(self) -> None:
        sent, wire = self.exchange(
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", body_limit=4
        )
        self.assertEqual(b"body", self.successResultOf(sent).body)
        self.assertTrue(wire.aborted)

    def test_body_over_the_bound_is_refused(self) -> None:
        for head in (b"Content-Length: 5\r\n\r\nbody!", b"\r\nbody!"):
            sent, wire = self.exchange(b"HTTP/1.1 200 OK\r\n" + head, body_limit=4)
            self.assertEqual(OutboundFault.NETWORK, self.fault(sent))
            self.assertTrue(wire.aborted)

    def test_truncated_body_is_an_error(self) -> None:
        sent = self.send("http://a.example/", self.resolver, body_limit=10)
        protocol, _ = self.accept()
        protocol.dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        protocol.connectionLost(Failure(ConnectionRefusedError()))
        self.assertEqual(OutboundFault.NETWORK, self.fault(sent))

    def test_endless_header_is_refused(self) -> None:
        sent = self.send("http://a.example/", self.resolver)
        protocol, wire = self.accept()
        protocol.dataReceived(b"HTTP/1.1 200 OK\r\n")
        for _ in range(HEAD_LIMIT // 1000 + 1):
            protocol.dataReceived(b"X-A: " + b"a" * 993 + b"\r\n")
        self.assertTrue(wire.aborted)
        protocol.connectionLost(Failure(ConnectionRefusedError()))
        self.assertEqual(OutboundFault.NETWORK, self.fault(sent))

    def test_endless_interim_answers_are_refused(self) -> None:
        """Each is a line of the log."""
        lines: list[object] = []
        noted: ILogObserver = lines.append  # type: ignore[assignment]
        globalLogPublisher.addObserver(noted)
        self.addCleanup(globalLogPublisher.removeObserver, noted)
        sent = self.send("http://a.example/", self.resolver)
        protocol, wire = self.accept()
        protocol.dataReceived(b"HTTP/1.1 100 Continue\r\n\r\n" * (HEAD_LIMIT // 26))
        self.assertTrue(wire.aborted)
        self.assertLessEqual(len(lines), INTERIM + 2)
        self.reactor.advance(5)
        self.assertEqual(OutboundFault.TIMED_OUT, self.fault(sent))

    def test_body_in_tiny_chunks_is_collected_together(self) -> None:
        """A read is ten thousand of them: they are taken in together."""
        pieces: list[bytes] = []
        real = outbound._BodyCollector.dataReceived

        def counted(collector: object, data: bytes) -> None:
            pieces.append(data)
            real(collector, data)  # type: ignore[arg-type]

        self.patch(outbound._BodyCollector, "dataReceived", counted)
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        body = b"1\r\nx\r\n" * 10_000 + b"0\r\n\r\n"
        sent, _ = self.exchange(head + body, body_limit=10_000)
        self.assertEqual(b"x" * 10_000, self.successResultOf(sent).body)
        self.assertEqual(1, len(pieces))

    def test_silent_peer_times_out(self) -> None:
        sent, wire = self.exchange(b"HTTP/1.1 200")
        self.reactor.advance(5)
        self.assertEqual(OutboundFault.TIMED_OUT, self.fault(sent))
        self.assertTrue(wire.aborted)
        self.assertEqual([], self.reactor.getDelayedCalls())

    def test_slowly_sent_body_times_out(self) -> None:
        sent = self.send("http://a.example/", self.resolver, body_limit=1000)
        protocol, wire = self.accept()
        protocol.dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")
        for _ in range(5):
            protocol.dataReceived(b"x")
            self.reactor.advance(1)
        self.assertEqual(OutboundFault.TIMED_OUT, self.fault(sent))
        self.assertTrue(wire.aborted)

    def test_invalid_answer_is_an_error(self) -> None:
        sent, _ = self.exchange(b"SSH-2.0-OpenSSH_9.2\r\n")
        self.assertEqual(OutboundFault.NETWORK, self.fault(sent))

    def test_refused_connection_is_an_error(self) -> None:
        sent = self.send("http://a.example/", self.resolver)
        factory = self.reactor.tcpClients[-1][2]
        connector = self.reactor.connectors[-1]
        factory.clientConnectionFailed(connector, Failure(ConnectionRefusedError()))
        self.reactor.advance(1)
        self.assertEqual(OutboundFault.CONNECTION_REFUSED, self.fault(sent))
        self.assertEqual([], self.reactor.getDelayedCalls())

    def test_outbound_headers_cannot_be_injected(self) -> None:
        sent = self.send("http://a.example/", self.resolver, headers={"Title": "a\r\nX-Evil: 1"})
        _, wire = self.accept()
        self.assertNotIn(b"\nX-Evil", wire.value())
        sent.cancel()
        self.failureResultOf(sent)
