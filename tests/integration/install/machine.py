"""A new Debian machine as an image: Python and tmux, but no compiler, Node or git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from tests.integration.containers.engines import PodmanEngine
from tests.waiting import wait_until

SUITE = "trixie"
PACKAGES = ("ca-certificates", "curl", "pipx", "python3", "python3-venv", "tmux")
USER = "ann"
HOME = f"/home/{USER}"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
IMAGE = "localhost/machine:1"
_TRUSTED_BY = ("PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")
"""Variables by which pip, uv, Node and pipx find certificates of a machine's own."""


class MachineEngine(PodmanEngine):
    """Podman with time to build images."""

    limit: ClassVar[float] = 1800.0

    def make_base_image(self) -> None:
        """Install Debian from its packages into an image, with this machine's certificates."""
        archive = self.folder / "machine.tar"
        options = ["--variant=minbase", f"--include={','.join(PACKAGES)}"]
        if Path(CERTIFICATES).exists():
            options.append(f"--customize-hook=upload {CERTIFICATES} {CERTIFICATES}")
        done = subprocess.run(
            ["mmdebstrap", "--quiet", *options, SUITE, str(archive)], capture_output=True,
            text=True, timeout=self.limit, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"mmdebstrap: {done.stderr}")
        changes = [f"--change=ENV {name}={CERTIFICATES}" for name in _TRUSTED_BY]
        self.run("import", *changes, str(archive), IMAGE)
        archive.unlink()


class Machine:
    """A running machine with a user who has no rights.

    It is in the network of this machine, for the package index and the stub model.
    """

    def __init__(self, engine: MachineEngine, name: str, mounts: Sequence[str] = ()) -> None:
        """@param mounts: folders of this machine, each as C{source:target}."""
        self._engine, self._name = engine, name
        volumes = [f"--volume={each}:ro" for each in mounts]
        engine.run(
            "run", "--detach", "--init", "--network", "host", "--name", name, *volumes,
            IMAGE, "sleep", "infinity",
        )  # fmt: skip
        engine.run("exec", name, "useradd", "--create-home", "--shell", "/bin/bash", USER)

    def run(self, command: str) -> str:
        """Run a command line in the user's login shell, and return its output."""
        words = ("exec", "--user", USER, "--workdir", HOME, "--env", f"HOME={HOME}")
        return self._engine.run(*words, self._name, "bash", "-lc", command)

    def start(self, command: str, log: str) -> None:
        """Start a command line of the user that goes on. Its output goes to a file."""
        words = ("exec", "--detach", "--user", USER, "--workdir", HOME, "--env", f"HOME={HOME}")
        self._engine.run(*words, self._name, "bash", "-lc", f"exec {command} >{log} 2>&1")

    def write(self, path: str, text: str) -> None:
        """Write a file of the user."""
        self.run(f"mkdir -p $(dirname {path}) && cat >{path} <<'END'\n{text}\nEND")

    def wait_for_file(self, path: str, log: str) -> str:
        """Wait until a file of the user has text, and return it."""

        def look() -> str:
            return self.run(f"cat {path} 2>/dev/null || true")

        return wait_until(f"{path} is written", look, told=lambda: self.run(f"cat {log}"))

    def close(self) -> None:
        """End the machine and all that runs on it."""
        self._engine.run("rm", "--force", "--time", "0", self._name, check=False)


def find_obstacle() -> str | None:
    """Return why no such machine can be made here; C{None} if one can."""
    missing = [name for name in ("mmdebstrap", "podman") if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return "needs root" if os.geteuid() else None
