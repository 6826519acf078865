"""Tests for what goes before the bytes of a file (L{tservice.files.transfer_routes})."""

from __future__ import annotations

from typing import Any, cast

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ApiHarness
from tservice.files.reading.open_files import FileInfo, OpenFile
from tservice.files.transfer_routes import send_opened
from tservice.http.operations import OperationCall, ResponseStyle


class ThreeByteFile:
    """A file of three bytes."""

    def __init__(self, modified: float) -> None:
        self.about = FileInfo(name="a.txt", size=3, tag='"1"', modified=modified)

    async def read_chunk(self, at: int, size: int) -> bytes:
        return b"abc"[at : at + size]

    async def close(self) -> None:
        pass


class HeadTests(SynchronousTestCase):
    def ask(self, modified: float) -> Any:
        async def handle(call: OperationCall) -> None:
            await send_opened(call, cast(OpenFile, ThreeByteFile(modified)), save=False)

        api = ApiHarness([sample_operation("GET", "/api/x", handle, style=ResponseStyle.STREAM)])
        self.addCleanup(api.close)
        return api.get("/api/x")

    def test_modification_time_out_of_range_has_no_header(self) -> None:
        """Whoever owns a file gives it one; file systems keep 64 bits of seconds."""
        for modified in (1e14, -1e12, 9.2e18):
            answer = self.ask(modified)
            self.assertEqual((200, b"abc"), (answer.status, answer.content))
            self.assertNotIn("last-modified", answer.headers)
        self.assertEqual("Thu, 01 Jan 1970 00:00:01 GMT", self.ask(1).headers["last-modified"])
