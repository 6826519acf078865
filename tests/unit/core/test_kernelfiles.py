"""Folders of the kernel, and the ways into them."""

from __future__ import annotations

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernelfiles import LINKS, leads_to_kernel


class KernelFolderTests(SynchronousTestCase):
    """Paths by name and by link."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()

    def link(self, name: str, target: str) -> str:
        (self.folder / name).symlink_to(target)
        return str(self.folder / name)

    def test_by_name(self) -> None:
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

    def test_others_pass(self) -> None:
        for path in ("/", "/tmp", "/process", "/proc2", "/devel", "/home/proc", "/nowhere/sys"):
            self.assertFalse(leads_to_kernel(path), path)
        self.assertFalse(leads_to_kernel(self.link("ok", "/tmp")))

    def test_by_links(self) -> None:
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

    def test_a_step_up_behind_a_link_is_a_step_from_its_target(self) -> None:
        os.makedirs(self.folder / "a/b")
        link = self.link("link", "a/b")
        self.link("a/way", "/proc")
        self.assertTrue(leads_to_kernel(f"{link}/../way"))
        self.assertFalse(leads_to_kernel(f"{self.folder}/link/../b"))

    def test_circles_end(self) -> None:
        self.assertFalse(leads_to_kernel(self.link("loop", "loop")))
        last = "/proc"
        for number in range(LINKS + 1):
            last = self.link(f"l{number}", last)
        self.assertFalse(leads_to_kernel(last), "the kernel would not follow it either")
        self.assertRaises(OSError, os.stat, last)
