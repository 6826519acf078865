"""Real engines, each on storage of its own: podman, and docker with a daemon of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import ClassVar

from tests.agents.netns import inside_network_of, loopback_only
from tests.integration.containers.dockerd import DOCKERD, DockerDaemon, RootlessDockerd
from tests.integration.containers.images import PATH, PROGRAMS, pack_image
from tests.run_figures import report_figure
from tests.run_folder import find_processes
from tests.waiting import wait_until
from tservice.containers.model import EngineKind as EngineName

Image = tuple[str, tuple[str, ...], str]
"""A name, programs, and which of them is the shell."""


class TestEngine:
    """An engine, and a folder for what a test has beside it.

    @ivar environ: the whole environment of its command.
    @cvar limit: seconds that a command may take.
    """

    __test__ = False
    name: ClassVar[EngineName]
    limit: ClassVar[float] = 120.0
    folder: Path
    environ: Mapping[str, str]

    @classmethod
    def program(cls) -> str | None:
        """The absolute path of its command; C{None}: it is not installed."""
        return shutil.which(cls.name.value, path=PATH)

    def run(self, *words: str, check: bool = True) -> str:
        """Run a command of it; its output."""
        done = subprocess.run(
            [str(self.program()), *words], env=self.environ, capture_output=True, text=True,
            timeout=self.limit, check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{self.name} {' '.join(words)}: {done.stderr}")
        return done.stdout.strip()

    def image(self, name: str, programs: Sequence[str] = PROGRAMS, shell: str = "dash") -> str:
        """Import an image of such programs; its name."""
        archive = self.folder / "image.tar"
        with tarfile.open(archive, "w") as tar:
            pack_image(tar, programs, shell)
        self.run("import", str(archive), name)
        archive.unlink()
        return name

    def processes(self, container: str) -> str:
        """The numbers of what runs in a container."""
        return self.run("top", container, "-eo", "pid")

    def network(self) -> AbstractContextManager[object]:
        """Within it, this thread is in the network of the engine's bridge, off the machine's."""
        return loopback_only()

    def gateway(self, container: str) -> str:
        """The address of this machine on the bridge that a running container is on."""
        found = "{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}"
        return self.run("container", "inspect", "--format", found, container)

    def close(self) -> None:
        """End and remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


class PodmanEngine(TestEngine):
    """One, with all that it keeps below one folder."""

    name = EngineName.PODMAN

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tsp-"))
        self.environ = {"PATH": PATH, "HOME": str(self.folder), **self._configured()}

    def processes(self, container: str) -> str:
        # It runs the image's own ps for the options of ps, and lists by itself what it knows.
        return self.run("top", container, "pid")

    def close(self) -> None:
        self.run("rm", "--all", "--force", "--time", "0", check=False)
        self.run("rmi", "--all", "--force", check=False)
        # What cleans up behind an ended container mounts the storage once more.
        wait_until("no helper of podman", lambda: not self._list_helpers(), told=self._list_helpers)
        storage = self.folder / "storage/overlay"
        subprocess.run(["umount", str(storage)], capture_output=True, check=False)
        super().close()

    def _list_helpers(self) -> list[str]:
        running = (command for _, command in find_processes(self.folder))
        return [each for each in running if "podman" in each or "conmon" in each]

    def _configured(self) -> Mapping[str, str]:
        storage, engine = self.folder / "storage.conf", self.folder / "containers.conf"
        storage.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/storage"\n'
            f'runroot = "{self.folder}/run"\n'
        )
        # A machine that lets nobody raise a limit cannot give the engine's own, higher ones.
        engine.write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
            '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
        )
        return {"CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_CONF": str(engine)}


class DockerEngine(TestEngine):
    """The command of docker, and a daemon: by default the one that this process shares.

    Images stay in the daemon, since to import one takes a second.
    """

    name = EngineName.DOCKER

    def __init__(self, daemon: DockerDaemon | None = None) -> None:
        self.daemon = shared_dockerd() if daemon is None else daemon
        # It goes with the daemon, also where this process is killed.
        self.folder = Path(tempfile.mkdtemp(prefix="test-", dir=self.daemon.folder))
        self.environ = {"PATH": PATH, "HOME": str(self.folder), "DOCKER_HOST": self.daemon.host}

    def image(self, name: str, programs: Sequence[str] = PROGRAMS, shell: str = "dash") -> str:
        kept = self.daemon.images
        wanted = (tuple(programs), shell)
        if kept.get(name) != wanted:
            super().image(name, programs, shell)
            kept[name] = wanted
        return name

    def network(self) -> AbstractContextManager[object]:
        return inside_network_of(self.daemon.pid)

    def close(self) -> None:
        names = self.run("ps", "--all", "--quiet", check=False).split()
        if names:
            self.run("rm", "--force", *names, check=False)
        super().close()


class RootlessDocker(DockerEngine):
    """The command of docker, and a daemon without root: its bridge is not on this machine."""

    def __init__(self) -> None:
        super().__init__(RootlessDockerd())

    def network(self) -> AbstractContextManager[object]:
        return loopback_only()

    def close(self) -> None:
        super().close()
        self.daemon.close()


class RemappedDocker(DockerEngine):
    """The command of docker, and a daemon that gives containers other user numbers."""

    FIRST = 100_000
    """What user 0 inside is outside."""

    def __init__(self) -> None:
        ranges = "".join(
            f"echo daemon:{self.FIRST}:65536 > /run/{name} && "
            f"mount --bind /run/{name} /etc/{name} && "
            for name in ("subuid", "subgid")
        )
        apart = f'mount -t tmpfs none /run && {ranges}exec "$@"'
        super().__init__(DockerDaemon("--userns-remap", "daemon", apart=apart))

    def close(self) -> None:
        super().close()
        self.daemon.close()


@cache
def shared_dockerd() -> DockerDaemon:
    """The daemon of this process."""
    return DockerDaemon()


@cache
def engine_obstacle(name: EngineName) -> str | None:
    """Why no container of an engine runs on this machine, which is also told at the end of the
    run; C{None}: they do.
    """
    found = _OBSTACLES[name]()
    if found is not None:
        report_figure(f"NOT RUN: this machine runs no containers of {name.value}: {found}")
    return found


def _of_podman() -> str | None:
    if PodmanEngine.program() is None:
        return "podman is not installed"
    if os.geteuid() != 0:
        return "podman's tests want root"
    if not any(shutil.which(name, path=PATH) for name in ("catatonit", "tini", "docker-init")):
        return "no catatonit for --init"
    return _probe(PodmanEngine)


def _of_docker() -> str | None:
    if DockerEngine.program() is None or DOCKERD is None:
        return "docker and its daemon are not installed"
    if os.geteuid() != 0:
        return "docker's tests want root"
    return _probe(DockerEngine)


def _probe(kind: Callable[[], TestEngine]) -> str | None:
    """Why no container runs that is fenced as those of cases are."""
    engine = None
    try:
        engine = kind()
        engine.image("localhost/probe:1", ("dash",))
        engine.run("run", "--rm", "--init", "--network", "none", "--cap-drop", "ALL",
                   "localhost/probe:1", "sh", "-c", "exit 0")  # fmt: skip
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return str(error)[-300:]
    finally:
        if engine is not None:
            engine.close()
    return None


_OBSTACLES = {EngineName.PODMAN: _of_podman, EngineName.DOCKER: _of_docker}
