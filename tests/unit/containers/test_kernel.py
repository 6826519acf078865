"""Tests for L{tservice.containers.kernel}, on a C{/proc} of files."""

from __future__ import annotations

import stat
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.containers import kernel

GROUP = "4:memory:/box\n0::/box\n"


class NumberTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.patch(kernel, "PROC", self.folder / "proc")
        self.patch(kernel, "CGROUPS", self.folder / "cgroup")
        self.looked_at: list[str] = []
        line = kernel._line

        def noted(path: str) -> bytes:
            self.looked_at.append(path)
            return line(path)

        self.patch(kernel, "_line", noted)
        for pid, inner in ((100, 1), (101, 7), (103, 9)):
            self.process(pid, inner, GROUP)
        for pid in range(200, 300):
            self.process(pid, 7, "0::/other\n")

    def process(self, pid: int, inner: int, group: str) -> None:
        folder = self.folder / "proc" / str(pid)
        folder.mkdir(parents=True)
        groups = " ".join(map(str, range(2000)))
        (folder / "status").write_text(f"Name:\tx\nGroups:\t{groups}\nNSpid:\t{pid}\t{inner}\n")
        (folder / "cgroup").write_text(group)

    def members(self, folder: str, pids: str) -> None:
        (self.folder / "cgroup" / folder).mkdir(parents=True)
        (self.folder / "cgroup" / folder / "cgroup.procs").write_text(pids)

    def test_other_peoples_processes_are_not_looked_at(self) -> None:
        """Thousands of them would hold everybody up, whoever started them."""
        for folder in ("box", "memory/box"):
            self.members(folder, "100\n101\n103\n")
            self.assertEqual(101, kernel.number_of(100, 7))
            self.assertEqual(0, kernel.number_of(100, 8))
            self.assertLessEqual(len(self.looked_at), 6)
            self.looked_at.clear()

    def test_without_control_groups_that_tell(self) -> None:
        self.assertEqual(103, kernel.number_of(100, 9))
        self.assertEqual(0, kernel.number_of(100, 8))

    def test_without_a_first_process(self) -> None:
        self.assertEqual(0, kernel.number_of(0, 7))
        self.assertEqual(0, kernel.number_of(99, 7))


class InsideTests(SynchronousTestCase):
    def test_no_link_is_followed(self) -> None:
        """It would lead to what is there outside."""
        root = Path(self.mktemp()) / "proc/7/root"
        (root / "own").mkdir(parents=True)
        (root / "link").symlink_to("/etc")
        self.patch(kernel, "PROC", root.parents[1])
        self.assertEqual((root / "own").stat().st_ino, kernel.look_inside(7, "/own").st_ino)
        self.assertTrue(stat.S_ISLNK(kernel.look_inside(7, "/link").st_mode))
        with self.assertRaises(FileNotFoundError):
            kernel.look_inside(8, "/own")
