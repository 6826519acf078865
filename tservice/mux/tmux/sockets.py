"""Sockets of the tmux servers: one for each session, in a folder that no other user may enter."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Protocol

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import FileError
from tservice.mux.interface import MuxError

MAX_PATH = 107
"""Maximum bytes of a socket's path (C{sockaddr_un} holds 108 including the NUL)."""

LOOKED_AT = 10_000
"""Maximum entries of a folder that are examined. The folder's owner may have filled the folder."""

_SUFFIX = ".sock"
_PREFACE = ".preface"
SESSION_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_LONGEST_NAME = 36 + len(_SUFFIX)


class ServerSockets(Protocol):
    """Sockets of a location's tmux servers."""

    async def prepare_folder(self) -> None:
        """Create the folder of the sockets with mode 0700.

        @raise MuxError: the folder cannot be created.
        """

    def get_socket_path(self, session_id: str) -> Path:
        """Return the path of a session's socket inside the location.

        @raise ValueError: the session id is invalid.
        """

    async def remove_socket(self, session_id: str) -> None:
        """Remove the socket of a server that is gone.

        @raise MuxError: the socket cannot be removed.
        """

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        """Write the preface of a session to a file. The session's keeper prints and removes the
        file.

        @return: the path of the file inside the location.
        @raise OSError: the file cannot be written.
        """

    async def find_session_ids(self) -> frozenset[str]:
        """Return the ids of the sessions that have a socket."""


class SocketFolder:
    """Socket folder of this process: C{<data>/mux}, or a short folder below C{runtime} if that path
    is too long.

    @param runtime: a base folder, for example C{/run/user/1000}; C{None} for C{/tmp}.
    """

    def __init__(self, data: Path, runtime: Path | None = None) -> None:
        home = (data / "mux").absolute()
        if len(os.fsencode(home)) + 1 + _LONGEST_NAME > MAX_PATH:
            digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
            home = (runtime or Path("/tmp")) / f"tservice-{os.getuid()}-{digest}"  # noqa: S108
        self.path = home

    async def prepare_folder(self) -> None:
        """Create the folder, mode 0700.

        @raise MuxError: it belongs to another user, is not a folder, or cannot be created; or its
            path is too long.
        """
        if len(os.fsencode(self.path)) + 1 + _LONGEST_NAME > MAX_PATH:
            raise MuxError(f"the path of {self.path} is too long for a socket")
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise MuxError(f"{self.path} cannot be made: {why}") from error
        found = self.path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise MuxError(f"{self.path} is not this user's folder")
        self.path.chmod(0o700)

    def get_socket_path(self, session_id: str) -> Path:
        """Return the path of a session's socket.

        @raise ValueError: the session id is invalid.
        """
        if not SESSION_ID.fullmatch(session_id):
            raise ValueError(f"not a session id: {session_id!r}")
        return self.path / (session_id + _SUFFIX)

    async def remove_socket(self, session_id: str) -> None:
        """Remove the socket of a server that is gone.

        @raise MuxError: the entry cannot be removed; only the folder's owner can have created it.
        """
        path = self.get_socket_path(session_id)
        try:
            remove_file_or_rename_folder(path)
            remove_file_or_rename_folder(path.with_suffix(_PREFACE))
        except OSError as error:
            raise MuxError(f"{path.name} cannot be removed: {error.strerror}") from error

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        """Write the preface of a session to a file. The session's keeper prints and removes the
        file.

        @raise OSError: the file cannot be written.
        """
        path = self.get_socket_path(session_id).with_suffix(_PREFACE)
        _write_new(path, data)
        return path

    async def find_session_ids(self) -> frozenset[str]:
        """Return the ids of the sessions that have a socket."""
        return find_sockets(self.path)


class OsUserSockets(SocketFolder):
    """Socket folder of an OS user, which belongs to that user alone.

    @param make: creates the folder; raises L{FileError} or C{OSError}.
    @param act: runs a function on files as the OS user; raises C{OSError}.
    """

    def __init__(
        self, path: Path, make: Callable[[], object], act: Callable[[Callable[[], None]], None]
    ) -> None:
        self.path = path
        self._make = make
        self._act = act

    async def put_preface(self, session_id: str, data: bytes) -> Path:
        path = self.get_socket_path(session_id).with_suffix(_PREFACE)
        self._act(lambda: _write_new(path, data))
        return path

    async def prepare_folder(self) -> None:
        try:
            self._make()
        except (OSError, FileError) as error:
            raise MuxError(
                f"{self.path} cannot be made: {find_disk_problem(error) or error}"
            ) from error


def find_sockets(folder: Path) -> frozenset[str]:
    """Return the session ids of the sockets among the first L{LOOKED_AT} entries of C{folder}."""
    if not folder.is_dir():
        return frozenset()
    with os.scandir(folder) as entries:
        paths = [Path(entry.path) for entry in islice(entries, LOOKED_AT)]
    names = (path.stem for path in paths if _is_socket(path))
    return frozenset(name for name in names if SESSION_ID.fullmatch(name))


def remove_file_or_rename_folder(path: Path) -> None:
    """Remove the file at C{path}. If it is a folder, rename it aside instead.

    Only a process that can write to the parent folder can have created such a folder.

    @raise OSError: the entry cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except IsADirectoryError:
        path.rename(path.with_name(f"{path.name}.{os.urandom(4).hex()}"))


def _write_new(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)


def _is_socket(entry: Path) -> bool:
    return entry.suffix == _SUFFIX and stat.S_ISSOCK(entry.lstat().st_mode)
