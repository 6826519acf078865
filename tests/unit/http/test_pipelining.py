"""Requests that come before the answer to the one before them."""

from __future__ import annotations

from typing import ClassVar

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from twisted.web import http

from tests.unit.http.sample_operations import SampleHandlers, sample_operation
from tests.unit.http.site_driver import ApiHarness, SiteConnection, request_head, run_turn
from tservice.http.connections.channel import BITE_BYTES, LINGER_BYTES
from tservice.http.operations import OperationCall
from tservice.http.request import MAX_TINY_CHUNKS, PARAMETERS, TINY_CHUNK_BYTES, ServiceRequest
from tservice.http.site import IDLE_SECONDS

MANY = 300
FORM_LIMIT = 2**24


class PipelineTests(SynchronousTestCase):
    """One at a time, in order, and none for whom does not read."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.handlers = SampleHandlers()
        self.api = ApiHarness(self.handlers.table(), clock=self.clock)
        self.addCleanup(self.api.close)
        self.connection = self.api.connect()

    def ask(self, number: int) -> bytes:
        return request_head("GET", f"/api/things/n{number}e", {})

    def answered(self, connection: SiteConnection | None = None) -> int:
        return (connection or self.connection).value().count(b"HTTP/1.1 200")

    def turn(self) -> None:
        run_turn(self.clock)

    def test_invalid_request_gets_one_answer(self) -> None:
        """What comes in behind it, until the connection is closed, is part of no request: a proxy
        could take a second answer for that to somebody else's.
        """
        chunked = request_head("POST", "/api/things", {"Transfer-Encoding": "chunked"})
        for bad in (b"nonsense\r\n\r\n", chunked + b"x\r\n", b"GET / HTTP/1.1\r\nA b\r\n\r\n"):
            connection = self.api.connect()
            for piece in (bad, b"1" * 100, b"\r\n" * 100, self.ask(1)):
                connection.send(piece)
            said = connection.value()
            self.assertEqual(1, said.count(b"HTTP/1.1 "), said)
            self.assertTrue(said.startswith(b"HTTP/1.1 400 "))
            self.assertTrue(connection.transport.disconnecting)

    def test_each_pipelined_request_has_its_own_turn(self) -> None:
        self.connection.send(b"".join(map(self.ask, range(MANY))))
        for number in range(MANY):
            self.assertEqual(number + 1, self.answered())
            self.turn()
        said = self.connection.value()
        places = [said.index(b"n%de" % number) for number in range(MANY)]
        self.assertEqual(sorted(places), places)
        self.connection.send(self.ask(MANY))
        self.assertEqual(MANY + 1, self.answered())

    def test_requests_arriving_in_pieces_are_answered(self) -> None:
        data = b"".join(map(self.ask, range(20)))
        for at in range(0, len(data), 7):
            self.connection.send(data[at : at + 7])
            self.clock.advance(0)
        self.assertEqual(20, self.answered())

    def test_request_arriving_between_turns_keeps_its_order(self) -> None:
        self.connection.send(self.ask(0) + self.ask(1) + self.ask(2)[:9])
        self.connection.send(self.ask(2)[9:] + self.ask(3))
        for _ in range(4):
            self.clock.advance(0)
        said = self.connection.value()
        self.assertEqual(4, self.answered())
        self.assertLess(said.index(b"n2e"), said.index(b"n3e"))

    def test_pipelined_requests_with_bodies_are_answered(self) -> None:
        body = b'{"cols": 5}'
        post = request_head("POST", "/api/size", {"Content-Length": str(len(body))}) + body
        self.connection.send((post + self.ask(0)) * 3)
        for _ in range(6):
            self.clock.advance(0)
        self.assertEqual(6, self.answered())

    def test_client_that_does_not_read_gets_no_more_answers(self) -> None:
        self.connection.send(b"".join(map(self.ask, range(MANY))))
        self.connection.producer.pauseProducing()
        for _ in range(MANY):
            self.clock.advance(0)
        self.assertEqual(1, self.answered())
        self.assertEqual("paused", self.connection.transport.producerState)
        self.assertFalse(self.connection.channel.is_responding)
        self.connection.producer.resumeProducing()
        for _ in range(MANY):
            self.clock.advance(0)
        self.assertEqual(MANY, self.answered())
        self.assertEqual("producing", self.connection.transport.producerState)

    def test_slow_reader_without_pipelining_is_not_read_further(self) -> None:
        self.connection.send(request_head("GET", "/api/park", {}))
        self.connection.producer.pauseProducing()
        self.handlers.parked[0].callback({})
        self.assertEqual("paused", self.connection.transport.producerState)
        self.connection.producer.resumeProducing()
        self.connection.send(self.ask(1))
        self.assertEqual(2, self.answered())

    def test_client_that_does_not_read_is_idle(self) -> None:
        self.connection.send(self.ask(0) + self.ask(1))
        self.connection.producer.pauseProducing()
        self.clock.advance(IDLE_SECONDS)
        self.assertTrue(self.connection.transport.disconnecting)

    def test_lost_connection_drops_pipelined_requests(self) -> None:
        self.connection.send(self.ask(0) + self.ask(1))
        self.connection.lose()
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_connection_close_ignores_later_requests(self) -> None:
        self.connection.send(
            request_head("GET", "/api/things/1", {"Connection": "close"}) + self.ask(0)
        )
        self.clock.advance(0)
        self.assertEqual(1, self.answered())
        self.assertTrue(self.connection.transport.disconnecting)


def read_of_bodies(case: SynchronousTestCase) -> list[int]:
    """The sizes of all pieces that requests are given, as they are given them."""
    sizes: list[int] = []
    real = ServiceRequest.handleContentChunk

    def counted(request: ServiceRequest, data: bytes, *rest: int) -> None:
        sizes.append(len(data))
        real(request, data, *rest)

    case.patch(ServiceRequest, "handleContentChunk", counted)
    return sizes


class ChunkTests(SynchronousTestCase):
    """Bodies in chunks, before anybody knows who sends them."""

    CHUNKED: ClassVar = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}

    def setUp(self) -> None:
        self.clock = Clock()
        api = ApiHarness(SampleHandlers().table(), clock=self.clock)
        self.addCleanup(api.close)
        self.connection = api.connect()
        self.head = request_head("POST", "/api/size", self.CHUNKED)

    def test_body_in_too_many_tiny_chunks_is_refused(self) -> None:
        """What is behind the piece that went over the bound is thrown away unread."""
        chunks = read_of_bodies(self)
        self.connection.send(self.head + b"1\r\n \r\n" * 10_000)
        self.assertIn(b"HTTP/1.1 400 ", self.connection.value())
        self.assertIn(
            f"body: must not be sent in more than {MAX_TINY_CHUNKS} tiny".encode(),
            self.connection.value(),
        )
        self.assertLessEqual(sum(chunks), MAX_TINY_CHUNKS + BITE_BYTES // 6)
        self.assertLessEqual(len(chunks), 2)

    def test_ordinary_small_chunks_are_accepted(self) -> None:
        """A body in lines, one in a few crumbs, and what comes behind it in the same read."""
        line = b'{"cols": 5}' + b" " * TINY_CHUNK_BYTES
        for body in (
            b"".join(
                b"1\r\n%c\r\n" % byte for byte in b'{"cols": 5}' + b" " * (MAX_TINY_CHUNKS - 11)
            ),
            b"%x\r\n%b\r\n" % (len(line), line) + b"50\r\n%b\r\n" % (b" " * 80) * 3000,
        ):
            self.setUp()
            after = request_head("GET", "/api/things/n1e", {})
            self.connection.send(self.head + body + b"0\r\n\r\n" + after + self.head + body)
            self.turn()
            said = self.connection.value()
            self.assertEqual(2, said.count(b"HTTP/1.1 200"), said)
            self.assertLess(said.index(b"seenCols"), said.index(b"n1e"))
            self.connection.send(b"0\r\n\r\n")
            self.turn()
            self.assertEqual(3, self.connection.value().count(b"HTTP/1.1 200"))

    def turn(self) -> None:
        for _ in range(5):
            self.clock.advance(0)


class PipelinedQueryTests(SynchronousTestCase):
    """A query string is taken apart before anybody is asked."""

    def setUp(self) -> None:
        self.api = ApiHarness(SampleHandlers().table(), clock=Clock())
        self.addCleanup(self.api.close)

    def asked(self, query: str) -> bytes:
        connection = self.api.connect()
        connection.send(request_head("GET", f"/api/things/n1e?{query}", {}))
        return connection.value()

    def test_too_many_query_parameters_are_refused(self) -> None:
        """They are counted, and none is looked at."""
        parsed: list[bytes] = []
        self.patch(http, "parse_qs", lambda query, *rest: parsed.append(query))
        for mark in ("&", ";", "a=1&b;"):
            said = self.asked(mark * PARAMETERS)
            self.assertIn(b"HTTP/1.1 400 ", said)
            self.assertIn(b"query: must not have more than %d parameters" % PARAMETERS, said)
        self.assertEqual([], parsed)

    def test_query_parameters_at_the_bound_are_accepted(self) -> None:
        for query in (
            "&" * (PARAMETERS - 1),
            "a=1&" * (PARAMETERS - 1) + "b",
            "a=%26" * PARAMETERS,
        ):
            self.assertIn(b"HTTP/1.1 200 ", self.asked(query))


class StreamedChunkTests(SynchronousTestCase):
    """Bodies that a handler reads as they come."""

    def setUp(self) -> None:
        self.size = 0
        self.answer: Deferred[None] | None = None
        self.clock = clock = Clock()
        table = [
            sample_operation("POST", "/api/form", self.form, streams=True, body_limit=FORM_LIMIT)
        ]
        api = ApiHarness(table, clock=clock)
        self.addCleanup(api.close)
        self.connection = api.connect()
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        headers = {"Transfer-Encoding": "chunked", **kind}
        self.connection.send(request_head("POST", "/api/form", headers))

    async def form(self, call: OperationCall) -> object:
        try:
            while data := await call.incoming.read_data():
                self.size += len(data)
        finally:
            if self.answer is not None:
                await self.answer
        return {"size": self.size}

    def test_streamed_body_in_too_many_tiny_chunks_is_refused(self) -> None:
        """They are told together, and what is behind those that were too many is not read."""
        chunks = read_of_bodies(self)
        self.connection.send(b"1\r\n \r\n" * 10_000)
        self.assertLessEqual(len(chunks), 2)
        self.assertIn(b"HTTP/1.1 400 ", self.connection.value())
        self.assertIn(b"tiny chunks", self.connection.value())
        self.assertFalse(self.connection.channel.is_responding, "it makes room for others")
        self.assertLessEqual(
            self.size, MAX_TINY_CHUNKS + MAX_TINY_CHUNKS // TINY_CHUNK_BYTES + BITE_BYTES
        )

    def test_data_after_refused_chunks_is_discarded_up_to_a_bound(self) -> None:
        """It is thrown away, up to a bound, also while no answer was given yet."""
        self.answer = Deferred()
        self.connection.send(b"1\r\n \r\n" * 10_000)
        chunks = read_of_bodies(self)
        for _ in range(LINGER_BYTES // 65536):
            self.connection.send(b"1\r\n \r\n" * 10_000)
        self.assertEqual([], chunks)
        self.assertEqual(b"", self.connection.value())
        self.answer.callback(None)
        self.assertIn(b"tiny chunks", self.connection.value())
        self.connection.send(bytes(LINGER_BYTES))
        self.assertTrue(self.connection.transport.aborted)

    def test_tiny_chunks_between_large_ones_are_accepted(self) -> None:
        large = b"1000\r\n%b\r\n" % bytes(4096)
        self.connection.send((large + b"1\r\n \r\n") * (2 * MAX_TINY_CHUNKS) + b"0\r\n\r\n")
        self.clock.pump([0] * 100)
        self.assertIn(b"HTTP/1.1 200 ", self.connection.value())
        self.assertEqual(4097 * 2 * MAX_TINY_CHUNKS, self.size)
