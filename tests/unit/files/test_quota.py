"""Bytes that an account may upload in a day, by every way that keeps them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest import mock

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from tests.callers import make_caller
from tests.runtime_harness import build_test_runtime
from tests.unit.files.harness import AtOnce, WorkspaceCase
from tservice.core.kernel.errors import ServiceError
from tservice.files import build
from tservice.files.build import build_files
from tservice.files.model import UPLOADS
from tservice.files.service import FILES
from tservice.files.writing import FileEdit

FORM = "multipart/form-data; boundary=BB"
BODY = (
    b'--BB\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    b"\x89PNG\r\n\x1a\n" + b"p" * 100 + b"\r\n--BB--\r\n"
)


class QuotaTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.patch(build, "DAY_BYTES", 2 * len(BODY) + 10)
        nobody = mock.Mock()
        ground = build_test_runtime(
            self.above, reactor=Clock(), worker_pools=mock.Mock(files=AtOnce())
        )
        self.feature = build_files(ground, sessions=nobody, clis=nobody, audit=nobody, words=nobody)
        self.kept = Path(ground.config.data_dir / "screenshots")

    def reader(self) -> Callable[[], Awaitable[bytes]]:
        pieces = [BODY, b""]

        async def read() -> bytes:
            return pieces.pop(0)

        return read

    def upload(self, account: str) -> Deferred[object]:
        return _begin(
            self.feature.service.receive_upload(
                self.workspace, FORM, self.reader(), FILES, account=account
            )
        )

    def keep_screenshot(self, account: str) -> Deferred[object]:
        [keep] = [
            each.handler
            for each in self.feature.operations
            if (each.method, each.path) == ("POST", "/api/screenshots")
        ]
        call = mock.Mock(caller=make_caller(username=account, admin=False))
        call.get_header.return_value = FORM
        call.incoming.read_data = self.reader()
        return _begin(keep(call))

    def save(self, account: str) -> Deferred[object]:
        edit = FileEdit(path="a.txt", content=BODY, base_hash=None, force=True)
        caller = make_caller(username=account, admin=False)
        saved = self.feature.service.save_content(self.workspace, edit, caller)
        return _begin(saved)

    def test_saved_texts_count_too(self) -> None:
        for _ in range(2):
            self.successResultOf(self.save("ann"))
        before = (self.folder / "a.txt").stat()
        refused = self.failureResultOf(self.save("ann"), ServiceError).value
        self.assertEqual("OPERATION_FAILED", refused.code.value)
        self.assertEqual(before, (self.folder / "a.txt").stat())
        self.failureResultOf(self.upload("ann"), ServiceError)
        self.successResultOf(self.save("ben"))

    def test_uploads_and_screenshots_share_the_quota(self) -> None:
        self.successResultOf(self.upload("ann"))
        self.successResultOf(self.keep_screenshot("ann"))
        for begin in (self.upload, self.keep_screenshot):
            refused = self.failureResultOf(begin("ann"), ServiceError).value
            self.assertEqual("OPERATION_FAILED", refused.code.value)
        self.assertEqual(2, len(os.listdir(self.folder / UPLOADS)))
        self.assertEqual(1, len(os.listdir(self.kept / "ann")))
        self.successResultOf(self.upload("ben"))


def _begin(work: Awaitable[object]) -> Deferred[object]:
    async def wait() -> object:
        return await work

    return Deferred.fromCoroutine(wait())
