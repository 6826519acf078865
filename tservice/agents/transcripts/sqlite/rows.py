"""Rows of a SQLite database that an agent wrote, read by a child; for a thread.

See L{rowreader} for what such a database may do to whoever reads it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from tservice.agents.transcripts.reader import open_regular
from tservice.agents.transcripts.sqlite import rowreader
from tservice.core.users.acting import as_itself, in_whose_name

STEPS = 30_000_000
"""Instructions of the database's machine in one child: a second or so."""
CPU_SECONDS = 20
"""That one child may take of the processor; an instruction may be a long one."""
ANSWER_SECONDS = 10.0
"""That one question may take until its first row, L{LOCKED} included, and from row to row."""
LOCKED = 2.0
"""Seconds that a reading waits for whoever writes."""
VALUE_LIMIT = 8 * 1024 * 1024
"""Bytes of one value; a longer one is an error."""
ANSWER_LIMIT = 32 * 1024 * 1024
"""Characters of the rows of one answer; more is an error."""
MEMORY = 512 * 1024 * 1024
"""Bytes of addresses that a child may have."""
_PIECE = 256 * 1024
_MOST = 6 * ANSWER_LIMIT
"""Bytes of an answer, whatever the child is: so long can an escaped character be."""

Row = Mapping[str, Any]
_T = TypeVar("_T")


class Rows:
    """One database, and the child that reads it.

    @ivar broken: why the child answers nothing any more.
    """

    def __init__(self, path: Path) -> None:
        """@raise OSError: there is no child to be had."""
        self.broken = ""
        self._fault = ""
        self._path = path
        order = {
            "path": str(path),
            "who": in_whose_name(),
            "seconds": CPU_SECONDS,
            "memory": MEMORY,
            "locked": LOCKED,
            "value": VALUE_LIMIT,
            "steps": STEPS,
            "bytes": ANSWER_LIMIT,
        }
        # The interpreter need be nothing that the user can reach.
        self._child = as_itself(lambda: _started(json.dumps(order)))

    def ask(self, statement: str, *arguments: Any) -> list[Row]:
        """What a statement finds.

        @raise OSError: it failed, found too much, or took too long.
        """
        if self.broken:
            raise OSError(f"{self._path}: {self.broken}")
        try:
            self._write(json.dumps([statement, arguments]).encode() + b"\n")
            found = list(self._answer())
        except (OSError, ValueError) as error:
            self.broken = str(error) or "cannot be read"
            self.close()
            raise OSError(f"{self._path}: {self.broken}") from error
        if self._fault:
            raise OSError(f"{self._path}: {self._fault}")
        return found

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child.wait()

    # -- inside

    def _write(self, data: bytes) -> None:
        _there(self._child.stdin).write(data)

    def _answer(self) -> Iterator[Row]:
        """The rows of an answer; then why there are no more is known."""
        for line in self._lines():
            found = json.loads(line)
            if isinstance(found, str):
                self._fault = found
                return
            yield found

    def _lines(self) -> Iterator[bytes]:
        answers = _there(self._child.stdout).fileno()
        pieces: list[bytes] = []
        left = _MOST
        while left > 0:
            piece = self._piece(answers)
            left -= len(piece)
            *whole, last = piece.split(b"\n")
            for line in whole:
                yield b"".join([*pieces, line])
                pieces = []
            pieces.append(last)
        raise ValueError("said too much")

    def _piece(self, pipe: int) -> bytes:
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        if not poller.poll(ANSWER_SECONDS * 1000):
            raise ValueError("took too long")
        piece = os.read(pipe, _PIECE)
        if not piece:
            raise ValueError("ended whoever read it")
        return piece


@contextmanager
def opened(path: Path) -> Iterator[Rows]:
    """The rows of a database; within L{kept_open} its child goes on to the next one who asks.

    @raise OSError: it is no regular file, or there is no child to be had.
    """
    kept: dict[Path, Rows] | None = getattr(_here, "kept", None)
    rows = None if kept is None else kept.get(path)
    if rows is None:
        open_regular(path).close()
        rows = Rows(path)
        if kept is not None:
            kept[path] = rows
    try:
        yield rows
    finally:
        if kept is None:
            rows.close()


def kept_open(work: Callable[[], _T]) -> Callable[[], _T]:
    """C{work} with one child for each database that it reads, however often."""

    def run() -> _T:
        before: dict[Path, Rows] | None = getattr(_here, "kept", None)
        kept: dict[Path, Rows] = {}
        _here.kept = kept
        try:
            return work()
        finally:
            _here.kept = before
            for rows in kept.values():
                rows.close()

    return run


_here = threading.local()


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("its child has no pipes")
    return pipe


def _started(order: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", rowreader.__file__, order],
        env={},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )
