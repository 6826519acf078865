"""The journal knows the same with and without its memory of who typed last."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import examples
from tservice.sessions.input.journal import CLIENTS, Entry, InputJournal, Kind
from tservice.store.database import Database
from tservice.store.schemas import packaged, read_steps

SESSIONS = ("one", "two")
WHO = ("a", "b", "c")
ENDS = ("finished", "given back", "cut off")
STEPS = st.lists(st.tuples(st.sampled_from(SESSIONS), st.sampled_from(WHO), st.sampled_from(ENDS)))


class JournalTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.database = Database.in_memory()
        # No session is needed here.
        self.database.execute("PRAGMA foreign_keys = OFF")
        self.journal = InputJournal(self.database)
        self.accepted = 0

    def accept(self, session: str, client: str | None, seq: int | None) -> Entry:
        self.accepted += 1
        previous = None if client is None else self.journal.last_seq(session, client)
        entry = Entry(
            session_id=session,
            id=str(self.accepted),
            kind=Kind.RAW,
            data=b"x",
            client_id=client,
            seq=seq,
            previous_seq=previous,
        )
        self.journal.accept(entry)
        self.assertEqual(entry, InputJournal(self.database).pending(session))
        return entry

    @settings(max_examples=examples(300), deadline=None)
    @given(STEPS)
    def test_numbers_are_known_with_and_without_memory(
        self, steps: list[tuple[str, str, str]]
    ) -> None:
        """What was given back is free again; what was cut off by a restart stays taken."""
        self.begin()
        known: dict[tuple[str, str], int | None] = {(s, w): None for s in SESSIONS for w in WHO}
        for number, (session, client, end) in enumerate(steps):
            entry = self.accept(session, client, number)
            if end == "given back":
                self.journal.give_back(entry)
            else:
                known[session, client] = number
            if end == "cut off":
                self.journal = InputJournal(self.database)
            self.journal.finish(entry)
            self.assertIsNone(self.journal.pending(session))
            for each in (self.journal, InputJournal(self.database)):
                self.assertEqual(known, {key: each.last_seq(*key) for key in known})

    def test_the_least_recently_used_client_is_forgotten(self) -> None:
        """One that goes on typing is none, however its numbers were written."""
        for number in range(CLIENTS):
            self.journal.finish(self.accept("one", f"c{number}", 1))
        for seq in (2, 3):
            self.journal.finish(self.accept("one", "c0", seq))
        self.journal.finish(self.accept("one", "new", 1))
        self.assertEqual(3, self.journal.last_seq("one", "c0"))
        self.assertIsNone(self.journal.last_seq("one", "c1"))

    def test_inputs_without_a_number_change_none(self) -> None:
        self.journal.finish(self.accept("one", "a", 4))
        self.journal.finish(self.accept("one", None, None))
        self.assertEqual(4, self.journal.last_seq("one", "a"))

    def test_what_is_being_typed_survives_the_upgrade(self) -> None:
        """Step 11 makes the table anew."""
        path, steps = Path(self.mktemp()), read_steps(packaged())
        old = Database.open(path, clock=Clock(), schemas=steps[:10])
        old.execute("PRAGMA foreign_keys = OFF")
        self.journal = InputJournal(old)
        columns = [row["name"] for row in old.query("PRAGMA table_info(sessions)")]
        row = ", ".join("'one'" if name == "id" else "0" for name in columns)
        old.execute(f"INSERT INTO sessions VALUES ({row})")
        self.database = old
        entry = self.accept("one", "a", 7)
        old.close()
        new = Database.open(path, clock=Clock(), schemas=steps)
        self.addCleanup(new.close)
        self.assertEqual(entry, InputJournal(new).pending("one"))

    def test_a_session_of_the_same_id_begins_anew(self) -> None:
        """As one that is rebuilt does."""
        self.journal.finish(self.accept("one", "a", 4))
        self.database.execute("DELETE FROM input_marks")
        self.journal.forget("one")
        self.assertIsNone(self.journal.last_seq("one", "a"))
        self.journal.finish(self.accept("one", "a", 0))
        self.assertEqual(0, InputJournal(self.database).last_seq("one", "a"))
