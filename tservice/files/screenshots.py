"""Deprecated storage of screenshots that old clients send to the service (protocol-uploads)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.workers.concurrency_limit import ConcurrencyLimit
from tservice.files.model import SCREENSHOT_BYTES, SCREENSHOTS_LISTED, TRANSFERS, Workspace
from tservice.files.quotas import DailyUploadQuota, Read
from tservice.files.reading.open_files import OpenFile, build_file_info
from tservice.files.service import feed_receiver
from tservice.files.uploads.upload_forms import (
    StoredUpload,
    UploadReceiver,
    UploadRules,
    parse_boundary,
)
from tservice.files.uploads.upload_removal import remove_old_folder_uploads
from tservice.files.workers import FileResourceHolder, WorkspaceWorkers

RULES = UploadRules(field="file", most=1, size=SCREENSHOT_BYTES, kind="screenshot", images=True)

REMOVED_PREFIX = "gone."
"""Prefix given to the folders of removed accounts. No account name begins with it."""

_NAME = re.compile(r"screenshot-[0-9]{10,16}-[0-9a-f]{8}\.[a-z]{3,4}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ScreenshotStore:
    """Store of screenshots in the service's data folder, with one folder for each user.

    Old screenshots are removed like old uploads.
    """

    _log = Logger()

    def __init__(
        self, folder: Path, clock: IReactorTime, workers: WorkspaceWorkers, quota: DailyUploadQuota
    ) -> None:
        self._folder, self._clock, self._workers, self._quota = folder, clock, workers, quota
        self._turns = ConcurrencyLimit(
            TRANSFERS, f"{TRANSFERS} uploads of screenshots are under way already; try again later"
        )

    async def store(
        self, username: str, content_type: str | None, read: Read
    ) -> tuple[Path, StoredUpload]:
        """Store a screenshot.

        @param read: reads the form with the image.
        @return: the path and the stored file.
        @raise ServiceError: 400 or 413 if it is not an image or is too large. 422 if the account's
            daily quota is used up, or the disk has too little free space. 429 if there are too many
            uploads.
        """
        boundary = parse_boundary(content_type)
        folder = self._user_folder(username)

        def move_to_store() -> int:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(folder, _FOLDER)

        with self._turns.hold_slot(username), self._quota.count_bytes(username, read) as counted:
            receiver = UploadReceiver.create(boundary, RULES, lambda: get_unix_ms(self._clock))
            [kept] = await feed_receiver(
                await self._make_handle(folder), receiver, move_to_store, counted
            )
        return folder / kept.filename, kept

    async def list_newest(self, username: str) -> list[dict[str, Any]]:
        """Return the newest screenshots of a user, newest first."""
        folder = self._user_folder(username)
        handle = await self._make_handle(folder)
        return await handle.worker.run_work(lambda: _list_screenshot_names(folder))

    async def open_screenshot(self, username: str, name: str) -> OpenFile:
        """Open a screenshot of a user. The caller has to close it.

        @raise ServiceError: 404 if it does not exist.
        """
        if _NAME.fullmatch(name) is None:
            raise make_not_found_error("Screenshot")
        handle = await self._make_handle(self._user_folder(username))

        def open_in_thread(held: ExitStack) -> OpenFile:
            descriptor = os.open(self._user_folder(username) / name, _FILE)
            held.callback(os.close, descriptor)
            return OpenFile(handle, build_file_info(name, os.fstat(descriptor)), descriptor)

        try:
            return await handle.run_with_resources(open_in_thread)
        except BaseException:
            await handle.close()
            raise

    def remove_old(self, now: float) -> None:
        """Remove old screenshots of all users in a worker thread.

        @param now: Unix seconds.
        """
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if folder.name.startswith(REMOVED_PREFIX):
                rmtree(folder)
                continue
            descriptor = os.open(folder, _FOLDER)
            try:
                remove_old_folder_uploads(descriptor, now)
            finally:
                os.close(descriptor)

    def discard_accounts(self, known: Callable[[str], bool]) -> None:
        """Rename the folders of removed accounts, so that L{remove_old} removes their screenshots.

        @param known: returns true if an account with this name exists.
        """
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if folder.name.startswith(REMOVED_PREFIX) or known(folder.name):
                continue
            try:
                folder.rename(folder.with_name(f"{REMOVED_PREFIX}{token_hex(8)}"))
            except OSError as error:
                self._log.error("the screenshots of {owner} were not discarded: {why}",
                                owner=folder.name, why=str(error))  # fmt: skip

    def _user_folder(self, username: str) -> Path:
        return self._folder / username

    async def _make_handle(self, folder: Path) -> FileResourceHolder:
        own = Workspace(session_id="screenshots", folder=str(folder))
        return FileResourceHolder(await self._workers.get_worker(own))


def _list_screenshot_names(folder: Path) -> list[dict[str, Any]]:
    try:
        found = [each for each in os.scandir(folder) if _NAME.fullmatch(each.name)]
    except FileNotFoundError:
        return []
    shown = [
        {
            "filename": each.name,
            "path": each.path,
            "size": status.st_size,
            "mtimeMs": status.st_mtime_ns // 1_000_000,
        }
        for each in found
        for status in (each.stat(follow_symlinks=False),)
    ]
    shown.sort(key=lambda each: (each["mtimeMs"], each["filename"]), reverse=True)
    return shown[:SCREENSHOTS_LISTED]
