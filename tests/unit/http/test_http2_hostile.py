"""HTTP/2 clients that break the protocol, or use it to wear the service out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hpack import Decoder, Encoder
from hyperframe import frame
from twisted.logger import formatEvent

from tests.unit.http.hostile_client import PREFACE, HostileConnectionCase
from tests.unit.http.http2_transport import HTTP2Transport
from tservice.http.connections.fair_scheduler import CONNECTION_SHARE, ITERATION_BUDGET
from tservice.http.connections.frame_limits import (
    BURST,
    HEADER_BYTES,
    HEADER_LIST_BYTES,
    SETTINGS,
)
from tservice.http.connections.negotiation import FIELDS, RESETS, RESIZES, TABLE_BYTES, WHY

FULL = 16_384


class HTTP2TurnTests(HostileConnectionCase):
    """Many requests in what is read at a time hold nobody else up."""

    def many(self, count: int) -> bytes:
        return b"".join(self.request(1 + 2 * number, "END_STREAM") for number in range(count))

    def begun(self) -> int:
        """The last request that was begun, counted from 1."""
        return (int(self.patient.conn.highest_inbound_stream_id) + 1) // 2

    def turns(self) -> list[int]:
        """How many requests each turn of the reactor began, noted as they pass."""
        self.settle()
        found: list[int] = []
        turns = self.api.site.turns
        turn = turns._run_iteration

        def noted() -> None:
            before = self.begun()
            turn()
            found.append(self.begun() - before)

        self.patch(turns, "_run_iteration", noted)
        return found

    def test_few_headers_are_parsed_in_one_turn(self) -> None:
        begun = self.turns()
        self.connection.send(self.many(20))
        self.assertEqual((1, "paused"), (self.begun(), self.transport.producerState))
        self.settle()
        self.assertEqual([4, 4, 4, 4, 3], begun[:5])
        self.assertEqual("producing", self.transport.producerState)
        self.assertEqual([1] * 20, self.answers())

    def test_connections_share_a_turn(self) -> None:
        """Twenty of them brought back what a bound for each was made against."""
        self.settle()
        served: list[int] = []
        turns = self.api.site.turns
        spend = turns.charge_budget

        def noted(cost: int) -> None:
            served[-1] += cost
            spend(cost)

        def turn() -> None:
            served.append(0)
            take()

        take = turns._run_iteration
        self.patch(turns, "charge_budget", noted)
        self.patch(turns, "_run_iteration", turn)
        served.append(0)
        others = [self.another() for _ in range(5)]
        for each in others:
            self.encoder = Encoder()
            each.send(PREFACE + frame.SettingsFrame(0).serialize() + self.many(6))
        self.settle()
        heads = [each.channel._channel.conn.highest_inbound_stream_id for each in others]
        self.assertEqual([11] * 5, heads)
        self.assertTrue(max(served) < ITERATION_BUDGET + CONNECTION_SHARE, served)

    def another(self) -> Any:
        """One more connection, with a table of its own for the same heads."""
        return self.api.connect(transport=HTTP2Transport())

    def test_request_with_many_header_fields_costs_more(self) -> None:
        begun = self.turns()
        many = {f"x{number}": "y" for number in range(60 * FIELDS)}
        self.connection.send(
            b"".join(
                bytes(
                    frame.HeadersFrame(
                        1 + 2 * number,
                        data=self.head(**many),
                        flags=["END_HEADERS", "END_STREAM"],
                    ).serialize()
                )
                for number in range(5)
            )
        )
        self.settle()
        self.assertEqual([1, 1, 1, 1], begun[:4])

    def test_later_data_waits_for_the_earlier_requests(self) -> None:
        sent = self.many(12)
        self.connection.send(sent[:-5])
        self.connection.send(sent[-5:])
        self.settle()
        self.assertEqual([1] * 12, self.answers())

    def answers(self) -> list[int]:
        """How many heads of answers each stream got."""
        found, data = dict[int, int](), self.transport.value()
        while data:
            size = int.from_bytes(data[:3], "big")
            stream = int.from_bytes(data[5:9], "big")
            if data[3] == frame.HeadersFrame.type:
                found[stream] = found.get(stream, 0) + 1
            data = data[9 + size :]
        return list(found.values())

    def test_lost_connection_drops_its_waiting_requests(self) -> None:
        self.connection.send(self.many(20))
        self.connection.lose()
        self.clock.advance(0)
        self.assertEqual(1, self.begun())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_small_frames_are_limited_in_a_turn(self) -> None:
        ping = frame.PingFrame(0, opaque_data=b"x" * 8).serialize()
        self.connection.send(ping * (ITERATION_BUDGET + 1))
        self.assertEqual("paused", self.transport.producerState)
        self.settle()
        self.assertEqual("producing", self.transport.producerState)


class HTTP2FloodTests(HostileConnectionCase):
    """Frames without end."""

    def test_endless_continuation_frames_are_cut(self) -> None:
        first = frame.HeadersFrame(1, data=self.head()).serialize()
        self.connection.send(first)
        part = frame.ContinuationFrame(1, data=b"\0" * FULL).serialize()
        for _ in range(2 * HEADER_BYTES // FULL):
            self.connection.send(part)
        self.assertTrue(len(self.patient.conn.incoming_buffer._headers_buffer) <= 3)
        for _ in range(100):
            self.connection.send(part)
        self.assertTrue(len(self.patient.conn.incoming_buffer._headers_buffer) <= 3)
        self.assertEqual(0, len(self.patient.conn.incoming_buffer._data))
        self.assertCut("a request's header of more than")

    def test_continuation_frames_are_bounded_in_bytes(self) -> None:
        self.connection.send(frame.HeadersFrame(1, data=self.head()).serialize())
        parts = frame.ContinuationFrame(1, data=b"").serialize() * BURST
        for at in range(0, len(parts), 5):
            self.connection.send(parts[at : at + 5])
        self.assertCut("Too many continuation frames")

    def test_flood_of_empty_frames_is_cut(self) -> None:
        empty = [
            frame.PingFrame(0, opaque_data=b"12345678"),
            frame.SettingsFrame(0),
            frame.PriorityFrame(7, depends_on=0, stream_weight=3),
            frame.WindowUpdateFrame(0, window_increment=1),
        ]
        unknown = b"\0\0\1\xee\0\0\0\0\0x"
        for each in [*(bytes(one.serialize()) for one in empty), unknown]:
            with self.subTest(each):
                self.setUp()
                self.connection.send(each * (BURST - 10))
                self.settle()
                self.assertFalse(self.transport.aborted)
                self.connection.send(each * 20)
                self.assertCut("too many frames")

    def test_flood_of_empty_data_frames_is_cut(self) -> None:
        self.connection.send(self.request(1, method="POST", path="/api/size"))
        self.connection.send(frame.DataFrame(1).serialize() * (BURST + 1))
        self.assertCut("too many frames")

    def test_body_in_tiny_frames_is_cut(self) -> None:
        """A turn of the reactor takes in thousands of these, from whoever may connect."""
        padded = frame.DataFrame(1, b"", flags=["PADDED"], pad_length=255)
        for crumb in (frame.DataFrame(1, b"x"), padded):
            self.setUp()
            self.connection.send(self.request(1, method="POST"))
            self.connection.send(crumb.serialize() * BURST)
            self.assertFalse(self.transport.disconnecting)
            self.connection.send(crumb.serialize())
            self.assertCut("too many frames")

    def test_body_in_ordinary_pieces_is_accepted(self) -> None:
        self.connection.send(self.request(1, method="POST", content_type="application/json"))
        piece = frame.DataFrame(1, b" " * 1024).serialize()
        for _ in range(BURST // 50 + 1):
            self.connection.send(piece * 50)
        self.assertFalse(any("cutting" in formatEvent(event) for event in self.logged))

    def test_slow_trickle_of_frames_is_no_flood(self) -> None:
        for _ in range(10):
            self.connection.send(frame.PingFrame(0, opaque_data=b"12345678").serialize() * 500)
            self.clock.advance(1)
        self.assertFalse(self.transport.aborted)

    def test_many_priority_frames_are_ignored(self) -> None:
        ones = [
            bytes(frame.PriorityFrame(2 * number + 1, depends_on=2 * number).serialize())
            for number in range(1, 1500)
        ]
        self.connection.send(b"".join(ones))
        self.assertFalse(self.transport.aborted)
        self.assertEqual([], self.flushLoggedErrors())

    def test_invalid_settings_are_refused(self) -> None:
        """The library keeps the value of each of 65,536 numbers, known or not."""
        for at in range(16, 20 * SETTINGS, SETTINGS // 2):
            unknown = dict.fromkeys(range(at, at + SETTINGS // 2), 1)
            self.connection.send(frame.SettingsFrame(0, settings=unknown).serialize())
        self.assertTrue(len(self.patient.conn.remote_settings) <= 2 * SETTINGS)
        self.assertCut("too many settings")

    def test_many_settings_in_one_frame_are_cut(self) -> None:
        most = dict.fromkeys(range(16, 16 + SETTINGS), 1)
        self.connection.send(frame.SettingsFrame(0, settings={**most, 9999: 1}).serialize())
        self.assertNotIn(9999, self.patient.conn.remote_settings)
        self.assertCut("too many settings")

    def test_some_unknown_settings_are_accepted(self) -> None:
        """Browsers send such numbers, so that servers stay used to them."""
        for number in range(0x0A0A, 0xFFFF, 0x1010):
            self.connection.send(frame.SettingsFrame(0, settings={number: 7}).serialize())
        self.connection.send(self.request(1, "END_STREAM"))
        self.settle()
        self.assertFalse(self.transport.aborted)
        self.assertIn(b"\0\0\0\1", self.transport.value())

    def test_flood_of_stream_resets_is_cut(self) -> None:
        for number in range(RESETS + 10):
            stream = 2 * number + 1
            self.connection.send(self.request(stream, "END_STREAM", path="/api/park"))
            self.connection.send(frame.RstStreamFrame(stream, error_code=8).serialize())
        self.settle()
        self.assertTrue(len(self.handlers.parked) <= RESETS + 1)
        self.assertEqual(self.handlers.parked, self.handlers.cancelled)
        self.assertCut("Too many stream resets")

    def test_resets_of_finished_streams_are_accepted(self) -> None:
        for number in range(50):
            stream = 2 * number + 1
            self.connection.send(self.request(stream, "END_STREAM"))
            self.settle()
            reset = frame.RstStreamFrame(stream, error_code=8).serialize()
            self.connection.send(bytes(reset) + bytes(frame.DataFrame(stream, b"x").serialize()))
        self.assertEqual([], self.flushLoggedErrors())

    def test_resets_in_one_read_are_cut(self) -> None:
        parts = []
        for number in range(2 * RESETS):
            parts.append(self.request(2 * number + 1, "END_STREAM"))
            parts.append(bytes(frame.RstStreamFrame(2 * number + 1, error_code=8).serialize()))
        self.connection.send(b"".join(parts))
        self.assertCut("Too many stream resets")


class BreachTests(HostileConnectionCase):
    """What is no HTTP/2."""

    def test_invalid_frames_end_the_connection(self) -> None:
        breaches = [
            bytes(frame.WindowUpdateFrame(0, window_increment=1).serialize())[:-4] + b"\0\0\0\0",
            bytes(frame.DataFrame(99, b"x").serialize()),
            bytes(frame.ContinuationFrame(1, data=b"x").serialize()),
            bytes(frame.PushPromiseFrame(1, 2, b"x", flags=["END_HEADERS"]).serialize()),
            bytes(frame.HeadersFrame(1, data=b"\xff" * 50, flags=["END_HEADERS"]).serialize()),
        ]
        for each in breaches:
            with self.subTest(each[:12]):
                self.setUp()
                self.connection.send(each)
                self.assertCut("")

    def test_connect_method_is_refused(self) -> None:
        """It names no path (RFC 9113, section 8.5)."""
        fields = [(":method", "CONNECT"), (":authority", "localhost:22")]
        for flags in (["END_HEADERS"], ["END_HEADERS", "END_STREAM"]):
            with self.subTest(flags):
                self.setUp()
                sent = frame.HeadersFrame(1, data=self.encoder.encode(fields), flags=flags)
                self.connection.send(sent.serialize())
                self.assertCut("no path")

    def test_protocol_error_is_logged_truncated(self) -> None:
        """The name of a field that may not be is in the text of the error."""
        head = self.encoder.encode([*self.fields(), ("X" + "y" * 12_000, "1")])
        sent = frame.HeadersFrame(1, data=head, flags=["END_HEADERS", "END_STREAM"])
        self.connection.send(sent.serialize())
        [event] = [each for each in self.logged if each["log_level"].name == "info"]
        self.assertIn("Xyyy", formatEvent(event))
        self.assertTrue(len(formatEvent(event)) < 2 * WHY)
        self.assertCut("Xyyy")

    def test_huge_frame_is_refused_by_its_header(self) -> None:
        self.connection.send(b"\xff\xff\xff\x00\x00\x00\x00\x00\x01")
        self.assertCut("a frame of more than")

    def test_windows_beyond_their_bound_are_refused(self) -> None:
        most = frame.WindowUpdateFrame(0, window_increment=2**31 - 1).serialize()
        self.connection.send(bytes(most) * 2)
        self.assertCut("")

    def test_header_bomb_is_cut(self) -> None:
        """One entry of the table, named again and again."""
        name = ("x", "y" * 3_000)
        first = self.encoder.encode([*self.fields(), name])
        again = self.encoder.encode([name])
        bomb = first + again * (HEADER_LIST_BYTES // 3_000 + 1)
        sent = frame.HeadersFrame(1, data=bomb, flags=["END_HEADERS", "END_STREAM"])
        self.connection.send(sent.serialize())
        self.assertCut("")

    def test_endless_table_resizes_are_cut(self) -> None:
        """Each is a byte, and some microseconds before anybody is asked."""
        head = self.head()
        sent = frame.HeadersFrame(1, data=b"\x20" * RESIZES + head, flags=["END_HEADERS"])
        self.connection.send(sent.serialize())
        self.settle()
        self.assertFalse(self.transport.disconnecting)
        resized: list[int] = []
        kind = type(self.patient.conn.decoder)
        real = kind._update_encoding_context

        def noted(decoder: Any, data: bytes) -> int:
            resized.append(1)
            consumed: int = real(decoder, data)
            return consumed

        self.patch(kind, "_update_encoding_context", noted)
        sent = frame.HeadersFrame(3, data=b"\x20" * 15_000 + head, flags=["END_HEADERS"])
        self.connection.send(sent.serialize())
        self.assertCut("table")
        self.assertEqual(RESIZES + 1, len(resized))

    def test_any_header_table_size_is_accepted(self) -> None:
        """Every header of an answer is looked for in it, from one end to the other."""
        for size in (2**32 - 1, 0, 2**20, 100, 2**24):
            settings = {frame.SettingsFrame.HEADER_TABLE_SIZE: size}
            self.connection.send(frame.SettingsFrame(0, settings=settings).serialize())
        self.assertEqual(TABLE_BYTES, self.patient.conn.encoder.header_table_size)
        for number in range(3):
            self.connection.send(self.request(2 * number + 1, "END_STREAM"))
        self.settle()
        decoder = Decoder()
        heads = [list(decoder.decode(sent.data)) for sent in self.heads()]
        self.assertEqual([(":status", "200")] * 3, [head[0] for head in heads])

    def test_header_table_of_changing_sizes_is_accepted(self) -> None:
        for number in range(100):
            settings = {frame.SettingsFrame.HEADER_TABLE_SIZE: number % 2 * 1_000}
            self.connection.send(frame.SettingsFrame(0, settings=settings).serialize())
        self.assertEqual([0, 1_000], self.patient.conn.encoder.table_size_changes)

    def heads(self) -> Iterator[frame.HeadersFrame]:
        """Those of the answers."""
        data = self.transport.value()
        while data:
            found, length = frame.Frame.parse_frame_header(memoryview(data[:9]))
            found.parse_body(memoryview(data[9 : 9 + length]))
            data = data[9 + length :]
            if isinstance(found, frame.HeadersFrame):
                yield found

    def fields(self) -> list[tuple[str, str]]:
        return [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "x")]
