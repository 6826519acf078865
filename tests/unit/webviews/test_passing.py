"""What targets of web tabs answer, passed on: within bounds, and without a fault of ours."""

from __future__ import annotations

import re
from typing import Any

from twisted.internet.error import ConnectionAborted, ConnectionDone
from twisted.logger import ILogObserver, globalLogPublisher
from twisted.python.failure import Failure
from twisted.web.http import _ChunkedTransferDecoder

from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head, run_turn
from tests.unit.webviews.harness import TabCase
from tservice.core.net.http_client import INTERIM
from tservice.http.connections.fair_scheduler import CONNECTION_SHARE, ITERATION_BUDGET
from tservice.webviews.cookie_jar import FORWARDED_LIMIT
from tservice.webviews.routes.pacing import CHUNKS
from tservice.webviews.routes.streamed_bodies import TargetBody

MANY = 10_000
"""Chunks of a byte that a read holds, about."""


class PassingTests(TabCase):
    def test_target_with_an_endless_head_is_disconnected(self) -> None:
        """A target is hung up on; what it said before is held no more and logged but a little."""
        for first, again in (
            (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
            (b"HTTP/1.1 200 OK\r\nX: y\r\n", b" more\r\n"),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            (b"", b"HTTP/1.1 103 Early Hints\n\n"),
        ):
            answer = self.opened()
            target = self.targets[-1]
            lines: list[Any] = []
            noted: ILogObserver = lines.append  # type: ignore[assignment]
            globalLogPublisher.addObserver(noted)
            self.addCleanup(globalLogPublisher.removeObserver, noted)
            target.dataReceived(first)
            for _ in range(64):
                if not target.transport.aborted:
                    target.dataReceived(again * (4096 // len(again)))
            self.assertTrue(target.transport.aborted, again)
            self.assertLessEqual(len(lines), INTERIM + 1, again)
            target.connectionLost(Failure(ConnectionAborted()))
            self.assertIn(b"HTTP/1.1 502 ", answer.value())

    def test_interim_responses_before_an_answer_are_dropped(self) -> None:
        """Byte by byte and all at once."""
        said = b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n" * INTERIM
        said += b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\n\n"
        for pieces in ([said], [said[at : at + 1] for at in range(len(said))]):
            answer = self.opened()
            for piece in pieces:
                self.targets[-1].dataReceived(piece)
            self.assertTrue(answer.value().startswith(b"HTTP/1.1 200 OK\r\n"), answer.value())
            self.assertTrue(answer.value().endswith(b"\r\n\r\n\n\n"))
            self.assertNotIn(b"Link", answer.value())

    def chunked(self) -> tuple[SiteConnection, Any]:
        """An answer in chunks that has begun, and its target."""
        answer = self.opened()
        target = self.targets[-1]
        target.dataReceived(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        return answer, target

    def test_answer_in_tiny_chunks_yields_to_other_work(self) -> None:
        """A read of ten thousand chunks is others' turn in between; nothing more is read then."""
        answer, target = self.chunked()
        sizes: list[int] = []
        real = TargetBody.dataReceived

        def counted(body: TargetBody, data: bytes) -> None:
            sizes.append(len(data))
            real(body, data)

        self.patch(TargetBody, "dataReceived", counted)
        target.dataReceived(b"1\r\nx\r\n" * MANY)
        turns = 0
        while sum(sizes) < MANY:
            self.assertEqual("paused", target.transport.producerState)
            run_turn(self.world.clock)
            turns += 1
        self.assertGreaterEqual(turns, MANY // (CHUNKS * ITERATION_BUDGET))
        self.assertLessEqual(max(sizes), CHUNKS * CONNECTION_SHARE)
        self.assertLessEqual(len(sizes), MANY // (CHUNKS * CONNECTION_SHARE) + 1)
        self.assertEqual("producing", target.transport.producerState)
        target.dataReceived(b"0\r\n\r\n")
        self.assertEqual(b"x" * MANY, unchunked(answer.value()))
        self.assertFalse(answer.transport.aborted)

    def test_many_answers_in_tiny_chunks_share_one_turn(self) -> None:
        """Together they take no more of a turn than one."""
        begun = [self.chunked() for _ in range(9)]
        run_turn(self.world.clock)
        before = sum(len(unchunked(answer.value())) for answer, _ in begun)
        for _, target in begun:
            target.dataReceived(b"1\r\nx\r\n" * MANY)
        most = CHUNKS * (ITERATION_BUDGET + CONNECTION_SHARE)
        while before < len(begun) * MANY:
            after = sum(len(unchunked(answer.value())) for answer, _ in begun)
            self.assertLessEqual(after - before, most)
            before = after
            run_turn(self.world.clock)

    def test_tiny_chunks_respect_a_slow_reader(self) -> None:
        """The two reasons to wait do not undo each other."""
        answer, target = self.chunked()
        reader: Any = answer.transport.producer
        reader.pauseProducing()
        for _ in range(40):
            if target.transport.producerState == "producing":
                target.dataReceived(b"1\r\nx\r\n" * MANY)
            for _ in range(40):
                run_turn(self.world.clock)
        self.assertEqual("paused", target.transport.producerState)
        held = len(unchunked(answer.value()))
        reader.resumeProducing()
        for _ in range(10):
            run_turn(self.world.clock)
        self.assertGreater(len(unchunked(answer.value())), held)
        self.assertEqual("producing", target.transport.producerState)

    def test_tiny_chunks_of_a_disconnected_target_are_delivered(self) -> None:
        """What came before is all told, and of a whole answer the end as well."""
        for end, whole in ((b"0\r\n\r\n", True), (b"", False), (b"z\r\n", False)):
            answer, target = self.chunked()
            target.dataReceived(b"1\r\nx\r\n" * MANY + end)
            target.dataReceived(b"")
            target.connectionLost(Failure(ConnectionDone()))
            self.assertEqual(b"x" * MANY, unchunked(answer.value()))
            self.assertEqual(whole, not answer.transport.aborted)
            for _ in range(40):
                run_turn(self.world.clock)
        self.assertEqual([], self.flushLoggedErrors())

    def test_data_received_while_paused_is_kept(self) -> None:
        """As over TLS, which has some in hand."""
        answer, target = self.chunked()
        for _ in range(3):
            target.dataReceived(b"1\r\nx\r\n" * 1000)
        target.dataReceived(b"2\r\nyz\r\n0\r\n\r\n")
        for _ in range(10):
            run_turn(self.world.clock)
        self.assertEqual(b"x" * 3000 + b"yz", unchunked(answer.value()))

    def test_invalid_status_is_a_bad_gateway(self) -> None:
        for status in (b"-5", b"000", b"0", b"1000", b"99999999999"):
            answer = self.opened()
            self.targets[-1].dataReceived(b"HTTP/1.1 %b X\r\nContent-Length: 0\r\n\r\n" % status)
            self.assertIn(b"HTTP/1.1 502 ", answer.value(), status)

    def test_broken_off_target_answer_is_visible_to_the_reader(self) -> None:
        """Its reader sees that there was more to come; it is no fault of the service's."""
        answer = self.opened()
        self.targets[-1].dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
        self.targets[-1].connectionLost(Failure(ConnectionDone()))
        self.assertTrue(answer.value().endswith(b"\r\n\r\nsome"))
        self.assertTrue(answer.transport.aborted)
        self.assertEqual([], self.flushLoggedErrors())

    def test_target_may_answer_before_the_end_of_the_body(self) -> None:
        """It has what it wants; what still comes goes nowhere, and is no fault either."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        crumbs = b"1\r\nx\r\n" * MANY
        for kind, body, more in (
            ({"Transfer-Encoding": "chunked"}, b"4\r\nsome\r\n", crumbs),
            ({"Content-Length": "90"}, b"some", b"some"),
        ):
            for how in ("the browser", "the target", "the body"):
                answer = SiteConnection(self.world.site, MemoryTransport())
                answer.send(request_head("POST", path, kind) + body)
                target = self.targets[-1]
                self.assertIn(b"some", target.transport.value())
                target.dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell")
                self.assertTrue(answer.value().endswith(b"\r\n\r\nwell"), answer.value())
                if how == "the target":
                    target.transport.producer.stopProducing()
                if how == "the body":
                    answer.send(more)
                answer.lose()
                target.connectionLost(Failure(ConnectionDone()))
                self.assertEqual([], self.flushLoggedErrors(), how)

    def test_refused_body_stops_the_upload(self) -> None:
        """The target never sees its end, and its sender hears of it."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        answer = SiteConnection(self.world.site, MemoryTransport())
        answer.send(
            request_head("POST", path, {"Transfer-Encoding": "chunked"}) + b"1\r\nx\r\n" * MANY
        )
        self.assertIn(b"HTTP/1.1 400 ", answer.value())
        self.assertIn(b"body: must not be sent in more than", answer.value())
        target = self.targets[-1]
        self.assertTrue(target.transport.aborted)
        self.assertNotIn(b"0\r\n\r\n", target.transport.value())
        target.connectionLost(Failure(ConnectionAborted()))
        answer.lose()
        self.assertEqual([], self.flushLoggedErrors())

    def test_target_cookies_do_not_displace_those_of_the_service(self) -> None:
        """A browser keeps 180 of a host, whatever their port."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        told: set[bytes] = set()
        for again in range(5):
            answer = self.request(path)
            cookies = b"".join(b"Set-Cookie: c%dx%d=1\r\n" % (again, n) for n in range(90))
            say = (
                b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                + cookies
                + b"Set-Cookie: c0x0=2\r\n\r\n"
            )
            self.targets[-1].dataReceived(say)
            told.update(re.findall(rb"Set-Cookie: (\w+)=", answer.value()))
            self.assertIn(b"Set-Cookie: c0x0=2;", answer.value(), "those that it has change")
        self.assertEqual(FORWARDED_LIMIT, len(told))


def unchunked(said: bytes) -> bytes:
    """The body of an answer in chunks, so far."""
    parts: list[bytes] = []
    decoder = _ChunkedTransferDecoder(parts.append, lambda behind: None)
    decoder.dataReceived(said.partition(b"\r\n\r\n")[2])
    return b"".join(parts)


class RewritingTests(TabCase):
    """What is rewritten was held whole, many times as long: 24 requests took 2.4 GB."""

    SHEET = b"{p:url(/x)}"
    SIZE = 99_000 * len(SHEET)

    def sheet(self) -> tuple[SiteConnection, Any]:
        answer = self.opened()
        target = self.targets[-1]
        target.dataReceived(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Length: %d\r\n\r\n" % self.SIZE
        )
        return answer, target

    def test_rewritten_sheet_respects_a_slow_reader(self) -> None:
        answer, target = self.sheet()
        reader: Any = answer.transport.producer
        reader.pauseProducing()
        unit = self.SHEET * 9000
        fed = 0
        for _ in range(100):
            if target.transport.producerState == "producing":
                target.dataReceived(unit)
                fed += 1
            run_turn(self.world.clock)
        self.assertEqual("paused", target.transport.producerState)
        self.assertLess(fed, 10)
        self.assertLess(len(answer.value()), 16 * len(unit))
        reader.resumeProducing()
        while fed * len(unit) < self.SIZE:
            for _ in range(10):
                run_turn(self.world.clock)
            target.dataReceived(unit)
            fed += 1
        for _ in range(20):
            run_turn(self.world.clock)
        found = unchunked(answer.value())
        self.assertEqual(99_000, found.count(b"url(/webview/"))
        self.assertFalse(answer.transport.aborted)

    def test_rewritten_sheet_that_breaks_off_aborts_the_answer(self) -> None:
        answer, target = self.sheet()
        target.dataReceived(self.SHEET * 20_000)
        target.connectionLost(Failure(ConnectionDone()))
        for _ in range(10):
            run_turn(self.world.clock)
        self.assertTrue(answer.transport.aborted)
        self.assertEqual(20_000, answer.value().count(b"url(/webview/"))

    def test_page_in_several_pieces_gets_its_scripts_once(self) -> None:
        """Its scripts are given theirs once, at its beginning."""
        answer = self.opened()
        body = b"<!doctype html><html><head>" + b'<a href="/y">' * 30_000
        self.targets[-1].dataReceived(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body
        )
        for _ in range(20):
            run_turn(self.world.clock)
        found = unchunked(answer.value())
        self.assertTrue(found.startswith(b"<!doctype html><html><head><script>"), found[:90])
        self.assertEqual(1, found.count(b"<script>"))
        self.assertEqual(30_000, found.count(b'<a href="/webview/'))
        self.assertNotIn(b"Content-Length", answer.value())
