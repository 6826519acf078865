"""Rows that nobody changes unseen: each carries a keyed hash over itself and the row before.

The table is C{audit_log}.  Beside the database a small file, the head, names the newest row, so
that rows cut off at the end are missed too, and the newest row that was let go for age.  Both
are under the key.  Who holds the key can forge everything; who only gets at the database, a copy
of it or the head cannot.  An older copy of database and head together passes: keep the head's
numbers elsewhere where that matters.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen
from twisted.logger import Logger

from tservice.core.disk import trouble
from tservice.core.files import FileError, read_json, write_private
from tservice.store.database import Database

COLUMNS = ("seq", "at", "actor", "method", "address", "action", "target", "detail")
"""What the hash covers."""

START = b"\0" * 32
"""Stands for the hash of the row before the first."""

Row = Mapping[str, Any]


@frozen
class ChainMark:
    """One row: its number and its hash."""

    seq: int = 0
    hash: bytes = START


@frozen(kw_only=True)
class ChainHead:
    """What the head file says.

    @ivar anchor: the newest row that was let go.
    @ivar newest: the newest row that was written when the file was.
    """

    anchor: ChainMark = field(factory=ChainMark)
    newest: ChainMark = field(factory=ChainMark)


class BrokenHead(Exception):
    """The head file is missing, changed, or under another key."""


@frozen(kw_only=True)
class ChainVerdict:
    """What L{verify} found.

    @ivar rows: how many are in order.
    @ivar fault: the first thing that is not; C{None} when all is.
    """

    rows: int
    fault: str | None = None


def seal(key: bytes, before: bytes, row: Row) -> bytes:
    """The hash of C{row}, which follows the one whose hash is C{before}."""
    text = json.dumps([row[name] for name in COLUMNS], separators=(",", ":"))
    return hmac.digest(key, before + text.encode(), "sha256")


def verify(rows: Iterable[Row], head: ChainHead, key: bytes) -> ChainVerdict:
    """Look at every row, in the order of their numbers.

    Rows up to the anchor are about to be removed and are passed over; rows beyond the head
    were written just before the process died, and count.
    """
    last = head.anchor
    for row in rows:
        if row["seq"] <= head.anchor.seq:
            continue
        done = last.seq - head.anchor.seq
        if row["seq"] != last.seq + 1:
            return ChainVerdict(
                rows=done, fault=f"rows {last.seq + 1} to {row['seq'] - 1} are missing"
            )
        found = seal(key, last.hash, row)
        if not hmac.compare_digest(found, row["hash"]):
            return ChainVerdict(rows=done, fault=f"row {row['seq']} was changed")
        last = ChainMark(row["seq"], found)
        if last.seq == head.newest.seq and last != head.newest:
            return ChainVerdict(
                rows=done, fault=f"row {last.seq} is not the one that the head names"
            )
    done = last.seq - head.anchor.seq
    if last.seq < head.newest.seq:
        gone = f"rows {last.seq + 1} to {head.newest.seq} are missing at the end"
        return ChainVerdict(rows=done, fault=gone)
    return ChainVerdict(rows=done)


def read_head(path: Path, key: bytes) -> ChainHead:
    """What the head file says.

    @raise BrokenHead: it is missing, not ours, or was changed.
    """
    try:
        found = read_json(path, private=True)
        marks = {name: ChainMark(found[name][0], bytes.fromhex(found[name][1])) for name in _MARKS}
        head = ChainHead(**marks)
        good = hmac.compare_digest(bytes.fromhex(found["mac"]), _head_mac(head, key))
    except (OSError, FileError, LookupError, TypeError, ValueError) as error:
        raise BrokenHead(f"{path.name}: {type(error).__name__}") from error
    if not good:
        raise BrokenHead(f"{path.name}: was changed")
    return head


def write_head(path: Path, head: ChainHead, key: bytes) -> None:
    """Put C{head} into its file, whole or not at all."""
    content: dict[str, object] = {
        name: [getattr(head, name).seq, getattr(head, name).hash.hex()] for name in _MARKS
    }
    content["mac"] = _head_mac(head, key).hex()
    write_private(path, json.dumps(content) + "\n")


_LET_GO = "DELETE FROM audit_log WHERE seq <= ?"
_MARKS = ("anchor", "newest")


def _head_mac(head: ChainHead, key: bytes) -> bytes:
    marks = [[mark.seq, mark.hash.hex()] for mark in (head.anchor, head.newest)]
    return hmac.digest(key, b"head" + json.dumps(marks).encode(), "sha256")


class Chain:
    """The writer's side; there is one writer.

    @ivar fault: what was wrong with the end of the chain at the start, if anything.  New rows
        then follow the newest one that ever was, so that L{verify} goes on finding the hole.
    """

    _log = Logger()

    def __init__(self, database: Database, key: bytes, head_file: Path, most: int) -> None:
        """
        @param most: rows kept; the oldest go, a tenth at a time.
        """
        self._database, self._key, self._file, self._most = database, key, head_file, most
        self.fault: str | None = None
        self._refused = False
        self._head = self._recover()
        self._remove_let_go()

    @property
    def newest(self) -> int:
        """The newest row's number; 0 for none."""
        return self._head.newest.seq

    def append(self, **fields: Any) -> int:
        """Write one row; it is on the disk when this returns its number.

        A head that the disk does not take is written with a later row: rows beyond it count.

        @param fields: L{COLUMNS} without C{seq}.
        @raise NotKept: the disk does not take the row.
        """
        before = self._head.newest
        row = {"seq": before.seq + 1, **fields}
        mark = ChainMark(row["seq"], seal(self._key, before.hash, row))
        names = (*COLUMNS, "hash")
        self._database.execute(
            f"INSERT INTO audit_log ({', '.join(names)})"  # noqa: S608
            f" VALUES ({', '.join(f':{name}' for name in names)})",
            {**row, "hash": mark.hash},
        )
        self._head = evolve(self._head, newest=mark)
        if mark.seq - self._head.anchor.seq > self._most:
            self._let_go(mark.seq - self._most + self._most // 10)
        if self._write_head():
            self._remove_let_go()
        return mark.seq

    def _write_head(self) -> bool:
        try:
            write_head(self._file, self._head, self._key)
        except OSError as error:
            if trouble(error) is None:
                raise
            if not self._refused:
                self._log.error("{file}: {error}", file=self._file.name, error=error.strerror)
            self._refused = True
            return False
        self._refused = False
        return True

    def _recover(self) -> ChainHead:
        tail = self._database.query_one("SELECT seq, hash FROM audit_log ORDER BY seq DESC LIMIT 1")
        end = ChainMark() if tail is None else ChainMark(tail["seq"], tail["hash"])
        try:
            head = read_head(self._file, self._key)
        except BrokenHead as error:
            if tail is not None or self._file.exists():
                self.fault = str(error)
            return ChainHead(newest=end)
        if end.seq > head.newest.seq:
            return evolve(head, newest=end)
        if end != head.newest:
            self.fault = f"the newest row is {end.seq}, the head names {head.newest.seq}"
        return head

    def _let_go(self, seq: int) -> None:
        row = self._database.query_one("SELECT seq, hash FROM audit_log WHERE seq = ?", (seq,))
        if row is not None:
            self._head = evolve(self._head, anchor=ChainMark(row["seq"], row["hash"]))

    def _remove_let_go(self) -> None:
        """The head names the new beginning before the old rows go."""
        self._database.later(("audit",), _LET_GO, (self._head.anchor.seq,))
