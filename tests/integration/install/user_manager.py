"""The real systemd of a user, in namespaces of its own.

It works on a machine that systemd did not start: the manager sees an empty C{/run} that says
otherwise, and a control group that was made for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.waiting import PATIENCE, wait_until

PROGRAM = Path("/lib/systemd/systemd")
_SCRIPT = """\
set -eu
mount -t tmpfs none /run
mkdir -p /run/systemd/system
mount -t cgroup2 none /sys/fs/cgroup
group=/sys/fs/cgroup/$1
mkdir "$group"
sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" --user' manager "$group" "$2" &
manager=$!
read -r _ || true
kill -TERM "$manager"
wait "$manager" || true
for _ in $(seq 300); do
    find "$group" -depth -type d -exec rmdir {} \\; 2>/dev/null || true
    [ -d "$group" ] || exit 0
    sleep 0.1
done
echo "processes are left in $group:" $(find "$group" -name cgroup.procs -exec cat {} +) >&2
exit 1
"""


def find_obstacle() -> str | None:
    """Return why no manager can run here; C{None} if one can."""
    if os.geteuid():
        return "needs root, to make namespaces"
    missing = [name for name in ("unshare", "nsenter", "systemctl") if shutil.which(name) is None]
    if missing or not PROGRAM.exists():
        return f"not installed: {', '.join(missing) or PROGRAM}"
    probe = ["unshare", "--mount", "sh", "-c", "mount -t cgroup2 none /sys/fs/cgroup"]
    done = subprocess.run(probe, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return f"no control groups: {done.stderr.strip()}" if done.returncode else None


class UserManager:
    """A running manager, and a way to run commands that it serves."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """@param environ: the whole environment, with C{XDG_RUNTIME_DIR} and C{HOME}."""
        self._environ = dict(environ)
        name = f"tservice-test-{uuid.uuid4().hex[:8]}"
        self._process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", _SCRIPT, "sh", name, str(PROGRAM)],
            env=self._environ,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        socket = Path(environ["XDG_RUNTIME_DIR"]) / "systemd/private"
        wait_until("the manager listens", lambda: socket.exists() or self._process.poll())
        if self._process.poll() is not None:
            assert self._process.stderr is not None
            raise AssertionError(self._process.stderr.read().decode())

    def run(self, words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a command to its end beside the manager, and return its status and output."""
        pid = str(self._process.pid)
        return subprocess.run(
            ["nsenter", "--target", pid, "--mount", f"--wd={folder}", "--", *words],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=10 * PATIENCE,
            check=False,
        )

    def close(self) -> None:
        """Stop the manager and its units. Their control groups must be empty by then."""
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._process.stdin.close()
        with self._process.stderr:
            try:
                status = self._process.wait(2 * PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                status = self._process.wait()
            if status:
                raise AssertionError(self._process.stderr.read().decode())
