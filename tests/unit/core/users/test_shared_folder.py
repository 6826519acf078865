"""Tests for L{tservice.core.users.shared_folder}, by this process's own user."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.os_user_harness import OsUserWorld
from tservice.core.users.shared_folder import SharedFolder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


class SharedFolderTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.base = Path(self.mktemp()).absolute()
        self.shared = SharedFolder(Path("/data"), self.base)
        user = OsUserWorld(self.base.parent / "world").add("me", os.getuid())
        self.user = evolve(user, gid=os.getgid())

    def test_each_data_folder_has_a_shared_folder(self) -> None:
        self.assertNotEqual(self.shared.path, SharedFolder(Path("/other"), self.base).path)
        self.assertEqual(self.shared.path, SharedFolder(Path("/data"), self.base).path)

    def test_shared_folder_is_created_with_its_modes(self) -> None:
        """To be passed through, not to be listed; a user's part is that user's alone."""
        self.assertEqual([], self.shared.list_user_folders())
        folder = self.shared.create_user_folder(self.user)
        self.assertEqual([0o711, 0o711, 0o700], [mode(self.base), mode(self.shared.path),
                                                 mode(folder)])  # fmt: skip
        self.assertEqual([folder], self.shared.list_user_folders())
        folder.chmod(0o777)
        self.shared.create_user_folder(self.user)
        self.assertEqual(0o700, mode(folder))

    def test_link_instead_of_the_shared_folder_is_refused(self) -> None:
        self.base.mkdir()
        self.shared.path.symlink_to("/")
        self.assertRaises(OSError, self.shared.create_folder)

    def test_shared_files_are_rewritten_when_changed(self) -> None:
        """Written once, and again when somebody changed them in any way."""
        self.shared.create_folder()
        path = self.shared.write_file("f", "text", 0o400, self.user)
        self.assertEqual(("text", 0o400), (path.read_text(), mode(path)))
        before = path.stat().st_ino
        self.shared.write_file("f", "text", 0o400, self.user)
        self.assertEqual(before, path.stat().st_ino)
        for spoil in (
            lambda: path.chmod(0o644),
            lambda: path.write_bytes(b"other"),
            lambda: path.write_bytes(b"\xff" * 2_000_000),
            path.unlink,
        ):
            path.chmod(0o600)
            spoil()
            self.shared.write_file("f", "text", 0o400, self.user)
            self.assertEqual(("text", 0o400), (path.read_text(), mode(path)))
