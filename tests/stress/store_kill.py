"""Kill a writing process again and again, and compare the database with what it acknowledged.

C{python -m tests.stress.store_kill [rounds [seed]]}: rounds of writing, ended by C{kill -9} at a
random moment, then rounds of upgrading ended in the same way.  Kills test what the end of the
process does; a power loss is not simulated.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from twisted.internet.task import Clock

from tservice.store.database import Database

STEPS = (
    "CREATE TABLE marks (n INTEGER NOT NULL, half TEXT NOT NULL, PRIMARY KEY (n, half));",
    *(
        f"CREATE TABLE extra{number} (a); INSERT INTO extra{number} VALUES (1);"
        for number in range(4)
    ),
    "ALTER TABLE marks ADD COLUMN note TEXT NOT NULL DEFAULT '';",
)
ROOT = Path(__file__).resolve().parents[2]


class StoreBroken(Exception):
    """The database is not what was acknowledged."""


def open_database(path: Path, steps: int = 1) -> Database:
    """The database of these checks, with the first C{steps} schema steps."""
    return Database.open_file(path, clock=Clock(), schemas=STEPS[:steps])


def write_for_ever(path: Path) -> None:
    """The child: two rows in each transaction, every third of them not flushed.

    Its standard output is the log of what it may rely on: one number a line, after the commit.
    """
    database = open_database(path)
    row = database.query_first_row("SELECT coalesce(max(n), 0) AS last FROM marks")
    assert row is not None
    n = row["last"]
    while True:
        n += 1
        with database.transaction(durable=n % 3 != 0):
            for half in ("left", "right"):
                database.execute("INSERT INTO marks (n, half) VALUES (?, ?)", (n, half))
        os.write(1, f"{n}\n".encode())


def upgrade_child(path: Path) -> None:
    """The child that brings the database to the last version, and says when it begins."""
    os.write(1, b"now\n")
    open_database(path, len(STEPS)).close()


def start_child(role: str, path: Path) -> subprocess.Popen[bytes]:
    """Start C{role} on C{path}."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.stress.store_kill", role, str(path)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def acknowledged_until_killed(path: Path, wanted: int, pause: Callable[[], None]) -> list[int]:
    """Let a child write until it acknowledged C{wanted} more, kill it, and return all it said."""
    with start_child("write", path) as process:
        assert process.stdout is not None
        lines = list(_take(process.stdout, wanted))
        pause()
        process.kill()
        lines += process.stdout.readlines()
    if process.returncode != -signal.SIGKILL:
        raise StoreBroken(f"the child ended by itself with {process.returncode}")
    return [int(line) for line in lines]


def _take(lines: Iterator[bytes], count: int) -> Iterator[bytes]:
    for _, line in zip(range(count), lines, strict=False):
        yield line


def check_database(path: Path, last: int) -> int:
    """Compare the database with the last number acknowledged.

    @return: the last number that is there: C{last}, or one more that was being acknowledged.
    @raise Broken: something acknowledged is missing, or half of a transaction is there.
    """
    database = open_database(path)
    try:
        found = database.query_rows("SELECT n, count(*) AS halves FROM marks GROUP BY n ORDER BY n")
        integrity = database.query_rows("PRAGMA integrity_check")[0][0]
    finally:
        database.close()
    numbers = [row["n"] for row in found]
    if integrity != "ok" or any(row["halves"] != 2 for row in found):
        raise StoreBroken(f"damaged: {integrity}")
    if numbers != list(range(1, len(numbers) + 1)):
        raise StoreBroken("a transaction in the middle is missing")
    if not last <= len(numbers) <= last + 1:
        raise StoreBroken(f"{last} acknowledged, {len(numbers)} there")
    return len(numbers)


def kill_writer(path: Path, rounds: int, source: random.Random, pause: Callable[[], None]) -> int:
    """Kill a writer C{rounds} times; the number of transactions that are there in the end."""
    last = 0
    for _ in range(rounds):
        said = acknowledged_until_killed(path, source.randint(1, 150), pause)
        last = check_database(path, said[-1])
    return last


def kill_upgrade(path: Path, rounds: int, source: random.Random) -> int:
    """Kill upgrades of a database with a row in it; how many were cut between two steps."""
    cut = 0
    for number in range(rounds):
        here = path.with_name(f"{path.name}-{number}")
        database = open_database(here)
        database.execute("INSERT INTO marks VALUES (1, 'left')")
        database.close()
        with start_child("upgrade", here) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(source.uniform(0, 0.03))
            process.kill()
        cut += 1 < version_of(here) < len(STEPS)
        database = open_database(here, len(STEPS))
        rows = [tuple(row) for row in database.query_rows("SELECT n, half, note FROM marks")]
        extras = [database.query_rows(f"SELECT * FROM extra{n}") for n in range(4)]
        database.close()
        if rows != [(1, "left", "")] or [len(found) for found in extras] != [1] * 4:
            raise StoreBroken(f"an upgrade was half done: {rows}, {extras}")
    return cut


def version_of(path: Path) -> int:
    """The schema version as it was left, without upgrading."""
    connection = sqlite3.connect(path)
    try:
        (version,) = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    finally:
        connection.close()
    return int(version)


def main(arguments: list[str]) -> None:
    """Run the checks, or one of the children."""
    if arguments[:1] == ["write"]:
        write_for_ever(Path(arguments[1]))
    if arguments[:1] == ["upgrade"]:
        upgrade_child(Path(arguments[1]))
        return
    rounds, seed = (*map(int, arguments), *(50, 1)[len(arguments) :])
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        done = kill_writer(path, rounds, source, lambda: time.sleep(source.uniform(0, 0.02)))
        print(f"{rounds} kills of a writer, {done} transactions, nothing lost")
        cut = kill_upgrade(path, rounds, source)
        print(f"{rounds} upgrades, {cut} killed between two steps, all taken up again")


if __name__ == "__main__":
    main(sys.argv[1:])
