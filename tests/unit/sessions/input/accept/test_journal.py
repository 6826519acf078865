"""The journal knows the same with and without its memory of who typed last."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.typed_input import PIECE
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.recover.unpersisted_sequence import CLIENTS
from tservice.sessions.input.recover.unpersisted_sequences import SETTLE
from tservice.store.database import Database
from tservice.store.schemas import find_packaged_schemas, read_steps

SESSIONS = ("one", "two")
WHO = ("a", "b", "c")
ENDS = ("finished", "settled", "given back", "cut off")
STEPS = st.lists(st.tuples(st.sampled_from(SESSIONS), st.sampled_from(WHO), st.sampled_from(ENDS)))


class JournalTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.database = Database.open_in_memory()
        # No session is needed here.
        self.database.execute("PRAGMA foreign_keys = OFF")
        self.clock = Clock()
        self.marks: dict[str, str] = {}
        self.journal = self.anew(self.clock)
        self.accepted = 0
        self.data = b"x"

    def anew(self, clock: Clock | None = None) -> InputJournal:
        """The journal of a service after a crash: the disk, and the marks of the panes."""
        journal = InputJournal(self.database, clock or Clock())
        for session, mark in self.marks.items():
            journal.import_mark(session, mark)
        return journal

    def accept(self, session: str, client: str | None, seq: int | None) -> JournalEntry:
        self.accepted += 1
        previous = None if client is None else self.journal.last_seq(session, client)
        entry = JournalEntry(
            session_id=session,
            id=str(self.accepted),
            kind=InputKind.RAW,
            data=self.data,
            client_id=client,
            seq=seq,
            previous_seq=previous,
        )
        kept = self.journal.accept_entry(entry)
        if not kept.with_pane:
            self.assertEqual(entry, self.anew().find_pending(session))
        return kept

    def type(self, session: str, client: str | None, seq: int | None) -> None:
        """Accepted, typed and done."""
        entry = self.accept(session, client, seq)
        self.marks[session] = entry.id
        self.journal.finish_entry(entry)

    @settings(max_examples=example_count(300), deadline=None)
    @given(STEPS)
    def test_numbers_are_known_from_memory_and_disk(
        self, steps: list[tuple[str, str, str]]
    ) -> None:
        """What was given back is free again; what was cut off by a restart stays taken."""
        self.begin()
        known: dict[tuple[str, str], int | None] = {(s, w): None for s in SESSIONS for w in WHO}
        for number, (session, client, end) in enumerate(steps):
            entry = self.accept(session, client, number)
            if end == "given back":
                self.journal.revoke_entry(entry)
            else:
                known[session, client] = number
                self.marks[session] = entry.id
            if end == "cut off":
                self.clock = Clock()
                self.journal = self.anew(self.clock)
            if end in ("finished", "settled") or not entry.with_pane:
                self.journal.finish_entry(entry)
            if end == "settled":
                self.clock.advance(SETTLE)
            self.assertIsNone(self.journal.find_pending(session))
            for each in (self.journal, self.anew()):
                self.assertEqual(known, {key: each.last_seq(*key) for key in known})

    def test_keys_of_a_known_client_write_nothing(self) -> None:
        """Until L{SETTLE} has passed, or somebody else types."""
        self.type("one", "a", 1)
        for seq in range(2, 6):
            self.type("one", "a", seq)
            self.assertIsNone(self.journal.find_pending("one"))
        self.assertEqual((5, 1), (self.journal.last_seq("one", "a"), self.on_disk("a")))
        self.clock.advance(SETTLE)
        self.assertEqual((5, 5), (self.journal.last_seq("one", "a"), self.on_disk("a")))
        self.assertEqual([], self.clock.getDelayedCalls())
        self.type("one", "a", 6)
        self.type("one", "b", 1)
        self.assertEqual((6, 1), (self.on_disk("a"), self.on_disk("b")))

    def test_number_is_written_only_after_its_key_was_typed(self) -> None:
        """Else a crash would leave a number that is taken by nothing."""
        self.type("one", "a", 1)
        self.accept("one", "a", 2)
        self.clock.advance(SETTLE)
        self.assertEqual((1, 1), (self.on_disk("a"), self.anew().last_seq("one", "a")))

    def test_long_input_is_journalled_whole(self) -> None:
        """More than one command types it: a crash would leave a part."""
        self.type("one", "a", 1)
        self.data = b"x" * (PIECE + 1)
        self.assertFalse(self.accept("one", "a", 2).with_pane)

    def test_number_read_from_a_mark_survives_the_next_crash(self) -> None:
        """Though another client's mark takes its place."""
        for client in ("a", "b"):
            self.type("one", client, 1)
        self.type("one", "a", 2)
        self.journal = self.anew()
        self.type("one", "b", 2)
        self.assertEqual((2, 2), (self.anew().last_seq("one", "a"), self.on_disk("a")))

    def test_closing_writes_unsaved_numbers(self) -> None:
        for seq in (1, 2):
            self.type("one", "a", seq)
        self.journal.close()
        self.assertEqual((2, []), (self.on_disk("a"), self.clock.getDelayedCalls()))

    def on_disk(self, client: str) -> int | None:
        """What stands there alone."""
        return InputJournal(self.database, Clock()).last_seq("one", client)

    def test_least_recently_used_client_is_forgotten(self) -> None:
        """One that goes on typing is none, however its numbers were written."""
        for number in range(CLIENTS):
            self.type("one", f"c{number}", 1)
        for seq in (2, 3):
            self.type("one", "c0", seq)
        self.type("one", "new", 1)
        self.assertEqual(3, self.journal.last_seq("one", "c0"))
        self.assertIsNone(self.journal.last_seq("one", "c1"))

    def test_unnumbered_inputs_change_no_number(self) -> None:
        self.type("one", "a", 4)
        self.type("one", None, None)
        self.assertEqual(4, self.journal.last_seq("one", "a"))

    def test_pending_input_survives_the_schema_upgrade(self) -> None:
        """Step 11 makes the table anew."""
        path, steps = Path(self.mktemp()), read_steps(find_packaged_schemas())
        old = Database.open_file(path, clock=Clock(), schemas=steps[:10])
        old.execute("PRAGMA foreign_keys = OFF")
        self.journal = InputJournal(old, Clock())
        columns = [row["name"] for row in old.query_rows("PRAGMA table_info(sessions)")]
        row = ", ".join("'one'" if name == "id" else "0" for name in columns)
        old.execute(f"INSERT INTO sessions VALUES ({row})")
        self.database = old
        entry = self.accept("one", "a", 7)
        old.close()
        new = Database.open_file(path, clock=Clock(), schemas=steps)
        self.addCleanup(new.close)
        self.assertEqual(entry, InputJournal(new, Clock()).find_pending("one"))

    def test_rebuilt_session_starts_with_fresh_numbers(self) -> None:
        """As one that is rebuilt does."""
        self.type("one", "a", 4)
        self.database.execute("DELETE FROM input_marks")
        self.journal.forget_session("one")
        self.assertIsNone(self.journal.last_seq("one", "a"))
        self.type("one", "a", 0)
        self.assertEqual(0, self.on_disk("a"))
