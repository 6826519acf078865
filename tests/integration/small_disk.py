"""A data folder on a small disk of its own, which a test fills.

The disk is a tmpfs in a mount namespace that only the daemon and its children see; that takes root
and a kernel that lets root make one.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.integration.harness import PATIENCE, DaemonHarness
from tests.integration.mount_namespace import MountNamespace

SIZE = 8 * 1024 * 1024
"""Bytes: a database with its log, and some room."""
TRIAL = ("-t", "tmpfs", "tmpfs", "/mnt")
"""Whether there can be such a disk."""


class SmallDiskDaemon(DaemonHarness):
    """A daemon whose data folder is on a disk of L{SIZE} bytes, which outlives it."""

    def __init__(self, **environment: str) -> None:
        super().__init__(**environment)
        self.data.mkdir(mode=0o700)
        options = f"size={SIZE},mode=700"
        self._mounts = MountNamespace("-t", "tmpfs", "-o", options, "small", str(self.data))
        self.where = self._mounts.where

    def inside(self, *command: str) -> str:
        """What C{command} prints where the disk can be seen."""
        words = self._mounts.entered(list(command))
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.stdout

    def close(self) -> None:
        if self._child is not None and self._child.alive():
            self.kill()
        for socket in self.inside("find", str(self.data / "mux"), "-name", "*.sock").split():
            self.inside("tmux", "-S", socket, "kill-server")
        self._mounts.close()
        super().close()

    @property
    def filler(self) -> Path:
        """The file that fills the disk."""
        return self.data / "filler"

    def use_up_inodes(self) -> None:
        """Leave no file to be made, and as much room as there is."""
        used = self.inside("df", "--output=iused", str(self.data)).split()[-1]
        self._set_inodes(used)

    def give_inodes(self) -> None:
        """Let files be made again."""
        self._set_inodes("10000")

    def _set_inodes(self, most: str) -> None:
        self.inside("mount", "-o", f"remount,nr_inodes={most}", str(self.data))

    def fill(self) -> None:
        """Leave no byte of room."""
        # dd ends with an error, which is the point.
        self.inside("dd", "if=/dev/zero", f"of={self.filler}", "bs=1k")
