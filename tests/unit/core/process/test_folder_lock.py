"""One service to a data folder, and a folder that is nobody else's."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from unittest import mock

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import StartError
from tservice.core.process.folder_lock import FolderLock, prepare_folder


class DataFolderTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()

    def mode(self) -> int:
        return stat.S_IMODE(self.folder.stat().st_mode)

    def test_missing_folder_is_created_private(self) -> None:
        prepare_folder(self.folder / "deeper")
        self.folder = self.folder / "deeper"
        self.assertEqual(0o700, self.mode())

    def test_folder_readable_by_others_is_made_private(self) -> None:
        self.folder.mkdir(mode=0o755, parents=True)
        prepare_folder(self.folder)
        self.assertEqual(0o700, self.mode())

    def test_folder_writable_by_others_is_refused(self) -> None:
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o770)
        error = self.assertRaises(StartError, prepare_folder, self.folder)
        self.assertIn(f"{self.folder} can be written to by others (mode 0770)", str(error))
        self.assertEqual(0o770, self.mode())

    def test_folder_of_another_user_is_refused(self) -> None:
        self.folder.mkdir(parents=True)
        self.patch(os, "geteuid", lambda: os.getuid() + 1)
        error = self.assertRaises(StartError, prepare_folder, self.folder)
        self.assertIn("belongs to another user", str(error))

    def test_file_instead_of_the_folder_is_refused(self) -> None:
        self.folder.parent.mkdir(exist_ok=True)
        self.folder.write_text("")
        error = self.assertRaises(StartError, prepare_folder, self.folder)
        self.assertIn("File exists", str(error))


class DataFolderLockTests(SynchronousTestCase):
    def test_full_disk_does_not_prevent_the_lock(self) -> None:
        """Somebody must get in to make room."""
        full = OSError(errno.ENOSPC, "full")
        with mock.patch.object(os, "write", side_effect=full):
            lock = self.lock()
            lock.startService()
        self.assertTrue(lock.running)

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()

    def lock(self) -> FolderLock:
        lock = FolderLock(self.folder)
        self.addCleanup(lock.stopService)
        return lock

    def test_second_service_is_refused_with_pid_and_folder(self) -> None:
        self.lock().startService()
        error = self.assertRaises(StartError, self.lock().startService)
        self.assertIn(f"another tservice (pid {os.getpid()}) uses {self.folder}", str(error))
        self.assertEqual(1, len(str(error).splitlines()))

    def test_lock_is_free_after_a_stop(self) -> None:
        first = self.lock()
        first.startService()
        first.stopService()
        self.lock().startService()

    def test_lock_file_of_a_killed_service_is_replaced(self) -> None:
        prepare_folder(self.folder)
        (self.folder / "lock").write_text(f"{os.getppid()}\n and more of it")
        self.lock().startService()
        self.assertEqual(f"{os.getpid()}\n", (self.folder / "lock").read_text())

    def test_children_do_not_hold_the_lock(self) -> None:
        """A multiplexer's server outlives the service; it must not hold the folder."""
        first = self.lock()
        first.startService()
        with subprocess.Popen(
            [sys.executable, "-c", "input(1)"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=False,
        ) as child:
            assert child.stdout is not None
            # The kernel closes descriptors a moment after it lets the parent go on.
            self.assertEqual(b"1", child.stdout.read(1))
            first.stopService()
            self.lock().startService()
            child.communicate(b"\n")
        self.assertEqual(0, child.returncode)
