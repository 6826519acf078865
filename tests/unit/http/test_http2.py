"""Tests for L{tservice.http.connections.negotiation}: the same site over HTTP/2."""

from __future__ import annotations

import json
from typing import Any

import h2.connection
import h2.events
import h2.settings
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.unit.http.http2_transport import HTTP2Transport
from tests.unit.http.sample_operations import SampleHandlers, sample_operation
from tests.unit.http.site_driver import ApiHarness, UpgradeGate
from tests.unit.http.websockets.ws_frames import UPGRADE
from tservice.core.authentication import AuthenticationRequest
from tservice.core.errors import invalid_field
from tservice.http.body import LONG_TEXT
from tservice.http.connections.channel import LINGER_BYTES
from tservice.http.envelope import HttpResponse
from tservice.http.kernel import IPages
from tservice.http.operations import JSON_BODY_LIMIT, OperationCall, ResponseStyle
from tservice.http.site import IDLE_SECONDS
from tservice.http.transfer import large_responses
from tservice.http.transfer.large_responses import PIECE, SMALL
from tservice.http.transfer.request_body import BUFFER_BYTES
from tservice.http.transfer.streamed_response import STALLED_SECONDS, StreamedResponse
from tservice.http.websockets.upgrade import WebSockets

FORM_LIMIT = 100 * BUFFER_BYTES
PIECES = 20
LONG = 4 * PIECE


@implementer(IPages)
class LongPage:
    """A UI of one page, which anybody may have."""

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        return (
            HttpResponse(status=200, content=bytes(LONG), public=True) if path == "/page" else None
        )


class HTTP2SiteTests(SynchronousTestCase):
    """Requests, refusals and time-outs over one connection."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.handlers = SampleHandlers()
        table = [
            *self.handlers.table(),
            sample_operation("GET", "/ws/x", self.handlers.echo, style=ResponseStyle.WEBSOCKET),
            sample_operation("GET", "/api/file", self.file, style=ResponseStyle.STREAM),
            sample_operation("GET", "/api/large", self.large),
            sample_operation("GET", "/api/counted", self.counted),
            sample_operation("POST", "/api/form", self.form, streams=True, body_limit=FORM_LIMIT),
        ]
        self.read: list[bytes] = []
        self.reading: Deferred[None] | None = None
        self.refused = False
        self.written = 0
        sockets = WebSockets(self.clock)
        self.api = ApiHarness(
            table, UpgradeGate(), LongPage(), sockets, clock=self.clock, http2=True
        )
        self.transport = HTTP2Transport()
        self.connection = self.api.connect(transport=self.transport)
        self.channel = self.connection.channel
        self.addCleanup(self.api.close)
        self.client = h2.connection.H2Connection()
        self.client.initiate_connection()
        self.events: dict[int, list[Any]] = {}
        self.acknowledging = True
        self.pump()

    async def form(self, call: OperationCall) -> object:
        if self.refused:
            raise invalid_field("file", "no")
        while data := await call.incoming.read_data():
            self.read.append(data)
            if self.reading is not None:
                await self.reading
        return {"size": sum(map(len, self.read))}

    async def file(self, call: OperationCall) -> None:
        answer = StreamedResponse(call.request)
        try:
            answer.write_head(200, {"Content-Type": "text/plain"})
            for _ in range(PIECES):
                await answer.write(bytes(BUFFER_BYTES))
                self.written += 1
        finally:
            answer.close()

    async def large(self, call: OperationCall) -> object:
        return {"text": "x" * LONG}

    async def counted(self, call: OperationCall) -> object:
        return {"text": "x" * SMALL}

    def begin_form(self) -> int:
        kind = "multipart/form-data; boundary=x"
        return self.ask("POST", "/api/form", end=False, content_type=kind)

    def pump(self) -> None:
        """Carry bytes both ways until there are none."""
        for _ in range(50):
            data = self.client.data_to_send()
            if data:
                self.channel.dataReceived(data)
            self.clock.advance(0)
            for event in self.client.receive_data(self.transport.value()):
                self.events.setdefault(getattr(event, "stream_id", 0), []).append(event)
                if isinstance(event, h2.events.DataReceived) and self.acknowledging:
                    length = event.flow_controlled_length
                    self.client.acknowledge_received_data(length, event.stream_id)
            self.transport.clear()

    def ask(self, method: str, path: str, end: bool = True, **headers: str) -> int:
        stream: int = self.client.get_next_available_stream_id()
        pseudo = [
            (":method", method),
            (":path", path),
            (":scheme", "https"),
            (":authority", "localhost"),
        ]
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.client.send_headers(stream, [*pseudo, *named], end_stream=end)
        self.pump()
        return stream

    def status(self, stream: int) -> str:
        for event in self.events.get(stream, ()):
            if isinstance(event, h2.events.ResponseReceived):
                return {bytes(k): bytes(v) for k, v in event.headers}[b":status"].decode()
        return ""

    def content(self, stream: int) -> bytes:
        found = self.events.get(stream, ())
        return b"".join(e.data for e in found if isinstance(e, h2.events.DataReceived))

    def send(self, stream: int, data: bytes) -> None:
        while data:
            window = self.client.local_flow_control_window(stream)
            size = min(len(data), window, self.client.max_outbound_frame_size)
            self.client.send_data(stream, data[:size])
            data = data[size:]
            self.pump()

    def test_get_request_is_answered(self) -> None:
        stream = self.ask("GET", "/api/v1/things/7")
        self.assertEqual("200", self.status(stream))
        self.assertEqual({"id": "7"}, json.loads(self.content(stream))["data"]["path"])

    def test_post_request_is_answered(self) -> None:
        stream = self.ask("POST", "/api/size", end=False, content_type="application/json")
        self.send(stream, b'{"cols": 5}')
        self.client.end_stream(stream)
        self.pump()
        self.assertEqual({"seenCols": 5}, json.loads(self.content(stream))["data"])

    def test_long_post_is_answered(self) -> None:
        """It is read in two turns, and others are answered beside it."""
        stream = self.ask("POST", "/api/size", end=False, content_type="application/json")
        self.send(stream, b" " * LONG_TEXT + b'{"cols": 5}')
        self.client.end_stream(stream)
        data = self.client.data_to_send()
        other = self.client.get_next_available_stream_id()
        self.channel.dataReceived(data)
        self.assertEqual(other, self.ask("GET", "/api/things/7"))
        self.assertEqual({"seenCols": 5}, json.loads(self.content(stream))["data"])
        self.assertEqual("200", self.status(other))

    def test_cancelled_long_post_releases_its_body(self) -> None:
        stream = self.ask("POST", "/api/size", end=False, content_type="application/json")
        self.send(stream, b" " * LONG_TEXT + b'{"cols": 5}')
        self.client.end_stream(stream)
        self.client.reset_stream(stream)
        self.channel.dataReceived(self.client.data_to_send())
        self.pump()
        self.assertEqual(("", 0), (self.status(stream), self.api.site._held))
        self.assertEqual("200", self.status(self.ask("GET", "/api/things/7")))

    def test_body_over_its_bound_is_refused(self) -> None:
        stream = self.ask("POST", "/api/size", end=False, content_type="application/json")
        self.send(stream, b" " * (JSON_BODY_LIMIT + 1))
        self.assertEqual(0, self.api.site._held)
        self.client.end_stream(stream)
        self.pump()
        self.assertEqual("413", self.status(stream))

    def test_unfinished_body_times_out(self) -> None:
        stream = self.ask("POST", "/api/size", end=False, content_length=str(10**9))
        self.send(stream, b" " * 100_000)
        request = self.channel._channel.streams[stream]._request
        self.assertEqual(b"", request.content.getvalue())
        request.handleContentChunk(b" " * LINGER_BYTES)
        self.pump()
        reset = [e for e in self.events[stream] if isinstance(e, h2.events.StreamReset)]
        self.assertEqual(1, len(reset))

    def test_file_download_waits_for_its_reader(self) -> None:
        self.acknowledging = False
        stream = self.ask("GET", "/api/file")
        self.assertEqual("200", self.status(stream))
        self.assertLess(self.written, 2)
        self.acknowledging = True
        self.client.increment_flow_control_window(2**20)
        self.client.increment_flow_control_window(2**20, stream)
        for _ in range(PIECES):
            self.pump()
        self.assertEqual(PIECES, self.written)
        self.assertEqual(PIECES * BUFFER_BYTES, len(self.content(stream)))

    def test_large_answer_waits_for_its_reader(self) -> None:
        self.acknowledging = False
        stream = self.ask("GET", "/api/large")
        self.assertEqual("200", self.status(stream))
        self.assertGreater(self.api.kernel._large.unread_bytes, LONG)
        self.acknowledging = True
        self.client.increment_flow_control_window(2 * LONG)
        self.client.increment_flow_control_window(2 * LONG, stream)
        self.pump()
        self.assertEqual(LONG, len(json.loads(self.content(stream))["data"]["text"]))
        self.assertEqual(0, self.api.kernel._large.unread_bytes)

    def test_connection_ended_before_its_page_is_read_releases_it(self) -> None:
        self.acknowledging = False
        for path in ("/page", "/api/large"):
            self.assertEqual("200", self.status(self.ask("GET", path)))
        waiting = len(self.api.clock.getDelayedCalls())
        self.connection.lose()
        self.assertLessEqual(len(self.api.clock.getDelayedCalls()), waiting - 2)
        self.api.clock.advance(STALLED_SECONDS)
        self.assertEqual([], self.flushLoggedErrors())
        self.assertEqual(0, self.api.kernel._large.unread_bytes)

    def test_many_small_unread_answers_count_against_the_bound(self) -> None:
        """They wait for their reader in one connection, and count all the same."""
        self.acknowledging = False
        self.client.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
        self.pump()
        self.patch(large_responses, "MAX_UNREAD_PER_ACCOUNT", 10 * SMALL)
        streams = [self.ask("GET", "/api/counted") for _ in range(12)]
        found = [self.status(stream) for stream in streams]
        self.assertEqual(["200"] * 10 + ["429"] * 2, found)
        for stream in streams:
            self.client.reset_stream(stream)
        self.pump()
        self.assertEqual(0, self.api.kernel._large.unread_bytes)

    def test_cancelled_large_answer_is_released(self) -> None:
        self.acknowledging = False
        stream = self.ask("GET", "/api/large")
        self.client.reset_stream(stream)
        self.pump()
        self.assertEqual(0, self.api.kernel._large.unread_bytes)
        self.assertEqual("200", self.status(self.ask("GET", "/api/things/7")))

    def test_form_is_read_as_it_arrives(self) -> None:
        stream = self.begin_form()
        self.send(stream, b"abc")
        self.assertEqual([b"abc"], self.read)
        self.send(stream, b"def")
        self.client.end_stream(stream)
        self.pump()
        self.assertEqual({"size": 6}, json.loads(self.content(stream))["data"])

    def test_form_waits_for_its_reader(self) -> None:
        self.reading = Deferred()
        stream = self.begin_form()
        self.send(stream, b"a")
        while self.client.local_flow_control_window(stream) > 0:
            self.send(stream, bytes(min(1000, self.client.local_flow_control_window(stream))))
        held = sum(map(len, self.channel._channel.streams[stream]._request.incoming._pieces))
        self.assertLess(held, 2 * BUFFER_BYTES)
        waiting, self.reading = self.reading, None
        waiting.callback(None)
        self.pump()
        self.assertGreater(self.client.local_flow_control_window(stream), 0)

    def test_refused_form_is_answered_at_its_end(self) -> None:
        self.refused = True
        stream = self.begin_form()
        self.send(stream, b"abc")
        self.assertEqual("", self.status(stream))
        self.client.end_stream(stream)
        self.pump()
        self.assertEqual("400", self.status(stream))

    def test_endless_refused_form_is_cut_off(self) -> None:
        self.refused = True
        stream = self.begin_form()
        self.send(stream, b"abc")
        self.channel._channel.streams[stream]._request.handleContentChunk(bytes(LINGER_BYTES + 1))
        self.pump()
        self.assertTrue(any(isinstance(e, h2.events.StreamReset) for e in self.events[stream]))

    def test_long_poll_is_not_idle(self) -> None:
        stream = self.ask("GET", "/api/park")
        for _ in range(8):
            self.clock.advance(IDLE_SECONDS)
        self.assertFalse(self.transport.disconnecting)
        self.handlers.parked[0].callback({})
        self.pump()
        self.assertEqual("200", self.status(stream))
        self.clock.advance(IDLE_SECONDS)
        self.assertTrue(self.transport.disconnecting)

    def test_unfinished_request_is_idle(self) -> None:
        self.ask("POST", "/api/size", end=False)
        self.clock.advance(IDLE_SECONDS)
        self.assertTrue(self.transport.disconnecting)

    def test_disconnected_client_cancels_the_handler(self) -> None:
        self.ask("GET", "/api/park")
        self.connection.lose()
        self.assertEqual(self.handlers.parked, self.handlers.cancelled)
        self.assertEqual(0, self.api.site.connection_count)

    def test_websockets_are_refused(self) -> None:
        headers = {name.lower(): value for name, value in UPGRADE.items() if name[0] == "S"}
        self.assertEqual("426", self.status(self.ask("GET", "/ws/x", True, **headers)))

    def test_invalid_method_is_a_bad_request(self) -> None:
        self.assertEqual("400", self.status(self.ask("G\u00cbT", "/api/list")))
        self.assertEqual("400", self.status(self.ask("GET /", "/api/list")))

    def test_http2_is_offered_when_enabled(self) -> None:
        self.assertEqual([b"h2", b"http/1.1"], self.api.site.acceptableProtocols())
        self.assertEqual([b"http/1.1"], ApiHarness([]).site.acceptableProtocols())
