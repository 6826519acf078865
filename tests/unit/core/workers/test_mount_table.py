"""Tests for L{tservice.core.workers.mount_table}: what the kernel tells of mounts."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.workers.mount_table import TABLE, MountTable

LINES = r"""
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 27 0:21 / /proc rw,relatime - proc proc rw
30 27 254:0 /srv /bound rw,relatime shared:1 master:2 - ext4 /dev/vda rw
31 27 0:50 / /mnt/a\040b rw - nfs server:/a rw
32 27 0:51 / /mnt rw - fuse dead rw
33 32 0:50 / /mnt/again rw - nfs server:/a rw
34 27 0:52 / /data rw - ext4 /dev/vdb rw
35 34 0:53 / /data/over rw - tmpfs one rw
36 35 0:54 / /data/over rw - nfs two rw
"""


class MountsTests(SynchronousTestCase):
    def mounts(self, own: str) -> MountTable:
        table = Path(self.mktemp())
        table.write_text(LINES.lstrip())
        mounts = MountTable(own, str(table))
        self.addCleanup(mounts.close)
        return mounts

    def test_path_belongs_to_its_longest_mount(self) -> None:
        mounts = self.mounts("/var/lib/none")
        for path, device in (
            ("/", ""), ("/home/ann", ""), ("/bound/x", ""), ("/mnt", "0:51"), ("/mnt/", "0:51"),
            ("/mnt/x/y", "0:51"), ("/mntx", ""), ("/mnt/a b/c", "0:50"), ("/mnt/again", "0:50"),
            ("/mnt/x/../../home", ""), ("/home/../mnt/x", "0:51"), ("/data/over/x", "0:54"),
            ("relative", ""),
        ):  # fmt: skip
            self.assertEqual(device, mounts.find_other_device(path), path)

    def test_mount_of_the_service_is_not_elsewhere(self) -> None:
        mounts = self.mounts("/data/tservice")
        self.assertEqual("", mounts.find_other_device("/data/x"))
        self.assertEqual("254:0", mounts.find_other_device("/home"))

    def test_closed_mounts_know_nothing(self) -> None:
        mounts = self.mounts("/")
        mounts.close()
        self.assertEqual("", mounts.find_other_device("/mnt"))

    def test_mounts_of_this_machine_are_read(self) -> None:
        mounts = MountTable(self.mktemp(), TABLE)
        self.addCleanup(mounts.close)
        self.assertNotEqual("", mounts.find_other_device("/proc/self"))
        self.assertEqual("", mounts.find_other_device(str(Path.cwd())))
