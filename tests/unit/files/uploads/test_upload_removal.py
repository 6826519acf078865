"""Tests for L{tservice.files.uploads.upload_removal} and L{tservice.files.uploads.sweeper}."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import evolve
from twisted.internet.task import Clock

from tests.unit.files.harness import WorkspaceCase
from tservice.core.locations.location import make_os_user_location
from tservice.files.model import KEPT_SECONDS, SWEEP_SECONDS, Workspace
from tservice.files.uploads import sweeper as module
from tservice.files.uploads.sweeper import UploadSweeper
from tservice.files.uploads.upload_removal import remove_old_workspace_uploads

MOST = 10
NOW = 2_000_000_000.0
OLD = NOW - KEPT_SECONDS - 1
NAME = "paste-1795343126502-5387500d.png"


class UploadSweepTests(WorkspaceCase):
    def aged(self, path: str, at: float = OLD) -> Path:
        file = self.put(path)
        os.utime(file, (at, at))
        return file

    def test_old_uploads_are_removed(self) -> None:
        gone = [
            self.aged(f".service-uploads/{NAME}"),
            self.aged(".service-uploads/upload-1795343126408-a75ea516-a.txt"),
            self.aged(".service-uploads/.upload-0123456789abcdef.part"),
            self.aged(f".claude-images/{NAME}"),
        ]
        kept = [
            self.aged(f".service-uploads/{NAME}.new".replace("5387500d", "0" * 8), NOW - 5),
            self.aged(".service-uploads/notes.txt"),
            self.aged(".service-uploads/.gitignore"),
            self.aged(f"other/{NAME}"),
            self.aged(NAME),
        ]
        self.assertEqual(len(gone), remove_old_workspace_uploads(str(self.folder), NOW))
        self.assertEqual([False] * len(gone), [each.exists() for each in gone])
        self.assertEqual([True] * len(kept), [each.exists() for each in kept])

    def test_only_uploaded_files_in_the_workspace_are_removed(self) -> None:
        folder = self.folder / ".service-uploads"
        (folder / NAME).mkdir(parents=True)
        os.utime(folder / NAME, (OLD, OLD))
        os.symlink(self.outside / "secret.txt", folder / NAME.replace("png", "gif"))
        os.utime(folder / NAME.replace("png", "gif"), (OLD, OLD), follow_symlinks=False)
        self.assertEqual(0, remove_old_workspace_uploads(str(self.folder), NOW))
        elsewhere = self.outside / NAME
        elsewhere.write_text("x")
        os.utime(elsewhere, (OLD, OLD))
        os.symlink(self.outside, self.folder / ".claude-images")
        self.assertEqual(0, remove_old_workspace_uploads(str(self.folder), NOW))
        self.assertTrue(elsewhere.exists())

    def test_missing_workspace_is_skipped(self) -> None:
        self.assertEqual(0, remove_old_workspace_uploads(str(self.above / "none"), NOW))


class SweeperTests(UploadSweepTests):
    def setUp(self) -> None:
        super().setUp()
        self.clock = Clock()
        self.clock.advance(NOW)
        self.present: list[Workspace] = []
        self.swept: list[float] = []
        self.file = self.above / "upload-folders.json"

    def sweeper(self) -> UploadSweeper:
        found = UploadSweeper(
            self.clock, self.workers, self.file, lambda: self.present, self.swept.append
        )
        self.addCleanup(found.stop)
        return found

    def test_sweep_runs_hourly_from_the_start(self) -> None:
        self.present = [self.workspace]
        first = self.aged(f".service-uploads/{NAME}")
        sweeper = self.sweeper()
        sweeper.start()
        self.assertFalse(first.exists())
        second = self.aged(f".service-uploads/{NAME}")
        self.clock.advance(SWEEP_SECONDS - 1)
        self.assertTrue(second.exists())
        self.clock.advance(1)
        self.assertFalse(second.exists())
        self.assertEqual([NOW, NOW + SWEEP_SECONDS], self.swept)
        sweeper.stop()
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_workspace_without_sessions_is_swept_after_a_restart(self) -> None:
        self.sweeper().remember_workspace(self.workspace)
        file = self.aged(f".service-uploads/{NAME}")
        again = self.sweeper()  # after a restart
        again.start()
        self.assertFalse(file.exists())

    def test_workspace_without_an_upload_folder_is_forgotten(self) -> None:
        self.sweeper().remember_workspace(self.workspace)
        again = self.sweeper()
        again.start()
        self.assertEqual("[]", self.file.read_text())

    def test_remembered_workspaces_are_bounded(self) -> None:
        self.patch(module, "MOST", MOST)
        sweeper = self.sweeper()
        place = make_os_user_location("ann", 1000)
        for number in range(MOST + 5):
            sweeper.remember_workspace(evolve(self.workspace, folder=f"/ws/{number}", place=place))
        self.assertEqual(MOST, len(sweeper._known))
        again = self.sweeper()
        again.start()
        self.assertEqual(MOST, len(again._known))
        self.assertEqual({place}, {spot.place for spot in again._known})

    def test_broken_workspace_list_is_ignored(self) -> None:
        for text in ("", "{", "[1]", '[{"folder": 1}]', "[" * 500):
            self.file.write_text(text)
            self.file.chmod(0o600)
            sweeper = self.sweeper()
            sweeper.start()
            sweeper.stop()
            self.assertEqual({}, sweeper._known, text)
            sweeper.remember_workspace(self.workspace)
            self.assertEqual(text, self.file.read_text(), "to be mended")
