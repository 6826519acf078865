"""A data folder on a small disk of its own, which a test fills.

The disk is a tmpfs in a mount namespace that only the daemon and its children see; that takes root
and a kernel that lets root make one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.integration.harness import Daemon

SIZE = 8 * 1024 * 1024
"""Bytes: a database with its log, and some room."""


@cache
def obstacle() -> str | None:
    """Why there can be no such disk here; C{None}: there can."""
    if os.geteuid() != 0:
        return "mounting a small disk needs root"
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "unshare and nsenter of util-linux are missing"
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return None if tried.returncode == 0 else f"no mount namespace: {tried.stderr.strip()[:100]}"


class SmallDiskDaemon(Daemon):
    """A daemon whose data folder is on a disk of L{SIZE} bytes, which outlives it."""

    def __init__(self, **environment: str) -> None:
        super().__init__(**environment)
        self.data.mkdir(mode=0o700)
        mount = f'mount -t tmpfs -o size={SIZE},mode=700 small "$0" && echo && exec cat'
        self._holder = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", mount, str(self.data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        self._holder.stdout.readline()

    def wrapped(self, command: list[str]) -> list[str]:
        return ["nsenter", "-t", str(self._holder.pid), "-m", "--", *command]

    def inside(self, *command: str) -> str:
        """What C{command} prints where the disk can be seen."""
        done = subprocess.run(
            self.wrapped(list(command)), capture_output=True, text=True, timeout=30, check=False
        )
        return done.stdout

    def close(self) -> None:
        if self._child is not None and self._child.alive():
            self.kill()
        for socket in self.inside("find", str(self.data / "mux"), "-name", "*.sock").split():
            self.inside("tmux", "-S", socket, "kill-server")
        self._holder.communicate()
        super().close()

    @property
    def filler(self) -> Path:
        """The file that fills the disk."""
        return self.data / "filler"

    def fill(self) -> None:
        """Leave no byte of room."""
        # dd ends with an error, which is the point.
        self.inside("dd", "if=/dev/zero", f"of={self.filler}", "bs=1k")
