"""Tests for L{tservice.http.transfer.streamed_response}, and for streams whose reader loses the
right.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import (
    ApiHarness,
    OpenGate,
    SiteConnection,
    parse_http_answer,
    request_head,
)
from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_not_found_error
from tservice.http.operations import Operation, OperationCall, ResponseStyle
from tservice.http.parked_calls import ParkedCalls
from tservice.http.transfer.streamed_response import STALLED_SECONDS, StreamedResponse


class LosingGate(OpenGate):
    """Takes a right away once C{lost} is set."""

    lost = False

    def reauthorize_call(
        self, visit: AuthenticationRequest, who: Identity, operation: Operation, path: Any
    ) -> None:
        if self.lost:
            raise make_not_found_error("Session")


class OutgoingTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.more: Deferred[bytes] = Deferred()
        self.ended: list[BaseException | None] = []
        self.refuse: ServiceError | None = None
        self.may = True
        self.gate, self.parked = LosingGate(), ParkedCalls()
        self.api = ApiHarness(
            [sample_operation("GET", "/api/x", self.handle, style=ResponseStyle.STREAM)], self.gate
        )
        self.api.kernel._parked = self.parked
        self.addCleanup(self.api.close)

    async def handle(self, call: OperationCall) -> None:
        if self.refuse is not None:
            raise self.refuse
        answer = StreamedResponse(call.request, lambda: self.may)
        try:
            answer.write_head(200, {"Content-Length": "6", "Content-Type": "text/plain"})
            if answer.head_only:
                return
            await answer.write(b"abc")
            await answer.write(await self.more)
            self.ended.append(None)
        except CancelledError as error:
            self.ended.append(error)
            raise
        finally:
            answer.close()

    def ask(self, method: str = "GET") -> SiteConnection:
        connection = self.api.connect()
        connection.send(request_head(method, "/api/x", {}))
        return connection

    def test_answer_is_sent_in_pieces(self) -> None:
        connection = self.ask()
        self.assertTrue(connection.value().endswith(b"\r\n\r\nabc"))
        self.more.callback(b"def")
        self.assertEqual(b"abcdef", parse_http_answer(connection.value()).content)
        self.assertEqual([None], self.ended)

    def test_reader_that_lost_the_right_is_cut_off(self) -> None:
        connection = self.ask()
        self.may = False
        self.more.callback(b"def")
        self.assertTrue(connection.value().endswith(b"\r\n\r\nabc"))
        self.assertIsInstance(self.ended[0], CancelledError)

    def test_connection_serves_the_next_request_after_a_stream(self) -> None:
        self.more.callback(b"def")
        connection = self.ask()
        first = len(connection.value())
        connection.send(request_head("GET", "/api/x", {}))
        self.api.clock.advance(0)
        self.assertEqual(2 * first, len(connection.value()))

    def test_head_request_sends_no_streamed_body(self) -> None:
        answer = parse_http_answer(self.ask("HEAD").value(), "HEAD")
        self.assertEqual((200, b""), (answer.status, answer.content))
        self.assertEqual("6", answer.headers["content-length"])

    def test_refusal_before_the_first_piece_is_an_error_response(self) -> None:
        self.refuse = ServiceError(ErrorCode.FORBIDDEN, "no")
        self.assertEqual((403, "FORBIDDEN", "no"), parse_http_answer(self.ask().value()).error)

    def test_stream_waits_for_its_reader(self) -> None:
        connection = self.ask()
        connection.producer.pauseProducing()
        self.more.callback(b"def")
        self.assertEqual([], self.ended)
        self.api.clock.advance(STALLED_SECONDS - 1)
        connection.producer.resumeProducing()
        self.assertEqual([None], self.ended)
        self.assertEqual([], self.api.clock.getDelayedCalls()[1:])

    def test_stalled_reader_is_cut_off(self) -> None:
        connection = self.ask()
        connection.producer.pauseProducing()
        self.more.callback(b"def")
        self.api.clock.advance(STALLED_SECONDS)
        self.assertTrue(connection.transport.aborted)
        self.assertIsInstance(self.ended[0], CancelledError)

    def test_disconnected_reader_cancels_the_stream(self) -> None:
        connection = self.ask()
        connection.lose()
        self.assertIsInstance(self.ended[0], CancelledError)

    def test_reader_loses_the_right_while_stalled(self) -> None:
        connection = self.ask()
        self.parked.drop_connections(lambda identity: True)
        self.assertEqual([], self.ended)  # nothing was lost yet
        self.gate.lost = True
        self.parked.drop_connections(lambda identity: True)
        self.assertIsInstance(self.ended[0], CancelledError)
        self.assertTrue(connection.transport.aborted)
        self.assertNotIn(b"NOT_FOUND", connection.value())
