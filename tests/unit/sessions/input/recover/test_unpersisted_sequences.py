"""Whatever the disk takes or not: the disk and the pane's mark together tell every number."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.store.failing_disk import FailingConnection
from tservice.core.disk.disk_errors import DiskFull
from tservice.mux.typed_input import PIECE
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.recover.unpersisted_sequence import (
    CLIENTS,
    digest_client_id,
    placeholder_client_id,
)
from tservice.store import deferred_writes
from tservice.store.database import Database
from tservice.store.deferred_writes import AGAIN_SECONDS

WHO = ("a", "b", "c")
KEY, LONG = b"x", b"x" * (PIECE + 1)


@frozen
class TypedInput:
    """An input, and how it ends."""

    client: str | None
    data: bytes
    kind: InputKind
    end: str


TYPING = st.builds(
    TypedInput,
    st.sampled_from((*WHO, *WHO, None)),
    st.sampled_from((KEY, KEY, KEY, LONG)),
    st.sampled_from((InputKind.RAW, InputKind.RAW, InputKind.PROMPT)),
    st.sampled_from(("finished", "finished", "given back", "cut off", "cut off before")),
)
STEPS = st.lists(TYPING | st.sampled_from(("full", "room", "crash", "a while")), max_size=30)


class HeldNumbersTests(SynchronousTestCase):
    def setUp(self) -> None:
        path = Path(self.mktemp())
        Database.open_file(path, clock=Clock()).close()
        self.connection = FailingConnection(path)
        self.addCleanup(self.connection.close)
        self.connection.execute("PRAGMA foreign_keys = OFF")
        self.begin()

    def begin(self) -> None:
        self.connection.fault = None
        for table in ("input_marks", "input_journal"):
            self.connection.execute(f"DELETE FROM {table}")
        self.mark, self.number = "", 0
        self.crash()

    def crash(self) -> None:
        """The service after a crash: the disk, and the pane's mark."""
        self.clock = Clock()
        self.database = Database(self.connection)
        self.database.deferred_writes.use_clock(self.clock)
        self.journal = InputJournal(self.database, self.clock)
        self.take_up(self.journal)

    def take_up(self, journal: InputJournal) -> None:
        entry, over = journal.find_pending("s"), journal.import_mark("s", self.mark)
        if entry is not None:
            # What was begun is typed to its end.
            self.mark = self.mark if entry.id == over else entry.id
            journal.finish_entry(entry)

    def after_a_crash(self, client: str) -> int | None:
        """What a service would know that writes nothing."""
        fault, self.connection.fault = self.connection.fault, sqlite3.SQLITE_FULL
        try:
            journal = InputJournal(Database(self.connection), Clock())
            journal.import_mark("s", self.mark)
            return journal.last_seq("s", client)
        finally:
            self.connection.fault = fault

    def do(self, step: TypedInput | str) -> None:
        if step == "full":
            self.connection.fault = sqlite3.SQLITE_FULL
        elif step == "room":
            self.connection.fault = None
            self.clock.advance(AGAIN_SECONDS)
        elif step == "crash":
            self.crash()
        elif isinstance(step, TypedInput):
            self.type(step)
        else:
            self.clock.advance(1)

    def entry(self, typing: TypedInput) -> JournalEntry:
        self.number += 1
        client, numbered = typing.client, typing.client is not None
        return JournalEntry(
            session_id="s",
            id=str(self.number),
            kind=typing.kind,
            data=typing.data,
            client_id=client,
            seq=self.number if numbered else None,
            previous_seq=None if client is None else self.journal.last_seq("s", client),
        )

    def type(self, typing: TypedInput) -> None:
        entry = self.entry(typing)
        try:
            taken = self.journal.accept_entry(entry)
        except DiskFull:
            self.assertEqual(InputKind.PROMPT, typing.kind, "keys are never refused")
            return
        if typing.end == "given back":
            self.journal.revoke_entry(taken)
            return
        if typing.end != "cut off before":
            self.mark = taken.id
        if typing.client is not None and (
            typing.end != "cut off before" or not (taken.held or taken.with_pane)
        ):
            self.known[typing.client] = self.number
        if typing.end == "finished":
            self.journal.finish_entry(taken)
        else:
            self.crash()

    @settings(max_examples=example_count(300), deadline=None)
    @given(STEPS)
    def test_every_sequence_number_is_known_after_a_crash(
        self, steps: list[TypedInput | str]
    ) -> None:
        self.begin()
        self.known: dict[str, int | None] = dict.fromkeys(WHO)
        for step in steps:
            self.do(step)
            known = {client: self.journal.last_seq("s", client) for client in WHO}
            self.assertEqual(self.known, known)
            self.assertEqual(self.known, {client: self.after_a_crash(client) for client in WHO})

    def key(self, client: str | None) -> str:
        """The mark that a key is typed with."""
        taken = self.journal.accept_entry(
            self.entry(TypedInput(client, KEY, InputKind.RAW, "finished"))
        )
        self.mark = taken.id
        self.journal.finish_entry(taken)
        return self.mark

    def test_marks_are_short_again_once_the_disk_has_room(self) -> None:
        for client in WHO:
            self.key(client)
        usual = len(self.key("a"))
        self.connection.fault = sqlite3.SQLITE_FULL
        for client in WHO:
            self.key(client)
        self.assertGreater(len(self.key("a")), 2 * usual)
        self.do("room")
        self.assertEqual(usual, len(self.key("a")))

    def test_client_name_and_its_digest_count_once(self) -> None:
        """Though what stood in for it has a row too."""
        self.key("b")
        self.connection.fault = sqlite3.SQLITE_FULL
        self.key("a")
        self.crash()
        self.do("room")
        for client in "aba":
            self.key(client)
        last = self.number
        for _ in range(2):
            self.crash()
            self.assertEqual(last, self.journal.last_seq("s", "a"))

    def test_mark_read_again_adds_no_clients(self) -> None:
        """As when a session's host is back; so many clients are no more for it."""
        self.connection.fault = sqlite3.SQLITE_FULL
        for number in range(CLIENTS):
            self.key(f"c{number}")
        known = [self.journal.last_seq("s", f"c{number}") for number in range(CLIENTS)]
        self.journal.import_mark("s", self.mark)
        self.assertEqual(
            known, [self.journal.last_seq("s", f"c{number}") for number in range(CLIENTS)]
        )

    def test_number_that_cannot_be_deferred_is_refused(self) -> None:
        self.key("a")
        self.patch(deferred_writes, "MOST", 0)
        self.connection.fault = sqlite3.SQLITE_FULL
        before = self.journal.last_seq("s", "b")
        self.assertRaises(DiskFull, self.key, "b")
        self.assertEqual(before, self.journal.last_seq("s", "b"))

    def test_digest_stands_in_for_a_client_name(self) -> None:
        name = placeholder_client_id(digest_client_id("me"))
        self.assertEqual(digest_client_id("me"), digest_client_id(name))
        self.assertNotEqual(digest_client_id("me"), digest_client_id(name + "0"))


class ClientDigestTests(SynchronousTestCase):
    def test_digests_of_few_clients_are_cached(self) -> None:
        for number in range(CLIENTS + 10):
            digest_client_id(f"client {number}")
        self.assertEqual(CLIENTS, digest_client_id.cache_info().currsize)
