"""The folders of this machine that containers are made with.

::

    <data>/containers/            0700: closed to everybody but the service
        lib/                      what starts a server; read-only inside
        build/                    what an image is built from
        <container>/run           the servers' sockets, its user's
        <container>/home          its home folder, its user's
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from attrs import frozen

from tservice.containers.argv import Mount
from tservice.containers.fence import HOME, WORKSPACE
from tservice.containers.transport import LIBRARY, SOCKETS
from tservice.core.files import replacement

CREDENTIALS = (
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
)
"""Where CLIs keep what they sign in with, below a home folder."""

SECRET_FILE = ".service-hook-secret"  # noqa: S105
"""Where hooks in a container find their secret, in its home folder."""

CREDENTIAL_LIMIT = 256 * 1024
"""Bytes of such a file that are copied at most; a longer one is none."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

NOT_MOUNTABLE = frozenset(',"\n\r\0')
"""Characters that engines cannot be told in a path."""


@frozen
class Folders:
    """Those of one data folder."""

    base: Path

    @property
    def library(self) -> Path:
        """What starts a server."""
        return self.base / "lib"

    def sockets(self, container: str) -> Path:
        """The servers' sockets of a container."""
        return self.base / container / "run"

    def home(self, container: str) -> Path:
        """Its home folder."""
        return self.base / container / "home"

    def prepare_library(self, files: Sequence[Path]) -> None:
        """Have the files that servers are started with, as they are now.

        @raise OSError: they cannot be written.
        """
        self._private(self.base)
        self.library.mkdir(mode=0o755, exist_ok=True)
        self.library.chmod(0o755)
        for file in files:
            _copy(file, self.library / file.name, 0o755 if os.access(file, os.X_OK) else 0o644)

    def prepare_build(self, containerfile: Path) -> Path:
        """A folder with nothing but that file.

        @raise OSError: it cannot be written.
        """
        self._private(self.base)
        folder = self.base / "build"
        self._private(folder)
        _copy(containerfile, folder / "Containerfile", 0o644)
        return folder

    def prepare(self, container: str, owner: tuple[int, int]) -> None:
        """Have a container's folders, which are its user's.

        @raise OSError: they cannot be made.
        """
        self._private(self.base)
        self._private(self.base / container)
        for folder in (self.sockets(container), self.home(container)):
            self._private(folder)
            if os.geteuid() == 0:
                os.chown(folder, *owner)

    def remove(self, container: str) -> None:
        """Remove a container's folders; links in them are not followed."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.base / container)

    def mounts(self, container: str, workspace: str) -> list[Mount]:
        """What every container has of this machine."""
        return [
            Mount(source=workspace, target=WORKSPACE, writable=True),
            Mount(source=str(self.home(container)), target=HOME, writable=True),
            Mount(source=str(self.sockets(container)), target=SOCKETS, writable=True),
            Mount(source=str(self.library), target=LIBRARY),
        ]

    def _private(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def credentials_of(home: Path) -> dict[str, bytes]:
    """What the CLIs of a home folder sign in with, by where it is below it.

    @raise OSError: it cannot be read.
    """
    return {name: (home / name).read_bytes() for name in CREDENTIALS if _is_credential(home / name)}


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder by its descriptor, for who may not come to it by its path.

    @raise OSError: there is none.
    """
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def put_credentials(home: int, found: Mapping[str, bytes], *, mounted: bool) -> None:
    """Leave credentials in a container's home folder; to be done with its user's rights.

    What is there already stays: it may have been refreshed inside since.  No link that was made
    inside is followed; what is no folder where one has to be is set aside.

    @param home: a descriptor of that folder.
    @param mounted: something is mounted at each, so it has to be a file.
    @raise OSError: they cannot be written.
    """
    for name, data in found.items():
        *folders, last = name.split("/")
        with ExitStack() as stack:
            at = home
            for part in folders:
                _set_aside(part, at, unless=stat.S_ISDIR)
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=at)
                at = os.open(part, _FOLDER, dir_fd=at)
                stack.callback(os.close, at)
            if mounted:
                _set_aside(last, at, unless=stat.S_ISREG)
            elif _is_empty(last, at):
                # Something was mounted there before.
                os.unlink(last, dir_fd=at)
            with suppress(FileExistsError):
                _write_new(last, data, at)


def put_secret(home: int, secret: str) -> None:
    """Leave the secret of a container's hooks in its home folder; with its user's rights.

    What is there is replaced, never followed.

    @raise OSError: it cannot be written.
    """
    _set_aside(SECRET_FILE, home, unless=lambda mode: not stat.S_ISDIR(mode))
    with suppress(FileNotFoundError):
        os.unlink(SECRET_FILE, dir_fd=home)
    _write_new(SECRET_FILE, f"{secret}\n".encode(), home)


def credential_mounts(outside: Path, names: Iterable[str]) -> list[Mount]:
    """What is mounted where C{names} are to be the service's own."""
    return [Mount(source=str(outside / name), target=f"{HOME}/{name}") for name in names]


def is_mountable(path: str) -> bool:
    """Whether engines can be told to mount it."""
    return not NOT_MOUNTABLE & set(path)


def _is_credential(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= CREDENTIAL_LIMIT and is_mountable(str(path))


def _set_aside(name: str, folder: int, *, unless: Callable[[int], bool]) -> None:
    """Give what has a name another one, unless its mode is what it has to be."""
    try:
        mode = os.lstat(name, dir_fd=folder).st_mode
    except FileNotFoundError:
        return
    if unless(mode):
        return
    taken = frozenset(os.listdir(folder))
    names = (f"{name}.aside-{number}" for number in count(1))
    free = next(each for each in names if each not in taken)
    os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)


def _is_empty(name: str, folder: int) -> bool:
    try:
        found = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == 0


def _write_new(name: str, data: bytes, folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(data)


def _copy(source: Path, target: Path, mode: int) -> None:
    data = source.read_bytes()
    with suppress(OSError):
        if target.read_bytes() == data:
            return
    with replacement(target) as temporary:
        temporary.write_bytes(data)
        temporary.chmod(mode)
