"""Tests for what a peer sends on once we have begun to close its socket."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import partial

from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import SiteConnection, request_head
from tests.unit.http.websockets.harness import DEFLATE, SocketCase
from tests.unit.http.websockets.ws_frames import BINARY, CLOSE, PING, TEXT, UPGRADE, masked_frame
from tservice.core.kernel.errors import make_not_found_error
from tservice.http.connections.fair_scheduler import ITERATION_BUDGET
from tservice.http.websockets.close_finder import FRAMES, CloseFrameFinder
from tservice.http.websockets.connection import CLOSE_SECONDS, LINGER_BYTES, MAX_MESSAGE, MAX_PARTS
from tservice.http.websockets.upgrade import CloseSocket

ANSWER = masked_frame(CLOSE, struct.pack("!H", 1000))


def _packed(raw: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return (packer.compress(raw) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


@frozen
class PeerFault:
    """Bytes that have us close, and the code; whether they begin what never ends."""

    code: int
    sent: bytes
    deflate: bool = False
    endless: bool = False


FAULTS = (
    PeerFault(1002, b"\x81\x01a"),
    PeerFault(1002, masked_frame(3)),
    PeerFault(1002, masked_frame(0, b"x")),
    PeerFault(1002, masked_frame(TEXT, b"a", first=0xC0)),
    PeerFault(1007, masked_frame(TEXT, b"\xff")),
    PeerFault(1007, masked_frame(TEXT, b"\xff\xff\xff\xff", first=0xC0), deflate=True),
    PeerFault(1009, masked_frame(BINARY, b"x" * (MAX_MESSAGE + 1))),
    PeerFault(1009, struct.pack("!BBQ", 0x82, 0xFF, 1 << 62) + bytes(4), endless=True),
    PeerFault(
        1009, masked_frame(TEXT, _packed(b"x" * (MAX_MESSAGE + 1)), first=0xC0), deflate=True
    ),
    PeerFault(1009, masked_frame(BINARY, b"x", first=0) + masked_frame(0, first=0) * MAX_PARTS),
    PeerFault(1011, masked_frame(TEXT, b"fail")),
    PeerFault(4009, masked_frame(TEXT, b"close")),
)

FLOODS = {
    "pings": masked_frame(PING),
    "fragments": masked_frame(0, first=0),
    "messages": masked_frame(TEXT, b"x" * 60_000),
    "small messages": masked_frame(TEXT, b"x"),
    "nonsense": b"\xff" * 60_000,
    "unmasked": b"\x81\x01x",
}


class FarewellCase(SocketCase):
    """Sockets that are being closed."""

    def assertPatient(self, connection: SiteConnection, code: int) -> None:
        """The peer is told once, and what it sends on is neither parsed, nor kept, nor cut."""
        self.clock.advance(0)
        socket = connection.channel._upgraded
        self.patch(socket, "processData", lambda: self.fail("it is parsed on"))
        heard = [list(each.heard) for each in self.handlers]
        for name, frame in FLOODS.items():
            connection.send(frame * (LINGER_BYTES // 16 // len(frame)))
            self.assertEqual(b"", socket.data, name)
            self.clock.advance(0)
        self.assertEqual("producing", connection.transport.producerState)
        close = self.got(connection)[-1]
        self.assertEqual((0x88, code), (close.first, close.code))
        self.assertEqual(1, sum(each.first == 0x88 for each in self.got(connection)))
        self.assertEqual(heard, [each.heard for each in self.handlers])
        self.assertFalse(connection.transport.disconnecting, code)

    def assertEnds(self, connection: SiteConnection) -> None:
        """The one that does not stop is cut; in time as well."""
        for _ in range(16):
            connection.send(masked_frame(PING) * (LINGER_BYTES // 16 // 6))
        self.assertTrue(connection.transport.aborted)
        sent = connection.value()
        connection.send(b"\0" * 100_000)
        self.assertEqual(b"", connection.channel._upgraded.data)
        self.assertEqual(sent, connection.value())
        connection.lose()
        self.assertEqual(0, self.sockets.socket_count)

    def assertLeaves(self, begin: Callable[[], SiteConnection]) -> None:
        """The peer that answers is let go, also when it answers behind some of its own."""
        for before in (b"", masked_frame(TEXT, b"x" * 70_000) + masked_frame(PING) * 20):
            connection = begin()
            self.clock.advance(0)
            sent = before + ANSWER
            connection.send(sent[: len(before) + 3])
            self.assertFalse(connection.transport.disconnecting)
            connection.send(sent[len(before) + 3 :])
            self.assertTrue(connection.transport.disconnecting)
            # A reset could overtake our close on its way to a peer that began to close itself.
            self.assertFalse(connection.transport.aborted)
            connection.send(masked_frame(PING) * 10_000)
            self.assertEqual(b"", connection.channel._upgraded.data)
            connection.lose()


class FarewellFaultTests(FarewellCase):
    """What a peer may do wrong."""

    def begin(self, fault: PeerFault) -> SiteConnection:
        connection = self.open(**(DEFLATE if fault.deflate else {}))
        connection.send(fault.sent)
        return connection

    def test_data_after_a_fault_is_ignored(self) -> None:
        for fault in FAULTS:
            connection = self.begin(fault)
            self.assertPatient(connection, fault.code)
            self.assertEnds(connection)
        self.flushLoggedErrors(ZeroDivisionError)

    def test_fault_in_the_middle_of_one_read_ends_the_socket(self) -> None:
        for fault in FAULTS:
            connection = self.open(**(DEFLATE if fault.deflate else {}))
            # Behind more than a turn takes in.
            connection.send(
                masked_frame(TEXT, b"x") * ITERATION_BUDGET
                + fault.sent
                + masked_frame(0, first=0) * 5000
            )
            self.assertPatient(connection, fault.code)
            self.assertEnds(connection)
        self.flushLoggedErrors(ZeroDivisionError)

    def test_peer_that_answers_the_close_is_disconnected(self) -> None:
        for fault in FAULTS:
            if not fault.endless:
                self.assertLeaves(partial(self.begin, fault))
        self.flushLoggedErrors(ZeroDivisionError)

    def test_close_answer_in_the_same_read_ends_the_connection(self) -> None:
        connection = self.open()
        connection.send(masked_frame(TEXT, b"close") + masked_frame(TEXT, b"more") + ANSWER)
        self.assertTrue(connection.transport.disconnecting)
        self.assertFalse(connection.transport.aborted)
        self.assertEqual(("text", "close"), self.handler.heard[-1])


class FarewellRuleTests(FarewellCase):
    """What is no fault of the peer."""

    def test_refusal_of_an_operation_closes_the_socket(self) -> None:
        for error, code in (
            (make_not_found_error("Session 7"), 4004),
            (CloseSocket(4003, "no"), 4003),
        ):
            self.error = error
            connection = self.open()
            self.assertPatient(connection, code)
            self.assertEnds(connection)
            self.assertLeaves(self.open)

    def test_data_right_after_the_handshake_waits_for_the_close(self) -> None:
        self.error = CloseSocket(4003, "no")
        connection = self.api.connect()
        connection.send(request_head("GET", "/ws/7", UPGRADE) + masked_frame(PING) * 5000)
        self.assertEqual(b"", connection.channel._upgraded.data)
        connection.send(masked_frame(PING) * FRAMES + ANSWER)
        self.assertFalse(connection.transport.disconnecting)
        self.clock.advance(CLOSE_SECONDS)
        self.assertTrue(connection.transport.aborted)

    def test_ended_right_and_shutdown_close_the_socket(self) -> None:
        connection = self.open()
        self.sockets.drop_connections(lambda identity: True)
        self.assertPatient(connection, 4003)
        self.assertEnds(connection)
        connection = self.open()
        self.socket.pause_reading()
        stopped = self.sockets.stopService()
        self.assertPatient(connection, 1001)
        self.assertEnds(connection)
        self.successResultOf(stopped)

    def test_close_during_a_frame_waits_for_the_peer(self) -> None:
        def begin() -> SiteConnection:
            connection = self.open()
            connection.send(masked_frame(TEXT, b"x" * 70_000)[:100])
            self.socket.close(4000)
            connection.send(b"\x88" * 69_914)
            return connection

        self.assertPatient(begin(), 4000)
        self.assertLeaves(begin)


class PeerTests(FarewellCase):
    """A peer that closes by itself."""

    def test_data_after_the_close_of_the_peer_is_ignored(self) -> None:
        connection = self.open()
        connection.send(ANSWER)
        self.assertTrue(connection.transport.disconnecting)
        connection.send(masked_frame(PING) * 10_000)
        self.assertEqual(b"", connection.channel._upgraded.data)

    def test_peer_that_does_not_read_the_close_is_aborted(self) -> None:
        """A transport ends when all was taken: of a peer that reads nothing, never."""
        connection = self.open()
        connection.send(ANSWER)
        self.clock.advance(CLOSE_SECONDS - 0.1)
        self.assertFalse(connection.transport.aborted)
        self.clock.advance(0.1)
        self.assertTrue(connection.transport.aborted)


class FarewellSearchTests(SynchronousTestCase):
    """L{CloseFrameFinder} itself."""

    @given(
        st.lists(st.tuples(st.sampled_from([0, TEXT, PING]), st.binary(max_size=130))),
        st.integers(0, 50),
        st.integers(1, 40),
    )
    def test_close_frame_is_found_in_any_pieces(
        self, sent: list[tuple[int, bytes]], rest: int, piece: int
    ) -> None:
        data = b"\x88" * rest + b"".join(masked_frame(*frame) for frame in sent) + ANSWER
        farewell = CloseFrameFinder(rest)
        pieces = [data[at : at + piece] for at in range(0, len(data), piece)]
        assert [farewell.finds_close(part) for part in pieces] == [
            *([False] * (len(pieces) - 1)),
            True,
        ]
        assert farewell.size == len(data)

    def test_search_for_the_close_is_bounded_in_frames(self) -> None:
        for count, found in ((FRAMES - 1, True), (FRAMES, False)):
            farewell = CloseFrameFinder(0)
            self.assertFalse(farewell.finds_close(masked_frame(PING) * count))
            self.assertEqual(found, farewell.finds_close(ANSWER))

    def test_oversized_close_frame_is_no_close(self) -> None:
        farewell = CloseFrameFinder(0)
        self.assertFalse(farewell.finds_close(masked_frame(CLOSE, b"x" * 200)))
        self.assertTrue(farewell.finds_close(ANSWER))
