"""Mounts that only one daemon and its children see; that takes root."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

from tests.waiting import PATIENCE


@cache
def mount_obstacle(*mount: str) -> str | None:
    """Why C{mount} with these words cannot be done here; C{None}: it can."""
    if os.geteuid() != 0:
        return "a mount namespace takes root"
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "unshare and nsenter of util-linux are missing"
    tried = subprocess.run(
        ["unshare", "-m", "mount", *mount],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return None if tried.returncode == 0 else f"no mount namespace: {tried.stderr.strip()[:100]}"


class MountNamespace:
    """One that lasts until it is closed, whatever becomes of the programs in it."""

    def __init__(self, *mount: str) -> None:
        """@param mount: the arguments of the program C{mount}."""
        held = 'mount "$@" && echo && exec cat'
        self._holder = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", held, "sh", *mount],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        self._holder.stdout.readline()

    @property
    def where(self) -> str:
        """A process that is in it, as C{DaemonHarness.where} names one."""
        return str(self._holder.pid)

    def entered(self, command: list[str]) -> list[str]:
        """The command that becomes C{command} inside."""
        return ["nsenter", "-t", str(self._holder.pid), "-m", "--", *command]

    def close(self) -> None:
        """End it; the mounts go with the last program in it."""
        self._holder.communicate()
