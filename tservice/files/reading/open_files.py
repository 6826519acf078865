"""Open files, and folders that are packed while they are read, with one interface."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing

from attrs import frozen

from tservice.core.kernel.errors import make_field_error
from tservice.files.confined_path import AccessRules, ConfinedFolder
from tservice.files.reading.archive import PIECE, pack_folder
from tservice.files.reading.text_content import check_not_secret
from tservice.files.workers import FileResourceHolder

_UNKNOWN = "application/octet-stream"
_RUN = re.compile(r".*/.*(javascript|ecmascript|jscript|livescript).*|text/css")
"""Media types that a browser would run as script or apply as style sheet."""


@frozen(kw_only=True)
class FileInfo:
    """Name, size and other properties of an open file.

    @ivar tag: value of the C{ETag} header, which changes when the contents change.
    @ivar modified: modification time in Unix seconds.
    """

    name: str
    size: int
    tag: str
    modified: float

    @property
    def media_type(self) -> str:
        """Media type by the name's extension. Scripts and style sheets are reported as plain
        text.
        """
        kind = mimetypes.guess_type(self.name)[0] or _UNKNOWN
        kind = "text/plain" if _RUN.fullmatch(kind) else kind
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


class OpenFile:
    """File opened for reading at any offset. The caller has to close it."""

    def __init__(self, handle: FileResourceHolder, about: FileInfo, descriptor: int) -> None:
        self.about = about
        self._handle, self._descriptor = handle, descriptor

    async def read_chunk(self, at: int, size: int) -> bytes:
        """Return at most C{size} bytes from offset C{at}; a single call returns at most one
        chunk.
        """
        return await self._handle.run_with_resources(
            lambda held: os.pread(self._descriptor, min(size, PIECE), at)
        )

    async def close(self) -> None:
        """Close the file."""
        await self._handle.close()


class OpenFolder:
    """Folder that is packed into an archive while it is read. The caller has to close it."""

    def __init__(self, handle: FileResourceHolder, name: str, pieces: Iterator[bytes]) -> None:
        self.name = name
        self._handle, self._pieces = handle, pieces

    async def read_chunk(self) -> bytes:
        """Return the next bytes of the archive, or an empty string at its end."""
        return await self._handle.run_with_resources(lambda held: self._pack_chunk())

    async def close(self) -> None:
        """Close the folder."""
        await self._handle.close()

    def _pack_chunk(self) -> bytes:
        """Return about C{PIECE} bytes of the archive, which pack little more than four times as
        much data.
        """
        pieces, size = [], 0
        for count, piece in enumerate(self._pieces, 1):
            pieces.append(piece)
            size += len(piece)
            if size >= PIECE or (size and count >= 64):
                break
        return b"".join(pieces)


Opened = OpenFile | OpenFolder


def open_path(
    held: ExitStack,
    handle: FileResourceHolder,
    workspace: str,
    path: str,
    closed: AccessRules,
    *,
    folders: bool,
) -> Opened:
    """Open the file or folder at C{path}. Runs in a worker thread.

    @param held: stack that closes the file or folder.
    @param handle: owner of resources for later reads.
    @param workspace: path of the workspace folder.
    @param folders: true to pack a folder as an archive; false to refuse a folder with a 400.
    @raise ServiceError: 400 if it is neither file nor folder; 403 if it is outside or a secret.
    @raise OSError: the file is missing or may not be read.
    """
    beneath = held.enter_context(ConfinedFolder(workspace, closed))
    spot = held.enter_context(beneath.resolve_path(path))
    check_not_secret(spot)
    if spot.is_folder:
        if not folders:
            raise make_field_error("path", "must be a regular file")
        name = spot.name or os.path.basename(os.fsdecode(beneath.real)) or "workspace"
        pieces = held.enter_context(closing(pack_folder(spot, name, closed)))
        return OpenFolder(handle, name, pieces)
    descriptor = spot.open_file()
    held.callback(os.close, descriptor)
    return OpenFile(handle, build_file_info(spot.name, os.fstat(descriptor)), descriptor)


def build_file_info(name: str, status: os.stat_result) -> FileInfo:
    """Return the name and properties of a file from its C{stat} result."""
    tag = f'"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"'
    return FileInfo(name=name, size=status.st_size, tag=tag, modified=status.st_mtime)
