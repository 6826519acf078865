"""Reads one SQLite database for the service, which would not survive every one.

Who the agent is may have written the database, and may write on while it is read: an index that
is cut short under a reading ends the process that reads (SIGBUS), one instruction of SQL may take
for ever, and a pipe in a journal's place is waited for.  So this reads, and is ended for it.

It runs by file name in a bare interpreter (C{python -I -S}), with the standard library only.  Each
line that comes in is a question, C{[statement, arguments]}; for each, lines go out: an object for
every row, then the end as a text, which is empty where nothing went wrong.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any
from urllib.parse import quote

PACE = 10_000
"""Instructions of the database's machine between two looks at how many are left."""
NICENESS = 5
"""What somebody looks at now and then gives way to what somebody types."""


def main() -> None:
    """Answer questions until no more come."""
    order = json.loads(sys.argv[1])
    become(order["who"])
    bound(order["seconds"], order["memory"])
    try:
        with closing(opened(order)) as rows:
            for line in sys.stdin.buffer:
                answer(rows, order, *json.loads(line))
    except (sqlite3.Error, OSError, MemoryError) as error:
        say(str(error) or type(error).__name__)


def become(who: list[Any] | None) -> None:
    """Go on as another user, for good; C{None}: as who this is."""
    if who is not None:
        uid, gid, groups = who
        os.setgroups(groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def bound(seconds: int, memory: int) -> None:
    """End by the kernel's hand rather than take more."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def opened(order: dict[str, Any]) -> sqlite3.Connection:
    """The database, for reading only; nothing of its schema is trusted."""
    path = order["path"]
    for name in ("", "-journal", "-wal", "-shm"):
        if os.path.lexists(path + name) and not stat.S_ISREG(os.lstat(path + name).st_mode):
            raise OSError(f"{os.path.basename(path + name)} is no regular file")
    uri = f"file:{quote(os.fsencode(path))}?mode=ro"
    rows = sqlite3.connect(uri, uri=True, timeout=order["locked"])
    rows.row_factory = sqlite3.Row
    rows.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, order["value"])
    rows.execute("PRAGMA query_only = ON")
    rows.execute("PRAGMA trusted_schema = OFF")
    rows.execute("PRAGMA mmap_size = 0")
    left = iter(range(order["steps"] // PACE))
    rows.set_progress_handler(lambda: next(left, None) is None, PACE)
    return rows


def answer(
    rows: sqlite3.Connection, order: dict[str, Any], statement: str, arguments: list[Any]
) -> None:
    """Print what a statement finds."""
    left = order["bytes"]
    try:
        for row in rows.execute(statement, arguments):
            line = json.dumps(dict(plain(row)), ensure_ascii=False)
            left -= len(line)
            if left < 0:
                say("holds more than is read")
                return
            sys.stdout.buffer.write(line.encode() + b"\n")
    except sqlite3.Error as error:
        say(str(error) or type(error).__name__)
        return
    say("")


def plain(row: sqlite3.Row) -> Iterator[tuple[str, Any]]:
    """A row as JSON can carry it."""
    for name in row.keys():  # noqa: SIM118 -- a row is a sequence
        value = row[name]
        yield name, _text(value) if isinstance(value, bytes) else value


def _text(value: bytes) -> str | None:
    with suppress(UnicodeDecodeError):
        return value.decode()
    return None


def say(end: str) -> None:
    """Print the end of an answer."""
    sys.stdout.buffer.write(json.dumps(end).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
