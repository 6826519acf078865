"""A few bytes go to the system at once, in order, and what goes wrong stays the reactor's."""

from __future__ import annotations

from twisted.internet.abstract import FileDescriptor
from twisted.internet.error import ConnectionLost
from twisted.internet.testing import MemoryReactor, StringTransport
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.net.immediate_write import SMALL, write_immediately


class LimitedDescriptor(FileDescriptor):
    """Takes C{room} bytes, then none; C{broken}: the other side is gone."""

    def __init__(self, reactor: MemoryReactor) -> None:
        super().__init__(reactor)
        self.connected = 1
        self.taken = b""
        self.room = 10 * SMALL
        self.broken = False

    def writeSomeData(self, data: bytes) -> int | ConnectionLost:
        if self.broken:
            return ConnectionLost()
        size = min(len(data), self.room)
        self.taken += data[:size]
        self.room -= size
        return size


class WriteAtOnceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.reactor = MemoryReactor()
        self.there = LimitedDescriptor(self.reactor)

    def write(self, data: bytes) -> None:
        write_immediately(self.there, self.there, data)

    def turn(self) -> None:
        """The reactor finds that there is room."""
        for writer in self.reactor.getWriters():
            writer.doWrite()

    def test_data_is_written_in_the_same_turn(self) -> None:
        self.write(b"a")
        self.assertEqual((b"a", []), (self.there.taken, self.reactor.getWriters()))

    def test_unwritten_data_waits_for_the_reactor_in_order(self) -> None:
        """And what comes then stands behind it."""
        self.there.room = 1
        self.write(b"ab")
        self.write(b"c")
        self.assertEqual((b"a", [self.there]), (self.there.taken, self.reactor.getWriters()))
        self.there.room = 10
        self.write(b"d")
        self.assertEqual((b"abcd", []), (self.there.taken, self.reactor.getWriters()))

    def test_large_data_is_gathered_by_the_reactor(self) -> None:
        self.write(b"x" * (SMALL + 1))
        self.assertEqual(b"", self.there.taken)
        self.turn()
        self.assertEqual(SMALL + 1, len(self.there.taken))

    def test_write_error_is_left_to_the_reactor(self) -> None:
        self.there.broken = True
        self.write(b"a")
        self.assertEqual([self.there], self.reactor.getWriters())

    def test_closing_transport_is_left_to_the_reactor(self) -> None:
        self.write(b"x" * (SMALL + 1))
        self.there.loseConnection()
        self.write(b"a")
        self.assertEqual(b"", self.there.taken)

    def test_transport_without_a_descriptor_is_written_normally(self) -> None:
        """TLS, and what tests use."""
        transport = StringTransport()
        write_immediately(transport, transport, b"a")
        write_immediately(transport, None, b"b")
        self.assertEqual(b"ab", transport.value())
