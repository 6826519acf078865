"""Folders of the kernel, and the ways into them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.disk import kernel_paths
from tservice.core.disk.kernel_paths import LINKS, leads_to_kernel, open_without_magic_links


class KernelFolderTests(SynchronousTestCase):
    """Paths by name and by link."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()

    def link(self, name: str, target: str) -> str:
        (self.folder / name).symlink_to(target)
        return str(self.folder / name)

    def test_kernel_folders_are_recognized_by_path(self) -> None:
        for path in (
            "/proc",
            "//proc",
            "/proc/",
            "/./proc/self",
            "/proc/self/cwd",
            "/proc/self/root/tmp",
            "/proc/../tmp",
            "/tmp/../proc/1",
            "/sys/fs",
            "/dev/shm",
            "/dev/fd/0",
            "/dev/nothing/here",
        ):
            self.assertTrue(leads_to_kernel(path), path)

    def test_other_folders_are_allowed(self) -> None:
        for path in ("/", "/tmp", "/process", "/proc2", "/devel", "/home/proc", "/nowhere/sys"):
            self.assertFalse(leads_to_kernel(path), path)
        self.assertFalse(leads_to_kernel(self.link("ok", "/tmp")))

    def test_kernel_folders_are_recognized_through_links(self) -> None:
        plain = self.link("plain", "/proc/self/cwd")
        (self.folder / "sub").mkdir()
        climbing = "/".join([".."] * (len(self.folder.parts) + 1)) + "/proc/self"
        for path in (
            plain,
            f"{plain}/anything",
            self.link("chain", "plain"),
            self.link("root", "/"),
            self.link("up", climbing),
            self.link("sub/through", f"../{'../' * 40}dev/shm"),
        ):
            path = f"{path}/sys" if path.endswith("root") else path
            self.assertTrue(leads_to_kernel(path), path)

    def test_parent_step_after_a_link_starts_at_its_target(self) -> None:
        os.makedirs(self.folder / "a/b")
        link = self.link("link", "a/b")
        self.link("a/way", "/proc")
        self.assertTrue(leads_to_kernel(f"{link}/../way"))
        self.assertFalse(leads_to_kernel(f"{self.folder}/link/../b"))

    def test_link_circles_end(self) -> None:
        self.assertFalse(leads_to_kernel(self.link("loop", "loop")))
        last = "/proc"
        for number in range(LINKS + 1):
            last = self.link(f"l{number}", last)
        self.assertFalse(leads_to_kernel(last), "the kernel would not follow it either")
        self.assertRaises(OSError, os.stat, last)


class PlainOpenTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        (self.folder / "in").mkdir(parents=True)
        (self.folder / "in" / "file").write_text("x")
        (self.folder / "link").symlink_to("in")

    def open(self, path: Path | str, flags: int = os.O_RDONLY) -> int:
        found = open_without_magic_links(path, flags)
        self.addCleanup(os.close, found)
        return found

    def test_ordinary_links_are_followed(self) -> None:
        found = self.open(self.folder / "link" / "file")
        self.assertEqual(b"x", os.read(found, 9))
        self.assertFalse(os.get_inheritable(found))

    def test_kernel_links_are_not_followed(self) -> None:
        held = self.open(self.folder / "in", os.O_PATH | os.O_DIRECTORY)
        trap = self.folder / "trap"
        trap.symlink_to(f"/proc/self/fd/{held}")
        for path in (f"/proc/self/fd/{held}", "/proc/self/cwd", trap, trap / "file"):
            error = self.assertRaises(OSError, open_without_magic_links, path, os.O_RDONLY)
            self.assertEqual(errno.ELOOP, error.errno)

    def test_kernel_without_openat2_is_handled(self) -> None:
        self.patch(kernel_paths, "_OPENAT2", 1 << 20)
        self.test_ordinary_links_are_followed()
        self.test_kernel_links_are_not_followed()

    def test_missing_file_is_named(self) -> None:
        error = self.assertRaises(
            FileNotFoundError, open_without_magic_links, self.folder / "no", os.O_RDONLY
        )
        self.assertIn("no", str(error.filename))
