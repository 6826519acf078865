"""Tests for L{tservice.http.event_stream}."""

from __future__ import annotations

import json
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.unit.http.site_driver import ApiHarness, OpenGate, SiteConnection, request_head
from tservice.core.callers.identity import Identity
from tservice.core.kernel.event_payloads import SessionRenamedPayload
from tservice.core.kernel.events import EventAudience, EventHub, EventName
from tservice.core.values.payload import Payload
from tservice.http import event_stream
from tservice.http.event_stream import (
    HEARTBEAT_SECONDS,
    MAX_BACKLOG,
    MAX_CLIENTS,
    RING,
    EventStreams,
)
from tservice.http.operation_decorator import collect_operations

ANN = Identity(username="ann", admin=False, auth_session="s1")
ROOT = Identity(username="root", admin=True)

A, B, C = "session:idle", "session:working", "session:stop"


def events(data: bytes) -> list[tuple[str, str, Any]]:
    """Id, name and payload of each whole message in a chunked answer."""
    _, _, rest = data.partition(b"\r\n\r\n")
    text = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        text += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    found = []
    for message in text.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in message.split("\n"))
        assert list(fields) == ["id", "event", "data"]
        found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


class EventStreamTests(SynchronousTestCase):
    """One service, many listeners."""

    def setUp(self) -> None:
        self.hub = EventHub()
        self.gate = OpenGate(ROOT)
        clock = Clock()
        self.streams = EventStreams(self.hub, clock, "b1", self.status)
        self.api = ApiHarness(collect_operations(self.streams), gate=self.gate, clock=clock)
        self.streams.startService()
        self.addCleanup(self.api.close)

    def status(self, identity: Identity) -> Payload:
        return SessionRenamedPayload(id="", name=identity.username, name_source="")

    def listen(self, query: str = "", last: str | None = None) -> SiteConnection:
        connection = self.api.connect()
        headers = {} if last is None else {"Last-Event-ID": last}
        connection.send(request_head("GET", f"/api/v1/events{query}", headers))
        return connection

    def happen(self, name: str = "cli:installOutput", **fields: Any) -> None:
        self.hub.publish(make_event(name, **fields))

    def names(self, connection: SiteConnection) -> list[str]:
        return [name for _, name, _ in events(connection.value())]

    def test_init_event_comes_first(self) -> None:
        connection = self.listen()
        self.assertEqual(
            [("b1-0", "init", {"id": "", "name": "root", "nameSource": ""})],
            events(connection.value()),
        )
        text = connection.value().decode().lower()
        self.assertIn("content-type: text/event-stream", text)
        self.assertIn("cache-control: no-store", text)

    def test_streamed_events_are_numbered(self) -> None:
        connection = self.listen()
        self.happen(data="1")
        self.happen("tunnel:error", error="a\nb\r\n\u2028")
        self.assertEqual(
            [
                ("b1-1", "cli:installOutput", {"id": "", "data": "1"}),
                ("b1-2", "tunnel:error", {"error": "a\nb\r\n\u2028"}),
            ],
            events(connection.value())[1:],
        )

    def test_heartbeat_is_sent_regularly(self) -> None:
        connection = self.listen()
        self.happen()
        self.api.clock.advance(HEARTBEAT_SECONDS)
        self.assertEqual(("b1-1", "sse:heartbeat", {"t": 15000}), events(connection.value())[-1])
        self.api.clock.pump([HEARTBEAT_SECONDS] * 20)
        self.assertFalse(connection.transport.disconnecting)

    def test_reconnect_replays_exactly_the_missed_events(self) -> None:
        for name in (A, B, C):
            self.happen(name)
        self.assertEqual([B, C], self.names(self.listen(last="b1-1")))
        self.assertEqual([], self.names(self.listen(last="b1-3")))
        self.assertEqual([A, B, C], self.names(self.listen(last="b1-0")))

    def test_unknown_last_event_id_gets_init(self) -> None:
        self.happen(A)
        for last in ("b2-1", "b1-2", "b1-", "b1", "-1", "b1-x", "b1-\xb2", "b1-" + "9" * 5000):
            self.assertEqual(["init"], self.names(self.listen(last=last)), last)

    def test_events_are_not_replayed_to_another_account_of_the_same_name(self) -> None:
        self.gate.identity = ANN
        self.happen(A, owner="ann")
        self.assertEqual([A], self.names(self.listen(last="b1-0")))
        self.happen("admin:usersChanged")
        self.happen(B, owner="ann")
        self.assertEqual(["init"], self.names(self.listen(last="b1-0")))
        self.assertEqual([B], self.names(self.listen(last="b1-1")))

    def test_replayed_events_are_bounded(self) -> None:
        for _ in range(RING + 1):
            self.happen()
        self.assertEqual(RING, len(self.names(self.listen(last="b1-1"))))
        self.assertEqual(["init"], self.names(self.listen(last="b1-0")))

    def test_replayed_events_are_bounded_in_size(self) -> None:
        big = "x" * (event_stream.RING_CHARS // 2)
        for _ in range(3):
            self.happen("session:terminal", data=big)
        self.assertEqual(2, len(self.streams._ring))

    def test_bulky_events_are_filtered_by_session(self) -> None:
        streams = {query: self.listen(query) for query in ("", "?sessions=a,b", "?sessions=")}
        for session in ("a", "c"):
            self.happen("session:terminal", session_id=session)
        self.happen("session:created", session_id="c")
        self.assertEqual(
            {"": 4, "?sessions=a,b": 3, "?sessions=": 2},
            {query: len(self.names(stream)) for query, stream in streams.items()},
        )

    def test_events_reach_only_their_audience(self) -> None:
        self.gate.identity = ANN
        ann = self.listen()
        self.gate.identity = ROOT
        root = self.listen()
        for name, audience, owner in (
            ("settings:changed", EventAudience.EVERYONE, None),
            (A, EventAudience.OWNER, "ann"),
            (A, EventAudience.OWNER, "bob"),
            (A, EventAudience.OWNER, None),
            ("mcp:synced", EventAudience.ADMINS, "ann"),
            ("tunnel:qrRotated", EventAudience.PERSON, "ann"),
            ("tunnel:qrRotated", EventAudience.PERSON, "root"),
        ):
            event = make_event(name, owner=owner)
            self.assertIs(audience, event.name.audience)
            self.hub.publish(event)
        self.assertEqual(["b1-0", "b1-1", "b1-2"], [i for i, _, _ in events(ann.value())])
        self.assertEqual(7, len(events(root.value())))

    def test_number_of_clients_is_capped(self) -> None:
        clients = [self.listen() for _ in range(MAX_CLIENTS)]
        answer = self.api.get("/api/events")
        self.assertEqual((503, b"Too many SSE connections"), (answer.status, answer.content))
        self.assertTrue(int(answer.headers["retry-after"]) >= 1)
        clients[0].lose()
        self.assertEqual(MAX_CLIENTS - 1, self.streams.client_count)
        self.assertEqual(["init"], self.names(self.listen()))

    def test_one_account_cannot_keep_others_out(self) -> None:
        first, *rest = [self.listen() for _ in range(MAX_CLIENTS)]
        self.gate.identity = Identity(username="other", admin=False)
        other = self.listen()
        self.assertEqual(["init"], self.names(other))
        self.assertTrue(first.value().endswith(b"0\r\n\r\n"))
        self.assertFalse(any(each.value().endswith(b"0\r\n\r\n") for each in rest))
        self.assertEqual(MAX_CLIENTS, self.streams.client_count)
        first.lose()
        self.assertEqual(MAX_CLIENTS, self.streams.client_count)

    def test_slow_client_is_disconnected_alone(self) -> None:
        slow, quick = self.listen(), self.listen()
        slow.producer.pauseProducing()
        self.happen(data="x" * 1000)
        self.assertEqual(["init"], self.names(slow))
        big = "y" * (1024 * 1024)
        for _ in range(MAX_BACKLOG // len(big)):
            self.happen("session:terminal", data=big)
        self.assertTrue(slow.transport.aborted)
        self.assertFalse(quick.transport.aborted)
        self.assertEqual(6, len(self.names(quick)))
        slow.lose()
        self.assertEqual(1, self.streams.client_count)

    def test_replay_buffer_is_bounded_by_its_size(self) -> None:
        """Also by events that are not bulky: a list of jobs may be long."""
        for _ in range(2 * event_stream.RING_CHARS // 1_000_000):
            self.happen(data="x" * 1_000_000)
        held = sum(len(entry.encode_event()) for entry in self.streams._ring)
        self.assertLessEqual(held, event_stream.RING_CHARS)
        self.assertGreater(held, event_stream.RING_CHARS // 2)

    def test_client_that_resumes_reading_gets_everything_in_order(self) -> None:
        connection = self.listen()
        connection.producer.pauseProducing()
        for name in (A, B):
            self.happen(name)
        connection.producer.resumeProducing()
        self.happen(C)
        self.assertEqual(["init", A, B, C], self.names(connection))

    def test_event_bytes_are_encoded_once(self) -> None:
        made: list[str] = []
        real = event_stream.encode_message

        def counting(boot: str, number: int, name: EventName, data: Payload) -> bytes:
            made.append(name)
            return real(boot, number, name, data)

        for _ in range(3):
            self.listen()
        self.patch(event_stream, "encode_message", counting)
        self.happen(A)
        self.happen("session:terminal")
        self.assertEqual([A, "session:terminal"], made)

    def test_bulky_events_are_not_encoded_without_listeners(self) -> None:
        self.patch(event_stream, "encode_message", None)
        self.happen("session:terminal")
        self.assertEqual(1, len(self.streams._ring))

    def test_unencodable_event_is_dropped_and_logged(self) -> None:
        connection = self.listen()
        self.happen("hook:stop", data={"x": object()})
        self.assertEqual(1, len(self.flushLoggedErrors()))
        self.happen(A)
        self.assertEqual(["init", A], self.names(connection))

    def test_shutdown_is_announced_and_ends_the_streams(self) -> None:
        connection = self.listen()
        self.successResultOf(self.streams.stopService())
        self.assertEqual(["init", "server:shutdown"], self.names(connection))
        self.assertTrue(connection.value().endswith(b"0\r\n\r\n"))
        self.assertEqual(0, self.streams.client_count)
        self.happen(A)
        self.assertEqual(2, len(self.names(connection)))

    def test_streams_of_a_revoked_session_end(self) -> None:
        other = self.listen()
        self.gate.identity = ANN
        connection = self.listen()
        self.streams.drop_connections(lambda identity: identity.auth_session == "s1")
        self.assertTrue(connection.value().endswith(b"0\r\n\r\n"))
        self.assertEqual(1, self.streams.client_count)
        self.happen(A)
        self.assertEqual(["init", A], self.names(other))

    def test_head_request_opens_no_stream(self) -> None:
        self.assertEqual(200, self.api.request("HEAD", "/api/events").status)
        self.assertEqual(0, self.streams.client_count)

    def test_closed_stream_leaves_nothing(self) -> None:
        connection = self.listen()
        connection.lose()
        self.successResultOf(self.streams.stopService())
        self.assertEqual([], self.api.clock.getDelayedCalls())
