"""Tests for L{tservice.http.transfer.request_body}, and for how the site passes a body on."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ApiHarness, SiteConnection, parse_http_answer, request_head
from tservice.core.kernel.errors import ServiceError, make_field_error
from tservice.http.connections.channel import LINGER_SECONDS
from tservice.http.operations import OperationCall
from tservice.http.transfer.request_body import BUFFER_BYTES, IncomingBody

FORM = "multipart/form-data; boundary=x"
BOUND = 10 * BUFFER_BYTES


class IncomingTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.said: list[str] = []
        self.body = IncomingBody(
            lambda: self.said.append("hold"), lambda: self.said.append("go on"), complete=False
        )

    def read(self) -> Deferred[bytes]:
        return Deferred.fromCoroutine(self.body.read_data())

    def test_received_data_is_read_immediately_and_joined(self) -> None:
        waiting = self.read()
        self.assertNoResult(waiting)
        self.body.add_data(b"a")
        self.assertEqual(b"a", self.successResultOf(waiting))
        self.body.add_data(b"b")
        self.body.add_data(b"c")
        self.body.set_complete()
        self.assertEqual(b"bc", self.successResultOf(self.read()))
        self.assertEqual(b"", self.successResultOf(self.read()))

    def test_sender_waits_for_a_slow_reader(self) -> None:
        self.body.add_data(bytes(BUFFER_BYTES - 1))
        self.assertEqual([], self.said)
        self.body.add_data(b"x")
        self.body.add_data(b"y")
        self.assertEqual(["hold"], self.said)
        self.assertEqual(BUFFER_BYTES + 1, len(self.successResultOf(self.read())))
        self.assertEqual(["hold", "go on"], self.said)

    def test_disconnected_sender_fails_the_reader(self) -> None:
        waiting = self.read()
        self.body.handle_disconnect()
        self.failureResultOf(waiting, CancelledError)
        self.failureResultOf(self.read(), CancelledError)

    def test_refused_body_stays_refused(self) -> None:
        self.body.add_data(b"a")
        self.body.refuse_body(make_field_error("body", "too long"))
        self.body.add_data(b"b")
        self.failureResultOf(self.read(), ServiceError)
        self.assertTrue(self.body.discards_rest)


class StreamedTests(SynchronousTestCase):
    """A handler that reads while the body arrives."""

    def setUp(self) -> None:
        self.read: list[bytes] = []
        self.go: Deferred[None] | None = None
        self.refuse: ServiceError | None = None
        self.gone: list[BaseException] = []
        self.api = ApiHarness(
            [sample_operation("POST", "/api/x", self.handle, streams=True, body_limit=BOUND)]
        )
        self.addCleanup(self.api.close)

    async def handle(self, call: OperationCall) -> object:
        if self.refuse is not None:
            raise self.refuse
        try:
            while data := await call.incoming.read_data():
                self.read.append(data)
                if self.go is not None:
                    await self.go
        except CancelledError as error:
            self.gone.append(error)
            raise
        return {"size": sum(map(len, self.read))}

    def begin(self, **headers: str) -> SiteConnection:
        connection = self.api.connect()
        named = {"Content-Type": FORM, **headers}
        connection.send(request_head("POST", "/api/x", named))
        return connection

    def test_body_is_read_as_it_arrives(self) -> None:
        connection = self.begin(**{"Content-Length": "6"})
        connection.send(b"abc")
        self.assertEqual([b"abc"], self.read)
        self.assertEqual(b"", connection.value())
        connection.send(b"def")
        answer = parse_http_answer(connection.value())
        self.assertEqual({"size": 6}, answer.data)
        self.assertEqual("close", answer.headers["connection"])

    def test_chunked_body_is_read(self) -> None:
        connection = self.begin(**{"Transfer-Encoding": "chunked"})
        connection.send(b"3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n")
        self.assertEqual({"size": 6}, parse_http_answer(connection.value()).data)

    def test_streamed_body_is_not_counted_as_held(self) -> None:
        connection = self.begin(**{"Content-Length": str(BOUND)})
        connection.send(bytes(BOUND // 2))
        self.assertEqual(0, self.api.site._held)

    def test_transport_pauses_until_the_handler_reads(self) -> None:
        self.go = Deferred()
        connection = self.begin(**{"Content-Length": str(BOUND)})
        connection.send(b"a")
        connection.send(bytes(BUFFER_BYTES))
        self.assertEqual("paused", connection.transport.producerState)
        waiting, self.go = self.go, None
        waiting.callback(None)
        self.assertEqual("producing", connection.transport.producerState)

    def test_refusal_is_sent_before_the_body_ends(self) -> None:
        self.refuse = make_field_error("file", "no")
        connection = self.begin(**{"Content-Length": str(BOUND)})
        connection.send(b"a")
        self.assertEqual(
            (400, "INVALID_INPUT", "file: no"), parse_http_answer(connection.value()).error
        )
        before = connection.value()
        connection.send(bytes(BUFFER_BYTES))
        self.assertEqual(before, connection.value())
        self.assertFalse(connection.transport.disconnecting)
        self.api.clock.advance(LINGER_SECONDS)
        self.assertTrue(connection.transport.aborted)

    def test_declared_size_over_the_bound_is_refused(self) -> None:
        connection = self.begin(**{"Content-Length": str(BOUND + 1)})
        self.assertEqual(413, parse_http_answer(connection.value()).status)
        self.assertEqual([], self.read)

    def test_received_size_over_the_bound_is_refused(self) -> None:
        connection = self.begin(**{"Transfer-Encoding": "chunked"})
        for _ in range(11):
            connection.send(b"%x\r\n%s\r\n" % (BUFFER_BYTES, bytes(BUFFER_BYTES)))
        self.assertEqual(413, parse_http_answer(connection.value()).status)
        self.assertLessEqual(sum(map(len, self.read)), BOUND)

    def test_disconnected_client_fails_the_handler(self) -> None:
        connection = self.begin(**{"Content-Length": "6"})
        connection.send(b"abc")
        connection.lose()
        self.assertEqual(1, len(self.gone))

    def test_body_of_another_type_is_buffered(self) -> None:
        connection = self.begin(**{"Content-Length": "6", "Content-Type": "text/plain"})
        connection.send(b"abc")
        self.assertEqual([], self.read)
        connection.send(b"def")
        self.assertEqual({"size": 0}, parse_http_answer(connection.value()).data)

    def test_missing_body_is_empty(self) -> None:
        connection = self.begin(**{"Content-Length": "0"})
        self.assertEqual({"size": 0}, parse_http_answer(connection.value()).data)


class DeprecatedTests(SynchronousTestCase):
    """What goes on working for old clients."""

    def test_deprecated_operation_has_its_header_and_warns_once(self) -> None:
        async def handle(call: OperationCall) -> object:
            return {}

        table: list[Any] = [
            sample_operation("GET", "/api/a", handle, deprecated="old things"),
            sample_operation("GET", "/api/b", handle, deprecated="old things"),
            sample_operation("GET", "/api/c", handle),
        ]
        api = ApiHarness(table)
        self.addCleanup(api.close)
        warned: Any = []
        api.kernel._log = type(api.kernel._log)(observer=warned.append)
        self.assertEqual("true", api.get("/api/a").headers["deprecation"])
        self.assertEqual("true", api.get("/api/b").headers["deprecation"])
        self.assertNotIn("deprecation", api.get("/api/c").headers)
        self.assertEqual(["old things"], [each["family"] for each in warned])
