"""Tests for L{tservice.http.site}, L{kernel}, L{routing} and L{channel} together."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.http.sample_operations import SampleHandlers, SizeBody, sample_operation
from tests.unit.http.site_driver import ApiHarness, SiteConnection, parse_http_answer, request_head
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.http.connections.channel import HEADER_SECONDS, LINGER_BYTES, LINGER_SECONDS
from tservice.http.operations import JSON_BODY_LIMIT
from tservice.http.request import HANG_UP
from tservice.http.site import IDLE_SECONDS


class RoutingTests(SynchronousTestCase):
    """Which operation answers, and what is said when none does."""

    def setUp(self) -> None:
        self.handlers = SampleHandlers()
        self.api = ApiHarness(self.handlers.table())

    def test_response_data_is_wrapped(self) -> None:
        answer = self.api.get("/api/things/a1")
        self.assertEqual(200, answer.status)
        self.assertEqual({"success": True, "data": {"path": {"id": "a1"}}}, answer.json())
        self.assertEqual(str(len(answer.content)), answer.headers["content-length"])
        self.assertEqual("no-store", answer.headers["cache-control"])

    def test_missing_response_data_is_an_empty_object(self) -> None:
        self.assertEqual({}, self.api.request("DELETE", "/api/things/a1").data)

    def test_response_models_use_camel_case(self) -> None:
        self.assertEqual({"seenCols": 5}, self.api.post("/api/size", {"cols": 5}).data)

    def test_version_prefix_is_a_path_alias(self) -> None:
        self.assertEqual({"path": {"id": "x"}}, self.api.get("/api/v1/things/x").data)
        self.assertEqual(404, self.api.get("/api/v1/v1/things/x").status)

    def test_routes_work_below_a_base_path(self) -> None:
        api = ApiHarness(self.handlers.table(), base_path="/deep")
        for path in ("/deep/api/things/x", "/deep/api/v1/things/x", "/api/things/x"):
            self.assertEqual(200, api.get(path).status, path)

    def test_unknown_route_names_the_path_as_requested(self) -> None:
        self.assertEqual(
            (404, "NOT_FOUND", "Route POST /api/v1/nope not found"),
            self.api.post("/api/v1/nope", {}).error,
        )

    def test_wrong_method_is_refused_with_the_allowed_methods(self) -> None:
        answer = self.api.request("PUT", "/api/things/x")
        self.assertEqual((405, "INVALID_INPUT"), answer.error[:2])
        self.assertEqual("DELETE, GET, HEAD, OPTIONS", answer.headers["allow"])

    def test_options_lists_the_allowed_methods(self) -> None:
        answer = self.api.request("OPTIONS", "/api/things/x")
        self.assertEqual((204, b""), (answer.status, answer.content))
        self.assertEqual("DELETE, GET, HEAD, OPTIONS", answer.headers["allow"])

    def test_overlong_method_is_a_bad_request(self) -> None:
        self.assertEqual(405, self.api.request("X" * 32, "/api/things/x").status)
        self.assertEqual(400, self.api.request("X" * 33, "/api/things/x").status)

    def test_head_has_the_length_and_no_content(self) -> None:
        got = self.api.get("/api/things/a1")
        answer = self.api.request("HEAD", "/api/things/a1")
        self.assertEqual((200, b""), (answer.status, answer.content))
        self.assertEqual(got.headers["content-length"], answer.headers["content-length"])

    def test_unknown_path_outside_the_api_is_plain_text(self) -> None:
        answer = self.api.get("/nope")
        self.assertEqual((404, b"Not Found"), (answer.status, answer.content))
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))

    def test_path_parameters_are_decoded_once(self) -> None:
        self.assertEqual(
            {"path": {"id": "ü%41 ?"}}, self.api.get("/api/things/%C3%BC%2541%20%3F").data
        )
        self.assertEqual({"path": {"id": "A"}}, self.api.get("/%61pi/things/%41").data)

    def test_malformed_path_parameters_are_not_found(self) -> None:
        for path in ("a%2Fb", "%00", "%ff", "..", "%2e%2e", ".", "%C3", "a/b", "", "x/"):
            self.assertEqual(404, self.api.get(f"/api/things/{path}").status, path)
        for path in ("//api/things/x", "/api//things/x", "*", "http://h/api/things/x", "/%"):
            self.assertEqual(404, self.api.get(path).status, path)

    def test_path_bytes_beyond_ascii_are_decoded(self) -> None:
        connection = self.api.connect()
        connection.send(b"GET /api/things/\xff HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 400 "))

    def test_endless_request_line_is_refused(self) -> None:
        """What stands before the end of the line, and what comes behind it, is all the same."""
        good = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: "
        for start, status in ((b"GET /", b"414"), (good, b"431")):
            for end in (b"", b" HTTP/1.1\r\nHost: localhost\r\n\r\n"):
                connection = self.api.connect()
                connection.send(start + b"x" * 20_000 + end)
                connection.send(b"y" * 20_000 + b"\r\n\r\n" + good + b"\r\n\r\n")
                self.assertEqual(1, connection.value().count(b"HTTP/1.1"))
                self.assertTrue(connection.value().startswith(b"HTTP/1.1 " + status))
                self.api.clock.advance(LINGER_SECONDS)
                self.assertTrue(connection.transport.aborted)

    def test_rest_of_the_path_is_a_parameter(self) -> None:
        for path, rest in (("", ""), ("/a//b%2Fc/", "/a//b%2Fc/"), ("x", "x")):
            self.assertEqual(
                {"path": {"name": "n", "rest": rest}},
                self.api.request("PATCH", f"/web/n/{path}").data,
            )

    def test_duplicate_route_is_an_error(self) -> None:
        table = [sample_operation("GET", "/api/x", self.handlers.echo)] * 2
        self.assertRaises(ValueError, ApiHarness, table)


class FuzzTests(SynchronousTestCase):
    """Whatever the request line and headers hold, it is never a server error."""

    def setUp(self) -> None:
        self.api = ApiHarness(SampleHandlers().table())

    @settings(max_examples=example_count(100), deadline=None)
    @given(
        st.sampled_from([b"GET", b"POST", b"OPTIONS", b"HEAD"]) | st.binary(max_size=5),
        st.sampled_from([b"/api/", b"/api/things/", b"/web/", b"/"]) | st.just(b""),
        st.binary(max_size=12) | st.text("%2fFeE./\\?&=", max_size=12).map(str.encode),
        st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=8)), max_size=3),
    )
    def test_any_request_head_is_no_server_error(
        self, method: bytes, start: bytes, rest: bytes, headers: list[tuple[bytes, bytes]]
    ) -> None:
        lines = [b"%b %b%b HTTP/1.1" % (method, start, rest), b"Host: localhost"]
        lines += [b"%b: %b" % header for header in headers]
        connection = self.api.connect()
        connection.send(b"\r\n".join([*lines, b"", b""]))
        assert b" 500 " not in connection.value().partition(b"\r\n")[0]
        connection.lose()


class SiteAnswerTests(SynchronousTestCase):
    """What handlers raise and return, on the wire."""

    def setUp(self) -> None:
        self.handlers = SampleHandlers()
        self.told: list[tuple[object, ...]] = []
        self.api = ApiHarness(
            self.handlers.table(), on_response=lambda *args: self.told.append(args)
        )

    def test_service_error_becomes_its_response(self) -> None:
        self.assertEqual(
            (404, "NOT_FOUND", "Thing 7 not found"), self.api.get("/api/missing/7").error
        )

    def test_unexpected_error_hides_its_details_and_is_logged_once(self) -> None:
        answer = self.api.get("/api/broken")
        self.assertEqual(
            (500, "INTERNAL_ERROR", "Internal error (number 1 in the log)"), answer.error
        )
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))

    def test_operation_without_a_body_refuses_one(self) -> None:
        """A body that says something there is as wrong as an unknown field elsewhere."""
        for body, text in (
            ({"x": 1}, "x: is not a known field"),
            ([], "body: must be an object"),
            (b"{", "body: must be JSON"),
            (b'{"x": 1, "x": 1}', "x: must not be repeated"),
        ):
            answer = self.api.request("DELETE", "/api/things/1", body)
            self.assertEqual((400, "INVALID_INPUT", text), answer.error)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self.api.request("DELETE", "/api/things/1", b"x=1", form)
        self.assertEqual("content-type: must be application/json", answer.error[2])
        nothing: tuple[object, ...] = (None, {}, b"", b" \n")
        for empty in nothing:
            self.assertEqual(200, self.api.request("DELETE", "/api/things/1", empty).status)
        self.assertEqual(200, self.api.request("DELETE", "/api/things/1", b"", form).status)

    def test_operation_that_reads_its_own_body_gets_any(self) -> None:
        for method, path in (
            ("POST", "/api/upload"),
            ("POST", "/web/a/b"),
            ("GET", "/api/things/1"),
        ):
            self.assertEqual(200, self.api.request(method, path, {"x": 1}).status, path)

    def test_switched_off_operation_refuses_before_parsing(self) -> None:
        """That comes before what is wrong with the request, and after who may ask."""

        def off() -> None:
            raise ServiceError(ErrorCode.FORBIDDEN, "off")

        api = ApiHarness(
            [sample_operation("POST", "/api/size", self.handlers.size, body=SizeBody, allowed=off)],
        )
        self.addCleanup(api.close)
        for body in ({"cols": 1}, {"x": 1}, b"{"):
            self.assertEqual((403, "FORBIDDEN", "off"), api.post("/api/size", body).error)

    def test_every_status_has_its_reason_phrase(self) -> None:
        """Also those that Twisted's own table has not (protocol-errors, prompts)."""
        phrases = {
            ErrorCode.OPERATION_FAILED: b"422 Unprocessable ",
            ErrorCode.RATE_LIMITED: b"429 Too Many Requests\r\n",
        }
        for code, line in phrases.items():

            def refused(code: ErrorCode = code) -> None:
                raise ServiceError(code, "no")

            api = ApiHarness(
                [sample_operation("POST", "/api/size", self.handlers.size, allowed=refused)]
            )
            self.addCleanup(api.close)
            connection = api.connect()
            connection.send(request_head("POST", "/api/size", {"Content-Length": "0"}))
            self.assertTrue(connection.value().startswith(b"HTTP/1.1 " + line), line)

    def test_raw_reply_is_sent_unchanged(self) -> None:
        answer = self.api.get("/raw")
        self.assertEqual(b"ok 1\n", answer.content)
        self.assertEqual(
            ("text/plain", "b"), (answer.headers["content-type"], answer.headers["x-a"])
        )

    def test_query_parameters_are_parsed(self) -> None:
        self.assertEqual({"limit": 3}, self.api.get("/api/list?limit=3&other=1").data)
        self.assertEqual("limit: must be an integer", self.api.get("/api/list?limit=x").error[2])

    def test_answers_are_counted_by_route(self) -> None:
        self.api.get("/api/things/1")
        self.api.get("/nope")
        self.assertEqual(
            [("/api/things/{id}", "GET", 200, 0.0, 43), ("none", "GET", 404, 0.0, 9)], self.told
        )

    def test_disconnected_client_cancels_the_handler(self) -> None:
        connection = self.api.connect()
        connection.send(request_head("GET", "/api/park", {}))
        connection.lose()
        self.assertEqual(self.handlers.parked, self.handlers.cancelled)
        self.assertEqual(b"", connection.value())
        self.assertEqual(HANG_UP, self.told[0][2])
        self.assertEqual(0, self.api.site.connection_count)

    def test_long_poll_outlives_the_idle_time_out(self) -> None:
        connection = self.api.connect()
        connection.send(request_head("GET", "/api/park", {}))
        self.api.clock.advance(600)
        self.handlers.parked[0].callback({"a": 1})
        self.assertEqual({"a": 1}, parse_http_answer(connection.value()).data)

    def test_cancelled_handler_with_a_connected_client_is_an_error(self) -> None:
        connection = self.api.connect()
        connection.send(request_head("GET", "/api/park", {}))
        self.handlers.parked[0].cancel()
        self.assertEqual((500, "INTERNAL_ERROR"), parse_http_answer(connection.value()).error[:2])
        self.flushLoggedErrors()

    def test_broken_stream_is_cut(self) -> None:
        connection = self.api.connect()
        connection.send(request_head("GET", "/api/stream", {}))
        self.assertTrue(connection.transport.aborted)
        self.assertTrue(connection.value().endswith(b"3\r\none\r\n"))


class BodyBoundTests(SynchronousTestCase):
    """A body over its bound is refused while it arrives."""

    def setUp(self) -> None:
        self.handlers = SampleHandlers()
        self.api = ApiHarness(self.handlers.table())
        self.connection = self.api.connect()
        self.addCleanup(self.api.close)

    def assertRefused(self) -> None:
        answer = parse_http_answer(self.connection.value())
        self.assertEqual((413, "PAYLOAD_TOO_LARGE"), answer.error[:2])
        self.assertEqual("close", answer.headers["connection"])

    def test_declared_length_over_the_bound_is_refused(self) -> None:
        self.connection.send(
            request_head("POST", "/api/size", {"Content-Length": str(JSON_BODY_LIMIT + 1)})
        )
        self.assertRefused()

    def test_expect_continue_gets_the_refusal_only(self) -> None:
        headers = {"Content-Length": str(JSON_BODY_LIMIT + 1), "Expect": "100-continue"}
        self.connection.send(request_head("POST", "/api/size", headers))
        self.assertRefused()
        self.assertNotIn(b"100 Continue", self.connection.value())

    def test_chunked_body_over_the_bound_is_refused(self) -> None:
        self.connection.send(request_head("POST", "/api/size", {"Transfer-Encoding": "chunked"}))
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        for _ in range(16):
            self.connection.send(chunk)
        self.assertEqual(b"", self.connection.value())
        self.connection.send(chunk)
        self.assertRefused()

    def test_data_after_the_refusal_is_discarded_until_the_connection_is_cut(self) -> None:
        self.test_chunked_body_over_the_bound_is_refused()
        sent = self.connection.value()
        self.connection.send(b"10000\r\nGET / HTTP/1.1\r\n\r\n")
        self.assertEqual(sent, self.connection.value())
        self.assertFalse(self.connection.transport.disconnecting)
        self.api.clock.advance(LINGER_SECONDS)
        self.assertTrue(self.connection.transport.aborted)

    def test_discarding_is_bounded(self) -> None:
        self.test_declared_length_over_the_bound_is_refused()
        self.connection.send(b"x" * LINGER_BYTES)
        self.assertFalse(self.connection.transport.aborted)
        self.connection.send(b"x")
        self.assertTrue(self.connection.transport.aborted)

    def test_disconnect_after_the_refusal_leaves_no_timer(self) -> None:
        self.test_declared_length_over_the_bound_is_refused()
        self.connection.lose()
        self.assertEqual([], self.api.clock.getDelayedCalls())

    def test_operation_may_accept_a_larger_body(self) -> None:
        size = 2 * JSON_BODY_LIMIT
        self.connection.send(request_head("POST", "/api/v1/upload", {"Content-Length": str(size)}))
        for _ in range(size // 65536):
            self.connection.send(b"x" * 65536)
        self.assertEqual({"path": {}}, parse_http_answer(self.connection.value()).data)

    def test_operation_may_accept_only_a_smaller_body(self) -> None:
        self.assertEqual(200, self.api.post("/api/tiny", {"cols": 1}).status)
        answer = self.api.post("/api/tiny", b'{"cols":               1}')
        self.assertEqual((413, "PAYLOAD_TOO_LARGE"), answer.error[:2])

    def test_total_size_of_held_bodies_is_bounded(self) -> None:
        self.assertTrue(self.api.site.reserve_body_bytes(256 * 1024 * 1024 - 10))
        self.assertEqual(503, self.api.post("/api/size", {"cols": 100}).status)
        self.assertEqual(200, self.api.post("/api/tiny", b'{"cols":1}').status)
        self.assertEqual(200, self.api.post("/api/tiny", b'{"cols":1}').status)

    def test_unfinished_bodies_make_room_for_new_ones(self) -> None:
        """Who holds all of it by sending half a body does not do so for long."""
        slow = self.api.connect("10.0.0.2")
        self.addCleanup(slow.lose)
        slow.send(request_head("POST", "/api/size", {"Content-Length": "1000"}) + b" " * 900)
        self.assertTrue(self.api.site.reserve_body_bytes(256 * 1024 * 1024 - 901))
        self.assertEqual(503, self.api.post("/api/tiny", b'{"cols":1}').status)
        self.api.clock.advance(0)
        self.assertTrue(slow.transport.aborted)
        self.assertFalse(self.connection.transport.aborted)
        slow.lose()
        self.assertEqual(200, self.api.post("/api/tiny", b'{"cols":1}').status)


class PatienceTests(SynchronousTestCase):
    """Slow and idle clients are let go."""

    def setUp(self) -> None:
        self.api = ApiHarness(SampleHandlers().table(), max_connections=2)
        self.connection = self.api.connect()
        self.addCleanup(self.api.close)

    def test_idle_connection_is_closed(self) -> None:
        self.connection.send(request_head("GET", "/api/things/1", {}))
        self.api.clock.advance(IDLE_SECONDS - 1)
        self.assertFalse(self.connection.transport.disconnecting)
        self.api.clock.advance(1)
        self.assertTrue(self.connection.transport.disconnecting)

    def test_slowly_sent_headers_time_out(self) -> None:
        """A byte now and then keeps the idle time-out quiet, but not this."""
        for byte in b"GET /api/thin":
            self.connection.send(bytes([byte]))
            self.api.clock.advance(HEADER_SECONDS / 10)
        self.assertTrue(self.connection.transport.disconnecting)

    def test_slow_body_within_the_minimum_rate_is_accepted(self) -> None:
        self.connection.send(request_head("POST", "/api/size", {"Content-Length": "40000"}))
        for _ in range(40):
            self.connection.send(b" " * 1000)
            self.api.clock.advance(0.7)
        self.assertFalse(self.connection.transport.disconnecting)
        self.assertEqual(400, parse_http_answer(self.connection.value()).status)

    def test_slowly_sent_body_times_out(self) -> None:
        self.connection.send(request_head("POST", "/api/size", {"Content-Length": "4000"}))
        for _ in range(30):
            self.connection.send(b" ")
            self.api.clock.advance(1)
        self.assertTrue(self.connection.transport.disconnecting)

    def test_connection_that_does_not_close_is_aborted(self) -> None:
        self.api.clock.advance(IDLE_SECONDS)
        self.api.clock.advance(15)
        self.assertTrue(self.connection.transport.aborted)

    def ask(self, connection: SiteConnection, path: str = "/api/things/1") -> None:
        connection.send(request_head("GET", path, {}))

    def test_number_of_connections_is_bounded(self) -> None:
        other = self.api.connect()
        for each in (self.connection, other):
            self.ask(each, "/api/park")
        self.assertIsNone(self.api.site.buildProtocol(None))
        other.lose()
        self.assertIsNotNone(self.api.site.buildProtocol(None))
        self.assertEqual(2, self.api.site.connection_count)

    def test_waiting_connections_make_room_for_new_ones(self) -> None:
        """However many connections somebody opens to say nothing, the next one is served."""
        slow = self.api.connect()
        slow.send(b"GET /api/th")
        self.ask(self.connection, "/api/park")
        again = self.api.connect()
        self.assertTrue(slow.transport.aborted)
        self.assertFalse(self.connection.transport.aborted)
        self.ask(again)
        self.assertEqual(200, parse_http_answer(again.value()).status)
        slow.lose()
        self.assertEqual(2, self.api.site.connection_count)

    def test_address_with_most_waiting_connections_loses_one(self) -> None:
        api = ApiHarness(SampleHandlers().table(), max_connections=3)
        self.addCleanup(api.close)
        quiet = api.connect("10.0.0.1")
        slow = [api.connect("10.0.0.2") for _ in range(2)]
        api.connect("10.0.0.3")
        self.assertEqual([False, True, False], [each.transport.aborted for each in (quiet, *slow)])

    def test_connection_is_kept_alive(self) -> None:
        """Many requests on one connection, one after the other."""
        for _ in range(3):
            self.connection.send(request_head("GET", "/api/things/1", {}))
            self.assertEqual(200, parse_http_answer(self.connection.value()).status)
            self.connection.transport.clear()
