"""Which input was accepted, kept on disk: sequence marks and the input being typed (wire 1.5).

A session's inputs are typed one by one, so at most one of them is ever unfinished.  It is written
down together with its sequence number before its first byte is typed, and struck out together
with nothing else once it is done: a crash in between leaves one entry, and the pane's own mark
says how far it came.
"""

from __future__ import annotations

import sqlite3
from enum import StrEnum

from attrs import frozen

from tservice.store.database import Database

CLIENTS = 256
"""Clients of a session whose sequence is remembered; beyond, the least recently used is not."""


class Kind(StrEnum):
    """How an input is typed."""

    PROMPT = "prompt"
    """Pasted, then Enter."""
    TYPED = "typed"
    """Typed key by key, then Enter."""
    RAW = "raw"
    """Byte by byte as it is."""


@frozen(kw_only=True)
class Entry:
    """An accepted input.

    @ivar id: goes into the pane's mark; unique over all sessions and restarts.
    @ivar previous_seq: the client's mark before; what a failed write gives back.
    """

    session_id: str
    id: str
    kind: Kind
    data: bytes
    client_id: str | None = None
    seq: int | None = None
    previous_seq: int | None = None


class InputJournal:
    """The journal of every session.

    @ivar flushed: prompts survive a power loss at every point; keystrokes only the end of this
        process, because the power loss takes the pane that they were typed into as well.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # By session the client that typed last and its number, as the database has them.
        self._latest: dict[str, tuple[str, int]] = {}

    def last_seq(self, session_id: str, client_id: str) -> int | None:
        """The highest number accepted from that client."""
        seq = self._latest_seq(session_id, client_id)
        if seq is not None:
            return seq
        row = self._database.query_one(
            "SELECT seq FROM input_marks WHERE session_id = ? AND client_id = ?",
            (session_id, client_id),
        )
        return None if row is None else int(row["seq"])

    def pending(self, session_id: str) -> Entry | None:
        """The input that was being typed when the journal was last written."""
        row = self._database.query_one(
            "SELECT * FROM input_journal WHERE session_id = ?", (session_id,)
        )
        return None if row is None else _entry(row)

    def accept(self, entry: Entry) -> None:
        """Take the entry's sequence number and begin it, both or neither."""
        with self._database.transaction(durable=entry.kind is not Kind.RAW):
            self._database.execute(
                "INSERT INTO input_journal VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    entry.session_id,
                    entry.id,
                    entry.kind.value,
                    entry.data,
                    entry.client_id,
                    entry.seq,
                    entry.previous_seq,
                ),
            )
            self._set_mark(entry, entry.seq)
        self._remember(entry)

    def finish(self, entry: Entry) -> None:
        """It was typed whole, or nobody will type the rest."""
        self._strike(entry, durable=False)

    def give_back(self, entry: Entry) -> None:
        """It was not typed: forget it, so that the client may send its number again."""
        self.forget(entry.session_id)
        with self._database.transaction(durable=entry.kind is not Kind.RAW):
            self._strike(entry)
            self._set_mark(entry, entry.previous_seq)

    def forget(self, session_id: str) -> None:
        """Keep nothing of a session in memory: it is over, or its numbers change."""
        self._latest.pop(session_id, None)

    def _strike(self, entry: Entry, *, durable: bool = True) -> None:
        self._database.execute(
            "DELETE FROM input_journal WHERE session_id = ? AND id = ?",
            (entry.session_id, entry.id),
            durable=durable,
        )

    def _latest_seq(self, session_id: str, client_id: str) -> int | None:
        client, seq = self._latest.get(session_id, (None, None))
        return seq if client == client_id else None

    def _remember(self, entry: Entry) -> None:
        if entry.client_id is not None and entry.seq is not None:
            self._latest[entry.session_id] = (entry.client_id, entry.seq)

    def _set_mark(self, entry: Entry, seq: int | None) -> None:
        if entry.client_id is None:
            return
        key = (entry.session_id, entry.client_id)
        if seq is None:
            self._database.execute(
                "DELETE FROM input_marks WHERE session_id = ? AND client_id = ?", key
            )
            return
        if self._latest_seq(*key) is not None:
            # The order of use, and its index, stay as they are.
            self._database.execute(
                "UPDATE input_marks SET seq = ? WHERE session_id = ? AND client_id = ?", (seq, *key)
            )
            return
        self._database.execute(
            "INSERT INTO input_marks SELECT ?, ?, ?, coalesce(max(used), 0) + 1"
            " FROM input_marks WHERE session_id = ?"
            " ON CONFLICT DO UPDATE SET seq = excluded.seq, used = excluded.used",
            (*key, seq, entry.session_id),
        )
        if entry.previous_seq is None:
            self._forget_oldest(entry.session_id)

    def _forget_oldest(self, session_id: str) -> None:
        self._database.execute(
            "DELETE FROM input_marks WHERE session_id = ?1 AND used <= ("
            "SELECT used FROM input_marks WHERE session_id = ?1"
            " ORDER BY used DESC LIMIT 1 OFFSET ?2)",
            (session_id, CLIENTS),
        )


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        session_id=row["session_id"],
        id=row["id"],
        kind=Kind(row["kind"]),
        data=row["data"],
        client_id=row["client_id"],
        seq=row["seq"],
        previous_seq=row["previous_seq"],
    )
