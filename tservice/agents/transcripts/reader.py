"""Reading transcript files piece by piece; for a thread, since they can be huge."""

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
from tservice.agents.transcripts.model import Message, ReadPosition, Tally, entry
from tservice.agents.transcripts.usage.record import MessageUsage
from tservice.core.kernelfiles import open_plain

PIECE = 256 * 1024
"""Bytes read at once."""
LINE_LIMIT = 8 * 1024 * 1024
"""A longer line is passed over."""
TURN = 16 * 1024 * 1024
"""Bytes read in one call, so that other work of the thread pool gets its turn."""
LINES = 50_000
"""Lines read in one call, for the same reason: millions of short ones fit into so many bytes."""
REPORTS = 2_000
"""Messages of which one call tells what they used: so many are then stored at once."""
SHORTEST = 16
"""Bytes below which a line says nothing, in any format."""
UNREAD = 1024 * 1024 * 1024
"""Bytes that one reading goes through in all its turns: of more, as of a file that is all hole, the
end."""
HEAD = 256 * 1024
"""Bytes in which the beginning of a conversation is looked for."""
TAIL = 4 * 1024 * 1024
"""Bytes from the end in which a conversation's last messages are looked for."""
MESSAGES = 200
MESSAGE_CHARS = 1024 * 1024
"""Of a whole conversation, so many last messages and characters are told."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file that is one: no pipe to hang on, no link out of its folder.

    @raise OSError: it is something else.
    """
    fd = open_plain(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is no regular file")
    return os.fdopen(fd, "rb")


def read_on(place: ReadPosition, path: Path, mode: str) -> ReadPosition:
    """Read what is new in C{path}, at most L{TURN} bytes, L{LINES} lines and L{REPORTS} messages.

    A file that was replaced or cut is read from its start again.

    @raise OSError: it cannot be read.
    """
    format_ = FORMATS[mode]
    used: dict[str, MessageUsage] = {}
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        same = (str(path), status.st_ino) == (place.path, place.inode)
        if not same or status.st_size < place.position:
            place = ReadPosition(path=str(path), inode=status.st_ino)
        # Where that is in the middle of a line, its end is no JSON.
        start = max(place.position, status.st_size - UNREAD)
        tally, position, number = place.tally, start, 0
        for number, (line, end) in enumerate(lines(file, start, start + TURN), 1):
            position = end
            found = entry(line) if len(line) >= SHORTEST else None
            more = None if found is None else format_.used(tally, found)
            if more is not None:
                used[more.name] = _later(used.get(more.name), more)
            tally = tally if found is None else format_.advance(tally, found)
            if number == LINES or len(used) == REPORTS:
                break
        full = number == LINES or len(used) == REPORTS
        ended = not full and position < start + TURN
    return evolve(place, tally=tally, position=position, ended=ended, used=used)


def _later(before: MessageUsage | None, now: MessageUsage) -> MessageUsage:
    return now if before is None or now.replaces(before) else before


def lines(file: BinaryIO, start: int, stop: int) -> Iterator[tuple[bytes, int]]:
    """Each whole line that begins between C{start} and C{stop}, with where it ends.

    A line above L{LINE_LIMIT} is given as an empty one.  What has no line end yet is not given.
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
            # What was dropped of a long line counts as read.
            position += len(line) + 1
            yield (b"" if skipping else line), position
            skipping = False
        rest.append(last)
        held = sum(map(len, rest))
        if held > LINE_LIMIT:
            position += held
            skipping = True
            rest.clear()
            # Whoever goes on from here reads the end of that line, which is no JSON.
            yield b"", position


def head(path: Path, mode: str) -> Tally:
    """What the beginning of a conversation tells: its id, folder and title."""
    tally, advance = Tally(), FORMATS[mode].advance
    with suppress(OSError), open_regular(path) as file:
        for line in file.read(HEAD).split(b"\n")[:-1]:
            found = entry(line)
            tally = tally if found is None else advance(tally, found)
            if tally.title and tally.cwd:
                break
    return tally


def _grew(before: Message, now: Message) -> bool:
    """Whether a message is told again: Gemini CLI writes it anew whenever it grows."""
    same = before.timestamp is not None and before.timestamp == now.timestamp
    return same and before.role == now.role and now.text.startswith(before.text)


def spoken(
    path: Path, mode: str, most: int, holds: Callable[[bytes], bool] = bool
) -> Iterator[Message]:
    """What was said in the first C{most} bytes, oldest first.

    @param holds: whether a line is worth parsing.
    @raise OSError: it cannot be read.
    """
    with open_regular(path) as file:
        yield from _said_in(file, mode, 0, min(most, os.fstat(file.fileno()).st_size), holds)


def messages(path: Path, mode: str) -> list[Message]:
    """The last messages of a conversation, oldest first.

    @raise OSError: it cannot be read.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        said = deque(_said_in(file, mode, max(0, size - TAIL), size), maxlen=MESSAGES)
    found = deque(_in_order(said))
    while len(found) > 1 and sum(len(each.text) for each in found) > MESSAGE_CHARS:
        found.popleft()
    return list(found)


def _in_order(said: Iterable[Message]) -> Iterable[Message]:
    """As it was said: a busy Claude Code may write a prompt behind the answer to it."""
    at = 0
    timed: list[tuple[int, Message]] = []
    for each in said:
        at = at if each.timestamp is None else each.timestamp
        timed.append((at, each))
    return [each for _, each in sorted(timed, key=lambda pair: pair[0])]


def _said_in(
    file: BinaryIO, mode: str, start: int, stop: int, holds: Callable[[bytes], bool] = bool
) -> Iterator[Message]:
    said_in = FORMATS[mode].said
    last: Message | None = None
    for number, (line, _) in enumerate(lines(file, start, stop)):
        # The first line from the middle of a file is none.
        whole = len(line) >= SHORTEST and (number > 0 or start == 0)
        parsed = entry(line) if whole and holds(line) else None
        said = None if parsed is None else said_in(parsed)
        if said is None:
            continue
        if last is not None and not _grew(last, said):
            yield last
        last = said
    if last is not None:
        yield last
