"""Child process that reads one SQLite database, which may be hostile to its reader.

Any user may have written the database, and may write while it is read. A WAL index that is
truncated during a read kills the reading process (SIGBUS). One SQL instruction may run forever, and
a pipe instead of a journal blocks. So this separate process reads, and is killed if necessary.

It runs by file name in a bare interpreter (C{python -I -S}), with the standard library only. Each
input line is a query, C{[statement, arguments]}. The output for each query is one JSON object for
each row, then the error text as a JSON string, which is empty after success.
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
"""Number of SQLite virtual machine instructions between two checks of the instruction limit."""
NICENESS = 5
"""Nice value of the process, so that reading yields to interactive work."""


def main() -> None:
    """Answer queries until the input ends."""
    order = json.loads(sys.argv[1])
    become_user(order["who"])
    limit_resources(order["seconds"], order["memory"])
    try:
        with closing(open_database(order)) as rows:
            for line in sys.stdin.buffer:
                answer_query(rows, order, *json.loads(line))
    except (sqlite3.Error, OSError, MemoryError) as error:
        print_end(str(error) or type(error).__name__)


def become_user(who: list[Any] | None) -> None:
    """Change to another user permanently.

    @param who: user id, group id, and list of further group ids; C{None} keeps the present user.
    """
    if who is not None:
        uid, gid, groups = who
        os.setgroups(groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def limit_resources(seconds: int, memory: int) -> None:
    """Limit the resources of this process; the kernel ends it if it exceeds them.

    @param seconds: processor seconds.
    @param memory: bytes of address space.
    """
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def open_database(order: dict[str, Any]) -> sqlite3.Connection:
    """Open the database read-only, without trusting its schema."""
    path = order["path"]
    for name in ("", "-journal", "-wal", "-shm"):
        if os.path.lexists(path + name) and not stat.S_ISREG(os.lstat(path + name).st_mode):
            raise OSError(f"{os.path.basename(path + name)} is not a regular file")
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


def answer_query(
    rows: sqlite3.Connection, order: dict[str, Any], statement: str, arguments: list[Any]
) -> None:
    """Run a statement, and print its rows and the end of the answer."""
    left = order["bytes"]
    try:
        for row in rows.execute(statement, arguments):
            line = json.dumps(dict(convert_row(row)), ensure_ascii=False)
            left -= len(line)
            if left < 0:
                print_end("contains more than the limit")
                return
            sys.stdout.buffer.write(line.encode() + b"\n")
    except sqlite3.Error as error:
        print_end(str(error) or type(error).__name__)
        return
    print_end("")


def convert_row(row: sqlite3.Row) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a row, converted to values that JSON supports."""
    for name in row.keys():  # noqa: SIM118 -- a row is a sequence
        value = row[name]
        yield name, _decode_text(value) if isinstance(value, bytes) else value


def _decode_text(value: bytes) -> str | None:
    with suppress(UnicodeDecodeError):
        return value.decode()
    return None


def print_end(end: str) -> None:
    """Print the line that ends the output of one query, with the error text as a JSON string.

    @param end: the error text; C{""} after success.
    """
    sys.stdout.buffer.write(json.dumps(end).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
