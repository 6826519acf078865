"""What was added to a file since it was last looked at, in a thread (protocol-files)."""

from __future__ import annotations

import codecs
import os
from contextlib import ExitStack

from attrs import define, field, frozen

from tservice.files.beneath import Beneath, Closed
from tservice.files.text import check_open

PIECE = 64 * 1024
"""Bytes that are told at a time."""

LINES_BYTES = 1024 * 1024
"""Of the last lines, at most so much."""


@frozen
class News:
    """What one look found.

    @ivar text: what was added.
    @ivar truncated: the file became shorter, and C{text} is from its beginning.
    @ivar more: there is more of it.
    """

    text: str = ""
    truncated: bool = False
    more: bool = False


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
    _position: int = 0
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
            check_open(self.path, spot)
            self._descriptor = spot.open()
            self.folder = os.dup(spot.folder)
        size = os.fstat(self._descriptor).st_size
        self._position = last_lines(self._descriptor, size, lines)
        return self.look()

    def close(self) -> None:
        """Let go of everything."""
        for descriptor in (self._descriptor, None if self.folder < 0 else self.folder):
            if descriptor is not None:
                os.close(descriptor)
        self._descriptor, self.folder = None, -1

    def look(self) -> News:
        """What is new.  What is left of a file that was replaced comes before the new one's."""
        if self._descriptor is not None:
            size = os.fstat(self._descriptor).st_size
            if size < self._position:
                self._position = 0
                self._decode.reset()
                return self._read(truncated=True)
            if size > self._position:
                return self._read()
        return self._read() if self._turn_over() else News()

    def _read(self, truncated: bool = False) -> News:
        if self._descriptor is None:
            return News()
        data = os.pread(self._descriptor, PIECE, self._position)
        self._position += len(data)
        return News(self._decode.decode(data), truncated, more=bool(data))

    def _turn_over(self) -> bool:
        """Go on with the file that has the name now; whether it is another one."""
        try:
            descriptor = self._open_again()
        except FileNotFoundError:
            return False  # it may come back
        if self._descriptor is not None and os.path.sameopenfile(descriptor, self._descriptor):
            os.close(descriptor)
            return False
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor, self._position = descriptor, 0
        self._decode.reset()
        return True

    def _open_again(self) -> int:
        with Beneath(self.workspace, self.closed) as beneath, beneath.find(self.path) as spot:
            check_open(self.path, spot)
            return spot.open()


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
