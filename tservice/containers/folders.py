"""Folders of this machine that containers use.

::

    <data>/containers/            0700: only the service may enter
        lib/                      the programs that start a server; read-only inside
        build/                    the build context of an image
        <container>/run           sockets of the servers, owned by the container's user
        <container>/home          home folder, owned by the container's user
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

from tservice.containers.command_lines import BindMount
from tservice.containers.isolation import HOME, WORKSPACE
from tservice.containers.transport import LIBRARY, SOCKETS
from tservice.core.files import replace_atomically

CREDENTIALS = (
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
)
"""Files below a home folder in which CLIs keep their credentials."""

SECRET_FILE = ".service-hook-secret"  # noqa: S105
"""File in a container's home folder with the secret of its hooks."""

CREDENTIAL_LIMIT = 256 * 1024
"""Largest size in bytes of a credential file; a longer one is ignored."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

NOT_MOUNTABLE = frozenset(',"\n\r\0')
"""Characters that an engine cannot take in a path."""


@frozen
class ContainerFolders:
    """Folders of containers below one data folder."""

    base: Path

    @property
    def library(self) -> Path:
        """Folder with the programs that start a server."""
        return self.base / "lib"

    def socket_folder(self, container: str) -> Path:
        """Return the folder with the server sockets of a container."""
        return self.base / container / "run"

    def home_folder(self, container: str) -> Path:
        """Return the home folder of a container."""
        return self.base / container / "home"

    def prepare_library(self, files: Sequence[Path]) -> None:
        """Write the current version of the files that servers are started with.

        @raise OSError: they cannot be written.
        """
        self._make_private(self.base)
        self.library.mkdir(mode=0o755, exist_ok=True)
        self.library.chmod(0o755)
        for file in files:
            _copy_file(file, self.library / file.name, 0o755 if os.access(file, os.X_OK) else 0o644)

    def prepare_build(self, containerfile: Path) -> Path:
        """Return a folder that holds nothing but that file.

        @raise OSError: it cannot be written.
        """
        self._make_private(self.base)
        folder = self.base / "build"
        self._make_private(folder)
        _copy_file(containerfile, folder / "Containerfile", 0o644)
        return folder

    def prepare_container(self, container: str, owner: tuple[int, int]) -> None:
        """Create a container's folders, owned by the container's user.

        @raise OSError: they cannot be created.
        """
        self._make_private(self.base)
        self._make_private(self.base / container)
        for folder in (self.socket_folder(container), self.home_folder(container)):
            self._make_private(folder)
            if os.geteuid() == 0:
                os.chown(folder, *owner)

    def remove_container(self, container: str) -> None:
        """Remove a container's folders; links in them are not followed."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.base / container)

    def list_mounts(self, container: str, workspace: str) -> list[BindMount]:
        """Return the mounts that every container has."""
        return [
            BindMount(source=workspace, target=WORKSPACE, writable=True),
            BindMount(source=str(self.home_folder(container)), target=HOME, writable=True),
            BindMount(source=str(self.socket_folder(container)), target=SOCKETS, writable=True),
            BindMount(source=str(self.library), target=LIBRARY),
        ]

    def _make_private(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def read_credentials(home: Path) -> dict[str, bytes]:
    """Return the CLIs' credentials in a home folder, by their path below it.

    @raise OSError: they cannot be read.
    """
    return {name: (home / name).read_bytes() for name in CREDENTIALS if _is_credential(home / name)}


@contextmanager
def open_folder(folder: Path) -> Iterator[int]:
    """Open a folder and yield its descriptor, for a user that may not reach it by its path.

    @raise OSError: there is none.
    """
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def put_credentials(home: int, found: Mapping[str, bytes], *, mounted: bool) -> None:
    """Write credentials into a container's home folder; call it with the rights of its user.

    An existing file stays, as it may have been refreshed inside.  Links made inside are not
    followed.  A file in place of a needed folder is renamed.

    @param home: a descriptor of that folder.
    @param mounted: something is mounted at each path, so it has to be a file.
    @raise OSError: they cannot be written.
    """
    for name, data in found.items():
        *folders, last = name.split("/")
        with ExitStack() as stack:
            at = home
            for part in folders:
                _rename_aside(part, at, unless=stat.S_ISDIR)
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=at)
                at = os.open(part, _FOLDER, dir_fd=at)
                stack.callback(os.close, at)
            if mounted:
                _rename_aside(last, at, unless=stat.S_ISREG)
            elif _is_empty(last, at):
                # A mount left this empty file.
                os.unlink(last, dir_fd=at)
            with suppress(FileExistsError):
                _write_new(last, data, at)


def put_secret(home: int, secret: str) -> None:
    """Write the secret of a container's hooks into its home folder; call it with the rights of its
    user.

    An existing file is replaced, and a link is never followed.

    @raise OSError: it cannot be written.
    """
    _rename_aside(SECRET_FILE, home, unless=lambda mode: not stat.S_ISDIR(mode))
    with suppress(FileNotFoundError):
        os.unlink(SECRET_FILE, dir_fd=home)
    _write_new(SECRET_FILE, f"{secret}\n".encode(), home)


def credential_mounts(outside: Path, names: Iterable[str]) -> list[BindMount]:
    """Return the mounts that show the service's own credentials C{names} inside."""
    return [BindMount(source=str(outside / name), target=f"{HOME}/{name}") for name in names]


def is_mountable(path: str) -> bool:
    """Return true if engines can mount that path."""
    return not NOT_MOUNTABLE & set(path)


def _is_credential(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= CREDENTIAL_LIMIT and is_mountable(str(path))


def _rename_aside(name: str, folder: int, *, unless: Callable[[int], bool]) -> None:
    """Rename a file or folder, unless C{unless} accepts its mode."""
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


def _copy_file(source: Path, target: Path, mode: int) -> None:
    data = source.read_bytes()
    with suppress(OSError):
        if target.read_bytes() == data:
            return
    with replace_atomically(target) as temporary:
        temporary.write_bytes(data)
        temporary.chmod(mode)
