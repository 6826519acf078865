"""Screenshots of accounts that are gone."""

from __future__ import annotations

import os
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from tests.unit.files.harness import WorkspaceCase
from tservice.files.quotas import DailyUploadQuota
from tservice.files.screenshots import ScreenshotStore

NAME = "screenshot-1700000000000-0123abcd.png"


class ForgottenTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.kept = self.above / "screenshots"
        quota = DailyUploadQuota(Clock(), 1000)
        self.screenshots = ScreenshotStore(self.kept, Clock(), self.workers, quota)

    def keep(self, username: str) -> Path:
        folder = self.kept / username
        folder.mkdir(parents=True)
        (folder / NAME).write_bytes(b"x")
        return folder

    def listed(self, username: str) -> int:
        found = Deferred.fromCoroutine(self.screenshots.list_newest(username))
        return len(self.successResultOf(found))

    def test_reused_account_name_finds_no_screenshots(self) -> None:
        self.keep("ann")
        self.keep("bob")
        self.screenshots.discard_accounts(lambda name: name == "bob")
        self.assertEqual((0, 1), (self.listed("ann"), self.listed("bob")))
        self.screenshots.discard_accounts(lambda name: name == "bob")
        self.assertEqual(2, len(os.listdir(self.kept)))
        self.screenshots.remove_old(0.0)
        self.assertEqual(["bob"], os.listdir(self.kept))

    def test_missing_screenshots_folder_is_no_error(self) -> None:
        self.screenshots.discard_accounts(lambda name: False)
        self.assertFalse(self.kept.exists())

    def test_folder_that_cannot_be_moved_is_logged(self) -> None:
        folder = self.keep("ann")

        def rename(path: Path, target: Path) -> None:
            raise PermissionError(1, "no")

        self.patch(Path, "rename", rename)
        with capturedLogs() as lines:
            self.screenshots.discard_accounts(lambda name: False)
        self.assertTrue(folder.exists())
        self.assertEqual(["ann"], [line["owner"] for line in lines])
