"""A daemon of docker for tests: its storage, mounts and network are its own."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.agents.netns import loopback_only
from tests.integration.containers import rootless
from tests.integration.containers.images import PATH
from tests.waiting import PATIENCE, wait_until

DOCKERD = shutil.which("dockerd", path=PATH)

_KEEPER = """
folder=$1; shift
"$@" > "$folder/log" 2>&1 &
daemon=$!
echo "$daemon"
read -r _
kill "$daemon" 2>/dev/null
wait "$daemon"
find /sys/fs/cgroup -depth -type d -path "*/${folder##*/}*" -exec rmdir {} + 2>/dev/null
rm -rf -- "$folder"
"""
"""Runs the daemon, and ends it and removes its folder once the tests' process is over, however
that ended."""

APART = 'mount -t tmpfs none /run && exec "$@"'
"""In mounts of its own: shims of containers keep their sockets below C{/run}."""


class DockerDaemon:
    """One, running from the start on; it ends with this process, or earlier.

    It has a network of its own, with a bridge in it that the machine's does not see.

    @ivar folder: what it keeps.
    @ivar images: what was imported, by name.
    @ivar pid: its process.
    """

    def __init__(
        self,
        *options: str,
        apart: str = APART,
        within: Sequence[str] = ("unshare", "--mount"),
    ) -> None:
        """
        @param options: more of its command line.
        @param apart: what a shell does in the mounts of its own before it becomes the daemon.
        @param within: runs that shell in mounts of its own.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="tsde-"))
        self.folder.chmod(0o711)
        self.images: dict[str, tuple[tuple[str, ...], str]] = {}
        self._options, self._apart, self._within = options, apart, within
        self._keeper: subprocess.Popen[str] | None = None
        atexit.register(self.close)
        self.start()

    @property
    def host(self) -> str:
        """Where it listens, as C{DOCKER_HOST} says it."""
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        # The machine's own configuration is not read.
        (self.folder / "daemon.json").write_text("{}")
        with loopback_only():
            self._keeper = subprocess.Popen(
                ["sh", "-c", _KEEPER, "sh", str(self.folder),
                 *self._within, "sh", "-c", self._apart, "sh", *self._command()],
                env={"PATH": PATH, "HOME": str(self.folder)}, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, cwd="/", start_new_session=True,
            )  # fmt: skip
        assert self._keeper.stdout is not None
        self.pid = int(self._keeper.stdout.readline())
        wait_until("dockerd answers", self._answers, told=self.log)

    def log(self) -> str:
        """The end of what it said."""
        return (self.folder / "log").read_text(errors="replace")[-2000:]

    def close(self) -> None:
        """End it, and remove what it kept; harmless when that is done."""
        atexit.unregister(self.close)
        if self._keeper is None:
            return
        keeper, self._keeper = self._keeper, None
        keeper.communicate(timeout=PATIENCE)

    def _command(self) -> list[str]:
        at = self.folder
        return [
            str(DOCKERD),
            *("--host", self.host, "--data-root", f"{at}/data", "--exec-root", f"{at}/exec"),
            *("--pidfile", f"{at}/pid", "--config-file", f"{at}/daemon.json"),
            *("--storage-driver", "vfs"),
            # A machine that lets nobody raise a limit cannot give the engine's own, higher ones.
            *("--default-ulimit", "nofile=1024:1024"),
            *("--iptables=false", "--ip-forward=false", "--ip-masq=false"),
            *self._grouped(),
            *self._options,
        ]

    def _grouped(self) -> list[str]:
        return [f"--cgroup-parent=/{self.folder.name}", "--exec-opt=native.cgroupdriver=cgroupfs"]

    def _answers(self) -> bool:
        state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":
            raise AssertionError(f"dockerd ended: {self.log()}")
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as asking:
            asking.settimeout(PATIENCE)
            try:
                asking.connect(f"{self.folder}/docker.sock")
                asking.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b"200 OK" in asking.recv(64)
            except OSError:
                return False


class RootlessDockerd(DockerDaemon):
    """One without root, which is to say: in a user namespace.

    Whose daemon it is, is root outside, as whom the tests' service runs.
    """

    def __init__(self) -> None:
        environ = "ROOTLESSKIT_STATE_DIR=/run XDG_RUNTIME_DIR=/run PATH=$HOME/bin:$PATH"
        # A daemon without root does not start where this program is missing, and uses it not.
        proxy = "mkdir $HOME/bin && ln -s /bin/false $HOME/bin/rootlesskit-docker-proxy"
        super().__init__(
            "--rootless",
            "--userland-proxy=false",
            apart=f'mount -t tmpfs none /run && {proxy} && export {environ} && exec "$@"',
            within=(sys.executable, rootless.__file__, "0"),
        )

    def _grouped(self) -> list[str]:
        return []
