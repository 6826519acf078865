"""Packing of folders as C{.tar.gz} archives, produced chunk by chunk (protocol-files)."""

from __future__ import annotations

import os
import stat
import tarfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice

from tservice.core.workers.sliced_sort import sort_in_slices
from tservice.files.confined_path import AccessRules, ConfinedEntry
from tservice.files.model import FOLDER_NAMES, is_secret_file

PIECE = 256 * 1024
LEVEL = 1
"""Compression level. The lowest is enough: the processor is the bottleneck, and the panes need it
too.
"""

FOLDERS = 200_000
"""Maximum number of subfolders that may wait to be packed. An archive that exceeds it is
aborted.
"""

_GZIP = 31
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def pack_folder(top: ConfinedEntry, name: str, closed: AccessRules) -> Generator[bytes, None, None]:
    """Yield the archive of the folder C{top} in chunks of about L{PIECE} bytes. Some chunks may be
    empty.

    Secrets, sockets, pipes and devices are left out. Symbolic links are packed as links. The caller
    must keep C{top} open until the generator ends.

    @param name: name of the folder in the archive.
    @param closed: rules for folders to leave out.
    @raise OSError: the disk failed. Entries that vanish while packing are left out without an
        error.
    """
    deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    for block in _archive_blocks(top, name, closed):
        yield deflate.compress(block)
    yield deflate.compress(b"\0" * 2 * tarfile.BLOCKSIZE)
    yield deflate.flush()


def _archive_blocks(top: ConfinedEntry, name: str, closed: AccessRules) -> Iterator[bytes]:
    waiting: list[tuple[bytes, ...]] = [()]
    while waiting:
        steps = waiting.pop()
        try:
            folder = _open_subfolder(top.folder, steps)
        except OSError:
            continue
        try:
            if closed.denies(os.fstat(folder)):
                continue
            below = "/".join(map(os.fsdecode, steps))
            yield _header_block(os.path.join(name, below).rstrip("/"), os.fstat(folder))
            for child in _list_names(folder):
                at = os.path.join(below, os.fsdecode(child))
                secret = any(is_secret_file(f"{path}/{at}") for path in top.paths)
                if (yield from _format_entry_blocks(folder, child, f"{name}/{at}", secret=secret)):
                    waiting.append((*steps, child))
            if len(waiting) > FOLDERS:
                raise OSError("too many folders for an archive")
        finally:
            os.close(folder)


def _open_subfolder(top: int, steps: tuple[bytes, ...]) -> int:
    at = os.dup(top)
    for step in steps:
        above, at = at, -1
        try:
            at = os.open(step, _PASS, dir_fd=above)
        finally:
            os.close(above)
    try:
        return os.open(b".", _FOLDER, dir_fd=at)
    finally:
        os.close(at)


def _list_names(folder: int) -> list[bytes]:
    with os.scandir(folder) as found:
        return list(sort_in_slices(os.fsencode(each.name) for each in islice(found, FOLDER_NAMES)))


def _format_entry_blocks(
    folder: int, name: bytes, shown: str, *, secret: bool
) -> Generator[bytes, None, bool]:
    """Yield the tar blocks of one entry; yield nothing for a folder.

    @param folder: descriptor of the folder that contains the entry.
    @param shown: path of the entry in the archive.
    @param secret: true if a file with this name is a secret and must be left out.
    @return: true if the entry is a folder, which the caller packs separately.
    """
    try:
        found = os.open(name, _LOOK, dir_fd=folder)
    except OSError:
        return False
    try:
        status = os.fstat(found)
        if stat.S_ISDIR(status.st_mode):
            return True
        if stat.S_ISLNK(status.st_mode):
            yield _header_block(shown, status, os.fsdecode(os.readlink(b"", dir_fd=found)))
        elif stat.S_ISREG(status.st_mode) and not secret:
            yield from _file_blocks(found, shown)
    finally:
        os.close(found)
    return False


def _file_blocks(found: int, shown: str) -> Iterator[bytes]:
    try:
        descriptor = os.open(f"/proc/self/fd/{found}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # the user may not read it
        return
    try:
        status = os.fstat(descriptor)
        yield _header_block(shown, status)
        yield from _format_content_blocks(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _format_content_blocks(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield exactly C{size} bytes of a file, as announced in its tar header.

    A file that has grown is cut. A file that has shrunk is padded with zeros.
    """
    left = size
    while left:
        piece = b""
        with suppress(OSError):
            piece = os.pread(descriptor, min(PIECE, left), size - left)
        piece = piece or bytes(min(PIECE, left))
        left -= len(piece)
        yield piece
    yield bytes(-size % tarfile.BLOCKSIZE)


def _header_block(shown: str, status: os.stat_result, target: str | None = None) -> bytes:
    entry = tarfile.TarInfo(shown)
    entry.mode = stat.S_IMODE(status.st_mode)
    entry.mtime = int(status.st_mtime)
    if target is not None:
        entry.type, entry.linkname = tarfile.SYMTYPE, target
    elif stat.S_ISDIR(status.st_mode):
        entry.type = tarfile.DIRTYPE
    else:
        entry.size = status.st_size
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
