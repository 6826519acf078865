"""A real podman on storage of its own, and images made of this machine's own programs.

No registry is asked for anything: an image is the programs that a test names, with the libraries
that they are linked to, packed and imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.figures import tell

PODMAN = shutil.which("podman")
PROGRAMS = (
    *("tmux", "dash", "bash", "cat", "ls", "seq", "sleep", "id", "stat", "env", "head", "tr"),
    *("chmod", "rm", "mkdir", "touch", "stty", "kill", "dd", "printf", "wc", "sort"),
)
_SHARED = ("/lib/terminfo", "/usr/lib/locale/C.utf8")
_GLIBC = ("libm.so.6", "librt.so.1", "libpthread.so.0", "libdl.so.2")
"""What a program that is installed later may be linked to, beside C{libc.so.6}."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Podman:
    """One, with all that it keeps below one folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tsp-"))
        self.environ = {"PATH": _PATH, "HOME": str(self.folder), **self._configured()}

    def run(self, *words: str, check: bool = True) -> str:
        """Run a command of it; its output."""
        done = subprocess.run(
            [str(PODMAN), *words], env=self.environ, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"podman {' '.join(words)}: {done.stderr}")
        return done.stdout.strip()

    def image(self, name: str, programs: Sequence[str] = PROGRAMS, shell: str = "dash") -> str:
        """Import an image of such programs; its name."""
        archive = self.folder / "image.tar"
        with tarfile.open(archive, "w") as tar:
            _pack(tar, programs, shell)
        self.run("import", str(archive), name)
        archive.unlink()
        return name

    def close(self) -> None:
        """End and remove everything."""
        self.run("rm", "--all", "--force", "--time", "0", check=False)
        self.run("rmi", "--all", "--force", check=False)
        storage = self.folder / "storage/overlay"
        subprocess.run(["umount", str(storage)], capture_output=True, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

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


@cache
def obstacle() -> str | None:
    """Why no container runs on this machine, which is also told at the end of the run; C{None}:
    they do."""
    found = _obstacle()
    if found is not None:
        tell(f"NOT RUN: this machine runs no containers: {found}")
    return found


def _obstacle() -> str | None:
    if PODMAN is None:
        return "podman is not installed"
    if os.geteuid() != 0:
        return "podman's tests want root"
    if not any(shutil.which(name, path=_PATH) for name in ("catatonit", "tini", "docker-init")):
        return "no catatonit for --init"
    podman = Podman()
    try:
        podman.image("localhost/probe:1", ("dash",))
        podman.run("run", "--rm", "--init", "--network", "none", "--cap-drop", "ALL",
                   "localhost/probe:1", "sh", "-c", "exit 0")  # fmt: skip
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        return str(error)[-300:]
    finally:
        podman.close()
    return None


def _pack(tar: tarfile.TarFile, programs: Sequence[str], shell: str) -> None:
    for folder in ("tmp", "root", "proc", "sys", "dev", "etc", "run", "workspace", "usr/bin"):
        entry = tarfile.TarInfo(folder)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
        tar.addfile(entry)
    applets = set(_applets()) - {*programs, "sh"} if "busybox" in programs else ()
    links = [(f"usr/bin/{name}", "busybox") for name in sorted(applets)]
    for link, target in (("bin", "usr/bin"), ("usr/bin/sh", shell), *links):
        entry = tarfile.TarInfo(link)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        tar.addfile(entry)
    packed: set[str] = set()
    for name in programs:
        program = shutil.which(name, path=_PATH)
        if program is None:
            raise AssertionError(f"{name} is not installed")
        _add(tar, os.path.realpath(program), f"usr/bin/{name}", packed)
        for library in _libraries(program):
            _add(tar, os.path.realpath(library), library.lstrip("/"), packed)
            if library.endswith("/libc.so.6"):
                for other in (library.replace("libc.so.6", each) for each in _GLIBC):
                    _add(tar, os.path.realpath(other), other.lstrip("/"), packed)
    for folder in filter(os.path.isdir, _SHARED):
        tar.add(folder, folder.lstrip("/"))


def _applets() -> list[str]:
    """The commands that busybox stands for."""
    words = ["busybox", "--list"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def _add(tar: tarfile.TarFile, source: str, name: str, packed: set[str]) -> None:
    if name not in packed:
        packed.add(name)
        tar.add(source, name)


def _libraries(program: str) -> list[str]:
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    words = (word for line in told.splitlines() for word in line.split())
    return [word for word in words if word.startswith("/")]
