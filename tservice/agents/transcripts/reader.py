"""Incremental reader of transcript files, which can be huge; call it from a thread."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from attrs import evolve

from tservice.agents.transcripts.formats import FORMATS
from tservice.agents.transcripts.model import (
    ReadPosition,
    TranscriptMessage,
    TranscriptTally,
    parse_line,
)
from tservice.agents.transcripts.usage.record import MessageUsage
from tservice.core.disk.kernel_paths import open_without_magic_links

PIECE = 256 * 1024
"""Maximum bytes of one read from a file."""
LINE_LIMIT = 8 * 1024 * 1024
"""Maximum bytes of a line; longer ones are skipped."""
TURN = 16 * 1024 * 1024
"""Maximum bytes read in one call, so that other work of the thread pool gets its turn."""
LINES = 50_000
"""Maximum lines read in one call, for the same reason, because L{TURN} bytes could be millions of
short lines.
"""
REPORTS = 2_000
"""Maximum messages whose usage one call returns; these are stored together."""
SHORTEST = 16
"""Minimum bytes of a line that contains anything useful, in any format."""
UNREAD = 1024 * 1024 * 1024
"""Maximum bytes of a file that are read in all calls together. Of a larger file, such as a sparse
one, only the end is read.
"""
HEAD = 256 * 1024
"""Bytes that are searched for the beginning of a conversation."""
TAIL = 4 * 1024 * 1024
"""Bytes from the end that are searched for a conversation's last messages."""
MESSAGES = 200
MESSAGE_CHARS = 1024 * 1024
"""Maximum total characters of the last messages that are returned, in addition to the limit
C{MESSAGES}.
"""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file, without blocking on a pipe and without following a link.

    @raise OSError: the path is not a regular file, or cannot be opened.
    """
    fd = open_without_magic_links(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a regular file")
    return os.fdopen(fd, "rb")


def read_new_lines(place: ReadPosition, path: Path, mode: str) -> ReadPosition:
    """Read the new part of C{path}, at most L{TURN} bytes, L{LINES} lines and L{REPORTS} messages.

    A file that was replaced or truncated is read from its start again.

    @param place: the position up to which the transcript was read.
    @return: the new position.
    @raise OSError: the transcript cannot be read.
    """
    format_ = FORMATS[mode]
    used: dict[str, MessageUsage] = {}
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        same = (str(path), status.st_ino) == (place.path, place.inode)
        if not same or status.st_size < place.position:
            place = ReadPosition(path=str(path), inode=status.st_ino)
        # If this is in the middle of a line, the rest of that line is no valid JSON.
        start = max(place.position, status.st_size - UNREAD)
        tally, position, number = place.tally, start, 0
        for number, (line, end) in enumerate(read_lines(file, start, start + TURN), 1):
            position = end
            found = parse_line(line) if len(line) >= SHORTEST else None
            more = None if found is None else format_.parse_usage(tally, found)
            if more is not None:
                used[more.name] = _newer_usage(used.get(more.name), more)
            tally = tally if found is None else format_.advance_tally(tally, found)
            if number == LINES or len(used) == REPORTS:
                break
        full = number == LINES or len(used) == REPORTS
        ended = not full and position < start + TURN
    return evolve(place, tally=tally, position=position, ended=ended, used=used)


def _newer_usage(before: MessageUsage | None, now: MessageUsage) -> MessageUsage:
    return now if before is None or now.is_newer_than(before) else before


def read_lines(file: BinaryIO, start: int, stop: int) -> Iterator[tuple[bytes, int]]:
    """Iterate over the complete lines that begin between C{start} and C{stop}, with each line's
    end.

    A line longer than L{LINE_LIMIT} is yielded as an empty one. An unfinished last line is not
    yielded.
    """
    file.seek(start)
    position, skipping = start, False
    rest: list[bytes] = []
    while position < stop and (piece := file.read(PIECE)):
        *whole, last = piece.split(b"\n")
        if whole:
            whole[0] = b"".join([*rest, whole[0]])
            rest.clear()
        for line in whole:
            if position >= stop:
                return
            # The dropped part of a long line counts as read.
            position += len(line) + 1
            yield (b"" if skipping else line), position
            skipping = False
        rest.append(last)
        held = sum(map(len, rest))
        if held > LINE_LIMIT:
            position += held
            skipping = True
            rest.clear()
            # The next reading starts within that line, whose rest is no valid JSON.
            yield b"", position


def read_file_start(path: Path, mode: str) -> TranscriptTally:
    """Return the tally of a conversation's beginning: its id, folder and title."""
    tally, advance = TranscriptTally(), FORMATS[mode].advance_tally
    with suppress(OSError), open_regular(path) as file:
        for line in file.read(HEAD).split(b"\n")[:-1]:
            found = parse_line(line)
            tally = tally if found is None else advance(tally, found)
            if tally.title and tally.cwd:
                break
    return tally


def _is_longer_version(before: TranscriptMessage, now: TranscriptMessage) -> bool:
    """Return true if C{now} is a longer version of C{before}: Gemini CLI repeats a message as it
    grows.
    """
    same = before.timestamp is not None and before.timestamp == now.timestamp
    return same and before.role == now.role and now.text.startswith(before.text)


def iterate_file_messages(
    path: Path, mode: str, most: int, holds: Callable[[bytes], bool] = bool
) -> Iterator[TranscriptMessage]:
    """Iterate over the messages in the first C{most} bytes of a transcript, oldest first.

    @param holds: returns true if a line is worth parsing.
    @raise OSError: the transcript cannot be read.
    """
    with open_regular(path) as file:
        yield from _read_messages_between(
            file, mode, 0, min(most, os.fstat(file.fileno()).st_size), holds
        )


def read_messages(path: Path, mode: str) -> list[TranscriptMessage]:
    """Return the last messages of a conversation, oldest first.

    @raise OSError: the transcript cannot be read.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        said = deque(_read_messages_between(file, mode, max(0, size - TAIL), size), maxlen=MESSAGES)
    found = deque(_sort_messages(said))
    while len(found) > 1 and sum(len(each.text) for each in found) > MESSAGE_CHARS:
        found.popleft()
    return list(found)


def _sort_messages(said: Iterable[TranscriptMessage]) -> Iterable[TranscriptMessage]:
    """Return the messages sorted by time, because a busy Claude Code may write a prompt after its
    answer.
    """
    at = 0
    timed: list[tuple[int, TranscriptMessage]] = []
    for each in said:
        at = at if each.timestamp is None else each.timestamp
        timed.append((at, each))
    return [each for _, each in sorted(timed, key=lambda pair: pair[0])]


def _read_messages_between(
    file: BinaryIO, mode: str, start: int, stop: int, holds: Callable[[bytes], bool] = bool
) -> Iterator[TranscriptMessage]:
    said_in = FORMATS[mode].parse_message
    last: TranscriptMessage | None = None
    for number, (line, _) in enumerate(read_lines(file, start, stop)):
        # The first line from the middle of a file is incomplete.
        whole = len(line) >= SHORTEST and (number > 0 or start == 0)
        parsed = parse_line(line) if whole and holds(line) else None
        said = None if parsed is None else said_in(parsed)
        if said is None:
            continue
        if last is not None and not _is_longer_version(last, said):
            yield last
        last = said
    if last is not None:
        yield last
