"""Journal of accepted input on disk: sequence numbers and the input being typed
(protocol-exactly-once).

A session's inputs are typed one by one, so at most one of them is ever unfinished. The entry is
written together with its sequence number before its first byte is typed. The entry alone is deleted
once it is typed. After a crash in between one entry remains, and the pane's mark shows the
progress.

Keys of a client that is already known do not wait for the disk. One command types them and sets the
pane's mark, which contains the client and the number. After a crash either both were done or
neither, and the client, which got no answer, sends again. At any time the numbers on disk and the
pane's mark together give every number (L{tservice.sessions.input.recover.unpersisted_sequences}).

Prompts are refused while the disk is full. Raw keys continue, because a user may have to free disk
space (protocol-errors). Their numbers are held in memory until they can be written. Until then each
mark contains all of them, so that the service finds them with the pane after a crash. The marks
hold digests instead of ids (L{tservice.sessions.input.recover.unpersisted_sequence}). If the
client's id is not on disk, the number is kept under a placeholder made from the digest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from twisted.internet.interfaces import IReactorTime

from tservice.core.disk.disk_errors import DiskFull
from tservice.mux.typed_input import PIECE
from tservice.sessions.input.accept.offline_buffer import STRIKE
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.recover.unpersisted_sequence import (
    CLIENTS,
    UnpersistedSequence,
    digest_client_id,
    format_mark_id,
    placeholder_client_id,
)
from tservice.sessions.input.recover.unpersisted_sequences import UnpersistedSequences
from tservice.store.database import Database
from tservice.store.deferred_writes import Key

_STRIKE = "DELETE FROM input_journal WHERE session_id = ? AND id = ?"
_FREE = "DELETE FROM input_marks WHERE session_id = ? AND client_id = ?"
_MARK = (
    "INSERT INTO input_marks SELECT ?, ?, ?, coalesce(max(used), 0) + 1"
    " FROM input_marks WHERE session_id = ?"
    " ON CONFLICT DO UPDATE SET seq = excluded.seq, used = excluded.used"
)


class InputJournal:
    """Input journal of all sessions.

    Prompts survive a power loss at every point. Keystrokes only survive the end of this process,
    because a power loss ends their pane too.
    """

    def __init__(self, database: Database, clock: IReactorTime) -> None:
        self._database = database
        self._unsaved = UnpersistedSequences(clock, self._save_number)
        # By session: the client that typed last and its number in the database.
        self._latest: dict[str, tuple[str, int]] = {}
        # By session: numbers by client that are not on disk yet, and the finished row.
        self._held: dict[str, dict[str, int | None]] = {}
        self._over: dict[str, str] = {}

    def last_seq(self, session_id: str, client_id: str) -> int | None:
        """Return the highest sequence number accepted from that client; C{None} if there is
        none.
        """
        unsaved = self._unsaved.find_number(session_id, client_id)
        if unsaved is not None:
            return unsaved
        seq = self._find_number(session_id, client_id)
        if seq is not None:
            return seq
        return self._find_number(session_id, placeholder_client_id(digest_client_id(client_id)))

    def find_pending(self, session_id: str) -> JournalEntry | None:
        """Return the input that was being typed at the last write of the journal; C{None} without
        one.
        """
        row = self._database.query_first_row(
            "SELECT * FROM input_journal WHERE session_id = ?", (session_id,)
        )
        if row is None or row["id"] == self._over.get(session_id):
            return None
        return _entry_from_row(row)

    def accept_entry(self, entry: JournalEntry) -> JournalEntry:
        """Reserve the entry's sequence number and write the entry, both or neither.

        @return: the entry to type. If its number is not on disk, the entry's id contains the
            number.
        @raise DiskFull: a prompt cannot be written, or too many clients have unsaved numbers.
        """
        if _can_skip_disk(entry):
            self._unsaved.write_number(entry.session_id, but_of=entry.client_id)
            held = self._check_mark_capacity(entry.session_id, entry.client_id)
            return entry.with_mark(self._make_mark_id(entry, held), with_pane=True)
        self._unsaved.write_number(entry.session_id)
        raw = entry.kind is InputKind.RAW and entry.buffered is None
        if raw and not self._database.deferred_writes.should_try_now:
            return self._hold_entry(entry)
        try:
            self._insert_entry(entry)
        except DiskFull:
            if not raw:
                raise
            return self._hold_entry(entry)
        # The database writes deferred changes first, so they are on disk now.
        self._held.pop(entry.session_id, None)
        self._over.pop(entry.session_id, None)
        self._remember_latest(entry)
        return entry

    def import_mark(self, session_id: str, mark_id: str) -> str | None:
        """Save the sequence numbers in the pane's mark that an earlier run of the service left.

        @return: the id of a finished row that is still on disk; C{None} if there is none.
        @raise DiskFull: the numbers cannot be written, nor all of them be deferred.
        """
        found = UnpersistedSequence.parse_mark(mark_id)
        if found is None:
            return None
        names = self._clients_by_digest(session_id)
        for client, seq in found.numbers.items():
            name = names.get(client, placeholder_client_id(client))
            known = self._find_number(session_id, name)
            if known is None or known < seq:
                # The next mark replaces this one.
                self._save_number(session_id, name, seq)
        return found.over

    def finish_entry(self, entry: JournalEntry) -> None:
        """Delete an entry that was typed completely, or that will not be completed."""
        if entry.with_pane:
            self._unsaved.put(entry.session_id, entry.client_id or "", entry.seq or 0)
        elif not entry.held and not self._delete_entry_deferred(entry):
            self._over[entry.session_id] = entry.id

    def revoke_entry(self, entry: JournalEntry) -> None:
        """Delete an entry that was not typed, so that the client may use its sequence number
        again.
        """
        if entry.with_pane:
            return
        self._latest.pop(entry.session_id, None)
        try:
            if entry.held:
                raise DiskFull(self._database.deferred_writes.disk_problem)
            with self._database.transaction(durable=entry.kind is not InputKind.RAW):
                self._delete_entry(entry)
                self._set_mark(entry, entry.previous_seq)
        except DiskFull:
            self.finish_entry(entry)
            self._hold_number(entry, entry.previous_seq)

    def forget_session(self, session_id: str) -> None:
        """Drop the cached numbers of a session that ended, or whose numbers change on disk."""
        self._unsaved.forget_session(session_id)
        for known in (self._latest, self._held, self._over):
            known.pop(session_id, None)

    def close(self) -> None:
        """Write to disk the sequence numbers that exist only in memory and in marks on panes.

        Call this before the last L{forget_session}.
        """
        self._unsaved.close()

    # -- on the disk

    def _insert_entry(self, entry: JournalEntry) -> None:
        with self._database.transaction(durable=entry.kind is not InputKind.RAW):
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
            if entry.buffered is not None:
                self._database.execute(STRIKE, (entry.session_id, entry.buffered))

    def _delete_entry(self, entry: JournalEntry) -> None:
        self._database.execute(_STRIKE, (entry.session_id, entry.id))

    def _delete_entry_deferred(self, entry: JournalEntry) -> bool:
        row = (entry.session_id, entry.id)
        return self._database.execute_or_defer(("typed", entry.session_id), _STRIKE, row)

    def _find_stored_seq(self, session_id: str, client_id: str) -> int | None:
        seq = self._latest_seq(session_id, client_id)
        if seq is not None:
            return seq
        row = self._database.query_first_row(
            "SELECT seq FROM input_marks WHERE session_id = ? AND client_id = ?",
            (session_id, client_id),
        )
        return None if row is None else int(row["seq"])

    def _clients_by_digest(self, session_id: str) -> dict[str, str]:
        """Return the ids of the clients that have sequence numbers, by digest of the id."""
        # A client's own id is used after its placeholder, and takes precedence.
        rows = self._database.query_rows(
            "SELECT client_id FROM input_marks WHERE session_id = ? ORDER BY used", (session_id,)
        )
        names = [*(row["client_id"] for row in rows), *self._held.get(session_id, ())]
        return {digest_client_id(name): name for name in names}

    # -- held

    def _hold_entry(self, entry: JournalEntry) -> JournalEntry:
        self._hold_number(entry, entry.seq)
        held = self._unsaved_numbers(entry.session_id)
        return entry.with_mark(self._make_mark_id(entry, held), held=True)

    def _make_mark_id(self, entry: JournalEntry, held: Mapping[str, int | None]) -> str:
        """Return the mark id, which encodes the number of the entry and the other unsaved
        numbers.
        """
        numbers = {client: seq for client, seq in held.items() if seq is not None}
        if entry.client_id is not None and entry.seq is not None:
            numbers[entry.client_id] = entry.seq
        over = self._over.get(entry.session_id)
        return format_mark_id(entry.id, numbers, over)

    def _hold_number(self, entry: JournalEntry, seq: int | None) -> None:
        if entry.client_id is not None:
            self._save_number(entry.session_id, entry.client_id, seq)

    def _save_number(self, session_id: str, client: str, seq: int | None) -> None:
        """Write a client's sequence number. If the disk is full, hold it in memory and defer the
        write.
        """
        self._check_mark_capacity(session_id, client)
        key, place = _deferred_key(session_id, client), (session_id, client)
        held = self._held.setdefault(session_id, {})
        if seq is None:
            self._database.execute_or_defer(key, _FREE, place)
        elif self._database.execute_or_defer(key, _MARK, (*place, seq, session_id)):
            held.pop(client, None)
            self._latest[session_id] = (client, seq)
            return
        held[client] = seq
        self._latest.pop(session_id, None)

    def _check_mark_capacity(self, session_id: str, client: str | None) -> Mapping[str, int | None]:
        """Return the unsaved numbers of a session. Nothing is typed yet.

        @raise DiskFull: one more client's number does not fit into a mark.
        """
        held = self._unsaved_numbers(session_id)
        if client not in held and len(held) >= CLIENTS:
            raise DiskFull(self._database.deferred_writes.disk_problem)
        return held

    def _unsaved_numbers(self, session_id: str) -> dict[str, int | None]:
        """Return the sequence numbers that are held in memory and are not on disk yet, by
        client.
        """
        held, debts = self._held.get(session_id, {}), self._database.deferred_writes
        for client in [client for client in held if _deferred_key(session_id, client) not in debts]:
            del held[client]
        return held

    # -- in memory

    def _find_number(self, session_id: str, name: str) -> int | None:
        held = self._held.get(session_id, {})
        return held[name] if name in held else self._find_stored_seq(session_id, name)

    def _latest_seq(self, session_id: str, client_id: str) -> int | None:
        client, seq = self._latest.get(session_id, (None, None))
        return seq if client == client_id else None

    def _remember_latest(self, entry: JournalEntry) -> None:
        if entry.client_id is not None and entry.seq is not None:
            self._latest[entry.session_id] = (entry.client_id, entry.seq)

    def _set_mark(self, entry: JournalEntry, seq: int | None) -> None:
        if entry.client_id is None:
            return
        key = (entry.session_id, entry.client_id)
        if seq is None:
            self._database.execute(_FREE, key)
            return
        if self._latest_seq(*key) is not None:
            # The order of use, and its index, stay as they are.
            self._database.execute(
                "UPDATE input_marks SET seq = ? WHERE session_id = ? AND client_id = ?", (seq, *key)
            )
            return
        self._database.execute(_MARK, (*key, seq, entry.session_id))
        if entry.previous_seq is None:
            self._forget_oldest(entry.session_id)

    def _forget_oldest(self, session_id: str) -> None:
        self._database.execute(
            "DELETE FROM input_marks WHERE session_id = ?1 AND used <= ("
            "SELECT used FROM input_marks WHERE session_id = ?1"
            " ORDER BY used DESC LIMIT 1 OFFSET ?2)",
            (session_id, CLIENTS),
        )


def _deferred_key(session_id: str, client: str) -> Key:
    return ("mark", session_id, client)


def _can_skip_disk(entry: JournalEntry) -> bool:
    """Return true if the entry needs no row on disk.

    This is so if one command types all of it, and its client's number has a row on disk.
    """
    if entry.buffered is not None:
        return False
    known = entry.client_id is not None and entry.previous_seq is not None
    return known and entry.kind is InputKind.RAW and len(entry.data) <= PIECE


def _entry_from_row(row: sqlite3.Row) -> JournalEntry:
    return JournalEntry(
        session_id=row["session_id"],
        id=row["id"],
        kind=InputKind(row["kind"]),
        data=row["data"],
        client_id=row["client_id"],
        seq=row["seq"],
        previous_seq=row["previous_seq"],
    )
