"""Client of the child process that reads a SQLite database; call it from a thread.

See L{rowreader} for the dangers of an untrusted database.
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
from tservice.core.users.file_identity import call_as_process, get_acting_ids

STEPS = 30_000_000
"""Maximum SQLite virtual machine instructions in one child, which take about a second."""
CPU_SECONDS = 20
"""Maximum processor seconds of one child, because a single instruction may take long."""
ANSWER_SECONDS = 10.0
"""Maximum seconds until a query's first row (including L{LOCKED}), and between two rows."""
LOCKED = 2.0
"""Seconds that a read waits for a writer's lock."""
VALUE_LIMIT = 8 * 1024 * 1024
"""Maximum bytes of one value; a longer one is an error."""
ANSWER_LIMIT = 32 * 1024 * 1024
"""Maximum characters of the rows of one answer; more is an error."""
MEMORY = 512 * 1024 * 1024
"""Maximum address space of a child, in bytes."""
_PIECE = 256 * 1024
_MOST = 6 * ANSWER_LIMIT
"""Maximum bytes of an answer, even from a compromised child; JSON takes up to six bytes for an
escaped character.
"""

Row = Mapping[str, Any]
_T = TypeVar("_T")


class DatabaseReader:
    """Connection to the child process that reads one database.

    @ivar broken: the reason why the child no longer answers; C{""} while it works.
    """

    def __init__(self, path: Path) -> None:
        """Start the child process.

        @raise OSError: the child cannot be started.
        """
        self.broken = ""
        self._fault = ""
        self._path = path
        order = {
            "path": str(path),
            "who": get_acting_ids(),
            "seconds": CPU_SECONDS,
            "memory": MEMORY,
            "locked": LOCKED,
            "value": VALUE_LIMIT,
            "steps": STEPS,
            "bytes": ANSWER_LIMIT,
        }
        # The user may be unable to reach the interpreter.
        self._child = call_as_process(lambda: _start_reader_process(json.dumps(order)))

    def run_query(self, statement: str, *arguments: Any) -> list[Row]:
        """Return the rows that a statement selects.

        @raise OSError: the query failed, returned too much, or took too long.
        """
        if self.broken:
            raise OSError(f"{self._path}: {self.broken}")
        try:
            self._write_query(json.dumps([statement, arguments]).encode() + b"\n")
            found = list(self._iterate_answer_rows())
        except (OSError, ValueError) as error:
            self.broken = str(error) or "cannot be read"
            self.close()
            raise OSError(f"{self._path}: {self.broken}") from error
        if self._fault:
            raise OSError(f"{self._path}: {self._fault}")
        return found

    def close(self) -> None:
        """Kill the child."""
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        self._child.wait()

    # -- internal

    def _write_query(self, data: bytes) -> None:
        _require_pipe(self._child.stdin).write(data)

    def _iterate_answer_rows(self) -> Iterator[Row]:
        """Iterate over the rows of an answer, and store its error text at the end."""
        for line in self._iterate_answer_lines():
            found = json.loads(line)
            if isinstance(found, str):
                self._fault = found
                return
            yield found

    def _iterate_answer_lines(self) -> Iterator[bytes]:
        answers = _require_pipe(self._child.stdout).fileno()
        pieces: list[bytes] = []
        left = _MOST
        while left > 0:
            piece = self._read_available_bytes(answers)
            left -= len(piece)
            *whole, last = piece.split(b"\n")
            for line in whole:
                yield b"".join([*pieces, line])
                pieces = []
            pieces.append(last)
        raise ValueError("returned too much data")

    def _read_available_bytes(self, pipe: int) -> bytes:
        poller = select.poll()
        poller.register(pipe, select.POLLIN)
        if not poller.poll(ANSWER_SECONDS * 1000):
            raise ValueError("took too long")
        piece = os.read(pipe, _PIECE)
        if not piece:
            raise ValueError("its reader process ended")
        return piece


@contextmanager
def open_reader(path: Path) -> Iterator[DatabaseReader]:
    """Provide a reader of a database; within L{reuse_readers} later callers reuse its child.

    @raise OSError: the path is no regular file, or the child cannot be started.
    """
    kept: dict[Path, DatabaseReader] | None = getattr(_here, "kept", None)
    rows = None if kept is None else kept.get(path)
    if rows is None:
        open_regular(path).close()
        rows = DatabaseReader(path)
        if kept is not None:
            kept[path] = rows
    try:
        yield rows
    finally:
        if kept is None:
            rows.close()


def reuse_readers(work: Callable[[], _T]) -> Callable[[], _T]:
    """Return a function that calls C{work} with one child for each database, however often it is
    read.
    """

    def run_work() -> _T:
        before: dict[Path, DatabaseReader] | None = getattr(_here, "kept", None)
        kept: dict[Path, DatabaseReader] = {}
        _here.kept = kept
        try:
            return work()
        finally:
            _here.kept = before
            for rows in kept.values():
                rows.close()

    return run_work


_here = threading.local()


def _require_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("its child has no pipes")
    return pipe


def _start_reader_process(order: str) -> subprocess.Popen[bytes]:
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
