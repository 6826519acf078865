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
from tservice.core.disk.files import replace_atomically

CREDENTIALS = (
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
)
"""Files in which CLIs keep their credentials, relative to the home folder."""

SECRET_FILE = ".service-hook-secret"  # noqa: S105
"""File in a container's home folder that holds the secret for its hooks."""

CREDENTIAL_LIMIT = 256 * 1024
"""Maximum size in bytes of a credential file.  A larger one is ignored."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

NOT_MOUNTABLE = frozenset(',"\n\r\0')
"""Characters that are not allowed in the path of a mount."""


@frozen
class ContainerFolders:
    """Folders of containers inside one data folder."""

    base: Path

    @property
    def library(self) -> Path:
        """Folder with the programs that start a tmux server in a container."""
        return self.base / "lib"

    def socket_folder(self, container: str) -> Path:
        """Return the folder on this machine with the sockets of a container's tmux servers."""
        return self.base / container / "run"

    def home_folder(self, container: str) -> Path:
        """Return the folder on this machine that is a container's home folder."""
        return self.base / container / "home"

    def write_library_files(self, files: Sequence[Path]) -> None:
        """Write the current version of the programs that start a tmux server.

        @raise OSError: a file cannot be written.
        """
        self._make_private(self.base)
        self.library.mkdir(mode=0o755, exist_ok=True)
        self.library.chmod(0o755)
        for file in files:
            _copy_file(file, self.library / file.name, 0o755 if os.access(file, os.X_OK) else 0o644)

    def prepare_build(self, containerfile: Path) -> Path:
        """Return a build context: a folder that contains only the given Containerfile.

        @raise OSError: the folder cannot be written.
        """
        self._make_private(self.base)
        folder = self.base / "build"
        self._make_private(folder)
        _copy_file(containerfile, folder / "Containerfile", 0o644)
        return folder

    def create_container_folders(self, container: str, owner: tuple[int, int]) -> None:
        """Create a container's folders, owned by the container's user.

        @param owner: user id and group id.
        @raise OSError: the folders cannot be created.
        """
        self._make_private(self.base)
        self._make_private(self.base / container)
        for folder in (self.socket_folder(container), self.home_folder(container)):
            self._make_private(folder)
            if os.geteuid() == 0:
                os.chown(folder, *owner)

    def remove_container(self, container: str) -> None:
        """Remove a container's folders.  Symbolic links in them are not followed."""
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
    """Return the contents of the CLIs' credential files in a home folder, by relative path.

    @raise OSError: a file cannot be read.
    """
    return {name: (home / name).read_bytes() for name in CREDENTIALS if _is_credential(home / name)}


@contextmanager
def open_folder(folder: Path) -> Iterator[int]:
    """Open a folder and yield its file descriptor.

    With it, a user that cannot reach the folder by its path can write into it.

    @raise OSError: the folder cannot be opened.
    """
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_credentials(home: int, found: Mapping[str, bytes], *, mounted: bool) -> None:
    """Write credentials into a container's home folder.

    Call this as the container's user.

    An existing file is kept, as a CLI in the container may have refreshed it.  Symbolic links are
    not followed.  A file at the path of a needed folder is renamed.

    @param home: file descriptor of the home folder.
    @param found: contents by relative path.
    @param mounted: true if the service's own files will be mounted at these paths; each path must
        then be a plain file.
    @raise OSError: a file cannot be written.
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


def write_hook_secret(home: int, secret: str) -> None:
    """Write the secret for a container's hooks into its home folder.

    Call this as the container's user.

    An existing file is replaced, and a symbolic link is not followed.

    @param home: file descriptor of the home folder.
    @raise OSError: the file cannot be written.
    """
    _rename_aside(SECRET_FILE, home, unless=lambda mode: not stat.S_ISDIR(mode))
    with suppress(FileNotFoundError):
        os.unlink(SECRET_FILE, dir_fd=home)
    _write_new(SECRET_FILE, f"{secret}\n".encode(), home)


def credential_mounts(outside: Path, names: Iterable[str]) -> list[BindMount]:
    """Return mounts by which a container sees the service's own credential files, read-only.

    @param outside: the service's home folder.
    @param names: relative paths of the files.
    """
    return [BindMount(source=str(outside / name), target=f"{HOME}/{name}") for name in names]


def is_mountable(path: str) -> bool:
    """Return true if the path contains no character that engines reject in a mount."""
    return not NOT_MOUNTABLE & set(path)


def _is_credential(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= CREDENTIAL_LIMIT and is_mountable(str(path))


def _rename_aside(name: str, folder: int, *, unless: Callable[[int], bool]) -> None:
    """Move C{name} out of the way: rename it to C{name.aside-N} with the first free number.

    @param folder: descriptor of the folder that contains it.
    @param unless: returns true for the mode of a file that must stay.
    """
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
