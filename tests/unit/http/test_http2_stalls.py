"""HTTP/2 clients that take nothing of what they asked for, or a byte at a time."""

from __future__ import annotations

from hyperframe import frame

from tests.unit.http.hostile_client import HostileConnectionCase
from tservice.http.site import IDLE_SECONDS


class StallTests(HostileConnectionCase):
    """Answers that are asked for and not taken."""

    def shut(self) -> None:
        settings = {frame.SettingsFrame.INITIAL_WINDOW_SIZE: 0}
        self.connection.send(frame.SettingsFrame(0, settings=settings).serialize())

    def test_closed_window_starts_no_work(self) -> None:
        self.shut()
        for number in range(20):
            self.connection.send(self.request(2 * number + 1, "END_STREAM"))
        self.settle()

    def test_window_of_one_byte_is_served_slowly(self) -> None:
        settings = {frame.SettingsFrame.INITIAL_WINDOW_SIZE: 1}
        self.connection.send(frame.SettingsFrame(0, settings=settings).serialize())
        self.connection.send(self.request(1, "END_STREAM"))
        self.settle()

    def test_answer_continues_when_the_window_opens(self) -> None:
        self.shut()
        self.connection.send(self.request(1, "END_STREAM"))
        self.settle()
        before = len(self.transport.value())
        self.connection.send(frame.WindowUpdateFrame(1, window_increment=1000).serialize())
        self.settle()
        self.assertIn(b'"success":true', self.transport.value()[before:].replace(b" ", b""))

    def test_answer_continues_when_the_settings_open_the_window(self) -> None:
        self.shut()
        self.connection.send(self.request(1, "END_STREAM"))
        self.settle()
        settings = {frame.SettingsFrame.INITIAL_WINDOW_SIZE: 1000}
        self.connection.send(frame.SettingsFrame(0, settings=settings).serialize())
        self.settle()
        self.assertIn(b'"success":true', self.transport.value().replace(b" ", b""))

    def test_unread_answer_counts_as_idle(self) -> None:
        """It makes room for others, and the idle time-out ends it."""
        self.shut()
        self.connection.send(self.request(1, "END_STREAM"))
        self.settle()
        self.assertFalse(self.connection.channel.is_responding)
        self.clock.advance(IDLE_SECONDS)
        self.assertTrue(self.transport.disconnecting)

    def test_headers_of_unfinished_requests_count_against_the_bound(self) -> None:
        before = self.api.site._held
        for number in range(50):
            sent = self.request(2 * number + 1, method="POST", path="/api/size", x="y" * 2_000)
            self.connection.send(sent)
        self.settle()
        self.assertTrue(self.api.site._held - before > 50 * 2_000)
        self.assertTrue(self.connection.channel.received_bytes > 50 * 2_000)
        self.connection.lose()
        self.assertEqual(before, self.api.site._held)
