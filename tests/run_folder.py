"""One temporary folder for a whole test run, and a search for what the run leaves behind.

Everything that a test makes lies below C{TMPDIR}, which is this folder while tests run.  Its path
is short because the path of a Unix socket is bounded.  When the run is over the folder is removed.
A process or a mount that still uses it fails the run: a test did not close what it opened.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from tests.waiting import PATIENCE

PREFIX = "tst"

ENDING_SECONDS = PATIENCE
"""How long processes may take to end after the last test."""


@frozen(kw_only=True)
class RunLeftovers:
    """What a run left behind.

    @ivar processes: the command line and current folder of each process.
    @ivar mounts: the mount point of each mount.
    """

    processes: tuple[str, ...]
    mounts: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.processes or self.mounts)

    def __str__(self) -> str:
        lines = [f"process {each}" for each in self.processes]
        return "\n".join(lines + [f"mount {each}" for each in self.mounts])


def make_run_folder() -> Path:
    """Make the folder of this run and have C{tempfile} and all children use it."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir="/tmp"))
    # Tests act as other users of the system, too.
    folder.chmod(0o1777)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    return folder


def remove_run_folder(folder: Path) -> RunLeftovers:
    """End what still runs below the folder, remove the folder, and return what had to be ended."""
    deadline = time.monotonic() + ENDING_SECONDS
    while (running := dict(find_processes(folder))) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    mounts = tuple(find_mounts(folder))
    if not mounts:
        shutil.rmtree(folder, ignore_errors=True)
    return RunLeftovers(processes=tuple(running.values()), mounts=mounts)


def find_processes(folder: Path) -> Iterator[tuple[int, str]]:
    """Return the id and description of each process that works below the folder or knows it."""
    name = os.fsencode(folder)
    own = {os.getpid(), os.getppid()}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in own:
            continue
        # A process may end while it is looked at, or belong to somebody else.
        with suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            where = os.readlink(entry / "cwd")
            known = os.fsencode(where) + command + (entry / "environ").read_bytes()
            if command and name in known:
                yield int(entry.name), f"{entry.name}: {_format_command(command)} in {where}"


def find_mounts(folder: Path) -> Iterator[str]:
    """Return the mount points below the folder."""
    for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
        point = line.split()[4]
        if Path(point).is_relative_to(folder):
            yield point


def _format_command(command: bytes) -> str:
    return command.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")[:200]
