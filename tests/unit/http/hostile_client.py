"""An HTTP/2 client whose every frame a test makes."""

from __future__ import annotations

from typing import Any

from hpack import Encoder
from hyperframe import frame
from twisted.internet.task import Clock
from twisted.logger import formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.http2_transport import HTTP2Transport
from tests.unit.http.sample_operations import SampleHandlers
from tests.unit.http.site_driver import ApiHarness, MemoryTransport

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SPINNING = 200
"""Turns of the reactor after which nothing may be left to do at once."""


class HostileConnectionCase(SynchronousTestCase):
    """One connection, driven frame by frame."""

    def setUp(self) -> None:
        self.logged: list[Any] = []
        observer: Any = self.logged.append
        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        self.clock = Clock()
        self.handlers = SampleHandlers()
        self.api = ApiHarness(self.handlers.table(), clock=self.clock, http2=True)
        self.addCleanup(self.api.close)
        self.encoder = Encoder()
        self.transport: MemoryTransport = HTTP2Transport()
        self.connection = self.api.connect(transport=self.transport)
        self.connection.send(PREFACE + frame.SettingsFrame(0).serialize())

    @property
    def patient(self) -> Any:
        return self.connection.channel._channel

    def head(self, path: str = "/api/things/1", method: str = "GET", **more: str) -> bytes:
        fields = {":method": method, ":path": path, ":scheme": "https", ":authority": "localhost"}
        named = {name.replace("_", "-"): value for name, value in more.items()}
        encoded: bytes = self.encoder.encode([*fields.items(), *named.items()])
        return encoded

    def request(self, stream: int, *flags: str, **more: str) -> bytes:
        sent = frame.HeadersFrame(stream, data=self.head(**more), flags=["END_HEADERS", *flags])
        return bytes(sent.serialize())

    def assertCut(self, why: str) -> None:
        """It is told, hears no more, and is gone in a moment; one line is logged."""
        self.settle()
        [line] = [formatEvent(event) for event in self.logged if event["log_level"].name != "debug"]
        self.assertIn("aborting an HTTP/2 connection of 127.0.0.1: ", line)
        self.assertIn(why, line)
        self.clock.advance(10)
        self.assertTrue(self.transport.aborted)
        self.assertEqual([], self.flushLoggedErrors())
        sent = self.transport.value()
        self.connection.send(b"\0" * 100_000)
        self.assertEqual(sent, self.transport.value())
        self.connection.lose()
        self.assertEqual([], self.clock.getDelayedCalls())

    def settle(self) -> None:
        """Let the reactor turn until it has nothing to do at once."""
        for _ in range(SPINNING):
            if not any(call.getTime() <= self.clock.seconds() for call in self.calls()):
                return
            self.clock.advance(0)
        self.fail("the reactor never rests")

    def calls(self) -> list[Any]:
        return list(self.clock.getDelayedCalls())
