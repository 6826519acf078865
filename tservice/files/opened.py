"""What is read piece by piece: files as they are, and folders packed."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing

from attrs import frozen

from tservice.core.errors import invalid
from tservice.files.archive import PIECE, pack
from tservice.files.beneath import Beneath, Closed
from tservice.files.text import check_open
from tservice.files.workers import Handle

_UNKNOWN = "application/octet-stream"
_RUN = re.compile(r".*/.*(javascript|ecmascript|jscript|livescript).*|text/css")
"""What the page itself would run, or be dressed in, at an address of its own origin."""


@frozen(kw_only=True)
class FileInfo:
    """A file that was opened.

    @ivar tag: changes with its content (C{ETag}).
    @ivar modified: Unix seconds.
    """

    name: str
    size: int
    tag: str
    modified: float

    @property
    def media_type(self) -> str:
        """By its name; scripts and style sheets are plain text."""
        kind = mimetypes.guess_type(self.name)[0] or _UNKNOWN
        kind = "text/plain" if _RUN.fullmatch(kind) else kind
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


class OpenFile:
    """A file to be read from anywhere; closed by whoever asked for it."""

    def __init__(self, handle: Handle, about: FileInfo, descriptor: int) -> None:
        self.about = about
        self._handle, self._descriptor = handle, descriptor

    async def read(self, at: int, size: int) -> bytes:
        """As much from C{at} as one piece has, and no more than C{size}."""
        return await self._handle.use(lambda held: os.pread(self._descriptor, min(size, PIECE), at))

    async def close(self) -> None:
        """Let go of it."""
        await self._handle.close()


class OpenFolder:
    """A folder, packed as it is read; closed by whoever asked for it."""

    def __init__(self, handle: Handle, name: str, pieces: Iterator[bytes]) -> None:
        self.name = name
        self._handle, self._pieces = handle, pieces

    async def read(self) -> bytes:
        """The next bytes of the archive; nothing at its end."""
        return await self._handle.use(lambda held: self._gather())

    async def close(self) -> None:
        """Let go of it."""
        await self._handle.close()

    def _gather(self) -> bytes:
        """Some C{PIECE} of it, packed from not much more than four times that."""
        pieces, size = [], 0
        for count, piece in enumerate(self._pieces, 1):
            pieces.append(piece)
            size += len(piece)
            if size >= PIECE or (size and count >= 64):
                break
        return b"".join(pieces)


Opened = OpenFile | OpenFolder


def open_path(
    held: ExitStack, handle: Handle, workspace: str, path: str, closed: Closed, *, folders: bool
) -> Opened:
    """Open what C{path} leads to, in a thread.

    @param held: closes it.
    @param folders: a folder is packed; else it is a 400.
    @raise ServiceError: 400: neither file nor folder; 403: outside, or a secret.
    @raise OSError: it is missing, or may not be read.
    """
    beneath = held.enter_context(Beneath(workspace, closed))
    spot = held.enter_context(beneath.find(path))
    check_open(spot)
    if spot.is_folder:
        if not folders:
            raise invalid("path", "must be a regular file")
        name = spot.name or os.path.basename(os.fsdecode(beneath.real)) or "workspace"
        pieces = held.enter_context(closing(pack(spot, name, closed)))
        return OpenFolder(handle, name, pieces)
    descriptor = spot.open()
    held.callback(os.close, descriptor)
    return OpenFile(handle, about(spot.name, os.fstat(descriptor)), descriptor)


def about(name: str, status: os.stat_result) -> FileInfo:
    """What an answer says of a file."""
    tag = f'"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"'
    return FileInfo(name=name, size=status.st_size, tag=tag, modified=status.st_mtime)
