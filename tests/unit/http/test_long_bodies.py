"""Long bodies: counted in one turn of the reactor and parsed in the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import SampleHandlers, SizeBody, sample_operation
from tests.unit.http.site_driver import (
    ApiHarness,
    OpenGate,
    SiteConnection,
    parse_http_answer,
    request_head,
    run_turn,
)
from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.http.operations import JSON_BODY_LIMIT, Operation, OperationCall
from tservice.http.validation import body
from tservice.http.validation.body import LONG_TEXT
from tservice.http.validation.body_limits import SPARE_VALUES

LONG = b" " * LONG_TEXT


class EndingGate(OpenGate):
    """Lets everybody in, until their right ends."""

    ended = False

    def reauthorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation,
        path: Mapping[str, str],
    ) -> None:
        if self.ended:
            raise ServiceError(ErrorCode.FORBIDDEN, "not any more")


class LongBodyTests(SynchronousTestCase):
    """A route that takes 1 MiB."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.gate = EndingGate()
        self.handled: list[int] = []
        self.steps: list[str] = []
        table = [
            *SampleHandlers().table(),
            sample_operation(
                "POST", "/api/long", self.handle, body=SizeBody, body_limit=JSON_BODY_LIMIT
            ),
        ]
        self.api = ApiHarness(table, self.gate, clock=self.clock)
        self.addCleanup(self.api.close)
        for name in ("count_values", "_load_json"):
            self.patch(body, name, self.noted(name, getattr(body, name)))

    def noted(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.steps.append(name)
            return work(*args)

        return call

    async def handle(self, call: OperationCall) -> object:
        assert isinstance(call.body, SizeBody)
        self.handled.append(call.body.cols)
        return {"cols": call.body.cols}

    def asked(self, content: bytes, **headers: str) -> bytes:
        named = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        return request_head("POST", "/api/long", {**named, **headers}) + content

    def post(self, content: bytes, **headers: str) -> SiteConnection:
        connection = self.api.connect()
        connection.send(self.asked(content, **headers))
        return connection

    def test_long_body_is_counted_first_and_parsed_in_the_next_turn(self) -> None:
        connection = self.post(b'{"cols": 5}' + LONG)
        self.assertEqual((["count_values"], b""), (self.steps, connection.value()))
        run_turn(self.clock)
        self.assertEqual((["count_values", "_load_json"], [5]), (self.steps, self.handled))
        self.assertEqual({"cols": 5}, parse_http_answer(connection.value()).data)
        self.assertEqual(0, self.api.site._held)

    def test_short_body_is_parsed_immediately(self) -> None:
        connection = self.post(b'{"cols": 5}' + LONG[11:])
        self.assertEqual({"cols": 5}, parse_http_answer(connection.value()).data)

    def test_refusals_keep_their_order_for_long_bodies(self) -> None:
        crowd = b"[" + b"0," * (2 * SPARE_VALUES) + b"0]"
        for content, status, text in (
            (b"[" + LONG * 4, 413, f"body: must be at most {JSON_BODY_LIMIT} bytes"),
            (crowd + LONG, 400, "body: must hold at most"),
        ):
            answer = parse_http_answer(self.post(content).value())
            self.assertEqual((status, text), (answer.status, answer.error[2][: len(text)]))
        kind = parse_http_answer(self.post(b"{" + LONG, **{"Content-Type": "text/html"}).value())
        self.assertEqual("content-type: must be application/json", kind.error[2])
        self.assertNotIn("_load_json", self.steps)
        for content, text in (
            (b"{" + LONG, "body: must be JSON"),
            (b"\xff" + LONG, "body: must be UTF-8"),
            (b'{"cols": 0}' + LONG, "cols: must be at least 1"),
        ):
            connection = self.post(content)
            self.assertEqual(b"", connection.value())
            run_turn(self.clock)
            self.assertEqual(text, parse_http_answer(connection.value()).error[2])

    def test_client_that_disconnects_before_parsing_is_not_served(self) -> None:
        connection = self.post(b'{"cols": 5}' + LONG)
        connection.lose()
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual((["count_values"], []), (self.steps, self.handled))
        self.assertEqual((0, 0), (self.api.site._held, self.api.site.connection_count))

    def test_right_lost_before_parsing_refuses_the_request(self) -> None:
        connection = self.post(b'{"cols": 5}' + LONG)
        self.gate.ended = True
        run_turn(self.clock)
        self.assertEqual(
            (403, "FORBIDDEN", "not any more"), parse_http_answer(connection.value()).error
        )
        self.assertEqual([], self.handled)

    def test_pipelined_requests_wait_for_a_long_body(self) -> None:
        connection = self.api.connect()
        wanted = [5, 6, 7]
        for cols in wanted:
            long = b" " * LONG_TEXT * (cols != 6)
            connection.send(self.asked(b'{"cols": %d}' % cols + long))
        connection.send(request_head("GET", "/api/things/n8e", {}))
        self.assertEqual(b"", connection.value())
        for _ in range(10):
            run_turn(self.clock)
        said = connection.value()
        places = [said.index(b'"cols":%d' % cols) for cols in wanted] + [said.index(b"n8e")]
        self.assertEqual((sorted(places), wanted), (places, self.handled))
        self.assertEqual(4, said.count(b"HTTP/1.1 200"))

    def test_other_connections_are_answered_before_a_long_body_is_parsed(self) -> None:
        connection = self.post(b'{"cols": 5}' + LONG)
        self.assertEqual(200, self.api.get("/api/things/n1e").status)
        self.assertEqual(b"", connection.value())
