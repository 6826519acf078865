"""Blocking reads of the text appended to a file; runs in a worker thread (protocol-files)."""

from __future__ import annotations

import codecs
import hashlib
import os
from contextlib import ExitStack
from typing import Any

from attrs import define, field, frozen

from tservice.files.confined_path import AccessRules, ConfinedFolder
from tservice.files.reading.text_content import check_not_secret

PIECE = 64 * 1024
"""Largest chunk in bytes."""

LINES_BYTES = 1024 * 1024
"""Maximum number of bytes of the last lines that are sent first."""

COMPARED_CHUNKS = 16
"""Number of chunks that are compared after each change, at both ends of the part already read."""

KEPT_CHUNKS = 256
"""Number of chunks from the beginning that are compared once the file has stopped changing."""

SETTLED_SECONDS = 2.0
"""Seconds after a change in which another change may leave the modification time as it is."""


@frozen
class TailUpdate:
    """Result of reading a followed file once.

    @ivar text: new text at the end of the file.
    @ivar truncated: true if the file was rewritten, so that C{text} starts at its beginning.
    @ivar more: true if more text may be available at once.
    """

    text: str = ""
    truncated: bool = False
    more: bool = False


@define(eq=False)
class ReadPrefix:
    """Digests of the part of a file that was already read.

    They detect that a file was truncated and rewritten, even if it is longer at the next read.

    @ivar size: length of the part in bytes.
    """

    size: int = 0
    _pieces: dict[int, bytes] = field(factory=dict)
    _last: Any = field(factory=hashlib.blake2b)

    @classmethod
    def read_before(cls, descriptor: int, position: int) -> ReadPrefix:
        """Read a file from its beginning up to C{position}, and return the digests of that part."""
        whole = position // PIECE
        part = cls(whole * PIECE)
        for at in range(whole):
            if at < KEPT_CHUNKS or at >= whole - COMPARED_CHUNKS:
                part._pieces[at] = _digest_chunk(os.pread(descriptor, PIECE, at * PIECE))
        part.extend_prefix(os.pread(descriptor, position - part.size, part.size))
        return part

    def extend_prefix(self, data: bytes) -> None:
        """Extend the part by C{data}, which was read right after it."""
        while data:
            taken = data[: PIECE - self.size % PIECE]
            self._last.update(taken)
            self.size += len(taken)
            data = data[len(taken) :]
            if self.size % PIECE == 0:
                self._finish_chunk(self.size // PIECE - 1)

    def is_prefix_of_file(self, descriptor: int, whole: bool) -> bool:
        """Return true if the file still begins with this part.

        @param whole: true to compare all stored digests, not only those at both ends.
        """
        open_at = self.size // PIECE
        rest = os.pread(descriptor, self.size % PIECE, open_at * PIECE)
        return _digest_chunk(rest) == self._last.digest() and all(
            _digest_chunk(os.pread(descriptor, PIECE, at * PIECE)) == digest
            for at, digest in self._pieces.items()
            if whole or at < COMPARED_CHUNKS or at >= open_at - COMPARED_CHUNKS
        )

    def _finish_chunk(self, at: int) -> None:
        self._pieces[at] = self._last.digest()
        self._last = hashlib.blake2b()
        if at - COMPARED_CHUNKS >= KEPT_CHUNKS:
            del self._pieces[at - COMPARED_CHUNKS]


@define(eq=False)
class FileTail:
    """Reader that follows a file by name, so that it continues with a new file of the same name.

    @ivar folder: descriptor of the folder that contains the file, with links resolved. Set by
        L{open_at_lines}.
    """

    workspace: str
    path: str
    closed: AccessRules
    folder: int = -1
    _descriptor: int | None = None
    _read: ReadPrefix = field(factory=ReadPrefix)
    # Size and change time at the last comparison, and whether the file had settled then.
    _compared: tuple[int, int] | None = None
    _has_settled: bool = False
    _decode: codecs.IncrementalDecoder = field(
        factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def open_at_lines(self, held: ExitStack, lines: int) -> TailUpdate:
        """Open the file and return its last C{lines}.

        @param held: stack that closes the descriptors.
        @raise ServiceError: 400 if it is not a regular file; 403 if it is outside or a secret.
        @raise OSError: the file is missing or may not be read.
        """
        held.callback(self.close)
        with (
            ConfinedFolder(self.workspace, self.closed) as beneath,
            beneath.resolve_path(self.path) as spot,
        ):
            check_not_secret(spot)
            self._descriptor = spot.open_file()
            self.folder = os.dup(spot.folder)
        size = os.fstat(self._descriptor).st_size
        position = find_last_lines(self._descriptor, size, lines)
        self._read = ReadPrefix.read_before(self._descriptor, position)
        return self._read_appended(self._descriptor)

    def close(self) -> None:
        """Close the descriptors of the file and its folder."""
        for descriptor in (self._descriptor, None if self.folder < 0 else self.folder):
            if descriptor is not None:
                os.close(descriptor)
        self._descriptor, self.folder = None, -1

    def read_news(self, now: float = 0.0) -> TailUpdate:
        """Return the text added since the last read.

        If the file was replaced, the rest of the old file comes before the text of the new one.

        @param now: Unix seconds. A file whose last change is long past is not compared again.
        """
        if self._descriptor is None:
            return TailUpdate()
        status = os.fstat(self._descriptor)
        if self._was_rewritten(self._descriptor, status, now):
            return self._read_from_beginning(self._descriptor)
        if status.st_size > self._read.size:
            return self._read_appended(self._descriptor)
        replacing = self._open_replacement(self._descriptor)
        if replacing is None:
            return TailUpdate()
        os.close(self._descriptor)
        self._descriptor = replacing
        return self._read_from_beginning(replacing)

    def _was_rewritten(self, descriptor: int, status: os.stat_result, now: float) -> bool:
        """Return true if the file no longer begins with the part already read."""
        if status.st_size < self._read.size:
            return True
        seen = (status.st_size, status.st_ctime_ns)
        is_behind = status.st_size > self._read.size
        if seen == self._compared and (is_behind or self._has_settled):
            # While there is more to read, the next comparison waits until all is read.
            return False
        self._compared = seen
        self._has_settled = now - status.st_ctime >= SETTLED_SECONDS
        return not self._read.is_prefix_of_file(descriptor, whole=self._has_settled)

    def _read_from_beginning(self, descriptor: int) -> TailUpdate:
        self._read, self._compared = ReadPrefix(), None
        self._decode.reset()
        return self._read_appended(descriptor, truncated=True)

    def _read_appended(self, descriptor: int, truncated: bool = False) -> TailUpdate:
        data = os.pread(descriptor, PIECE, self._read.size)
        self._read.extend_prefix(data)
        return TailUpdate(self._decode.decode(data), truncated, more=bool(data))

    def _open_replacement(self, descriptor: int) -> int | None:
        """Open the file that has the name now, and return its descriptor; C{None} if it is the same
        file.
        """
        try:
            with (
                ConfinedFolder(self.workspace, self.closed) as beneath,
                beneath.resolve_path(self.path) as spot,
            ):
                check_not_secret(spot)
                found = spot.open_file()
        except FileNotFoundError:
            return None  # it may be created again
        if os.path.sameopenfile(found, descriptor):
            os.close(found)
            return None
        return found


def _digest_chunk(data: bytes) -> bytes:
    return hashlib.blake2b(data).digest()


def find_last_lines(descriptor: int, size: int, lines: int) -> int:
    """Return the offset at which the last C{lines} of a file begin.

    The result is at most L{LINES_BYTES} before the end.
    """
    at = size
    if lines <= 0:
        return at
    least = max(0, size - LINES_BYTES)
    found = 0
    while at > least:
        begin = max(least, at - PIECE)
        piece = os.pread(descriptor, at - begin, begin)
        end = len(piece)
        if at == size and piece.endswith(b"\n"):
            end -= 1  # the end of the last line itself
        while (cut := piece.rfind(b"\n", 0, end)) >= 0:
            found += 1
            if found == lines:
                return begin + cut + 1
            end = cut
        at = begin
    return least
