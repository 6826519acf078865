"""Tests for L{tservice.containers.procfs}, on a C{/proc} of files."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.waiting import wait_until
from tservice.containers import procfs

GROUP = "4:memory:/box\n0::/box\n"


class NumberTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.patch(procfs, "PROC", self.folder / "proc")
        self.patch(procfs, "CGROUPS", self.folder / "cgroup")
        self.looked_at: list[str] = []
        line = procfs._read_beginning

        def noted(path: str) -> bytes:
            self.looked_at.append(path)
            return line(path)

        self.patch(procfs, "_read_beginning", noted)
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

    def test_processes_of_other_containers_are_not_read(self) -> None:
        """Thousands of them would hold everybody up, whoever started them."""
        for folder in ("box", "memory/box"):
            self.members(folder, "100\n101\n103\n")
            self.assertEqual(101, procfs.find_host_pid(100, 7))
            self.assertEqual(0, procfs.find_host_pid(100, 8))
            self.assertLessEqual(len(self.looked_at), 6)
            self.looked_at.clear()

    def test_process_is_found_without_readable_control_groups(self) -> None:
        self.assertEqual(103, procfs.find_host_pid(100, 9))
        self.assertEqual(0, procfs.find_host_pid(100, 8))

    def test_container_without_control_groups_is_found_by_its_namespace(self) -> None:
        """As under docker without root: each has a namespace of process numbers."""
        self.process(300, 1, GROUP)
        self.process(301, 7, GROUP)
        for pid, space in (
            (100, "own"),
            (101, "own"),
            (103, "own"),
            (300, "other"),
            (301, "other"),
        ):
            folder = self.folder / "proc" / str(pid) / "ns"
            folder.mkdir()
            (folder / "pid").symlink_to(f"pid:[{space}]")
        self.assertEqual(301, procfs.find_host_pid(300, 7))
        self.assertEqual(101, procfs.find_host_pid(100, 7))
        self.assertEqual(0, procfs.find_host_pid(300, 9))

    def test_process_number_is_zero_without_a_first_process(self) -> None:
        self.assertEqual(0, procfs.find_host_pid(0, 7))
        self.assertEqual(0, procfs.find_host_pid(99, 7))


class FullTests(SynchronousTestCase):
    """Whether a container has all the processes that it may have."""

    def test_process_count_and_limit_are_read(self) -> None:
        base = Path(self.mktemp())
        self.patch(procfs, "PROC", base / "proc")
        self.patch(procfs, "CGROUPS", base)
        group = base / "proc/7/cgroup"
        group.parent.mkdir(parents=True)
        for text, folder in (
            ("8:pids:/box\n0::/\n", base / "pids/box"),
            ("0::/box\n", base / "box"),
        ):
            group.write_text(text)
            folder.mkdir(parents=True)
            for most, now, found in (
                ("64", "64", (64, 64)),
                ("64", "60", (60, 64)),
                ("64", "40", None),
                ("max", "9000", None),
                ("", "", None),
            ):
                (folder / "pids.max").write_text(f"{most}\n")
                (folder / "pids.current").write_text(f"{now}\n")
                self.assertEqual(found, procfs.find_process_shortage(7), (text, most, now))
        self.assertIsNone(procfs.find_process_shortage(8))

    def test_process_limit_of_a_parent_group_counts(self) -> None:
        """Podman may put the processes into a group of their own below the one with the limit."""
        base = Path(self.mktemp())
        self.patch(procfs, "PROC", base / "proc")
        self.patch(procfs, "CGROUPS", base)
        for name, text in (
            ("proc/7/cgroup", "0::/box/inner\n"),
            ("box/inner/pids.max", "max\n"),
            ("box/inner/pids.current", "64\n"),
            ("box/pids.max", "64\n"),
            ("box/pids.current", "64\n"),
        ):
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(text)
        self.assertEqual((64, 64), procfs.find_process_shortage(7))

    def test_user_of_a_process_is_read(self) -> None:
        self.assertEqual(os.geteuid(), procfs.find_process_uid(os.getpid()))
        self.patch(procfs, "PROC", Path(self.mktemp()))
        self.assertIsNone(procfs.find_process_uid(7))


class EndedTests(SynchronousTestCase):
    """Real processes."""

    def test_process_has_ended_before_its_parent_has_noticed(self) -> None:
        self.assertFalse(procfs.has_ended(os.getpid()))
        self.assertTrue(procfs.has_ended(0))
        child = subprocess.Popen(["true"])
        self.addCleanup(child.wait)
        wait_until("its end", lambda: procfs.has_ended(child.pid))
        child.wait()
        self.assertTrue(procfs.has_ended(child.pid))


class ContainerFileTests(SynchronousTestCase):
    def test_file_in_a_container_is_not_read_through_a_link(self) -> None:
        """It would lead to what is there outside."""
        root = Path(self.mktemp()) / "proc/7/root"
        (root / "own").mkdir(parents=True)
        (root / "link").symlink_to("/etc")
        self.patch(procfs, "PROC", root.parents[1])
        self.assertEqual(
            (root / "own").stat().st_ino, procfs.stat_path_in_container(7, "/own").st_ino
        )
        self.assertTrue(stat.S_ISLNK(procfs.stat_path_in_container(7, "/link").st_mode))
        with self.assertRaises(FileNotFoundError):
            procfs.stat_path_in_container(8, "/own")
