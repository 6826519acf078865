"""What was added to a file since it was last looked at, in a thread (protocol-files)."""

from __future__ import annotations

import codecs
import hashlib
import os
from contextlib import ExitStack
from typing import Any

from attrs import define, field, frozen

from tservice.files.beneath import Beneath, Closed
from tservice.files.text import check_open

PIECE = 64 * 1024
"""Bytes that are told at a time."""

LINES_BYTES = 1024 * 1024
"""Of the last lines, at most so much."""

COMPARED = 16
"""Pieces at the beginning of what was read, and at its end, that each change has compared."""

KEPT = 256
"""Pieces from the beginning that are compared as well once the file has come to rest."""

SETTLED_SECONDS = 2.0
"""A file that changed within this time may change again without a new time of change."""


@frozen
class News:
    """What one look found.

    @ivar text: what was added.
    @ivar truncated: the file was written anew, and C{text} is from its beginning.
    @ivar more: there is more of it.
    """

    text: str = ""
    truncated: bool = False
    more: bool = False


@define(eq=False)
class ReadPart:
    """Digests of the part of a file that was read, to find out whether it was written anew.

    A file that is cut and written in one go may be longer than before when it is looked at.

    @ivar size: bytes of the part.
    """

    size: int = 0
    _pieces: dict[int, bytes] = field(factory=dict)
    _last: Any = field(factory=hashlib.blake2b)

    @classmethod
    def before(cls, descriptor: int, position: int) -> ReadPart:
        """Read what has to be known of the part of a file before C{position}."""
        whole = position // PIECE
        part = cls(whole * PIECE)
        for at in range(whole):
            if at < KEPT or at >= whole - COMPARED:
                part._pieces[at] = _digest(os.pread(descriptor, PIECE, at * PIECE))
        part.add(os.pread(descriptor, position - part.size, part.size))
        return part

    def add(self, data: bytes) -> None:
        """Take what was read behind the part."""
        while data:
            taken = data[: PIECE - self.size % PIECE]
            self._last.update(taken)
            self.size += len(taken)
            data = data[len(taken) :]
            if self.size % PIECE == 0:
                self._close_piece(self.size // PIECE - 1)

    def is_in(self, descriptor: int, whole: bool) -> bool:
        """Tell whether the file still begins with this part.

        @param whole: compare all pieces that are kept, not just those at both ends.
        """
        open_at = self.size // PIECE
        rest = os.pread(descriptor, self.size % PIECE, open_at * PIECE)
        return _digest(rest) == self._last.digest() and all(
            _digest(os.pread(descriptor, PIECE, at * PIECE)) == digest
            for at, digest in self._pieces.items()
            if whole or at < COMPARED or at >= open_at - COMPARED
        )

    def _close_piece(self, at: int) -> None:
        self._pieces[at] = self._last.digest()
        self._last = hashlib.blake2b()
        if at - COMPARED >= KEPT:
            del self._pieces[at - COMPARED]


@define(eq=False)
class Tail:
    """One file, by its name: whatever has that name is followed.

    @ivar folder: descriptor of the folder that the file is in, links resolved; set by L{begin}.
    """

    workspace: str
    path: str
    closed: Closed
    folder: int = -1
    _descriptor: int | None = None
    _read: ReadPart = field(factory=ReadPart)
    # Size and time of change with which the part was compared last, and whether that had settled.
    _compared: tuple[int, int] | None = None
    _has_settled: bool = False
    _decode: codecs.IncrementalDecoder = field(
        factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def begin(self, held: ExitStack, lines: int) -> News:
        """Open it, for the last C{lines}.

        @param held: closes what is opened.
        @raise ServiceError: 400: no regular file; 403: outside, or a secret.
        @raise OSError: it is missing, or may not be read.
        """
        held.callback(self.close)
        with Beneath(self.workspace, self.closed) as beneath, beneath.find(self.path) as spot:
            check_open(spot)
            self._descriptor = spot.open()
            self.folder = os.dup(spot.folder)
        size = os.fstat(self._descriptor).st_size
        position = last_lines(self._descriptor, size, lines)
        self._read = ReadPart.before(self._descriptor, position)
        return self._read_on(self._descriptor)

    def close(self) -> None:
        """Let go of everything."""
        for descriptor in (self._descriptor, None if self.folder < 0 else self.folder):
            if descriptor is not None:
                os.close(descriptor)
        self._descriptor, self.folder = None, -1

    def look(self, now: float = 0.0) -> News:
        """Return what is new.  What is left of a file that was replaced comes before the new one.

        @param now: Unix seconds; a file that was changed long before is not compared again.
        """
        if self._descriptor is None:
            return News()
        status = os.fstat(self._descriptor)
        if self._is_new(self._descriptor, status, now):
            return self._from_beginning(self._descriptor)
        if status.st_size > self._read.size:
            return self._read_on(self._descriptor)
        replacing = self._open_other(self._descriptor)
        if replacing is None:
            return News()
        os.close(self._descriptor)
        self._descriptor = replacing
        return self._from_beginning(replacing)

    def _is_new(self, descriptor: int, status: os.stat_result, now: float) -> bool:
        """Tell whether the file no longer begins with what was read."""
        if status.st_size < self._read.size:
            return True
        seen = (status.st_size, status.st_ctime_ns)
        is_behind = status.st_size > self._read.size
        if seen == self._compared and (is_behind or self._has_settled):
            # While there is more to read, the next comparison waits for its end.
            return False
        self._compared = seen
        self._has_settled = now - status.st_ctime >= SETTLED_SECONDS
        return not self._read.is_in(descriptor, whole=self._has_settled)

    def _from_beginning(self, descriptor: int) -> News:
        self._read, self._compared = ReadPart(), None
        self._decode.reset()
        return self._read_on(descriptor, truncated=True)

    def _read_on(self, descriptor: int, truncated: bool = False) -> News:
        data = os.pread(descriptor, PIECE, self._read.size)
        self._read.add(data)
        return News(self._decode.decode(data), truncated, more=bool(data))

    def _open_other(self, descriptor: int) -> int | None:
        """Open the file that has the name now, if it is another one."""
        try:
            with Beneath(self.workspace, self.closed) as beneath, beneath.find(self.path) as spot:
                check_open(spot)
                found = spot.open()
        except FileNotFoundError:
            return None  # it may come back
        if os.path.sameopenfile(found, descriptor):
            os.close(found)
            return None
        return found


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data).digest()


def last_lines(descriptor: int, size: int, lines: int) -> int:
    """Where the last C{lines} begin, or as much of them as L{LINES_BYTES} hold."""
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
            end -= 1  # of the last line itself
        while (cut := piece.rfind(b"\n", 0, end)) >= 0:
            found += 1
            if found == lines:
                return begin + cut + 1
            end = cut
        at = begin
    return least
