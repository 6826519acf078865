"""Images made of this machine's own programs.

No registry is asked for anything: an image is the programs that a test names, with the libraries
that they are linked to, packed and imported.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence

PROGRAMS = (
    *("tmux", "dash", "bash", "cat", "ls", "seq", "sleep", "id", "stat", "env", "head", "tr"),
    *("chmod", "rm", "mkdir", "touch", "stty", "kill", "dd", "printf", "wc", "sort"),
)
_SHARED = ("/lib/terminfo", "/usr/lib/locale/C.utf8")
_GLIBC = ("libm.so.6", "librt.so.1", "libpthread.so.0", "libdl.so.2")
"""What a program that is installed later may be linked to, beside C{libc.so.6}."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def pack_image(tar: tarfile.TarFile, programs: Sequence[str], shell: str) -> None:
    """Add the root file system of an image to an archive.

    @param shell: which of the programs is C{sh}; empty: none is.
    """
    packed: set[str] = set()
    for folder in ("tmp", "root", "proc", "sys", "dev", "etc", "run", "workspace", "usr/bin"):
        _add_folder(tar, folder, packed)
    applets = set(_applets()) - {*programs, "sh"} if "busybox" in programs else ()
    links = [(f"usr/bin/{name}", "busybox") for name in sorted(applets)]
    if shell:
        links.append(("usr/bin/sh", shell))
    for link, target in (("bin", "usr/bin"), *links):
        entry = tarfile.TarInfo(link)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        tar.addfile(entry)
    for name in programs:
        program = shutil.which(name, path=PATH)
        if program is None:
            raise AssertionError(f"{name} is not installed")
        _add(tar, os.path.realpath(program), f"usr/bin/{name}", packed)
        for library in _libraries(program):
            _add(tar, os.path.realpath(library), library.lstrip("/"), packed)
            if library.endswith("/libc.so.6"):
                for other in (library.replace("libc.so.6", each) for each in _GLIBC):
                    _add(tar, os.path.realpath(other), other.lstrip("/"), packed)
    for folder in filter(os.path.isdir, _SHARED):
        _add(tar, folder, folder.lstrip("/"), packed)


def _applets() -> list[str]:
    """The commands that busybox stands for."""
    words = ["busybox", "--list"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def _add(tar: tarfile.TarFile, source: str, name: str, packed: set[str]) -> None:
    if name not in packed:
        _add_folder(tar, os.path.dirname(name), packed)
        packed.add(name)
        tar.add(source, name)


def _add_folder(tar: tarfile.TarFile, name: str, packed: set[str]) -> None:
    """Docker lets root alone into a folder that has no entry of its own."""
    if not name or name in packed:
        return
    _add_folder(tar, os.path.dirname(name), packed)
    packed.add(name)
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
    tar.addfile(entry)


def _libraries(program: str) -> list[str]:
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    words = (word for line in told.splitlines() for word in line.split())
    return [word for word in words if word.startswith("/")]
